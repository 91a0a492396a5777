package qp

import (
	"math"
	"testing"

	"ibwitness/packet"
)

// TestSums: what a direction has sent is counted beyond what it has room for itself, and few directions need more than that room.
func TestSums(t *testing.T) {
	p := &packet.Packet{PayloadLen: 4096}
	for _, before := range []Sums{
		{},
		{Packets: 5, Bytes: math.MaxUint32 - 4095, Messages: 3},
		{Packets: math.MaxUint32, Bytes: math.MaxUint32, Messages: math.MaxUint32},
		{Packets: 1<<40 - 1, Bytes: 1<<47 - 1, Messages: 1<<40 - 1},
		{Packets: 7, Bytes: 1<<50 - 1, Messages: 1<<33 - 1},
	} {
		d := NewDirection()
		d.setSums(before)
		d.CountPacket(p.PayloadLen)
		d.CountMessage()
		after := before.plus(Sums{Packets: 1, Bytes: 4096, Messages: 1})
		if got := d.Sums(); got != after || d.Packets() != after.Packets {
			t.Errorf("after %+v: %+v, %d packets", before, got, d.Packets())
		}
		if small := after.Packets < 1<<32 && after.Bytes < 1<<47 && after.Messages < 1<<32; small != (d.SQ.SendSeldom == nothingSent) {
			t.Errorf("after %+v: something is carried: %t", before, small)
		}
		d.UncountPacket(p)
		if got, want := d.Sums(), (Sums{before.Packets, before.Bytes, after.Messages}); got != want {
			t.Errorf("taken back: %+v, not %+v", got, want)
		}
		o := NewDirection()
		o.TakeSent(d)
		if o.add(d); o.Sums() != d.Sums().plus(d.Sums()) {
			t.Errorf("twice %+v is %+v", d.Sums(), o.Sums())
		}
	}
}
