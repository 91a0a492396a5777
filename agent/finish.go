package agent

import (
	"math"

	"ibwitness/agent/internal/connection"
	"ibwitness/packet"
	"ibwitness/rule"
)

// Finish judges what was still open when the capture ended, at time end. Reconcile follows.
func (t *Transport) Finish(end int64) {
	for c := range t.table.All() {
		c.Leave(true)
	}
	t.finishOwn(end)
	t.gmp.Finish(end)
	t.smp.Finish()
	t.talks.Finish(end)
	t.conclude(end)
	t.timings.finish()
	t.Rec.Findings = append(t.Rec.Findings, t.takeLinks(math.MaxInt64)...)
}

// conclude judges what is still open of the connections that leave, at time now.
func (t *Transport) conclude(now int64) {
	for c := range t.table.All() {
		if c.Leaving() && t.services[c.Service] != nil {
			t.finish(c, now)
		}
	}
	t.owed(now)
	t.Rec.Settle()
	t.talks.Pass(now - settled)
	t.table.MisdirectedResponses(t.header.MisdirectedResponse)
	t.withdrawMisdirected()
	t.table.MisdirectedRequests(t.header.MisdirectedRequest)
	t.table.QPNMismatches()
	t.name()
	t.cover()
}

// cover counts, at the end, what the packets so far exercised.
func (t *Transport) cover() {
	t.rc.Cover()
	t.header.Cover()
}

// finish judges what is still open of a connection at time now.
func (t *Transport) finish(c *connection.Connection, now int64) {
	s := t.services[c.Service]
	s.Finish(&c.Pair, now)
	if c.Service == packet.RD {
		t.waitsRD(c, now)
		return
	}
	t.header.Steady(&c.Pair)
	if p := c.WrongService; p != nil && p.Opcode < 0xC0 && connection.Connects(c.Service) {
		s.TakeWrongService(&c.Pair, p, rule.Unproven)
	}
	t.waits(c, now)
	t.header.CoverFlow(&c.Pair, c.PairedBy == connection.ByCM)
}

// toQP is a QP, and the address of its peer.
type toQP struct {
	from, to packet.Addr
	qpn      uint32
}

// severalQPs is in place of a QPN where there were several, one after the other.
const severalQPs = 1 << 31

// senders returns by which QP each QP of a connection is sent to, as far as that was learned.
func (t *Transport) senders() map[toQP]uint32 {
	known := map[toQP]uint32{}
	for c := range t.table.All() {
		if !connection.Connects(c.Service) || !c.Ends[0].Numbered || !c.Ends[1].Numbered {
			continue
		}
		for to := range c.Ends {
			a, b := &c.Ends[1-to], &c.Ends[to]
			w := toQP{a.Addr, b.Addr, b.Number}
			if n, ok := known[w]; ok && n != a.Number {
				known[w] = severalQPs
			} else {
				known[w] = a.Number
			}
		}
	}
	return known
}

// name fills in, at the end, the numbers of QPs that were not known when a finding was made: on RC and UC a packet names only the QP
// that it goes to, and the connection may have been learned later. Who rejects a connection has no QP for it: what has the number of its peer later is
// another connection.
func (t *Transport) name() {
	var open []*rule.Finding
	for i := range t.Rec.Findings {
		if f := &t.Rec.Findings[i]; f.HasBTH && f.Rule != rule.EvReject && !f.Accused.QPNKnown && f.Peer.QPNKnown && !f.Accused.Addr.IsZero() {
			open = append(open, f)
		}
	}
	if len(open) == 0 {
		return
	}
	known := t.senders()
	for _, f := range open {
		if n, ok := known[toQP{f.Accused.Addr, f.Peer.Addr, f.Peer.QPN}]; ok && n != severalQPs {
			f.Accused.QPN, f.Accused.QPNKnown = n, true
		}
	}
}
