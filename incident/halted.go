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

// halts finds the silences of a host that its identifications show to be none of a host that was idle.
func (t *teller) halts(a packet.Addr) (list []cutOff) {
	unseen, restarts, shortest := uint64(0), false, int64(0)
	idle := int64(0) // the longest that is none
	for _, s := range t.silencesOf(a) {
		if !s.ended || s.waited > 0 { // one in which requests to it waited is told with these
			continue
		}
		k := cutOff{hostSilence: s}
		if !k.halts(t, a) {
			idle = max(idle, s.Length())
			continue
		}
		list, restarts, unseen = append(list, k), restarts || k.begun != "", unseen+k.unseen
		if shortest == 0 || s.Length() < shortest {
			shortest = s.Length()
		}
	}
	elsewhere := sub(t.numbersMissing(a), unseen)
	if !restarts && (len(list) > mostHalts || mostOf*idle > shortest || mostOf*elsewhere > unseen) {
		return nil
	}
	for n := range list {
		k := &list[n]
		k.certain = k.begun != "" || k.repeats > 0 || len(k.lost) > 0 || elsewhere == 0
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

// halts reports whether the identifications of the host show that it was not idle.
func (k *cutOff) halts(t *teller, a packet.Addr) bool {
	within, of := timing.Silence{From: k.from, To: k.to}, &k.number
	long := k.Length() >= interruption && k.length() >= interruption && 2*k.length() >= of.To-of.From
	if of.From == 0 || !long || k.after <= k.before || t.mayAnswerPings(a, &within) {
		return false
	}
	if k.went = t.wentOnBeside(a, packet.Addr{}, &within); len(k.went) == 0 || !k.stop(t, a) {
		return false
	}
	if of.Packets == 0 {
		k.begun, _ = t.countsOn(a, &k.hostSilence)
		return k.begun != "" && len(k.lost) == len(k.stopped)
	}
	most := int64(0)
	for _, c := range k.stopped {
		most += k.length() / pauseBefore(c, &k.hostSilence)
	}
	k.unseen = uint64(of.Packets)
	return len(k.stopped) >= askedOn && k.unseen >= uint64(len(k.stopped)) && k.unseen <= uint64(most)
}

// mayAnswerPings reports whether a host may have answered pings in a silence.
func (t *teller) mayAnswerPings(a packet.Addr, s *timing.Silence) bool {
	return slices.ContainsFunc(t.run.Echoes, func(o agent.Echo) bool { return o.Addr == a && o.First < s.To && o.Last > s.From })
}

// stop finds the connections of the host, and those that were busy. It reports whether there are any, and nothing came to it on any meanwhile.
func (h *cutOff) stop(t *teller, a packet.Addr) bool {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		e := endOf(c, a)
		if e == nil || c.Service == packet.UD || c.First >= h.from || c.Closed.At != 0 && c.Closed.At < h.from {
			continue
		}
		h.open++
		pause := pauseBefore(c, &h.hostSilence)
		soon := max(cutOffSoon, cutOffTimes*pause)
		at, quiet := quietIn(c, &h.hostSilence, soon)
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
		h.lost = append(h.lost, c)
		if d := t.nextOf(c, h.from); d != nil && (h.again == nil || d.First < h.again.First) {
			h.again = d
		}
	}
	return len(h.stopped) > 0
}

// retransmits reports whether a request that an end of the host had sent before it was silent was first retransmitted after that.
func (h *cutOff) retransmits(e *agent.End) bool {
	if e.Trouble == nil {
		return false
	}
	x := e.Trouble.Settled(e.Stalled)
	return slices.ContainsFunc(x.Longest[:], func(s qp.Stall) bool { return s.Total() > 0 && s.Since <= h.from && s.Begun >= h.to })
}

// quietIn returns when a connection carried its last packet before a host of it was silent; false: it carried some meanwhile, but for answers right
// after it began.
func quietIn(c *agent.Connection, d *hostSilence, soon int64) (at int64, ok bool) {
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
func pauseBefore(c *agent.Connection, d *hostSilence) int64 {
	active := max(c.Ends[0].Last, c.Ends[1].Last) - c.First
	if c.First+active >= d.to {
		active -= d.to - d.from
	}
	return max(active/int64(max(c.Ends[0].Packets+c.Ends[1].Packets, 1)), 1)
}
