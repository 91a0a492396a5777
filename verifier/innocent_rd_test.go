package verifier_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"ibwitness/internal/testkit/sample"
	"ibwitness/packet"
	"ibwitness/rule"
)

// rdSimulation is a correct requester A with several QPs on one end-to-end context, a correct responder B, and a path that loses and copies packets.
type rdSimulation struct {
	*rand.Rand
	pmtu      int
	now       int64
	lines     []string
	loss      [4]float64 // as of simulation
	twice     float64
	next      int // PSN of A
	high      int
	epsn      int // PSN of B
	nak       bool
	scarce    float64
	waits     map[int]int64
	responses []rdReply // that A got
}

type rdReply struct {
	op  string
	psn int
}

type rdRequest struct {
	op, fields string
	span       int
	last       bool
}

// packets makes up the packets of a message.
func (s *rdSimulation) packets() (list []rdRequest) {
	n := 1 + s.IntN(4)*s.IntN(2)
	switch s.IntN(5) {
	case 0:
		return []rdRequest{{"READ_REQUEST", fmt.Sprintf("dma=%d", (n-1)*s.pmtu+1+s.IntN(s.pmtu)), n, true}}
	case 1:
		return []rdRequest{{"FETCH_ADD", "", 1, true}}
	}
	if n == 1 {
		return []rdRequest{{"SEND_ONLY", fmt.Sprintf("len=%d ackreq", s.IntN(s.pmtu+1)), 1, true}}
	}
	for i := range n {
		r := rdRequest{"SEND_MIDDLE", fmt.Sprintf("len=%d", s.pmtu), 1, false}
		switch i {
		case 0:
			r.op = "SEND_FIRST"
		case n - 1:
			r = rdRequest{"SEND_LAST", fmt.Sprintf("len=%d ackreq", 1+s.IntN(s.pmtu)), 1, true}
		}
		list = append(list, r)
	}
	return list
}

func (s *rdSimulation) lost(i int) bool { return s.Float64() < s.loss[i] }

func (s *rdSimulation) tap(way, op string, psn int, fields string) {
	s.lines = append(s.lines, fmt.Sprintf("%dns %s RD_%s psn=%d %s", s.now, way, op, psn&packet.PSNMask, fields))
	if s.Float64() < s.twice {
		s.now += 100
		s.lines = append(s.lines, fmt.Sprintf("%dns %s copy", s.now, way))
	}
}

// send lets A send a request from QP 0x20+qp, and B answer.
func (s *rdSimulation) send(qp int, r rdRequest, psn int) {
	s.now += 500
	s.high = max(s.high, psn+r.span)
	if s.lost(0) {
		return
	}
	s.tap(fmt.Sprintf("A.%#x>B", 0x20+qp), r.op, psn, "eec=0xb2 "+r.fields)
	if s.lost(1) {
		return
	}
	way := fmt.Sprintf("B>A.%#x", 0x20+qp)
	switch {
	case r.op == "RESYNC":
		s.epsn, s.nak = psn+1, false
		s.answer(way, "ACK", psn, "")
	case psn > s.epsn:
		if !s.nak {
			s.nak = true
			s.answer(way, "NAK_SEQUENCE", s.epsn, "")
		}
	case psn == s.epsn && (r.op == "SEND_FIRST" || r.op == "SEND_ONLY") && s.Float64() < s.scarce:
		s.nak = true
		s.answer(way, "RNR_NAK", psn, "timer=14")
	default:
		if psn == s.epsn {
			s.epsn, s.nak = psn+r.span, false
		}
		s.accepted(way, r, psn)
	}
}

// accepted lets B answer a request that it carried out, now or before.
func (s *rdSimulation) accepted(way string, r rdRequest, psn int) {
	switch {
	case r.op == "FETCH_ADD":
		s.answer(way, "ATOMIC_ACK", psn, "")
	case r.op == "READ_REQUEST" && r.span == 1:
		s.answer(way, "READ_ONLY", psn, "")
	case r.op == "READ_REQUEST":
		for i := range r.span {
			switch i {
			case 0:
				s.answer(way, "READ_FIRST", psn, fmt.Sprintf("len=%d", s.pmtu))
			case r.span - 1:
				s.answer(way, "READ_LAST", psn+i, "")
			default:
				s.answer(way, "READ_MIDDLE", psn+i, fmt.Sprintf("len=%d", s.pmtu))
			}
		}
	case r.last:
		s.answer(way, "ACK", psn, "")
	}
}

func (s *rdSimulation) answer(way, op string, psn int, fields string) {
	s.now += 700
	if s.lost(2) {
		return
	}
	s.tap(way, op, psn, "eec=0xa1 "+fields)
	if !s.lost(3) {
		s.responses = append(s.responses, rdReply{op, psn})
	}
}

// message lets A send a message until it is acknowledged or refused, and reports whether it was acknowledged.
func (s *rdSimulation) message(qp int, list []rdRequest) bool {
	first, from := s.next, 0
	for tries := range 200 {
		s.responses = s.responses[:0]
		psn := first
		for i, r := range list {
			if i >= from {
				s.send(qp, r, psn)
			}
			psn += r.span
		}
		from = 0
		got := 0
		for _, a := range s.responses {
			switch {
			case a.op == "RNR_NAK":
				s.waits[qp] = s.now + 1_300_000
				return false
			case a.op == "NAK_SEQUENCE":
				if from = a.psn - first; from < 0 || from >= len(list) || list[0].span > 1 {
					from = 0
				}
			case a.op == "READ_FIRST", a.op == "READ_MIDDLE", a.op == "READ_LAST":
				if a.psn == first+got {
					got++
				}
				if got == list[0].span {
					s.next = psn
					return true
				}
			case a.psn == psn-1:
				s.next = psn
				return true
			}
		}
		s.now += 2_000_000
		if tries > 0 && s.IntN(3) == 0 { // it gives up, and tells the responder where it goes on
			for range 200 {
				s.responses = s.responses[:0]
				if s.send(qp, rdRequest{"RESYNC", "ackreq", 1, true}, s.high); len(s.responses) > 0 && s.responses[0].op == "ACK" {
					break
				}
				s.now += 2_000_000
			}
			s.next = s.high
			first, from = s.next, 0
		}
	}
	return true
}

// TestInnocentRD: nobody is accused on RD while both ends are correct.
func TestInnocentRD(t *testing.T) {
	for _, setting := range innocentSettings {
		if setting.start == "CM" {
			continue
		}
		t.Run(setting.String(), func(t *testing.T) {
			for n := range sample.Part(*simRuns, 10) {
				run := newInnocentRD(setting, *simSeed+uint64(n))
				if bad := run.accused(t, run.lines); len(bad) > 0 {
					t.Fatalf("%v; seed %d, %s", names(bad), run.seed, run.show(t))
				}
			}
		})
	}
}

// newInnocentRD simulates connections of RD on one end-to-end context.
func newInnocentRD(setting innocentSetting, seed uint64) *innocent {
	r := rand.New(rand.NewPCG(seed, 11))
	s := &rdSimulation{Rand: r, pmtu: 256 << r.IntN(3), waits: map[int]int64{}}
	s.next = []int{100, 0xfffff8, 5000}[r.IntN(3)]
	s.epsn, s.high = s.next, s.next
	if r.IntN(2) == 0 {
		s.scarce = 0.2
	}
	if setting.lossy {
		p := []float64{0.02, 0.1}[r.IntN(2)]
		s.loss, s.twice = [4]float64{p, p, p, p}, p/2
		if strings.Contains(setting.near, "A") {
			s.loss[0], s.loss[3] = 0, 0
		}
		if strings.Contains(setting.near, "B") {
			s.loss[1], s.loss[2] = 0, 0
		}
	}
	pending := map[int][]rdRequest{}
	for range 5 + r.IntN(25) {
		qp := r.IntN(3)
		if s.now < s.waits[qp] {
			if qp = (qp + 1) % 3; s.now < s.waits[qp] {
				s.now = s.waits[qp]
			}
		}
		if pending[qp] == nil {
			pending[qp] = s.packets()
		}
		if s.message(qp, pending[qp]) {
			delete(pending, qp)
		}
	}
	lines := s.lines
	if setting.start == "later" {
		lines = lines[r.IntN(len(lines)):]
		for len(lines) > 0 && strings.HasSuffix(lines[0], "copy") {
			lines = lines[1:]
		}
	}
	return &innocent{innocentSetting: setting, seed: seed, encap: []string{"v4", "v6", "ib"}[r.IntN(3)], lines: copies(lines)}
}

// copies leaves out those of frames that are not there.
func copies(lines []string) (out []string) {
	seen := map[string]bool{}
	for _, l := range lines {
		way := strings.Fields(l)[1]
		if strings.HasSuffix(l, "copy") && !seen[way] {
			continue
		}
		seen[way] = true
		out = append(out, l)
	}
	return out
}

func names(m map[rule.ID]int) (out []string) {
	for id := range m {
		out = append(out, id.String())
	}
	return out
}
