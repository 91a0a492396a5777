package scenario

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// LimitError says that a run was ended because its adapters had sent more packets than they may.
type LimitError struct {
	File    string
	Packets uint64 // that they sent
	Takes   uint64 // packets that the work takes where nothing is lost
	Repeats string // what they sent towards the end
	Faults  []string
}

func (e *LimitError) Error() string {
	s := fmt.Sprintf("scenario: %s: ended after %d packets, where its work takes about %d: %s. It was judged up to there; ", e.File, e.Packets, e.Takes, e.Repeats)
	if len(e.Faults) > 0 {
		s += "the cause may be " + strings.Join(e.Faults, ", ") + "; "
	}
	return s + "if more are to come, give packets: in the scenario, or --packets"
}

// A run may send leastLimit packets, and perPacket for each one that its work takes: enough for what is retransmitted, over a bad network too.
const (
	leastLimit = 1_000_000
	perPacket  = 16
	perStep    = 100 // steps of the clock for each packet that may be sent
	lastFew    = 1000
)

// meter counts what the adapters send.
type meter struct {
	sent, most uint64
	steps      uint64
	last       map[kindSent]int // of the last packets before the limit
	exceeded   bool
}

// kindSent is a kind of packet.
type kindSent struct {
	hca string
	op  packet.Opcode
	dst packet.Addr
	qpn uint32
}

func (s *Scenario) limit() uint64 {
	if s.Packets > 0 {
		return s.Packets
	}
	return leastLimit + perPacket*s.takes()
}

// takes is how many packets the work takes, answers among them, where nothing is lost.
func (s *Scenario) takes() (n uint64) {
	for i := range s.Work {
		w := &s.Work[i]
		q := s.QP(w.QP)
		if w.Action != PostSend || q == nil {
			continue
		}
		length := uint32(0)
		for _, l := range w.Lengths {
			length += l
		}
		one := 1
		if w.Op != wqe.OpFlush && q.Type != qp.TypeUD {
			one = wqe.Packets(length, q.Attr.PMTU)
		}
		if q.Type != qp.TypeUC && q.Type != qp.TypeUD {
			one++
		}
		n += uint64(one) * uint64(w.Repeat)
	}
	return n
}

// sent counts a frame that an adapter sends. Of the last ones it is noted what they are.
func (r *Run) sent(hca string, frame []byte) {
	m := &r.meter
	if m.sent++; m.sent+lastFew <= m.most {
		return
	}
	var p packet.Packet
	fabricagent.Decode(&fabricagent.Frame{Link: r.linkType(), Len: uint32(len(frame)), Data: frame}, &p)
	m.last[kindSent{hca, p.Opcode, p.Dst, p.DestQP}]++
}

// over reports whether the run has gone beyond its limit. What takes time and sends nothing has one as well.
func (m *meter) over() bool {
	m.steps++
	m.exceeded = m.sent >= m.most || m.steps/perStep >= m.most
	return m.exceeded
}

// Exceeded returns a *LimitError where the run was ended by its limit of packets.
func (r *Run) Exceeded() error {
	if !r.meter.exceeded {
		return nil
	}
	e := &LimitError{File: r.File, Packets: r.meter.sent, Takes: r.takes(), Repeats: r.repeats()}
	for _, h := range r.HCAs {
		if h.Fault != "" {
			e.Faults = append(e.Faults, fmt.Sprintf("the fault %s of %s", h.Fault, h.Name))
		}
	}
	return e
}

// repeats says what was sent most towards the end.
func (r *Run) repeats() string {
	type kind struct {
		kindSent
		n int
	}
	var list []kind
	sum := 0
	for k, n := range r.meter.last {
		list = append(list, kind{k, n})
		sum += n
	}
	if sum == 0 {
		return "an action that sends no packet is repeated"
	}
	slices.SortFunc(list, func(a, b kind) int {
		if a.n != b.n {
			return b.n - a.n
		}
		return strings.Compare(fmt.Sprint(a.hca, a.op, a.qpn), fmt.Sprint(b.hca, b.op, b.qpn))
	})
	var parts []string
	for _, k := range list[:min(len(list), 3)] {
		parts = append(parts, fmt.Sprintf("%d are %v from %s to %s", k.n, k.op, k.hca, r.destination(&k.kindSent)))
	}
	return fmt.Sprintf("of the last %d, %s", sum, strings.Join(parts, ", "))
}

// destination is the name of the queue pair that packets go to.
func (r *Run) destination(k *kindSent) string {
	for i := range r.QPs {
		if q := r.qps[r.QPs[i].Name]; q.id.QPN == k.qpn && q.Addr == k.dst {
			return q.QP.Name
		}
	}
	return fmt.Sprintf("QP %#x of %v", k.qpn, k.dst)
}
