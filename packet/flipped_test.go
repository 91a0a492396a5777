package packet_test

import (
	"math/rand/v2"
	"testing"

	"ibwitness/packet"
)

// TestFlipped finds each flipped bit that the ICRC covers, in each kind of packet, and no other.
func TestFlipped(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	decoded := func(e packet.Encap, b []byte) (p packet.Packet, ok bool) {
		ok = decodeInto(&p, e, b, len(b))
		p.Rest()
		p.CheckICRC()
		return p, ok
	}
	for _, e := range encaps {
		p := filled(e, e == packet.Native, packet.Opcode(packet.WriteOnly), 300)
		whole := p.Append(nil)
		for i := range whole {
			for bit := range 8 {
				b := append([]byte(nil), whole...)
				b[i] ^= 1 << bit
				q, ok := decoded(e, b)
				if !ok || q.ICRCState != packet.CRCBad || len(q.Data) != len(whole) || q.Has&packet.HasGRH != p.Has&packet.HasGRH {
					continue // it is no packet any more, or has another length or other headers, or the ICRC leaves the bit out
				}
				at, flipped, found := q.Flipped()
				if !found || at != i || flipped != 1<<bit {
					t.Errorf("%v: byte %d, bits %#x: found %t, byte %d, bits %#x", e, i, 1<<bit, found, at, flipped)
				}
			}
		}
		found := 0
		for range 200 {
			b := append([]byte(nil), whole...)
			for i := p.BTHOff + 12; i < len(b); i++ {
				b[i] = byte(rng.Uint32())
			}
			if q, ok := decoded(e, b); ok && q.ICRCState == packet.CRCBad {
				if _, _, ok := q.Flipped(); ok {
					found++
				}
			}
		}
		if found > 0 {
			t.Errorf("%v: %d packets of random bytes have flipped bits in one byte", e, found)
		}
	}
	p := filled(packet.RoCEv2IPv4, false, packet.Opcode(packet.WriteOnly), 300)
	q, _ := decoded(packet.RoCEv2IPv4, p.Append(nil))
	if at, flipped, ok := q.Flipped(); ok {
		t.Errorf("a right packet: byte %d, bits %#x", at, flipped)
	}
}

// TestFlippedPair finds the two bytes in which the same bit was flipped, and nothing in a right packet.
func TestFlippedPair(t *testing.T) {
	p := filled(packet.RoCEv2IPv4, false, packet.Opcode(packet.WriteOnly), 300)
	whole := p.Append(nil)
	flipped := func(list ...int) (at [2]int, bit byte, ok bool) {
		b := append([]byte(nil), whole...)
		for _, i := range list {
			b[i] ^= 0x20
		}
		var q packet.Packet
		if !decodeInto(&q, packet.RoCEv2IPv4, b, len(b)) {
			t.Fatal("no packet")
		}
		q.Rest()
		q.CheckICRC()
		return q.FlippedPair()
	}
	for _, k := range [][2]int{{100, 116}, {100, 101}, {p.BTHOff + 5, p.BTHOff + 21}, {150, 280}} {
		if at, bit, ok := flipped(k[0], k[1]); !ok || at != k || bit != 0x20 {
			t.Errorf("%v: found %t, %v, bit %#x", k, ok, at, bit)
		}
	}
	for _, list := range [][]int{nil, {100}, {100, 116, 132}} {
		if at, bit, ok := flipped(list...); ok {
			t.Errorf("%v: found %v, bit %#x", list, at, bit)
		}
	}
}
