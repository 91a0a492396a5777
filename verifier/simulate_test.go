package verifier_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"

	"ibwitness/packet"
)

// simulation is a correct requester A, a correct responder B, and a path between them that loses packets before and after a tap. What
// the tap sees it writes down as the lines of a scenario. PSNs are counted on here without wrapping.
type simulation struct {
	*rand.Rand
	now    int64 // nanoseconds
	agenda []appointment
	seen   []line
	pmtu   int
	// loss is how likely a packet is lost: a request before and after the tap, a response before and after it.
	loss [4]float64
	// ids counts the packets that A and B have sent: their IPv4 identifications, so that those of lost packets are missing.
	ids [2]int
	simRequester
	simResponder
}

// appointment is what will happen at a time.
type appointment struct {
	at int64
	do func()
}

// line is a line of a scenario.
type line struct {
	at   int64
	text string
}

// simRequest is a request packet.
type simRequest struct {
	op                 string
	psn, span          int // a READ takes a PSN a response packet
	length, dma, va    int
	ackreq             bool
	read, atomic, last bool
	takes              bool // a receive WQE
}

// simResponse is a response packet.
type simResponse struct {
	op               string
	psn, msn, length int
	timer, orig      int
}

// Delays in nanoseconds.
const (
	simToTap   = 500
	simToB     = 400
	simAnswers = 300
	simGap     = 200
)

// after makes an appointment.
func (s *simulation) after(delay int64, do func()) {
	at := s.now + delay
	i := sort.Search(len(s.agenda), func(i int) bool { return s.agenda[i].at > at })
	s.agenda = slices.Insert(s.agenda, i, appointment{at, do})
}

// run lets A send its requests until all are done. It reports whether they are.
func (s *simulation) run() bool {
	s.pump()
	for range 20000 {
		if len(s.agenda) == 0 || s.una == len(s.requests) {
			break
		}
		a := s.agenda[0]
		s.agenda = s.agenda[1:]
		s.now = a.at
		a.do()
	}
	return s.una == len(s.requests)
}

// send puts a request of A on the path.
func (s *simulation) send(p simRequest) {
	id := s.number(0)
	s.after(simToTap, func() {
		if s.lost(0) {
			return
		}
		s.tap(p.String() + id)
		if !s.lost(1) {
			s.after(simToB, func() { s.arrive(p) })
		}
	})
}

// answer puts a response of B on the path, after those that wait for B's port.
func (s *simulation) answer(r simResponse) {
	s.free = max(s.now+simAnswers, s.free+simGap)
	id := s.number(1)
	s.after(s.free+simToB-s.now, func() {
		if s.lost(2) {
			return
		}
		s.tap(r.String() + id)
		if !s.lost(3) {
			s.after(simToTap, func() { s.receive(r) })
		}
	})
}

// number gives the next packet of an end its IPv4 identification.
func (s *simulation) number(end int) string {
	s.ids[end]++
	return fmt.Sprintf(" ipid=%d", s.ids[end]&0xffff)
}

// lost reports whether a packet is lost on one of the four stretches of the path.
func (s *simulation) lost(stretch int) bool { return s.Float64() < s.loss[stretch] }

// tap writes down a packet.
func (s *simulation) tap(text string) { s.seen = append(s.seen, line{s.now, text}) }

func (p *simRequest) String() string {
	text := fmt.Sprintf("A>B %s psn=%d", p.op, p.psn&packet.PSNMask)
	if p.read {
		text += fmt.Sprintf(" dma=%d va=%d", p.dma, p.va)
	} else if !p.atomic {
		text += fmt.Sprintf(" len=%d", p.length)
	}
	if strings.HasPrefix(p.op, "WRITE_FIRST") || strings.HasPrefix(p.op, "WRITE_ONLY") {
		text += fmt.Sprintf(" dma=%d", p.dma)
	}
	if p.ackreq {
		text += " ackreq"
	}
	return text
}

func (r *simResponse) String() string {
	text := fmt.Sprintf("B>A %s psn=%d", r.op, r.psn&packet.PSNMask)
	if r.op != "READ_MIDDLE" {
		text += fmt.Sprintf(" msn=%d", r.msn)
	}
	if strings.HasPrefix(r.op, "READ") {
		text += fmt.Sprintf(" len=%d", r.length)
	}
	if r.op == "RNR_NAK" {
		text += fmt.Sprintf(" timer=%d", r.timer)
	}
	if r.op == "ATOMIC_ACK" {
		text += fmt.Sprintf(" orig=%d", r.orig)
	}
	return text
}
