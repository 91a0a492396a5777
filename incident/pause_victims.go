package incident

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/timing"
)

// otherEnd is the only host that began and ended no message in some pauses, and is not as silent at other times.
func (t *teller) otherEnd(pauses []handed, but []packet.Addr) (host packet.Addr, one bool) {
	var list []packet.Addr
	for k := range t.run.Connections {
		c := &t.run.Connections[k]
		for e := range c.Ends {
			if a := c.Ends[e].Addr; !slices.Contains(list, a) && !slices.Contains(but, a) {
				list = append(list, a)
			}
		}
	}
	found := 0
	for _, a := range list {
		if at, known := t.messageTimes(a, nil); known {
			if gaps := stoodStill(at, pauses); gaps != nil && sentUntil(gaps, pauses) {
				host, found = a, found+1
			}
		}
	}
	return host, found == 1
}

// sentUntil reports whether times without a message in some pauses began only after the beginning of those which these follow.
func sentUntil(gaps []link.Lasting, pauses []handed) bool {
	return !slices.ContainsFunc(gaps, func(g link.Lasting) bool {
		return slices.ContainsFunc(pauses, func(h handed) bool { return g.From <= h.of.From+inFlight && g.To >= h.pause.To })
	})
}

// victim is what a host sends to another that does not pause, and that waited.
type victim struct {
	text    string
	to      packet.Addr
	longest int64
}

// victims are what a host that had to pause sends to others than those that pause.
func (t *teller) victims(host packet.Addr, pauses []handed) (list []victim) {
	var to []packet.Addr
	for k := range t.run.Connections {
		c := &t.run.Connections[k]
		for e := range c.Ends {
			if a := c.Ends[1-e].Addr; c.Ends[e].Addr == host && c.Ends[e].Messages > 0 && !slices.Contains(to, a) && !t.pauses(a) {
				to = append(to, a)
			}
		}
	}
	slices.SortFunc(to, packet.Addr.Compare)
	for _, a := range to {
		if v, waited := t.stoodOn(way{host, a}, pauses); waited {
			list = append(list, v)
		}
	}
	return list
}

// stoodOn is what a host sends to another, where no message of it began or ended in any of some pauses; false: one did, or that is not known.
func (t *teller) stoodOn(w way, pauses []handed) (v victim, waited bool) {
	at, known := t.messageTimes(w.from, &w.to)
	gaps := stoodStill(at, pauses)
	if !known || gaps == nil {
		return v, false
	}
	v.to = w.to
	var each []string
	for _, g := range gaps {
		v.longest = max(v.longest, g.To-g.From)
		if len(each) < eachTold {
			each = append(each, fmt.Sprintf("%+.6f s for %s", float64(g.From-t.run.First)/1e9, span(g.To-g.From)))
		}
	}
	if more := len(gaps) - len(each); more > 0 {
		each = append(each, number(uint64(more))+" more")
	}
	v.text = fmt.Sprintf("%v to %v, %s", w.from, w.to, strings.Join(each, ", "))
	return v, true
}

// pauses reports whether a port that is likely of a host has others pause.
func (t *teller) pauses(a packet.Addr) bool {
	return slices.ContainsFunc(t.run.Paused, func(p link.Paused) bool { return slices.Contains(p.Hosts, a) })
}

// messageTimes is when messages of a host began and ended, to another where one is given, in order; false: not all of these are kept.
func (t *teller) messageTimes(from packet.Addr, to *packet.Addr) (at []int64, known bool) {
	for k := range t.run.Connections {
		c := &t.run.Connections[k]
		for e := range c.Ends {
			if c.Ends[e].Addr != from || to != nil && c.Ends[1-e].Addr != *to || c.Ends[e].Packets == 0 {
				continue
			}
			if c.Timing == nil {
				return nil, false
			}
			first, newest, n := c.Timing.Ends[e].AllSent()
			if len(first)+len(newest) < n {
				return nil, false
			}
			for _, s := range [2][]timing.Sent{first, newest} {
				for _, m := range s {
					at = append(at, m.Begin, m.End)
				}
			}
		}
	}
	slices.Sort(at)
	return at, len(at) > 0
}

// stoodStill is when there was none of some times, in order, in each of some pauses; nil: there was in one, or the times are as far from one
// another elsewhere.
func stoodStill(at []int64, pauses []handed) (gaps []link.Lasting) {
	longest, other := int64(0), int64(0)
	in := 0
	for k := 1; k < len(at); k++ {
		g := link.Lasting{From: at[k-1], To: at[k]}
		covers := func(h handed) bool { return g.From <= h.pause.From+inFlight && g.To >= h.pause.To }
		if n := slices.IndexFunc(pauses, covers); n < 0 {
			other = max(other, g.To-g.From)
			continue
		}
		gaps, longest = append(gaps, g), max(longest, g.To-g.From)
		for _, h := range pauses {
			if covers(h) {
				in++
			}
		}
	}
	if in < len(pauses) || in == 0 || longest < standing*other {
		return nil
	}
	return gaps
}
