// Package realtime runs the adapter in software, hcaagent/soft, by the clock on the wall: one goroutine owns it, and other goroutines call its verbs. Its frames go over
// raw Ethernet, on a network interface of this machine.
package realtime
