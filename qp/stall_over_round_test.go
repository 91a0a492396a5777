package qp

import (
	"testing"

	"ibwitness/packet"
)

// TestEndsWithRound: a request of which no answer is known still waits where all that its requester sent since came with its rounds; not where it went on after them, was retransmitted
// seldom, or is not the first that the capture holds.
func TestEndsWithRound(t *testing.T) {
	for _, k := range []struct {
		name string
		set  func(s *SendQueue, k *Stall)
		want bool
	}{
		{"with the last round", func(*SendQueue, *Stall) {}, true},
		{"after it", func(s *SendQueue, _ *Stall) { s.Last.Time = 900 }, false},
		{"seldom", func(_ *SendQueue, k *Stall) { k.Rounds[TimerExpired] = 2 }, false},
		{"not the first", func(s *SendQueue, _ *Stall) { s.First-- }, false},
	} {
		s := &SendQueue{}
		s.First, s.High, s.Last.Time = 100, 130, 810
		s.seldom().sender.trouble = new(Trouble)
		w := &s.sender.trouble.Now
		*w = Stall{Request: StalledRequest{PSN: 100, First: 100}, Since: 100, Begun: 200, Last: 800, Packets: 70, High: packet.PSN(120)}
		w.Rounds[TimerExpired] = 7
		k.set(s, w)
		if got := s.StillStalled(false); got != k.want {
			t.Errorf("%s: %v", k.name, got)
		}
	}
}
