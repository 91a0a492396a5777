package qp

import (
	"testing"

	"ibwitness/packet"
)

// TestWaitedSending: the timer of a requester may have run out where that has sent nothing for some time; not while it still sends what comes damaged or trimmed.
func TestWaitedSending(t *testing.T) {
	for at, want := range map[int64]bool{0: true, 90e3: false} {
		s := &SendQueue{}
		s.seldom()
		s.TimerStart, s.Last.Time = 1e6, 1e6
		if at != 0 {
			s.Damage(&packet.Packet{PSN: 3, Time: 1e6 + at}, false)
		}
		if got := s.Waited(0, 1e6+100e3); got != want {
			t.Errorf("%d: %t", at, got)
		}
	}
}
