package agent

import (
	"reflect"
	"testing"

	"ibwitness/fabricagent"
)

// TestOtherFrames: what two have counted adds up, whoever counted it, with the first frame and who sent them; of too many senders none is named.
func TestOtherFrames(t *testing.T) {
	var a, b otherFrames
	see := func(o *otherFrames, kind fabricagent.Other, frame, from uint64) {
		o.sees(kind, 1, 0, frame)
		o.sender(kind, from)
	}
	see(&a, fabricagent.PTP, 7, 2)
	see(&b, fabricagent.PTP, 3, 1)
	see(&b, fabricagent.PTP, 5, 2)
	see(&b, fabricagent.UDP, 9, 0)
	for n := range uint64(mostSenders + 1) {
		see(&b, fabricagent.ARP, 10+n, 1+n)
	}
	x, y := a, b
	x.addAll(&b)
	y.addAll(&a)
	want := []OtherFrames{{fabricagent.PTP, 3, 0, 3, []uint64{1, 2}}, {fabricagent.ARP, mostSenders + 1, 0, 10, nil}, {fabricagent.UDP, 1, 0, 9, []uint64{}}}
	if got := x.list(); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(y.list(), want) {
		t.Errorf("%+v, %+v", got, y.list())
	}
}
