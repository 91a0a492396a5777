package verifier_test

import (
	"time"

	"ibwitness/packet"
)

// simRequester is the state of A. Of its requests, those before una are done, and next is the one to be sent next.
type simRequester struct {
	requests  []simRequest
	done      []int // responses that a READ got; 1 of another request that is acknowledged
	una, next int
	most      int   // READs and atomics outstanding
	timeout   int64 // of its ACK timer, at least
	timer     int   // which setting of the timer counts
	resumes   int64 // when the RNR timer ends
	sending   bool
	implied   bool // a response told that one before it is missing, and A went back
}

// simWindow is how many requests A has outstanding at most.
const simWindow = 25

// prepare makes up messages for A to send, the first from psn on.
func (s *simulation) prepare(messages, psn int) {
	silent := 0
	add := func(p simRequest) {
		if silent++; silent == simWindow { // who waits for room in his window asks
			p.ackreq = !p.read && !p.atomic
		}
		if p.ackreq || p.read || p.atomic {
			silent = 0
		}
		p.psn, p.span = psn, max(p.span, 1)
		psn += p.span
		s.requests = append(s.requests, p)
	}
	for m := range messages {
		n := 1
		if s.IntN(3) == 0 {
			n = 2 + s.IntN(4)
		}
		kind, rest, ackreq, imm := s.IntN(6), 1+s.IntN(s.pmtu), s.IntN(3) > 0, ""
		if s.IntN(3) == 0 {
			imm = "_IMM"
		}
		name, write := "SEND", kind == 2
		if write {
			name = "WRITE"
		}
		switch {
		case kind < 3 && n == 1:
			rest = s.IntN(s.pmtu + 1)
			add(simRequest{op: name + "_ONLY" + imm, length: rest, dma: rest, ackreq: ackreq, last: true, takes: !write || imm != ""})
		case kind < 3:
			add(simRequest{op: name + "_FIRST", length: s.pmtu, dma: (n-1)*s.pmtu + rest, takes: !write})
			for range n - 2 {
				add(simRequest{op: name + "_MIDDLE", length: s.pmtu})
			}
			add(simRequest{op: name + "_LAST" + imm, length: rest, ackreq: ackreq, last: true, takes: write && imm != ""})
		case kind < 5:
			add(simRequest{op: "READ_REQUEST", dma: (n-1)*s.pmtu + rest, span: n, va: 0x10000 + m*0x100000, read: true, last: true})
		default:
			add(simRequest{op: "FETCH_ADD", atomic: true, last: true})
		}
	}
	if p := &s.requests[len(s.requests)-1]; !p.read && !p.atomic {
		p.ackreq = true
	}
	s.done = make([]int, len(s.requests))
}

// complete reports whether request i has all that it waits for.
func (s *simulation) complete(i int) bool {
	if s.requests[i].read {
		return s.done[i] == s.requests[i].span
	}
	return s.done[i] > 0
}

// pump lets A send, one packet after the other.
func (s *simulation) pump() {
	if s.sending || s.now < s.resumes || s.next >= len(s.requests) || s.next-s.una >= simWindow {
		return
	}
	p := s.requests[s.next]
	if (p.read || p.atomic) && s.outstanding() >= s.most {
		return
	}
	if n := s.done[s.next]; p.read && n > 0 { // only the tail is missing
		p.psn, p.span, p.dma, p.va = p.psn+n, p.span-n, p.dma-n*s.pmtu, p.va+n*s.pmtu
	}
	s.next++
	s.send(p)
	s.setTimer()
	s.sending = true
	s.after(200+s.Int64N(600), func() {
		s.sending = false
		s.pump()
	})
}

// outstanding is how many READs and atomics are.
func (s *simulation) outstanding() (n int) {
	for i := s.una; i < s.next; i++ {
		if (s.requests[i].read || s.requests[i].atomic) && !s.complete(i) {
			n++
		}
	}
	return n
}

// setTimer sets A's ACK timer.
func (s *simulation) setTimer() {
	s.timer++
	set := s.timer
	s.after(s.timeout+s.Int64N(s.timeout), func() {
		if set == s.timer && s.una < s.next {
			s.implied = false
			s.next = s.una
			s.pump()
		}
	})
}

// progress moves on over what is done.
func (s *simulation) progress() {
	for s.una < len(s.requests) && s.complete(s.una) {
		s.una++
	}
	s.next = max(s.next, s.una)
	s.timer++
	if s.una < s.next {
		s.setTimer()
	}
}

// goBack lets A begin again once where a response has told that one before it is missing.
func (s *simulation) goBack() {
	if !s.implied {
		s.implied = true
		s.next = s.una
	}
}

// acknowledge takes the SENDs and WRITEs up to psn as acknowledged. It reports false where a READ or an atomic before is unanswered.
func (s *simulation) acknowledge(psn int) bool {
	for i := s.una; i < s.next && s.requests[i].psn <= psn; i++ {
		if p := s.requests[i]; !p.read && !p.atomic {
			s.done[i] = 1
		} else if !s.complete(i) {
			return false
		}
	}
	return true
}

// receive is A's, of a response.
func (s *simulation) receive(r simResponse) {
	defer s.pump()
	if s.una >= s.next {
		return
	}
	if end := s.requests[s.next-1]; r.psn >= end.psn+end.span || r.psn < s.requests[s.una].psn {
		return
	}
	switch r.op {
	case "ACK":
		una := s.una
		whole := s.acknowledge(r.psn)
		s.progress()
		if s.una > una {
			s.implied = false
		}
		if !whole {
			s.goBack()
		}
	case "NAK_SEQUENCE", "RNR_NAK":
		whole := s.acknowledge(r.psn - 1)
		s.progress()
		s.next, s.implied = s.una, false
		if whole && r.op == "RNR_NAK" {
			wait := packet.RNRTimer(uint8(r.timer)) + time.Microsecond + time.Duration(s.IntN(20000))
			s.resumes = s.now + int64(wait)
			s.timer++
			s.after(int64(wait), s.pump)
		}
	default:
		s.receiveData(r)
	}
}

// receiveData is A's, of a READ response or ATOMIC Acknowledge.
func (s *simulation) receiveData(r simResponse) {
	for i := s.una; i < s.next; i++ {
		p := s.requests[i]
		if r.psn < p.psn || r.psn >= p.psn+p.span || !p.read && !p.atomic || s.complete(i) || p.atomic != (r.op == "ATOMIC_ACK") {
			continue
		}
		switch n := r.psn - p.psn; {
		case n < s.done[i]:
		case !s.acknowledge(p.psn-1) || n > s.done[i]:
			s.progress()
			s.goBack()
		default:
			s.implied = false
			s.done[i]++
			s.progress()
		}
		return
	}
}
