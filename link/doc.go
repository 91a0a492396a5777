// Package link is the link layer of InfiniBand (sections 7.2 to 7.9): link packets, their form on a tap, and the verifier of a link,
// which follows the flow control credits of each virtual lane and the state of both ports.
//
// It is the engine's own, without a promise to others, but for the events and packets that packages agent and fabricagent name: these types are kept stable.
package link
