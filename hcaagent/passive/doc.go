// Package passive is the HCA agent that has only the wire. It learns queue pairs from the exchanges of the communication manager
// (Agent), and from the PSNs with which responses answer requests (Matcher). What the wire does not say it does not know.
//
// It is the engine's own, without a promise to others.
package passive
