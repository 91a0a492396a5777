// Package soft is a channel adapter in software: the reference device that the verifier is compared with, and with one named fault
// switched on the mutant that it must catch. It speaks RC, UC, UD and XRC over RoCEv2 and native InfiniBand.
//
// It is a pure state machine on the virtual time of its Clock: a frame or a verb in, frames and events out. It has no goroutine, reads
// no other clock, and does the same again for the same seed. It is not safe for concurrent use.
//
// Others may import it: its API is kept stable.
package soft
