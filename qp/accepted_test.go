package qp

import (
	"maps"
	"testing"

	"ibwitness/packet"
	"ibwitness/wqe"
)

var acceptedRings [2]Ring // not on a stack, where they would move

// TestAccepted: the bytes that an R_Key gave access to are known while it is in use, however many others are used beside it, and forgotten after.
func TestAccepted(t *testing.T) {
	const to, often, once, others = 0x12, 7, 8, 100
	r, other := &acceptedRings[0], &acceptedRings[1]
	var a Accepted
	c := new(Pair)
	frame := uint32(0)
	p := &packet.Packet{DestQP: to}
	at := func(frame uint32) *packet.Packet { return &packet.Packet{Frame: uint64(frame)} }
	write := func(key uint32, va uint64) {
		frame++
		if a.take(r, c, p, &wqe.SendWQE{VA: va, Length: 8, RKey: key, Frame: frame, Op: wqe.Write, Flags: wqe.Whole | wqe.Ended}) {
			a.noteAll()
		}
	}
	write(once, 0x100)
	for i := range uint64(4 * acceptedRanges) {
		if i%(acceptedRanges/4) == 0 {
			write(often, 0x1000+i)
		}
		write(others+uint32(i), 0x2000)
		if i == acceptedRanges/2 && a.rangesOf(r, c, to, at(frame))[once][RightToWrite].Newest != 1 {
			t.Error("an R_Key is forgotten while there is room")
		}
	}
	got := a.rangesOf(r, c, to, at(frame))
	last := uint64(4*acceptedRanges - acceptedRanges/4)
	if x := got[often][RightToWrite]; x.Low != 0x1000 || x.LowAt != 2 || x.High != 0x1000+last+8 || x.HighAt != x.Newest {
		t.Errorf("of an R_Key in use is known %+v", x)
	}
	if x := got[often]; x[RightToRead].Newest != 0 || x[RightToAtomic].Newest != 0 {
		t.Errorf("an R_Key has rights that were not used: %+v", x)
	}
	if _, known := got[once]; known || len(got) > acceptedRanges {
		t.Errorf("%d R_Keys are known, that which was used once in the beginning among them: %t", len(got), known)
	}
	if n := len(a.rangesOf(other, c, to, at(frame))) + len(a.rangesOf(r, c, to+1, at(frame))); n != 0 {
		t.Errorf("%d R_Keys of another queue pair", n)
	}
}

// TestAcceptedAnywhere: what is known of R_Keys, of which there are more than there is room for, does not depend on where the ring of their send queue lies in memory.
func TestAcceptedAnywhere(t *testing.T) {
	of := func(r *Ring) map[uint32][numRights]AcceptedRange {
		var a Accepted
		c := new(Pair)
		p := &packet.Packet{DestQP: 0x12}
		for i := range uint32(5 * acceptedRanges) {
			key := 1 + i*i%(2*acceptedRanges)
			if a.take(r, c, p, &wqe.SendWQE{VA: uint64(i), Length: 8, RKey: key, Frame: 1 + i, Op: wqe.Write, Flags: wqe.Whole | wqe.Ended}) {
				a.noteAll()
			}
		}
		return a.rangesOf(r, c, p.DestQP, p)
	}
	one, other := of(&acceptedRings[0]), of(&acceptedRings[1])
	if len(one) == 0 || !maps.Equal(one, other) {
		t.Errorf("%d R_Keys at one place and %d at another, or with other ranges", len(one), len(other))
	}
}

// TestAcceptedEarlier: what another queue pair accepted with the R_Key of a request, for its right, is known, by the one that accepted the newest; not what was for another right or R_Key.
func TestAcceptedEarlier(t *testing.T) {
	var a Accepted
	c := new(Pair)
	for n, w := range []struct {
		to  uint32
		op  wqe.Op
		key uint32
		va  uint64
	}{{0x12, wqe.Write, 7, 0x1000}, {0x13, wqe.Write, 7, 0x3000}, {0x13, wqe.Write, 7, 0x2000}, {0x13, wqe.Read, 7, 0x9000}, {0x14, wqe.Write, 8, 0x5000}} {
		a.take(&acceptedRings[0], c, &packet.Packet{DestQP: w.to}, &wqe.SendWQE{VA: w.va, Length: 8, RKey: w.key, Frame: uint32(n + 1), Op: w.op, Flags: wqe.Whole | wqe.Ended | wqe.Answered})
	}
	a.noteAll()
	at := &packet.Packet{Frame: 9}
	if got, want := a.newestWith(c, &wqe.SendWQE{Op: wqe.Write, RKey: 7}, at), (EarlierRange{AcceptedRange{0x2000, 0x3008, 3, 2, 3}, 0x13}); got == nil || *got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := a.newestWith(c, &wqe.SendWQE{Op: wqe.Write, RKey: 9}, at); got != nil {
		t.Errorf("of another R_Key: %+v", got)
	}
}
