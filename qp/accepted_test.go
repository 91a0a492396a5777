package qp

import (
	"testing"

	"ibwitness/wqe"
)

var acceptedRings [2]Ring // not on a stack, where they would move

// TestAccepted: the bytes that an R_Key gave access to are known while it is in use, however many others are used beside it, and forgotten after.
func TestAccepted(t *testing.T) {
	const to, often, once, others = 0x12, 7, 8, 100
	r, other := &acceptedRings[0], &acceptedRings[1]
	var a Accepted
	frame := uint32(0)
	write := func(key uint32, va uint64) {
		frame++
		a.take(r, to, &wqe.SendWQE{VA: va, Length: 8, RKey: key, Frame: frame, Op: wqe.Write, Flags: wqe.Whole | wqe.Ended})
	}
	write(once, 0x100)
	for i := range uint64(4 * acceptedRanges) {
		if i%(acceptedRanges/4) == 0 {
			write(often, 0x1000+i)
		}
		write(others+uint32(i), 0x2000)
		if i == acceptedRanges/2 && a.rangesOf(r, to, uint64(frame))[once][RightToWrite].Newest != 1 {
			t.Error("an R_Key is forgotten while there is room")
		}
	}
	got := a.rangesOf(r, to, uint64(frame))
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
	if n := len(a.rangesOf(other, to, uint64(frame))) + len(a.rangesOf(r, to+1, uint64(frame))); n != 0 {
		t.Errorf("%d R_Keys of another queue pair", n)
	}
}
