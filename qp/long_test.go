package qp

import "testing"

// TestLong: stalls of LongStall or longer are counted that a timer ended, or nothing that was retransmitted; not shorter ones, those after an RNR NAK, and those that a NAK ended.
func TestLong(t *testing.T) {
	stall := func(lost int64, naks, timers, asked uint32) Stall {
		k := Stall{Since: 1, Begun: 1, Last: lost, Ended: 1 + lost, NAKs: naks}
		k.Rounds[TimerExpired], k.Rounds[SequenceAsked] = timers, asked
		return k
	}
	for _, tt := range []struct {
		Stall
		want uint32
	}{
		{stall(LongStall, 0, 1, 0), 1},
		{stall(LongStall, 0, 0, 0), 1},
		{stall(LongStall-1, 0, 1, 0), 0},
		{stall(LongStall, 1, 1, 0), 0},
		{stall(LongStall, 0, 0, 1), 0},
	} {
		s := Stalls{}
		if s.add(&tt.Stall); s.Long != tt.want {
			t.Errorf("%+v: %d", tt.Stall, s.Long)
		}
	}
}
