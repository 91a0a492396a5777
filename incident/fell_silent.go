package incident

import (
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

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

// usualPause is the mean time between two packets of a connection, nanoseconds.
func usualPause(c *agent.Connection) int64 {
	return (max(c.Ends[0].Last, c.Ends[1].Last) - c.First) / int64(max(c.Ends[0].Packets+c.Ends[1].Packets, 1))
}
