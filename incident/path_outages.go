package incident

import (
	"cmp"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
)

// A path of several that fails and comes back, as a member of a LAG that flaps, takes what it carries away from several connections at the same times, and nothing from the others of the same hosts.

const (
	fewestOutages = 2 // such times, from which on that is no chance
	fewestHit     = 2 // connections in each, and that have several of them in common
	fewestHitOnce = 3 // connections on which what was retransmitted was lost, too, where there is one such time
	fewestSpared  = 2 // others, in that case
	fewestSilent  = 3 // times in which a connection shows nothing at all, for that to be because of them
	lostInTail    = 2 // rounds of a timer from which on nothing passed, and no packet was lost by chance
)

// heldEnd is an end of a connection in an outage, and how that shows.
type heldEnd struct {
	c      *agent.Connection
	from   int // whose packets were lost, or are not answered
	since  int64
	until  int64
	rounds uint32
	frames [2]uint64
	answer bool // its peer retransmitted what it had answered
	before bool // nothing of the connection came to the tap, and then it went on with a later PSN
}

// commonOutage is a time in which several connections made no progress.
type commonOutage struct {
	begin, end int64
	ends       []heldEnd
}

// length is from the first request that waited to when the first of them went on.
func (o *commonOutage) length() int64 { return o.end - o.begin }

// silence is that time.
func (o *commonOutage) silence() timing.Silence { return timing.Silence{From: o.begin, To: o.end} }

// connections are those that are held up in it.
func (o *commonOutage) connections() (list []*agent.Connection) {
	for n := range o.ends {
		if c := o.ends[n].c; !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

// lostTwice is on how many connections what was retransmitted in it was lost too.
func (o *commonOutage) lostTwice() int {
	twice := map[*agent.Connection]bool{}
	for n := range o.ends {
		if h := &o.ends[n]; h.rounds >= lostInTail && !h.answer {
			twice[h.c] = true
		}
	}
	return len(twice)
}

// pathOutages are outages that several connections have in common.
type pathOutages struct {
	times  []commonOutage
	hit    []*agent.Connection // by the first in the capture
	silent []*agent.Connection // which show nothing in most of each of these times
	spared []*agent.Connection // of the same hosts, which went on in each
	beside []*agent.Connection // likewise, of others with one of these hosts
	died   []replaced          // which carry nothing from one of these times on
}

// replaced is a connection, and the next between its hosts. from is its end whose request was never answered; -1: none was.
type replaced struct {
	c, next *agent.Connection
	from    int
}

// heldEnds returns the ends that waited for long, and retransmitted, or whose packets are missing after a time.
func (t *teller) heldEnds() (waits, answers []heldEnd) {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if !c.Service.Reliable() || c.Timing == nil {
			continue
		}
		for from := range c.Ends {
			e := &c.Ends[from]
			if e.Trouble == nil {
				continue
			}
			k := e.Trouble.Settled(e.Stalled)
			for j := range k.Longest {
				s := &k.Longest[j]
				if !interrupts(s) || s.Late || s.Ended == 0 || s.PassedOver != 0 || s.LackedEnd() {
					continue
				}
				h := heldEnd{c: c, from: from, since: s.Since, until: s.Ended, rounds: s.Rounds[qp.TimerExpired], frames: [2]uint64{s.Frames.Begun[0], s.Frames.Ended}}
				switch {
				case s.AnswerLost:
					h.from, h.answer = 1-from, true
					answers = append(answers, h)
				case s.Total() > 0 && s.Unseen == 0:
					waits = append(waits, h)
				case s.Total() == 0 && s.Before && s.Request.Frame == 0:
					h.before = true
					waits = append(waits, h)
				}
			}
		}
	}
	byBegin := func(a, b heldEnd) int { return cmp.Or(cmp.Compare(a.since, b.since), cmp.Compare(a.until, b.until)) }
	slices.SortStableFunc(waits, byBegin)
	slices.SortStableFunc(answers, byBegin)
	return waits, answers
}

// commonOutages returns the times in which several connections were held up, and how many were at another.
func (t *teller) commonOutages() (list []commonOutage, others int) {
	waits, answers := t.heldEnds()
	for len(waits) > 0 {
		o, n := commonOutage{}, 0
		end := waits[0].until
		for n < len(waits) && waits[n].since < end {
			if h := &waits[n]; !h.before && (o.begin == 0 || h.since < o.begin) {
				o.begin = h.since
			}
			end = min(end, waits[n].until)
			n++
		}
		o.end, o.ends = end, slices.Clone(waits[:n])
		waits = waits[n:]
		for _, h := range answers {
			if o.begin != 0 && h.since >= o.begin && h.since < o.end {
				o.ends = append(o.ends, h)
			}
		}
		if o.begin != 0 && o.length() >= interruption && len(o.connections()) >= fewestHit {
			list = append(list, o)
		} else {
			others += n
		}
	}
	return list, others
}

// pathOutagesOf returns the outages of one path of several; nil: there are none, or something else may explain them.
func (t *teller) pathOutagesOf() *pathOutages {
	if t.run.RDMA == 0 || len(t.run.Taps) > 1 || !t.timed() || !t.orderKnown() || t.lossy() || t.copied() {
		return nil
	}
	times, others := t.commonOutages()
	p := &pathOutages{times: times}
	if !p.tells(t.run.Last-t.run.First, others) || slices.ContainsFunc(p.hit, t.elseExplained) {
		return nil
	}
	t.besideOutages(p)
	if len(p.spared) == 0 || len(times) < fewestOutages && len(p.spared) < fewestSpared || slices.ContainsFunc(p.hit, func(c *agent.Connection) bool { return !p.onlyIn(c) }) {
		return nil
	}
	return p
}

// tells finds the connections that are hit, and reports whether they and the times are such that it is no chance, of a capture that is so long, beside so many that were held up at other times.
func (p *pathOutages) tells(length int64, others int) bool {
	of, all, twice, held, often := map[*agent.Connection]int{}, int64(0), 0, 0, 0
	for n := range p.times {
		o := &p.times[n]
		all, held = all+o.length(), held+len(o.ends)
		if o.lostTwice() > 0 {
			twice++
		}
		for _, c := range o.connections() {
			switch of[c]++; of[c] {
			case 1:
				p.hit = append(p.hit, c)
			case fewestOutages:
				often++
			}
		}
	}
	switch {
	case len(p.times) == 0 || 4*others > held || 2*all > length:
		return false
	case len(p.times) < fewestOutages:
		return p.times[0].lostTwice() >= fewestHitOnce
	}
	return often >= fewestHit && 2*twice >= len(p.times)
}

// elseExplained reports whether packets between the hosts of a connection came damaged, trimmed or marked, or a receiver was not ready: that explains stalls, too.
func (t *teller) elseExplained(c *agent.Connection) bool {
	a, b := c.Ends[0].Addr, c.Ends[1].Addr
	for _, w := range []way{{a, b}, {b, a}} {
		if t.damaged[w] || t.cut[w] || t.marked[w] {
			return true
		}
	}
	return slices.ContainsFunc(c.Ends[:], func(e agent.End) bool { return e.RNRNAKs > 0 })
}

// onlyIn reports whether all that was retransmitted on a connection was so in the outages or right after, as far as the parts tell in which it was counted.
func (p *pathOutages) onlyIn(c *agent.Connection) bool {
	if c.Timing == nil {
		return false
	}
	for k := range c.Timing.Ends {
		x := &c.Timing.Ends[k].Series
		for n := range x.Slots {
			begin := x.Start + int64(n)*x.Width
			near := func(o commonOutage) bool { return begin <= o.end+together && begin+x.Width >= o.begin }
			if x.Slots[n].Retransmitted > 0 && !slices.ContainsFunc(p.times, near) {
				return false
			}
		}
	}
	return true
}

// besideOutages finds what became of the other connections.
func (t *teller) besideOutages(p *pathOutages) {
	pairs, hosts := map[pair]bool{}, map[packet.Addr]bool{}
	for _, c := range p.hit {
		pairs[pairOf(c)], hosts[c.Ends[0].Addr], hosts[c.Ends[1].Addr] = true, true, true
	}
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if !c.Service.Reliable() || c.Timing == nil || !hosts[c.Ends[0].Addr] && !hosts[c.Ends[1].Addr] {
			continue
		}
		switch {
		case p.silentIn(c):
			p.silent = append(p.silent, c)
		case t.takeDied(p, c), slices.Contains(p.hit, c):
		case lost(&c.Ends[0])+lost(&c.Ends[1]) > 0 || !p.goesOn(c):
		case pairs[pairOf(c)]:
			p.spared = append(p.spared, c)
		default:
			p.beside = append(p.beside, c)
		}
	}
}

// silentIn reports whether neither end of a connection sent anything in most of each of several outages.
func (p *pathOutages) silentIn(c *agent.Connection) bool {
	if len(p.times) < fewestSilent {
		return false
	}
	for n := range p.times {
		o := p.times[n].silence()
		for k := range c.Timing.Ends {
			if !silentMost(&c.Timing.Ends[k].Active, &o) {
				return false
			}
		}
	}
	return true
}

// silentMost reports whether an end that had sent something sent nothing in most of a time, and went on.
func silentMost(a *timing.Activity, o *timing.Silence) bool {
	return slices.ContainsFunc(a.Silences, func(s timing.Silence) bool {
		return 3*(min(s.To, o.To)-max(s.From, o.From)) >= 2*o.Length()
	})
}

// goesOn reports whether both ends of a connection are known to have sent something in each outage in which there was such a connection, and in several.
func (p *pathOutages) goesOn(c *agent.Connection) bool {
	seen := 0
	for n := range p.times {
		o := p.times[n].silence()
		if c.First > o.From || c.Closed.At != 0 && c.Closed.At < o.To {
			continue
		}
		for k := range c.Timing.Ends {
			if !c.Timing.Ends[k].Active.Sent(&o) {
				return false
			}
		}
		seen++
	}
	return seen >= min(fewestOutages, len(p.times))
}

// takeDied takes a connection that did not outlast an outage, and reports whether it did not: another began between its hosts, and a request that was sent in the outage was never answered, or it carries nothing from it on, or from
// shortly before, and was not disconnected until that was over.
func (t *teller) takeDied(p *pathOutages, c *agent.Connection) bool {
	last := max(c.Ends[0].Last, c.Ends[1].Last)
	for n := range p.times {
		o := &p.times[n]
		next := t.nextOf(c, o.begin)
		if next == nil {
			continue
		}
		if last <= o.end && last > o.begin-interruption && c.Closed.At > o.end {
			p.died = append(p.died, replaced{c, next, -1})
			return true
		}
		for from := range c.Ends {
			e := &c.Ends[from]
			if !e.Stalled || e.Trouble.Refusal.Time != 0 || e.Trouble.NAK.Time != 0 {
				continue
			}
			if k := &e.Trouble.Now; k.Rounds[qp.TimerExpired] >= lostInTail && k.Since > o.begin-interruption && k.Since < o.end && next.First > k.Last {
				p.died = append(p.died, replaced{c, next, from})
				return true
			}
		}
	}
	return false
}

// ofDied reports whether an incident is of requests that were never answered, all on connections that did not outlast an outage.
func (p *pathOutages) ofDied(i *Incident) bool {
	n := 0
	for _, d := range p.died {
		if d.from >= 0 && d.c.Ends[d.from].Addr == i.Local.Addr && d.c.Ends[1-d.from].Addr == i.Peer.Addr {
			n++
		}
	}
	return i.Kind == Unanswered && n == i.Connections && len(i.Also) == 0
}
