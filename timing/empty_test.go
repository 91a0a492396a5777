package timing

import (
	"testing"

	"ibwitness/packet"
)

// TestEmpty: WRITEs without data count where they have no immediate data either, which a program would notice, and not where they are retransmitted.
func TestEmpty(t *testing.T) {
	s := begin(t, nil)
	s.request(0, packet.WriteOnly, 1, 0)
	s.request(10, packet.WriteOnly, 1, 0)
	s.request(20, packet.WriteOnlyImm, 2, 0)
	s.request(30, packet.WriteOnly, 3, 0)
	s.dma = 64
	s.request(40, packet.WriteOnly, 4, 64)
	s.answer(50, packet.Acknowledge, 5)
	s.c.Finish()
	if n := s.c.Ends[0].Empty; n != 2 {
		t.Errorf("%d, want 2", n)
	}
}
