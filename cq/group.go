package cq

import (
	"fmt"
	"math"
	"slices"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// membership is a time that a queue pair is attached to a multicast group.
type membership struct {
	group    packet.Addr
	from, to int64
}

// attach notes that a queue pair joins or leaves a group.
func (a *Agent) attach(s *Source, e *Event) {
	q := a.qp(s, e.QP.QPN)
	if q == nil || e.Group == nil {
		return
	}
	i := slices.IndexFunc(q.joined, func(m membership) bool { return m.group == *e.Group && m.to == math.MaxInt64 })
	switch {
	case e.Kind == EvDetachGroup && i >= 0:
		q.joined[i].to = e.Time
	case e.Kind == EvAttachGroup && i < 0:
		q.joined = append(q.joined, membership{*e.Group, e.Time, math.MaxInt64})
	}
	a.changes++
}

// member returns the membership of a queue pair in a group at a time, or nil. Where the clocks differ it is any.
func (q *queuePair) member(group packet.Addr, t int64) *membership {
	for i := range q.joined {
		if m := &q.joined[i]; m.group == group && (!q.src.exact || m.from <= t && t < m.to) {
			return m
		}
	}
	return nil
}

// members are the queue pairs of a source that have ever joined a group.
func (a *Agent) members(s *Source, group packet.Addr) (list []*queuePair) {
	for _, q := range a.lives {
		if q.src == s && slices.ContainsFunc(q.joined, func(m membership) bool { return m.group == group }) {
			list = append(list, q)
		}
	}
	return list
}

// GRHSize is how many bytes precede a datagram in memory.
const GRHSize = 40

// deliverToGroup adds a datagram to what the members of its group were sent.
func (a *Agent) deliverToGroup(f *Route, m *Message) {
	for _, q := range f.many {
		in := q.member(m.Net.Dst, m.Begin.Time)
		if in == nil {
			continue
		}
		x, net := *m, *m.Net
		net.must = q.src.exact && a.shows(q.addr()) && net.Src != q.addr() && in.from < m.Begin.Time
		x.Net = &net
		a.deliver(q, &x)
	}
	if len(a.groupDatagrams) == mostNAKs {
		a.groupDatagrams = append(a.groupDatagrams[:0], a.groupDatagrams[mostNAKs/2:]...)
	}
	a.groupDatagrams = append(a.groupDatagrams, m)
}

// overtakenMessage is a message to a group that a completion has passed over.
type overtakenMessage struct {
	m *Message
	t *receiveCompletion
}

// missingGroupCompletion judges messages to a group that later ones have overtaken, and that no completion is of.
func (a *Agent) missingGroupCompletion(q *queuePair) {
	for _, x := range q.receiving.skipped {
		m := x.m
		_, length := q.expected(m)
		if m.used || m.Net == nil || !m.Net.must || x.t.of.event.Time >= m.Begin.Time || q.recvs.shared || uint64(length) > room(x.t.of.event.Receive) ||
			q.attr.Has(qp.KnowsPKey) && q.attr.PKey != m.Net.PKey {
			continue
		}
		a.assumes = rule.AssumesNear | rule.AssumesWhole
		a.accuse(q, verdict{
			Verdict: rule.Verdict{
				Rule: rule.UDMC003, Class: rule.Violation, Role: rule.Receiver,
				Expected: fmt.Sprintf("the datagram to %v received: the queue pair is attached to the group", m.Net.Dst),
				Actual:   "only later ones", Detail: fmt.Sprintf("receive request %d was available", x.t.event.Completion.ID),
			},
			at: m.End, event: x.t.event,
		})
		return
	}
}

// duplicateGroupCompletion judges a completion that fits a datagram to a group which was received already, or that was not for the queue pair.
func (a *Agent) duplicateGroupCompletion(q *queuePair, t *receiveCompletion) bool {
	if q.typ != qp.TypeUD || !a.sees(q) {
		return false
	}
	v := verdict{
		Verdict: rule.Verdict{
			Rule: rule.UDMC003, Class: rule.Violation, Role: rule.Receiver, Actual: "a receive completion",
			Detail: fmt.Sprintf("receive request %d", t.event.Completion.ID),
		},
		event: t.event,
	}
	for _, m := range q.in.msgs.all() {
		if m.Net != nil && m.Net.Group && q.matches(m, t) {
			v.Expected, v.Actual, v.at = fmt.Sprintf("one completion of the datagram to %v", m.Net.Dst), "a second completion", m.End
			a.accuse(q, v)
			return true
		}
	}
	for _, m := range a.groupDatagrams {
		if q.matches(m, t) && q.attr.QKey == m.QKey {
			a.covered(rule.UDMC003)
			v.Expected, v.at = fmt.Sprintf("no completion: the queue pair is not attached to %v", m.Net.Dst), m.End
			a.accuse(q, v)
			return true
		}
	}
	return false
}

// grhSpace judges the 40 bytes before a datagram in memory, which a GRH or IPv4 header fills (rules UD-GRH-001, UD-GRH-003). The result is true
// where the payload of the datagram is there instead.
func (a *Agent) grhSpace(q *queuePair, m *Message, t *receiveCompletion) (misplaced bool) {
	head := t.event.Head
	if len(head) != GRHSize || m.Net == nil {
		return false
	}
	v := verdict{Verdict: rule.Verdict{Class: rule.Violation, Role: rule.Receiver, Detail: fmt.Sprintf("receive request %d", t.event.Completion.ID)}, at: m.End, event: t.event}
	if t.event.Summed && !m.Cut && m.Length > 0 {
		a.covered(rule.UDGRH001)
		if n := min(m.Length, GRHSize); m.CRC != t.event.Sum && sum(head[:n]) == m.Net.Front {
			v.Rule, v.Expected, v.Actual = rule.UDGRH001, "the payload after the 40 bytes of the GRH", "the payload at the beginning of the memory"
			a.accuse(q, v)
			return true
		}
	}
	if m.Net.V4 {
		a.covered(rule.UDGRH003)
		src, dst := m.Net.Src.Bytes(), m.Net.Dst.Bytes()
		ip := head[20:]
		if ip[0] != 0x45 || ip[9] != 17 || !slices.Equal(ip[12:16], src[12:]) || !slices.Equal(ip[16:20], dst[12:]) {
			v.Rule, v.Expected, v.Actual = rule.UDGRH003, "the IPv4 header in bytes 20 to 39", fmt.Sprintf("%x", ip)
			a.accuse(q, v)
		}
	}
	return false
}

// handle notes what an address handle says.
func (s *Source) handle(e *Event) {
	if s.handles[e.AH] = e.Vector; e.Kind == EvDestroyAH {
		delete(s.handles, e.AH)
	}
}

// addressed holds the network header of a datagram against its address handle.
func (a *Agent) addressed(q *queuePair, m *Message, w *sendRequest, mismatch mismatch) {
	v := w.vector
	if v == nil || m.Net == nil {
		return
	}
	a.covered(rule.UDAH001)
	switch {
	case v.Dest != m.Net.Dst:
		mismatch(rule.UDAH001, expect.Dst, fmt.Sprintf("to %v", v.Dest), m.Net.Dst.String())
	case w.req().AH == 0 || !a.near(q.addr()): // on its way the rest may change
	case v.TClass>>2 != m.Net.TClass>>2:
		mismatch(rule.UDAH001, expect.DSCP, fmt.Sprintf("traffic class %#x", v.TClass), fmt.Sprintf("%#x", m.Net.TClass))
	case v.HopLimit != 0 && v.HopLimit != m.Net.HopLimit:
		mismatch(rule.UDAH001, expect.HopLmt, fmt.Sprintf("hop limit %d", v.HopLimit), fmt.Sprintf("%d", m.Net.HopLimit))
	}
}
