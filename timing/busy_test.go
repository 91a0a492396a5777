package timing

import (
	"slices"
	"testing"

	"ibwitness/packet"
)

// TestBusy: windows with little are not kept, packets of an earlier window count in the newest, no more than mostBusy are kept, and windows of the same time are one where they are merged.
func TestBusy(t *testing.T) {
	var b Busy
	at := func(window int64, bytes int, marked bool) {
		b.packet(&packet.Packet{Time: window*BusyWidth + 7, PayloadLen: bytes}, marked)
	}
	at(10, 4096, true)
	at(11, 100, false)
	at(13, 4096, false)
	at(13, 4096, true)
	at(12, 1000, false)
	want := []Window{{10, 4096, 1, 1}, {13, 9192, 3, 1}}
	if !slices.Equal(b.Windows, want) || b.Full {
		t.Errorf("%+v", b)
	}
	all := Busy{Windows: []Window{{10, 1, 1, 0}, {12, 5, 1, 0}}}
	all.Merge(&b)
	if want := []Window{{10, 4097, 2, 1}, {12, 5, 1, 0}, {13, 9192, 3, 1}}; !slices.Equal(all.Windows, want) || !slices.Equal(b.Windows, []Window{{10, 4096, 1, 1}, {13, 9192, 3, 1}}) {
		t.Errorf("merged: %+v of %+v", all, b)
	}
	for n := range int64(mostBusy + 9) {
		at(20+n, busyBytes, false)
	}
	if len(b.Windows) != mostBusy || !b.Full || b.Windows[mostBusy-1].At != 20+mostBusy-3 {
		t.Errorf("%d windows, full %v, the last %+v", len(b.Windows), b.Full, b.Windows[len(b.Windows)-1])
	}
}
