package cq

import (
	"math"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// Flow is one direction between two ports, to one queue pair; of a datagram also from one. What is of another service than the queue pair is
// dropped by it (rule BTH-004).
type Flow struct {
	Service  packet.Service
	Src, Dst packet.Addr
	To, From uint32
}

// group reports whether a flow goes to a multicast group.
func (f Flow) group() bool {
	return f.To == wqe.MulticastQPN && f.Dst.IsMulticast() && f.Service == packet.UD
}

// Route is whose packets those of a flow are. Either end may be nil: no events tell of it.
type Route struct {
	flow     Flow
	from, to *queuePair
	many     []*queuePair // the members of a multicast group
	changes  int
	two      [2]*Requests
	until    int64 // when one of the two begins another life
}

// Reach says that the packets up to a time are known from now on. Advance judges what waits for that.
func (a *Agent) Reach(now int64) { a.wire = max(a.wire, now) }

// Route returns whose packets those of a flow are, nil if no events tell of either end. p and now are PSN and time of a packet.
func (a *Agent) Route(k *Flow, p packet.PSN, now int64) *Route {
	recent := &a.recent[k.To%uint32(len(a.recent))]
	f := *recent
	if f == nil || f.flow.To != k.To || f.flow.From != k.From || f.flow.Src != k.Src || f.flow.Dst != k.Dst || f.flow.Service != k.Service {
		f = a.flows[*k]
	}
	if f == nil || f.changes != a.changes || now >= f.until {
		f = a.resolve(*k, p, now)
		a.flows[*k] = f
	}
	*recent = f
	if f.from == nil && f.to == nil && f.many == nil && (len(a.lives) == 0 || !k.group()) {
		return nil
	}
	return f
}

// Requests are the requests that a packet of a route is one of, as requester and responder know them; it may be the same. response says that it is a response to
// one of them. What has been sent to a queue pair of UD is told by Datagram instead.
func (f *Route) Requests(response bool) []*Requests {
	switch {
	case response:
		return f.requests(f.to, f.from)
	case f.flow.Service == packet.UD:
		return f.requests(f.from, nil)
	}
	return f.requests(f.from, f.to)
}

func (f *Route) requests(requester, responder *queuePair) []*Requests {
	list := f.two[:0]
	if requester != nil {
		list = append(list, requester.out)
	}
	if responder != nil && (requester == nil || responder.in != requester.out) {
		list = append(list, responder.in)
	}
	return list
}

// Packet judges what a packet of a route shows, after all that it says of messages was told.
func (a *Agent) Packet(f *Route, at *PacketRef) {
	in := at.Op.Info()
	if in.Response {
		a.respondedTo(f, at)
	} else {
		if q := f.from; q != nil && q.out.first.Pos == at.Pos {
			a.destination(q, f.flow, *at, q.sender())
		}
		a.emitted(f.from, at, false)
		if q := f.to; q != nil && (!in.Middle || len(q.in.begun) > 0 || q.in.first.Pos == at.Pos) { // else nothing has begun, nor is anything known that was not known before
			a.begins(q, q.in)
		}
		if f.from != nil {
			f.from.out.begun = f.from.out.begun[:0]
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

// Quiet reports whether a packet within a message, the next one of its flow, shows nothing but that: Within judges it then, else Packet does.
func (f *Route) Quiet() bool {
	if q := f.to; q != nil && (q.out.news || q.in.news || len(q.in.begun) > 0) {
		return false
	}
	q := f.from
	return f.many == nil && (q == nil || !q.out.news && !q.in.news && len(q.out.begun) == 0 && q.failed == nil && q.overrun == nil && q.sending.early == nil)
}

// Within is Packet for a packet within a message of a route that is Quiet.
func (a *Agent) Within(f *Route, at *PacketRef) {
	if q := f.from; q != nil && q.known && q.src.exact {
		a.premature(q, at, false)
	}
}

// respondedTo judges a response, of f.from to the requests of f.to.
func (a *Agent) respondedTo(f *Route, at *PacketRef) {
	responder := f.from
	if responder == nil && f.to != nil {
		if responder = f.to.out.responder; responder != nil && responder.addr() == f.flow.Src {
			a.destination(responder, f.flow, *at, rule.Responder)
		}
	}
	a.emitted(responder, at, true)
	if responder != nil && responder != f.from && !at.Op.Info().Middle {
		a.step(responder)
	}
}

// news reports whether something has come since it was asked before by which requests or completions may be judged, and not just more of a message.
func (f *Route) news() (news bool) {
	for _, q := range [...]*queuePair{f.from, f.to} {
		if q != nil {
			news = news || q.out.news || q.in.news
			q.out.news, q.in.news = false, false
		}
	}
	return news
}

// resolve finds the queue pairs of a flow.
func (a *Agent) resolve(k Flow, p packet.PSN, now int64) *Route {
	a.generation++
	f := &Route{flow: k, changes: a.changes, until: math.MaxInt64}
	for _, s := range a.sources {
		if k.group() {
			f.many = append(f.many, a.members(s, k.Dst)...)
		}
		if s.addr.IsZero() || s.addr == k.Dst {
			if q := s.lifeAt(k.To, now, f); q != nil && q.service() == k.Service && q.takes(k) {
				f.to = q
			}
		}
		if s.addr.IsZero() || s.addr == k.Src {
			s.sender(f, now)
		}
	}
	a.astray(f, p, now)
	if q := f.to; q != nil && q.addr().IsZero() {
		q.learned = k.Dst
	}
	if q := f.from; q != nil && q.addr().IsZero() {
		q.learned = k.Src
	}
	f.start(p)
	return f
}

// sender finds among the queue pairs of a device the one that sends a flow.
func (s *Source) sender(f *Route, now int64) {
	k := f.flow
	if k.Service == packet.UD {
		if q := s.lifeAt(k.From, now, f); q != nil && q.service() == k.Service {
			f.from = q
		}
		return
	}
	for _, n := range s.toward[k.To] {
		q := s.lifeAt(n, now, f)
		if q == nil || q.service() != k.Service || !q.attr.Has(qp.KnowsDestQPN) || q.attr.DestQPN != k.To || !q.sendsTo(k) {
			continue
		}
		switch {
		case q.sendsBy == k:
			f.from = q
			return
		case q.fitsBetter(f.from, now):
			f.from = q
		}
	}
}

// start gives the requests of a flow the PSN that they start at: that of the attributes, or else p, the first that was seen.
func (f *Route) start(p packet.PSN) {
	q, r := f.from, f.to
	if q != nil {
		q.setStart(q.out)
	}
	if f.flow.Service == packet.UD {
		r = nil // what it receives has no order
	}
	if q != nil && r != nil && q.connectedTo(r) {
		r.in = q.out
	}
	if r != nil {
		r.setExpected(p)
	}
	if q != nil {
		q.out.begin(p, false)
	}
}

// connectedTo reports whether what q sends is what r receives, so that the two know the same requests: nothing has come yet, and as far as is known r expects the PSN that q starts at.
func (q *queuePair) connectedTo(r *queuePair) bool {
	if r.in.first.Seen() || r.later && q.out.first.Seen() {
		return false
	}
	return !q.attr.Has(qp.KnowsSQPSN) || !r.attr.Has(qp.KnowsRQPSN) || q.attr.SQPSN == r.attr.RQPSN
}

// setExpected gives the requests to a queue pair the PSN that it expects first.
func (q *queuePair) setExpected(p packet.PSN) {
	s := q.in
	s.responder, s.unreliable = q, q.typ == qp.TypeUC
	if !s.started && q.attr.Has(qp.KnowsRQPSN) {
		s.begin(q.attr.RQPSN, true)
		s.lead = q.lead()
	}
	s.begin(p, false)
	if s.pmtu == 0 && q.attr.Has(qp.KnowsPMTU) {
		s.pmtu = q.attr.PMTU
	}
}

// fitsBetter reports whether a packet of that time is of q rather than of r.
func (q *queuePair) fitsBetter(r *queuePair, t int64) bool {
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
func (q *queuePair) setStart(s *Requests) {
	s.requester, s.unreliable = q, q.typ == qp.TypeUC
	if q.attr.Has(qp.KnowsSQPSN) {
		s.begin(q.attr.SQPSN&packet.PSNMask, true)
		s.lead = q.lead()
	}
	if s.pmtu == 0 && q.attr.Has(qp.KnowsPMTU) {
		s.pmtu = q.attr.PMTU
	}
}

// lead is how far before the start PSN the packets of a queue pair may begin, 0 where what is there may be of an earlier life or connection of its number.
func (q *queuePair) lead() int64 {
	switch {
	case !q.known || q.later || !q.reliable() && q.typ != qp.TypeUC && q.typ != qp.TypeUD:
		return 0
	case !q.src.exact:
		return mostEarlyApart
	}
	return mostEarly
}

// lifeAt is the life of a queue pair at a time. f shall be looked for again when that ends.
func (s *Source) lifeAt(n uint32, t int64, f *Route) *queuePair {
	list := s.qps[n]
	if len(list) == 0 {
		return nil
	}
	i, shift := len(list)-1, s.clock.shift()
	for i > 0 && list[i].born+shift > t {
		f.until = min(f.until, list[i].born+shift)
		i--
	}
	return list[i]
}

// takes reports whether a connected queue pair is connected to where the flow comes from.
func (q *queuePair) takes(k Flow) bool {
	return q.service() == packet.UD || !q.attr.Has(qp.KnowsDestAddr) || q.attr.DestAddr == k.Src
}

func (q *queuePair) sendsTo(k Flow) bool {
	return !q.attr.Has(qp.KnowsDestAddr) || q.attr.DestAddr == k.Dst
}

// Delivers reports whether a queue pair that events tell of may receive what comes by the route.
func (f *Route) Delivers() bool { return f.to != nil || f.flow.group() }

// Datagram says that a datagram has come: to its queue pair, or to those that have joined its group.
func (a *Agent) Datagram(f *Route, m *Message) {
	if f.to != nil {
		a.deliver(f.to, m)
	}
	if f.flow.group() {
		a.deliverToGroup(f, m)
	}
}

// deliver adds a datagram to what its receiver was sent.
func (a *Agent) deliver(q *queuePair, m *Message) {
	s := q.in
	if !s.first.Seen() {
		s.first = m.Begin
	}
	s.newest = m.Begin
	s.started = true
	m.First = int64(s.msgs.end())
	if q.attr.Has(qp.KnowsQKey) && q.attr.QKey != m.QKey {
		a.covered(rule.UDQKEY004)
		if len(s.dropped) == mostNAKs {
			s.dropped = append(s.dropped[:0], s.dropped[mostNAKs/2:]...)
		}
		s.dropped = append(s.dropped, m)
		return
	}
	s.msgs.add(m)
}
