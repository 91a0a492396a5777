package incident

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/agent"
	"ibwitness/packet"
)

// muchLower is how many times as low the numbers of queue pairs are at least that begin again, where nothing else says so: an adapter may use one
// again.
const muchLower = 8

// jump is by how many numbers identifications are ahead after a time in which a host was down that do not show whether they count on or begin at
// another number.
const jump = 1024

// countsOn says what shows that a host restarted while it was down, or that it did not: whether what it counts began again.
func (t *teller) countsOn(a packet.Addr, d *hostSilence) (again, on string) {
	var list []string
	numbered := false
	for n := range t.run.Numbered {
		h := &t.run.Numbered[n]
		if h.Host != a || len(t.run.Taps) > 1 {
			continue
		}
		numbered = !slices.ContainsFunc(h.Holes, func(k agent.Hole) bool { return k.From <= d.owed && k.To > d.owed && k.Packets >= jump })
		for _, k := range h.Restarts {
			if k.From <= d.owed && k.At > d.owed && !t.goesOnAfter(a, d) {
				list = append(list, fmt.Sprintf("its IPv4 identifications begin again, with %d in frame %d after %d in frame %d", k.Is, k.After, k.Was, k.Before))
			}
		}
	}
	was, is := t.qpnsAround(a, d)
	switch {
	case is.most == 0 || was.most == 0:
	case is.most < was.least && len(list) > 0, is.most < was.least/muchLower && !numbered:
		list = append(list, fmt.Sprintf("its queue pairs have lower numbers than before (%s, and %s before)", is.extent(), was.extent()))
	case is.least > was.most && len(list) == 0 && numbered:
		return "", fmt.Sprintf("nothing shows one: its IPv4 identifications and the numbers of its queue pairs count on (%s, and %s before)", is.extent(), was.extent())
	}
	return strings.Join(list, "; "), ""
}

// begunAfter reports whether a connection of a host began when that was down or after, and the host sent its first packet there after: its peer may
// have asked for it before.
func (d *hostSilence) begunAfter(c *agent.Connection, a packet.Addr) bool {
	for e := range c.Ends {
		if c.Ends[e].Addr == a {
			return c.First >= d.to || c.First > d.from && activeOn(c, e).First >= d.to
		}
	}
	return false
}

// goesOnAfter reports whether a queue pair that a host had used before it was down sent more after that: it cannot have restarted.
func (t *teller) goesOnAfter(a packet.Addr, d *hostSilence) bool {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if e := endOf(c, a); e != nil && c.Service != packet.UD && e.Last >= d.to && !d.begunAfter(c, a) {
			return true
		}
	}
	return false
}

// qpnsAround are the queue pairs that a host used before it was down, and those that it used only after.
func (t *teller) qpnsAround(a packet.Addr, d *hostSilence) (was, is qpns) {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		e := endOf(c, a)
		if e == nil || !e.QPNKnown || e.QPN <= 1 || e.Packets == 0 {
			continue
		}
		of := &was
		if d.begunAfter(c, a) {
			of = &is
		}
		if of.most == 0 {
			of.least = e.QPN
		}
		*of = qpns{min(of.least, e.QPN), max(of.most, e.QPN)}
	}
	return was, is
}

// extent names them from the least to the greatest.
func (q qpns) extent() string {
	if q.least == q.most {
		return fmt.Sprintf("0x%x", q.least)
	}
	return fmt.Sprintf("0x%x to 0x%x", q.least, q.most)
}
