package incident

import (
	"cmp"
	"math"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
)

// hashedFlow is what one end of a connection sends, which the network sends on a path by its UDP source port.
type hashedFlow struct {
	way
	port    uint16
	losses  uint32
	naks    uint32 // PSN sequence NAKs to it
	answers uint32 // times that the other end retransmitted by timer, and nothing shows that it was not for an answer of this one that was lost
	gone    uint32 // of these, those that IPv4 identifications show
}

// across is the queue pairs by which several hosts send to several others, by what became of the packets in that direction.
type across struct {
	fates
	sum             *lossSum
	senders, others []packet.Addr
	flows           []hashedFlow  // of those that lost packets, the one that lost the most first
	clean           []packet.Addr // hosts of those that lost none
	cleanFlows      []wayPorts
	lossyEnds       []*agent.End // of which packets were lost before the tap, or after it
	cleanEnds       []cleanEnd
	by              *enteredBy // where what was lost came by; nil: that is not known, or not only there
	onlyAnswers     bool       // those of answers lost nothing else, by their IPv4 identifications
	against         uint32     // times that something was lost in the other direction
}

// cleanEnd is an end which lost none of what it sent to a host.
type cleanEnd struct {
	end  *agent.End
	to   packet.Addr
	sent uint64
}

// pathsAcross has pathAcross look at the first of the incidents of losses, and returns the sums of those of which it tells.
func (t *teller) pathsAcross(list []Incident) (sums []*lossSum) {
	for n := range list {
		if list[n].sum != nil {
			sums = append(sums, list[n].sum)
		}
	}
	tries := 0
	for n := range list {
		i := &list[n]
		if !i.losses() || slices.ContainsFunc(sums, func(s *lossSum) bool { return s.between(i) }) {
			continue
		}
		if tries++; tries > mostLeads {
			break
		}
		if t.pathAcross(i) {
			sums = append(sums, i.sum)
		}
	}
	return sums
}

// pathAcross tells, in an incident of losses, of all packets that were lost from several hosts to several others on some of the queue pairs between
// these, where others between the same hosts lost none, by far too many for chance. It reports whether it is so.
func (t *teller) pathAcross(i *Incident) bool {
	if t.run.RDMA == 0 {
		return false
	}
	for _, w := range [...]way{{i.Local.Addr, i.Peer.Addr}, {i.Peer.Addr, i.Local.Addr}} {
		a := t.acrossFrom(w)
		if a.sum == nil {
			continue
		}
		if a.by = a.entered(t); a.by != nil {
			a.sum.overTap = a.by.byTap
		}
		if (a.by != nil || len(t.run.Taps) < 2) && a.tells() && a.sum.takes(i) && !t.damagedOn(a.sum) {
			t.leadAcross(i, a)
			return true
		}
	}
	return false
}

// acrossFrom adds up what became of what the senders on a way and others send to its receivers and others: to all that losses from any of them, or
// traffic with any of them, ties to it.
func (t *teller) acrossFrom(w way) *across {
	lossy, known := map[way]bool{}, map[pair]bool{}
	var ways []way
	for c, from := range t.hashedEnds() {
		x := way{c.Ends[from].Addr, c.Ends[1-from].Addr}
		known[pairBy(x.from, x.to)] = true
		if before, after, _, _ := t.lostFrom(c, from); before+after > 0 && !lossy[x] {
			lossy[x], ways = true, append(ways, x)
		}
	}
	a := &across{}
	if !lossy[w] {
		return a
	}
	a.senders, a.others = []packet.Addr{w.from}, []packet.Addr{w.to}
	for n := 0; n < len(ways); n++ {
		x := ways[n]
		tied := slices.ContainsFunc(a.others, func(h packet.Addr) bool { return known[pairBy(x.from, h)] }) ||
			slices.ContainsFunc(a.senders, func(h packet.Addr) bool { return known[pairBy(h, x.to)] }) || t.leftAlike(w, x)
		both := slices.Contains(a.others, x.from) || slices.Contains(a.senders, x.to)
		if !tied || both || slices.Contains(a.senders, x.from) && slices.Contains(a.others, x.to) {
			continue
		}
		a.senders, a.others = withHost(a.senders, x.from), withHost(a.others, x.to)
		n = -1 // others may be tied to it
	}
	slices.SortFunc(a.senders, packet.Addr.Compare)
	slices.SortFunc(a.others, packet.Addr.Compare)
	a.sum = &lossSum{senders: a.senders, others: a.others, ends: map[Party]bool{}, apart: map[pair]bool{}}
	for c, from := range t.hashedEnds() {
		if slices.Contains(a.senders, c.Ends[from].Addr) && slices.Contains(a.others, c.Ends[1-from].Addr) {
			a.take(t, c, from)
		}
	}
	a.sum.lossy, a.sum.all = a.fates.lossy, a.fates.lossy+a.steady
	slices.SortStableFunc(a.flows, func(x, y hashedFlow) int { return cmp.Compare(y.losses, x.losses) })
	return a
}

// hashedEnds are the ends of the connections whose packets have UDP source ports.
func (t *teller) hashedEnds() func(yield func(*agent.Connection, int) bool) {
	return func(yield func(*agent.Connection, int) bool) {
		for n := range t.run.Connections {
			c := &t.run.Connections[n]
			if !c.Service.Reliable() || !c.Encap.OnIP() || c.Ends[0].Addr == c.Ends[1].Addr {
				continue
			}
			for from := range c.Ends {
				if c.Ends[from].Path.Known && !yield(c, from) {
					return
				}
			}
		}
	}
}

// withHost adds a host to others.
func withHost(list []packet.Addr, a packet.Addr) []packet.Addr {
	if slices.Contains(list, a) {
		return list
	}
	return append(list, a)
}

// lostFrom is how often packets of end from of a connection were lost, before the tap and after it, requests and answers: of these, gone are answers
// that IPv4 identifications show to be lost before it. unsure is how often only its peer's timer says that something was lost.
func (t *teller) lostFrom(c *agent.Connection, from int) (before, after, gone, unsure uint32) {
	for at := range c.Ends {
		e := &c.Ends[at]
		if e.Trouble == nil {
			continue
		}
		k := e.Trouble.Settled(e.Stalled)
		p := placesOf(&k)
		b, a, _ := p.along(at == from)
		before, after = before+b, after+a
		if at != from {
			gone = min(t.answersGone(c, at, &k), p.rest)
			before, unsure = before+gone, p.rest-gone
		}
	}
	return before, after, gone, unsure
}

// take takes what end from of a connection sends.
func (a *across) take(t *teller, c *agent.Connection, from int) {
	e := &c.Ends[from]
	before, after, gone, unsure := t.lostFrom(c, from)
	b, f, _, _ := t.lostFrom(c, 1-from)
	a.against += b + f
	sent := min(e.Packets, e.Messages+e.Bytes/max(uint64(c.PMTU), 256))
	if t.answersNumbered(c, from) {
		sent = e.Packets
	}
	switch {
	case before+after > 0:
		a.fates.lossy, a.rounds, a.sentLossy = a.fates.lossy+1, a.rounds+before+after, a.sentLossy+sent
		a.lossyOf.add(c, e)
		a.onlyAnswers = a.onlyAnswers || gone > 0 && t.answersNumbered(c, from)
		w, naks := way{e.Addr, c.Ends[1-from].Addr}, c.Ends[1-from].SequenceNAKs
		a.lossyEnds = append(a.lossyEnds, e)
		a.flows = append(a.flows, hashedFlow{w, e.Path.Port, before + after, naks, gone + unsure, gone})
		a.sum.take(c)
		a.sum.before, a.sum.unsure = a.sum.before+gone, a.sum.unsure-min(gone, a.sum.unsure)
	case lost(e)+lost(&c.Ends[1-from]) == 0 && sent >= steadyPackets:
		a.steady, a.sentSteady = a.steady+1, a.sentSteady+sent
		a.steadyOf.add(c, e)
		a.cleanEnds = append(a.cleanEnds, cleanEnd{e, c.Ends[1-from].Addr, sent})
		a.clean = withHost(withHost(a.clean, e.Addr), c.Ends[1-from].Addr)
		a.cleanFlows = append(a.cleanFlows, wayPorts{way{e.Addr, c.Ends[1-from].Addr}, []uint16{e.Path.Port}})
	case lost(e)+lost(&c.Ends[1-from]) > 0:
		a.sum.apart[pairBy(e.Addr, c.Ends[1-from].Addr)] = true
	}
}

// tells reports whether most of the queue pairs lost nothing, those of each host among them, and that is no chance.
func (a *across) tells() bool {
	lossy, n := a.fates.lossy, a.fates.lossy+a.steady
	if a.by == nil && (!a.several() || lossy > n/2) || a.unlike() || a.sentLossy == 0 {
		return false
	}
	clean := a.clean
	if a.by != nil {
		clean = a.cleanElsewhere()
	}
	if slices.ContainsFunc(slices.Concat(a.senders, a.others), func(h packet.Addr) bool { return !slices.Contains(clean, h) && (a.by == nil || a.onlyWith(h)) }) {
		return false // it may be that host
	}
	along := a.sum.before + a.sum.after
	return a.sum.tells() && mostlyAlong*a.against <= along && a.rareByChance(along)
}

// onlyWith reports whether all that was lost came from a host or went to it.
func (a *across) onlyWith(h packet.Addr) bool {
	return !slices.ContainsFunc(a.flows, func(f hashedFlow) bool { return f.from != h && f.to != h })
}

// several reports whether several hosts send to several others, or several to one, or one to several, where answers that were lost tell as much as
// requests: pathOf tells of the latter only.
func (a *across) several() bool {
	most, least := max(len(a.senders), len(a.others)), min(len(a.senders), len(a.others))
	return most >= fewestHosts && (least >= fewestHosts || a.answersLost())
}

// answersLost reports whether some of what was lost was answers, as IPv4 identifications show.
func (a *across) answersLost() bool {
	return slices.ContainsFunc(a.flows, func(f hashedFlow) bool { return f.gone > 0 })
}

// rareByChance reports whether it is hardly chance that of as many queue pairs only so many lost packets, so many times in all. Any of as many could
// have been those that did.
func (f *fates) rareByChance(losses uint32) bool {
	choose := func(k int) float64 { v, _ := math.Lgamma(float64(k + 1)); return v }
	n := f.lossy + f.steady
	log := choose(n) - choose(f.lossy) - choose(f.steady) + float64(losses)*math.Log(float64(f.sentLossy)/float64(f.sentLossy+f.sentSteady))
	return log < math.Log(hardlyChance)
}
