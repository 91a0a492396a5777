package qp

import (
	"testing"

	"ibwitness/packet"
)

// TestWentShort: what a requester went back to was lost before the tap where that has not seen the end of it again, and nothing that it has seen asks for an acknowledgment; not where it has seen all,
// something of it asks, only one packet came or others came out of order, or it is too soon for a timer.
func TestWentShort(t *testing.T) {
	const last = int64(1e9)
	for _, k := range []struct {
		name string
		set  func(s *SendQueue)
		now  int64
		want bool
	}{
		{"short", func(*SendQueue) {}, last + 100e6, true},
		{"soon", func(*SendQueue) {}, last + 8e3, false},
		{"all came", func(s *SendQueue) { s.SentAgain(110) }, last + 100e6, false},
		{"one asks", func(s *SendQueue) { s.History().Put(108, 8, packet.Trace{SrcPort: 9, Flags: packet.TraceAckReq}, 10) }, last + 100e6, false},
		{"only one came", func(s *SendQueue) { s.SentAgain(101) }, last + 100e6, false},
		{"out of order", func(s *SendQueue) { s.trouble().Overtaking = &Overtaking{Sum: Overtaken{Packets: 1}} }, last + 100e6, false},
		{"its receiver was not ready", func(s *SendQueue) { s.trouble().Round = NotReady }, last + 100e6, false},
	} {
		s := &NewDirection().SQ
		s.First, s.Una, s.Next, s.High, s.Last.Time = 100, 100, 110, 110, last
		for psn := packet.PSN(100); psn.Before(110); psn++ {
			s.History().Put(psn, uint64(psn), packet.Trace{SrcPort: 9}, psn.Diff(100)+1)
		}
		s.trouble().From, s.trouble().Round = 100, SequenceAsked
		s.SentAgain(109)
		k.set(s)
		if got := s.WentShort(k.now); got != k.want {
			t.Errorf("%s: %v", k.name, got)
		}
	}
}
