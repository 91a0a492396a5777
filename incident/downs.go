package incident

import (
	"cmp"
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/timing"
)

// down is a time in which nothing of a host is in the capture, on no connection, though requests to it waited: it was down, or cut off from the tap. All times are nanoseconds since the Unix epoch.
type down struct {
	from, owed, to int64 // of its last frame before, of the first request that waited, and of its first frame after; to is 0 where it has none
	asked          int64 // when a request was last retransmitted in vain in it
	before, after  uint64
	by             string        // what its first frame after is, where that is neither RDMA nor management: "ARP", "TCP"
	went           []packet.Addr // who sent to others meanwhile
	survived       bool          // a request that waited was answered after it: the queue pair was still there
}

// length is for how long something was owed in it.
func (d *down) length() int64 { return d.to - d.owed }

// lasted says how long it was: where nobody asked the host any more for more than half of the time that it was silent, at least until the last who did, as it need not have been down since.
func (d *down) lasted() string {
	if least := d.atLeast(); least > 0 {
		return fmt.Sprintf("between %s and %s", span(least), span(d.length()))
	}
	return span(d.length())
}

// atLeast is for how long it was so at least, where that is less than half of it; 0: it is not.
func (d *down) atLeast() int64 {
	if least := d.asked - d.owed; !d.survived && least > 0 && 2*least < d.length() {
		return least
	}
	return 0
}

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

// owingOn returns those of end from of a connection: of one that loses so many packets that each may have been lost by chance, those with more rounds.
func owingOn(c *agent.Connection, from int) (list []owing) {
	x := &c.Ends[from]
	k := x.Trouble.Settled(x.Stalled)
	chance := k.Sum.Rounds[qp.SequenceAsked] >= manyLosses
	for j := range k.Longest {
		if s := &k.Longest[j]; interrupts(s) && s.Total() > 0 && s.Ended != 0 && !s.AnswerLost && !s.Late && !heldBack(c, from, s) && (!chance || s.Total() > fewRounds) {
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

// seenOf returns when the capture holds a frame of a host beside those of its connections: that are no RDMA, and of management, in order.
func (t *teller) seenOf(a packet.Addr) (list []agent.Sign) {
	for n := range t.run.Signs {
		if s := &t.run.Signs[n]; s.Host == a {
			list = append(list, *s)
		}
	}
	for n := range t.run.Findings {
		if f := &t.run.Findings[n]; f.Rule == rule.EvReject && f.Class == rule.Event && f.Accused.Addr == a {
			list = append(list, agent.Sign{At: f.Time, Frame: f.Frame, Tap: f.Tap})
		}
	}
	slices.SortStableFunc(list, func(a, b agent.Sign) int { return cmp.Compare(a.At, b.At) })
	return list
}

// downs returns the times in which a host was down, or cut off, in order. Those of which the requests do not show that something was owed most of the time, or in which no other host went on, are none.
func (t *teller) downs(a packet.Addr) (list []down) {
	if !t.timed() || t.lossy() || len(t.run.Connections) > mostOthers {
		return nil
	}
	waited := t.owingOf(a)
	if len(waited) == 0 {
		return nil
	}
	k, seen := t.activityOf(a), t.seenOf(a)
	silences := slices.Clone(k.Silences)
	silences = append(silences, timing.Silence{From: k.Last, To: t.run.Last + 1, Frames: [2]uint64{k.Frames[1], 0}})
	for n := range silences {
		if d, ok := t.down(a, &silences[n], waited, seen); ok {
			list = append(list, d)
		}
	}
	return list
}

// down returns what silence s of a host is of a time in which it was down; false: it is none.
func (t *teller) down(a packet.Addr, s *timing.Silence, waited []owing, seen []agent.Sign) (d down, ok bool) {
	d = down{from: s.From, to: s.To, before: s.Frames[0], after: s.Frames[1]}
	rounds, on, until := uint64(0), map[*agent.Connection]bool{}, int64(0)
	for n := range waited {
		k := &waited[n]
		if !k.all(s) {
			continue
		}
		if since := max(k.Since, s.From); d.owed == 0 || since < d.owed {
			d.owed = since
		}
		rounds, on[k.on], until = max(rounds, k.Total()), true, max(until, k.Last)
		d.survived = d.survived || k.ended
	}
	if d.owed == 0 || rounds < 2 && len(on) < 2 { // one that was lost
		return d, false
	}
	d.narrow(seen)
	t.narrowNumbered(a, &d)
	d.asked = min(until, d.to)
	within := timing.Silence{From: d.owed, To: d.to}
	if d.to > t.run.Last {
		within.To, d.to = until, 0
	}
	if within.Length() < interruption || 2*within.Length() < within.To-d.from {
		return d, false
	}
	if t.mayAnswerPings(a, &within) {
		return d, false
	}
	d.went = t.wentOnBeside(a, packet.Addr{}, &within)
	return d, len(d.went) > 0
}

// narrow has a time begin with the last frame before what is owed, and end with the first after it, that are not of a connection.
func (d *down) narrow(seen []agent.Sign) {
	for n := range seen {
		switch s := &seen[n]; {
		case s.At > d.from && s.At <= d.owed:
			d.from, d.before = s.At, s.Frame
		case s.At > d.owed && s.At < d.to:
			d.to, d.after = s.At, s.Frame
			if d.by = s.By.String(); s.Host.IsZero() {
				d.by = ""
			}
			return
		}
	}
}

// narrowNumbered has a time begin and end with the packets of the host between which its identifications lack numbers, or begin again: some are of no
// connection.
func (t *teller) narrowNumbered(a packet.Addr, d *down) {
	k := t.numberedAround(a, d.owed)
	if k.From > d.from {
		d.from, d.before = k.From, k.Before
	}
	if k.To != 0 && k.To < d.to {
		d.to, d.after, d.by = k.To, k.After, ""
	}
}

// numberedAround is the hole in the identifications of a host that covers a time, or where they begin again then, with 0 packets; the zero value:
// there is none, or it has no one counter.
func (t *teller) numberedAround(a packet.Addr, at int64) agent.Hole {
	if len(t.run.Taps) > 1 {
		return agent.Hole{}
	}
	for n := range t.run.Numbered {
		h := &t.run.Numbered[n]
		if h.Host != a {
			continue
		}
		for _, k := range h.Restarts {
			if k.From <= at && k.At > at {
				return agent.Hole{Before: k.Before, After: k.After, From: k.From, To: k.At}
			}
		}
		for _, k := range h.Holes {
			if k.From <= at && k.To > at {
				return k
			}
		}
	}
	return agent.Hole{}
}

// back names the first frame of a host after a time in which it was down.
func (t *teller) back(d *down) string {
	switch {
	case d.after == 0:
		return "its next connection, " + t.offset(d.to)
	case d.by != "":
		return fmt.Sprintf("%s in frame %d, %s", d.by, d.after, t.offset(d.to))
	}
	return fmt.Sprintf("frame %d, %s", d.after, t.offset(d.to))
}
