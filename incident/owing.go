package incident

import (
	"slices"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
	"ibwitness/verifier/cm"
)

// owing is a request that waited for a host.
type owing struct {
	qp.Stall
	on    *agent.Connection
	ended bool // it was answered
}

// owingOf returns the requests that waited for a host while their requester retransmitted them.
func (t *teller) owingOf(a packet.Addr) (list []owing) {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for e := range c.Ends {
			if c.Ends[e].Trouble != nil && c.Ends[1-e].Addr == a && c.Ends[e].Addr != a {
				list = append(list, owingOn(c, e)...)
			}
		}
	}
	return list
}

// owingOn returns those of end from of a connection: of one that loses so many packets that each may have been lost by chance, those with more
// rounds.
func owingOn(c *agent.Connection, from int) (list []owing) {
	x := &c.Ends[from]
	k := x.Trouble.Settled(x.Stalled)
	chance := k.Sum.Rounds[qp.SequenceAsked] >= manyLosses
	for j := range k.Longest {
		s := &k.Longest[j]
		if !interrupts(s) || s.Total() == 0 || s.Ended == 0 || chance && s.Total() <= fewRounds {
			continue
		}
		if !s.AnswerLost && !s.Late && !heldBack(c, from, s) {
			list = append(list, owing{*s, c, true})
		}
	}
	if s := &k.Now; x.Stalled && s.NAKs == 0 && s.Total() > 0 && s.Rounds[qp.SequenceAsked] == 0 {
		list = append(list, owing{*s, c, false})
	}
	return list
}

// all reports whether a request was retransmitted in a silence, first and last, and not answered before its end.
func (k *owing) all(s *timing.Silence) bool {
	until := k.Last + 1
	if k.ended {
		until = k.Ended
	}
	return k.Since >= s.From-interruption && k.Begun >= s.From && k.Begun < s.To && (until >= s.To) == k.ended
}

// missed reports whether a request was sent in a silence, and retransmitted only after it.
func (k *owing) missed(s *timing.Silence) bool {
	return k.ended && k.Since > s.From && k.Since < s.To && k.Begun >= s.To
}

// lastAsked is when a host of its connections last asked one in vain that was silent, by a REQ or an ARP request; 0: none did. Of a REQ that waited
// longer, it is the first time that it was sent.
func (t *teller) lastAsked(a packet.Addr, s *timing.Silence) (at int64) {
	in := func(x int64) bool { return x > s.From && x < s.To }
	for n := range t.run.REQs {
		if q := &t.run.REQs[n]; q.To == a && !q.SIDR && q.Waits == cm.ForREP && in(q.First) {
			if at = max(at, q.First); in(q.Last) {
				at = max(at, q.Last)
			}
		}
	}
	for n := range t.run.Signs {
		x := &t.run.Signs[n]
		known := func(c agent.Connection) bool { return endOf(&c, a) != nil && endOf(&c, x.Host) != nil }
		if x.By == fabricagent.ByARP && x.To == a && x.Host != a && in(x.At) && slices.ContainsFunc(t.run.Connections, known) {
			at = max(at, x.At)
		}
	}
	return at
}
