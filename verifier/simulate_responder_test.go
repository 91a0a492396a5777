package verifier_test

// simResponder is the state of B.
type simResponder struct {
	epsn, msn int
	nak       bool    // a NAK is out for epsn
	scarce    float64 // how likely no receive WQE is there
	counter   int     // that atomics add to
	saved     map[int]int
	free      int64 // when its port is
}

// arrive is B's, of a request.
func (s *simulation) arrive(p simRequest) {
	switch {
	case p.psn > s.epsn:
		if !s.nak {
			s.nak = true
			s.answer(simResponse{op: "NAK_SEQUENCE", psn: s.epsn, msn: s.msn})
		}
	case p.psn < s.epsn:
		s.answerAgain(p)
	case p.takes && s.Float64() < s.scarce:
		s.nak = true
		s.answer(simResponse{op: "RNR_NAK", psn: p.psn, msn: s.msn, timer: 1 + s.IntN(14)})
	default:
		s.nak = false
		s.epsn += p.span
		if p.last {
			s.msn++
		}
		switch {
		case p.read:
			s.answerRead(p)
		case p.atomic:
			s.counter++
			s.saved[p.psn] = s.counter
			s.answer(simResponse{op: "ATOMIC_ACK", psn: p.psn, msn: s.msn, orig: s.counter})
		case p.ackreq:
			s.answer(simResponse{op: "ACK", psn: p.psn, msn: s.msn})
		}
	}
}

// answerAgain answers a duplicate.
func (s *simulation) answerAgain(p simRequest) {
	switch {
	case p.read:
		s.answerRead(p)
	case p.atomic:
		s.answer(simResponse{op: "ATOMIC_ACK", psn: p.psn, msn: s.msn, orig: s.saved[p.psn]})
	case p.ackreq: // with the newest PSN, unless that passed over a READ or an atomic
		psn := s.epsn - 1
		for _, q := range s.requests {
			if q.psn > p.psn && q.psn < s.epsn && (q.read || q.atomic) {
				psn = q.psn - 1
				break
			}
		}
		s.answer(simResponse{op: "ACK", psn: psn, msn: s.msn})
	}
}

func (s *simulation) answerRead(p simRequest) {
	for i := range p.span {
		r := simResponse{op: "READ_MIDDLE", psn: p.psn + i, msn: s.msn, length: min(s.pmtu, p.dma-i*s.pmtu)}
		switch {
		case p.span == 1:
			r.op = "READ_ONLY"
		case i == 0:
			r.op = "READ_FIRST"
		case i == p.span-1:
			r.op = "READ_LAST"
		}
		s.answer(r)
	}
}
