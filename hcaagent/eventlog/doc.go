// Package eventlog reads and writes verbs events as JSON lines. docs/events.md describes the format.
//
// Others may import it: its API is kept stable.
package eventlog
