package cq

import (
	"math"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// flowKey is one direction between two ports, to one queue pair; of a datagram also from one. What is of another service than the queue pair is
// dropped by it (rule BTH-004).
type flowKey struct {
	service  packet.Service
	src, dst packet.Addr
	to, from uint32
}

// flow is whose packets those of a direction are. Either end may be nil: no events tell of it.
type flow struct {
	from, to *queuePair
	many     []*queuePair // the members of a multicast group
	changes  int
	two      [2]*stream
	until    int64 // when one of the two begins another life
}

// Packet takes one packet, in the order of the capture. Its ICRC has been checked: a packet that fails it never arrived.
func (a *Agent) Packet(p *packet.Packet) {
	a.wire = max(a.wire, p.Time)
	a.packet(p)
	a.expire()
}

// packet adds a packet to what its flow has brought.
func (a *Agent) packet(p *packet.Packet) {
	a.pos++
	if p.ICRCState == packet.CRCBad {
		a.damaged(p)
		return
	}
	if p.Has&packet.HasBTH == 0 || p.Flaws&packet.FlawShort != 0 || p.Cut && p.Has&p.Info().Headers != p.Info().Headers {
		return
	}
	in := p.Info()
	service := p.Opcode.Service()
	if !in.Request && !in.Response || service > packet.UD && service != packet.XRC {
		return
	}
	key := flowKey{service: service, src: p.Src, dst: p.Dst, to: p.DestQP}
	if p.Has&packet.HasDETH != 0 {
		key.from = p.SrcQP
	}
	f := a.flows[key]
	if f == nil || f.changes != a.changes || p.Time >= f.until {
		f = a.resolve(key, p)
		a.flows[key] = f
	}
	if f.from == nil && f.to == nil && f.many == nil && (len(a.lives) == 0 || !toGroup(p)) {
		return
	}
	at := where{p.Frame, p.Time, a.pos, p.Tap, p.Opcode, p.PSN}
	switch {
	case service == packet.UD:
		a.datagram(f, p, at)
	case in.Response: // of f.from to the requests of f.to
		responder := f.from
		for _, s := range f.streams(f.to, f.from) {
			s.response(p, at)
			if responder == nil {
				responder = s.responder
			}
		}
		a.emitted(responder, at, true)
		if responder != nil && responder != f.from && !in.Middle {
			a.step(responder)
		}
	default:
		a.emitted(f.from, at, false)
		var requested *stream
		if f.to != nil {
			requested = f.to.in
		}
		for _, s := range f.streams(f.from, f.to) {
			if s.request(p, at); s == requested {
				a.begins(f.to, s)
			}
			s.begun = s.begun[:0]
		}
	}
	if in.Middle && !f.news() {
		return
	}
	if f.from != nil {
		a.step(f.from)
	}
	if f.to != nil {
		a.step(f.to)
	}
	for _, q := range f.many {
		a.step(q)
	}
}

// news reports whether something has come since it was asked before by which requests or completions may be judged, and not just more of a message.
func (f *flow) news() (news bool) {
	for _, q := range [...]*queuePair{f.from, f.to} {
		if q != nil {
			news = news || q.out.news || q.in.news
			q.out.news, q.in.news = false, false
		}
	}
	return news
}

// streams are what requester and responder know of the requests of one to the other; it may be the same.
func (f *flow) streams(requester, responder *queuePair) []*stream {
	list := f.two[:0]
	if requester != nil {
		list = append(list, requester.out)
	}
	if responder != nil && (requester == nil || responder.in != requester.out) {
		list = append(list, responder.in)
	}
	return list
}

// resolve finds the queue pairs of a flow.
func (a *Agent) resolve(k flowKey, p *packet.Packet) *flow {
	f := &flow{changes: a.changes, until: math.MaxInt64}
	service := p.Opcode.Service()
	for _, s := range a.sources {
		if k.to == wqe.MulticastQPN && k.dst.IsMulticast() && service == packet.UD {
			f.many = append(f.many, a.members(s, k.dst)...)
		}
		if s.addr.IsZero() || s.addr == k.dst {
			if q := s.at(k.to, p.Time, f); q != nil && q.service() == service && q.takes(k) {
				f.to = q
			}
		}
		if !s.addr.IsZero() && s.addr != k.src {
			continue
		}
		if service == packet.UD {
			if q := s.at(k.from, p.Time, f); q != nil && q.service() == service {
				f.from = q
			}
			continue
		}
		for n := range s.qps {
			if q := s.at(n, p.Time, f); q != nil && q.service() == service && q.attr.DestQPN == k.to &&
				q.attr.Has(qp.KnowsDestQPN) && q.sendsTo(k) && q.rather(f.from, p.Time) {
				f.from = q
			}
		}
	}
	if q := f.to; q != nil && q.addr().IsZero() {
		q.learned = k.dst
	}
	if q := f.from; q != nil && q.addr().IsZero() {
		q.learned = k.src
	}
	if service == packet.UD {
		if q := f.from; q != nil {
			q.setStart(q.out)
		}
		return f
	}
	if q := f.from; q != nil {
		q.setStart(q.out)
		if r := f.to; r != nil && !r.in.first.seen() && (!r.later || !q.out.first.seen()) {
			r.in = q.out
		}
	}
	if r := f.to; r != nil {
		s := r.in
		s.responder, s.unreliable = r, r.typ == qp.TypeUC
		if !s.started && r.attr.Has(qp.KnowsRQPSN) {
			s.begin(r.attr.RQPSN, true)
		}
		s.begin(p.PSN, false)
		if s.pmtu == 0 && r.attr.Has(qp.KnowsPMTU) {
			s.pmtu = r.attr.PMTU
		}
	}
	if q := f.from; q != nil && !q.out.started {
		q.out.begin(p.PSN, false)
	}
	return f
}

// rather reports whether a packet of that time is of q rather than of r.
func (q *queuePair) rather(r *queuePair, t int64) bool {
	if r == nil {
		return true
	}
	if x, y := q.gone && q.died < t, r.gone && r.died < t; x != y {
		return y
	}
	if x, y := q.wasRTS != nil, r.wasRTS != nil; x != y {
		return x
	}
	return q.born > r.born || q.born == r.born && q.qpn > r.qpn
}

// setStart gives the requests of a queue pair the PSN that they start at.
func (q *queuePair) setStart(s *stream) {
	s.requester, s.unreliable = q, q.typ == qp.TypeUC
	if q.attr.Has(qp.KnowsSQPSN) {
		s.begin(q.attr.SQPSN&packet.PSNMask, true)
	}
	if s.pmtu == 0 && q.attr.Has(qp.KnowsPMTU) {
		s.pmtu = q.attr.PMTU
	}
}

// at is the life of a queue pair at a time. f shall be looked for again when that ends.
func (s *Source) at(n uint32, t int64, f *flow) *queuePair {
	list := s.qps[n]
	if len(list) == 0 {
		return nil
	}
	i := len(list) - 1
	for i > 0 && list[i].born > t {
		f.until = min(f.until, list[i].born)
		i--
	}
	return list[i]
}

// takes reports whether a connected queue pair is connected to where the flow comes from.
func (q *queuePair) takes(k flowKey) bool {
	return q.service() == packet.UD || !q.attr.Has(qp.KnowsDestAddr) || q.attr.DestAddr == k.src
}

func (q *queuePair) sendsTo(k flowKey) bool {
	return !q.attr.Has(qp.KnowsDestAddr) || q.attr.DestAddr == k.dst
}

// datagram adds a datagram to what its sender sent and to what its receiver was sent.
func (a *Agent) datagram(f *flow, p *packet.Packet, at where) {
	if q := f.from; q != nil {
		a.emitted(q, at, false)
		q.out.begin(p.PSN, false)
		q.out.request(p, at)
	}
	if f.to != nil {
		a.deliver(f.to, a.message(p, at))
	}
	if toGroup(p) {
		a.spread(f, p, at)
	}
}

// toGroup reports whether a packet goes to a multicast group.
func toGroup(p *packet.Packet) bool {
	return p.DestQP == wqe.MulticastQPN && p.Dst.IsMulticast() && p.Opcode.Service() == packet.UD
}

// message is the message that a datagram is.
func (a *Agent) message(p *packet.Packet, at where) *message {
	m := &message{
		packets: 1, op: p.Opcode, length: uint32(p.PayloadLen), begin: at, end: at, head: headOf(p), cut: p.PayloadLen != len(p.Payload),
	}
	if !m.cut {
		m.crc = sum(p.Payload)
	}
	return m
}

// deliver adds a datagram to what its receiver was sent.
func (a *Agent) deliver(q *queuePair, m *message) {
	s := q.in
	if !s.first.seen() {
		s.first = m.begin
	}
	s.newest = m.begin
	s.started = true
	m.first = int64(s.msgs.end())
	if q.attr.Has(qp.KnowsQKey) && q.attr.QKey != m.qkey {
		a.covered(rule.UDQKEY004)
		if len(s.dropped) == mostNAKs {
			s.dropped = append(s.dropped[:0], s.dropped[mostNAKs/2:]...)
		}
		s.dropped = append(s.dropped, m)
		return
	}
	s.msgs.add(m)
}
