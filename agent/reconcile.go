package agent

import (
	"ibwitness/agent/internal/connection"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier/gmp"
	"ibwitness/verifier/ud"
	"ibwitness/wqe"
)

// ofDatagrams are the verifiers of datagrams.
func ofDatagrams(all []*Transport) (list []*ud.Verifier) {
	for _, t := range all {
		list = append(list, t.ud)
	}
	return list
}

// Reconcile judges, of the connections that leave, what no single transport agent can: packets of a connection with a wrong address, source or destination.
// Such a packet is the first of a connection of its own, whose pair of addresses may be another agent's.
func Reconcile(all ...*Transport) {
	ud.JudgeGroups(ofDatagrams(all)...)
	for _, t := range all {
		withdrawDamaged(&t.Rec)
	}
	trimmedToo(all)
	managers := make([]*gmp.Verifier, len(all))
	for i, t := range all {
		managers[i] = t.gmp
	}
	gmp.Reconcile(func(i int) { all[i].last() }, managers...)
	n := 0
	for _, t := range all {
		defer t.index.end(&t.Rec)
		for c := range t.table.All() {
			if isOneWay(c) {
				n++
			}
		}
	}
	if n == 0 {
		return
	}
	s := oneWayTables{newOneWayTable(n), newOneWayTable(n)}
	for _, t := range all {
		for c := range t.table.All() {
			if isOneWay(c) {
				s.to.add(c.Ends[1].Addr, oneWay{t, c})
				s.from.add(c.Ends[0].Addr, oneWay{t, c})
			}
		}
	}
	for _, t := range all {
		for c := range t.table.All() {
			if !connection.Connects(c.Service) {
				continue
			}
			for to := range c.Ends {
				if c.Ends[to].Numbered {
					s.source(t, c, to)
					s.destination(t, c, to)
				}
			}
		}
	}
}

// mayBeFrom reports whether the packets may be those of end from of c, with another source address.
func (x oneWay) mayBeFrom(c *connection.Connection, from int) bool {
	q := &c.Ends[from]
	switch {
	case x.Service != c.Service || x.Ends[0].Addr == q.Addr || x.FirstTime < c.FirstTime:
		return false
	case q.Knows(qp.KnowsSourceAddr) && x.Ends[0].Addr == q.Attr.SourceAddr:
		return false // CM named the address of its path, and went another way itself
	}
	return x.during(c, from) || c.PairedBy == connection.ByCM && !c.Closed
}

// source holds what came to end to of c from another address against what its peer sent.
func (s *oneWayTables) source(t *Transport, c *connection.Connection, to int) {
	e, peer := &c.Ends[to], &c.Ends[1-to]
	for x := range s.to.of(e.Addr, e.Number) {
		if !x.mayBeFrom(c, 1-to) {
			continue
		}
		fits := x.FirstOp().Info().Response && x.Ends[0].Packets() == 1 && c.Paired && connection.Nearby(x.FirstPSN(), c.RQ(1-to).Last.PSN)
		missed := fits && t.unanswered(c, 1-to, x.FirstPSN())
		gap := t.gap(c, 1-to, x.Connection)
		known := c.PairedBy == connection.ByCM || gap >= 0 || missed
		if !known && !fits {
			continue // QP numbers are small, and a capture of several networks may show one address twice
		}
		if gap >= 0 {
			t.close(c, 1-to, x.Connection, gap)
			if x.sentBy(peer) {
				continue // the address is impossible: that was said already
			}
		}
		if fits && gap < 0 && x.impossible() {
			x.sentBy(peer)
			continue
		}
		t.header.Source(&c.Pair, to, x.packet(), rule.Proven(known && !t.table.Lossy), gap >= 0 || fits)
		t.last()
	}
}

// destination finds the packet that is missing at end to of c at another address.
func (s *oneWayTables) destination(t *Transport, c *connection.Connection, to int) {
	e, peer := &c.Ends[to], &c.Ends[1-to]
	for x := range s.from.of(peer.Addr, e.Number) {
		if x.Service != c.Service || x.Ends[1].Addr == e.Addr || x.Ends[0].Packets() > 1 || !x.during(c, 1-to) {
			continue
		}
		if gap := t.gap(c, 1-to, x.Connection); c.Encap == packet.Native && !x.accused() {
			if gap >= 0 { // no rule says it of LIDs: the gap is what is reported
				t.withdrawAcknowledged(c, 1-to, x.Connection)
			}
		} else if gap >= 0 {
			t.close(c, 1-to, x.Connection, gap)
			if !x.accused() {
				t.header.Destination(&c.Pair, to, x.packet(), !t.table.Lossy)
				t.last()
			}
		} else if x.FirstOp().Info().Response && c.Paired && connection.Nearby(x.FirstPSN(), c.RQ(1-to).Last.PSN) {
			missed := t.unanswered(c, 1-to, x.FirstPSN())
			if !x.accused() {
				t.header.Destination(&c.Pair, to, x.packet(), missed && !t.table.Lossy || c.Sees(1-to))
				t.last()
			}
		}
	}
}

// during reports whether the first packet came before the last one that an end of c sent.
func (x oneWay) during(c *connection.Connection, from int) bool {
	return x.FirstTime < c.LastTime(from)
}

// packet is what is still known of the first packet.
func (x oneWay) packet() *packet.Packet {
	return &packet.Packet{
		Encap: x.Encap, Has: packet.HasBTH, Opcode: x.FirstOp(), PSN: x.FirstPSN(), DestQP: x.Ends[1].Number,
		Src: x.Ends[0].Addr, Dst: x.Ends[1].Addr, Time: x.FirstTime, Frame: x.FirstFrame, Tap: x.FirstTap, Cut: x.Cut(),
	}
}

// found calls do with each finding on the first packet until it returns false.
func (x oneWay) found(do func(*rule.Finding) bool) {
	x.t.index.fill(&x.t.Rec)
	for _, i := range x.t.index.frames[indexFrame{x.FirstTap, x.FirstFrame}] {
		if f := &x.t.Rec.Findings[i]; !x.t.index.gone[i] && f.Accused.Addr == x.Ends[0].Addr && !do(f) {
			return
		}
	}
}

func (x oneWay) accused() (is bool) {
	x.found(func(*rule.Finding) bool {
		is = true
		return false
	})
	return is
}

// sentBy has what was found on the bytes of the packet accuse its real sender, and reports whether there was something.
func (x oneWay) sentBy(q *qp.QP) (found bool) {
	x.found(func(f *rule.Finding) bool {
		f.Accused.Addr, f.Accused.QPN, f.Accused.QPNKnown = q.Addr, q.Number, q.Numbered
		found = found || f.Rule == rule.NETGRH011 || f.Rule == rule.LNKLID003
		return true
	})
	return found
}

// impossible reports whether the packet was found to come from an address that no endpoint has.
func (x oneWay) impossible() (is bool) {
	x.found(func(f *rule.Finding) bool {
		is = f.Rule == rule.NETGRH011 || f.Rule == rule.LNKLID003
		return !is
	})
	return is
}

const (
	// reconciled puts a finding after all others on its frame, whichever agent made them.
	reconciled = 1 << 31
)

// last marks the newest finding as one that was made at the end.
func (t *Transport) last() {
	i := len(t.Rec.Findings) - 1
	t.Rec.Findings[i].Seq |= reconciled
	if t.index.frames != nil {
		t.index.add(&t.Rec, i)
	}
}

// gap returns the index of the finding that end from of c left out just the PSN that x brought, or -1: the packet was sent, from a
// wrong address, and that is one fault.
func (t *Transport) gap(c *connection.Connection, from int, x *connection.Connection) int {
	return t.missing(c.Ends[1-from].Addr, c.Ends[1-from].Number, x.FirstPSN(), func(f *rule.Finding) bool {
		missing := f.Rule == rule.RCPSN004 || f.Rule == rule.UCPSN001 || f.Rule == rule.RCPSN001
		behind := f.PSN == x.FirstPSN().Add(1) || x.FirstOp().Fn() == packet.ReadRequest && f.PSN.After(x.FirstPSN())
		return missing && behind &&
			f.Tap == x.FirstTap && f.Frame > x.FirstFrame && f.Accused.Addr == c.Ends[from].Addr && f.Peer.Addr == c.Ends[1-from].Addr && f.Peer.QPN == c.Ends[1-from].Number
	})
}

// missing returns the index of the finding that a PSN is missing which accuses a QP, or its peer, and is as wanted, or -1.
func (t *Transport) missing(a packet.Addr, qpn uint32, psn packet.PSN, want func(*rule.Finding) bool) int {
	t.index.fill(&t.Rec)
	for _, i := range t.index.gaps[indexGap{wqe.QP{Addr: a, QPN: qpn}, rule.GapAt(psn)}] {
		if !t.index.gone[i] && want(&t.Rec.Findings[i]) {
			return i
		}
	}
	return -1
}

// close takes back that a PSN was left out.
func (t *Transport) close(c *connection.Connection, from int, x *connection.Connection, gap int) {
	t.index.gone[gap] = true
	t.withdrawAcknowledged(c, from, x)
}

// withdrawAcknowledged withdraws what the responder that acknowledged the packet was told of it.
func (t *Transport) withdrawAcknowledged(c *connection.Connection, from int, x *connection.Connection) {
	t.withdraw(c, 1-from, rule.RCRSP006, x.FirstPSN())
}

// unanswered takes back that end from of c left out the response at a PSN: it was sent, with a wrong address. It reports whether that was found.
func (t *Transport) unanswered(c *connection.Connection, from int, psn packet.PSN) bool {
	read := t.withdraw(c, from, rule.RCRES001, psn)
	return t.withdraw(c, from, rule.RCRSP007, psn) || read
}

// withdraw takes back a finding against an end of c, that a PSN is missing. It reports whether there was one.
func (t *Transport) withdraw(c *connection.Connection, end int, id rule.ID, psn packet.PSN) bool {
	e := &c.Ends[end]
	i := t.missing(e.Addr, e.Number, psn, func(f *rule.Finding) bool {
		return f.Rule == id && f.Accused.Addr == e.Addr && f.Accused.QPN == e.Number
	})
	if i >= 0 {
		t.index.gone[i] = true
	}
	return i >= 0
}
