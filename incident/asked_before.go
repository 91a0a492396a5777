package incident

import (
	"ibwitness/agent"
	"ibwitness/qp"
	"ibwitness/rule"
)

// Until the capture shows that two directions are one connection, nothing tells which requests a NAK asks for: what is retransmitted for it begins no
// round that is counted.

// askedFirst is when the first round of retransmission began that is counted of an end, and how many PSN sequence NAKs have none.
type askedFirst struct {
	begun int64
	naks  uint32
}

// obeyedWithin is how long before its round a NAK comes at most, nanoseconds.
const obeyedWithin = int64(10e6)

// asks keeps that of the peer of end from of a connection, which had trouble k.
func (s *lossSum) asks(c *agent.Connection, from int, k *qp.Trouble) {
	peer := &c.Ends[1-from]
	rounds := k.Sum.Rounds[qp.SequenceAsked]
	if peer.SequenceNAKs <= rounds || k.Sum.Begun == 0 {
		return
	}
	if s.asking == nil {
		s.asking = map[Party]askedFirst{}
	}
	s.asking[party(peer)] = askedFirst{k.Sum.Begun, peer.SequenceNAKs - rounds}
}

// askedBefore counts, in a sum that an incident tells of, the PSN sequence NAKs that came before the first round of their connection that is counted:
// it had begun with them.
func (t *teller) askedBefore(i *Incident, s *lossSum) {
	if len(s.asking) == 0 || !t.timed() {
		return
	}
	first := (*rule.Finding)(nil)
	for n := range t.run.Findings {
		f := &t.run.Findings[n]
		if f.Rule != rule.EvSeqNAK {
			continue
		}
		who := Party{Addr: f.Accused.Addr, QPN: f.Accused.QPN, QPNKnown: f.Accused.QPNKnown}
		a, asks := s.asking[who]
		if !asks || a.naks == 0 || f.Time >= a.begun-obeyedWithin {
			continue
		}
		if first == nil || f.Time < first.Time {
			first = f
		}
		a.naks--
		s.asking[who], s.naks = a, s.naks+1
	}
	if first != nil && first.Time < s.begin {
		s.begin = first.Time
		i.show(first.Frame)
	}
}
