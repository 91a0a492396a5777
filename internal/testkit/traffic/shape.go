// Package traffic makes correct RoCEv2 RC traffic: a capture in which nothing is broken, of any size and number of connections, the
// same for the same shape. Benchmarks and tests read it; with Faults it is spoiled now and then.
package traffic

// Shape says what traffic to make.
type Shape struct {
	Connections int // pairs of QPs; both ends send requests
	Hosts       int // at least 2: connections are spread over the pairs of hosts
	PMTU        int // bytes
	Message     int // mean bytes of a message; lengths are spread evenly from 1 to twice the mean
	Mix         Mix
	Faults      int // one packet in so many is spoiled; 0: none
	Seed        uint64
}

// Mix is how many of a hundred messages are of which operation; the rest are SENDs.
type Mix struct{ Write, Read, Atomic int }

// Small is frames of 105 bytes in the mean: short messages, ACKs, atomics.
func Small(connections int) Shape {
	return Shape{Connections: connections, Hosts: 2 + min(connections/16, 62), PMTU: 1024, Message: 76, Mix: Mix{Write: 30, Read: 20, Atomic: 10}}
}

// Large is frames of 881 bytes in the mean: messages of several packets at a path MTU of 1024 bytes.
func Large(connections int) Shape {
	return Shape{Connections: connections, Hosts: 2 + min(connections/16, 62), PMTU: 1024, Message: 5400, Mix: Mix{Write: 35, Read: 20, Atomic: 2}}
}

// random is SplitMix64.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	x := uint64(*r)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below returns a number in 0 … n-1.
func (r *random) below(n int) int { return int(r.next() >> 33 * uint64(n) >> 31) }

// one reports true once in n times.
func (r *random) one(n int) bool { return r.below(n) == 0 }
