package incident

import (
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
)

const (
	// mostHalts is how often a host is told to have been cut off at most, where only its identifications show that: one that sends elsewhere lacks
	// numbers each time.
	mostHalts = 3
	// mostOf is which part of the numbers that it lacks, one in so many, may be missing at other times, and how long, likewise, its other silences
	// may be.
	mostOf = 4
)

// halt is a silence of a host to which nobody sent a request meanwhile, and what its IPv4 identifications show of it: that it went on sending what
// has not come to the tap, or that it restarted.
type halt struct {
	down
	open    int                 // connections that it had
	stopped []*agent.Connection // of them, the busy ones: all fell silent, both ways, at its beginning
	spread  int64               // within what time they did
	lost    int                 // of these, those that carry nothing after it
	repeats int                 // of these, those on which it retransmits after it what it had sent before
	again   *agent.Connection   // the first that it has after these; nil: none
	unseen  uint64              // packets that it sent meanwhile
	begun   string              // what shows that it restarted
	certain bool                // its numbers are missing at no other time, or what came after it shows it too
}

// halts finds the silences of a host that its identifications show to be none of a host that was idle.
func (t *teller) halts(a packet.Addr) (list []halt) {
	waited, seen, silences := t.owingOf(a), t.seenOf(a), t.activityOf(a).Silences
	unseen, restarts, shortest := uint64(0), false, int64(0)
	idle := int64(0) // the longest that is none
	for n := range silences {
		s := &silences[n]
		h, ok := t.halt(a, s, seen)
		switch {
		case slices.ContainsFunc(waited, func(k owing) bool { return k.all(s) }):
			continue // one in which requests to it waited is told with these
		case !ok:
			idle = max(idle, s.Length())
			continue
		}
		list, restarts, unseen = append(list, h), restarts || h.begun != "", unseen+h.unseen
		if shortest == 0 || s.Length() < shortest {
			shortest = s.Length()
		}
	}
	elsewhere := sub(t.numbersMissing(a), unseen)
	if !restarts && (len(list) > mostHalts || mostOf*idle > shortest || mostOf*elsewhere > unseen) {
		return nil
	}
	for n := range list {
		h := &list[n]
		h.certain = h.begun != "" || h.repeats > 0 || h.lost > 0 || elsewhere == 0
	}
	return list
}

// numbersMissing is how many numbers the identifications of a host lack.
func (t *teller) numbersMissing(a packet.Addr) (sum uint64) {
	for n := range t.run.Numbered {
		if h := &t.run.Numbered[n]; h.Host == a {
			for k := range h.Holes {
				sum += uint64(h.Holes[k].Packets)
			}
		}
	}
	return sum
}

// halt returns what the identifications of a host show of its silence s; false: nothing.
func (t *teller) halt(a packet.Addr, s *timing.Silence, seen []agent.Sign) (h halt, ok bool) {
	k := t.numberedAround(a, s.From+s.Length()/2)
	if k.From == 0 || s.Length() < interruption {
		return h, false
	}
	h.down = down{from: s.From, to: s.To, before: s.Frames[0], after: s.Frames[1]}
	if k.From > h.from {
		h.from, h.before = k.From, k.Before
	}
	h.owed = h.from
	h.narrow(seen)
	t.narrowNumbered(a, &h.down)
	within := timing.Silence{From: h.from, To: h.to}
	if h.length() < interruption || 2*h.length() < k.To-k.From || h.after <= h.before || t.mayAnswerPings(a, &within) {
		return h, false
	}
	if h.went = t.wentOnBeside(a, packet.Addr{}, &within); len(h.went) == 0 || !h.stop(t, a) {
		return h, false
	}
	if k.Packets == 0 {
		h.begun, _ = t.countsOn(a, &h.down)
		return h, h.begun != "" && h.lost == len(h.stopped) && h.lost > 0
	}
	most := int64(0)
	for _, c := range h.stopped {
		most += h.length() / pauseBefore(c, &h.down)
	}
	h.unseen = uint64(k.Packets)
	return h, len(h.stopped) >= askedOn && h.unseen >= uint64(len(h.stopped)) && h.unseen <= uint64(most)
}

// mayAnswerPings reports whether a host may have answered pings in a silence.
func (t *teller) mayAnswerPings(a packet.Addr, s *timing.Silence) bool {
	return slices.ContainsFunc(t.run.Echoes, func(o agent.Echo) bool { return o.Addr == a && o.First < s.To && o.Last > s.From })
}

// stop finds the connections of the host, and those that were busy. It reports whether there are any, and nothing came to it on any meanwhile.
func (h *halt) stop(t *teller, a packet.Addr) bool {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		e := endOf(c, a)
		if e == nil || c.Service == packet.UD || c.First >= h.from || c.Closed.At != 0 && c.Closed.At < h.from {
			continue
		}
		h.open++
		pause := pauseBefore(c, &h.down)
		soon := max(cutOffSoon, cutOffTimes*pause)
		at, quiet := quietIn(c, &h.down, soon)
		switch {
		case !quiet:
			return false
		case c.Ends[0].Messages+c.Ends[1].Messages < blackoutMessages, h.length() < cutOffTimes*pause, at < h.from-soon:
			continue // it was idle
		}
		h.stopped, h.spread = append(h.stopped, c), max(h.spread, h.from-at)
		if max(c.Ends[0].Last, c.Ends[1].Last) >= h.to {
			if h.retransmits(e) {
				h.repeats++
			}
			continue
		}
		h.lost++
		if d := t.nextOf(c, h.from); d != nil && (h.again == nil || d.First < h.again.First) {
			h.again = d
		}
	}
	return len(h.stopped) > 0
}

// retransmits reports whether a request that an end of the host had sent before it was silent was first retransmitted after that.
func (h *halt) retransmits(e *agent.End) bool {
	if e.Trouble == nil {
		return false
	}
	x := e.Trouble.Settled(e.Stalled)
	return slices.ContainsFunc(x.Longest[:], func(s qp.Stall) bool { return s.Total() > 0 && s.Since <= h.from && s.Begun >= h.to })
}

// quietIn returns when a connection carried its last packet before a host of it was silent; false: it carried some meanwhile, but for answers right
// after it began.
func quietIn(c *agent.Connection, d *down, soon int64) (at int64, ok bool) {
	for e := range c.Ends {
		switch last := c.Ends[e].Last; {
		case last == 0:
		case last < d.from+soon:
			at = max(at, min(last, d.from))
		case c.Timing == nil:
			return 0, false
		default:
			s := c.Timing.Ends[e].Active.Silent(d.from+soon, d.to)
			if s == nil {
				if c.Timing.Ends[e].Active.First < d.to {
					return 0, false
				}
				continue
			}
			at = max(at, min(s.From, d.from))
		}
	}
	return at, true
}

// pauseBefore is the mean time between two packets of a connection but for a time in which a host of it was silent, nanoseconds.
func pauseBefore(c *agent.Connection, d *down) int64 {
	active := max(c.Ends[0].Last, c.Ends[1].Last) - c.First
	if c.First+active >= d.to {
		active -= d.to - d.from
	}
	return max(active/int64(max(c.Ends[0].Packets+c.Ends[1].Packets, 1)), 1)
}
