// Package verbs drives and observes a channel adapter of this machine through libibverbs. It is built with cgo and the build tag verbs (make verbs); without them no device
// can be opened.
//
// Others may import it: its API is kept stable.
package verbs
