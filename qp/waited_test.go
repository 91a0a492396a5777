package qp

import "testing"

// TestWaited: what is retransmitted right after its requester sent something was asked for, though nothing in the capture is known to have asked, and to have begun a timer before; not what has waited for a millisecond.
func TestWaited(t *testing.T) {
	const us = int64(1e3)
	for _, k := range []struct {
		name                     string
		sent, timer, newest, now int64
		want                     bool
	}{
		{"nothing had begun a timer", 0, 0, 1e9, 1e9 + 8*us, false},
		{"nothing had, and it was idle since", 0, 0, 1e9, 1e9 + 70*us, true},
		{"the timer had begun before", 0, 1e9 - 1100*us, 1e9, 1e9 + 8*us, true},
		{"it began just now", 0, 1e9 - 20*us, 1e9, 1e9 + 8*us, false},
		{"sent long before", 1e9 - 1100*us, 0, 1e9, 1e9 + 8*us, true},
	} {
		s := &SendQueue{TimerStart: k.timer, SendSeldom: nothingSent}
		s.Last.Time = k.newest
		if got := s.Waited(k.sent, k.now); got != k.want {
			t.Errorf("%s: %v", k.name, got)
		}
	}
}
