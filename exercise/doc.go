// Package exercise sends streams of packets that a script describes, any packet and right or wrong, over a simulated link or an interface: what a traffic generator does
// (the exerciser of an IBTrainer). It plays one port: it may keep to the credits that it has or ignore them, takes what comes into a sink for each virtual lane, and
// starts, goes on or stops by what it receives. What passes is verified as any capture is.
//
// The parts that decide what is sent when (Machine, port) are pure state machines: a time and what was received in, packets out.
//
// It is the engine's own, without a promise to others.
package exercise
