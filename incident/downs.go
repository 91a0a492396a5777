package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
)

// downs returns the silences of a host in which it was down, or cut off from the tap, in order: what it owed, while other hosts went on. Of a host
// that was so, a time in which requests waited for it on two connections or more is another, where others sent packets in it, though not all the
// time; and one in which several requests to it were lost, or one and what it sent itself, and nothing shows that before it was back, where others went
// on.
func (t *teller) downs(a packet.Addr) []hostSilence {
	list := t.owed(a)
	alive := func(h hostSilence) bool { return len(h.went) > 0 }
	if !slices.ContainsFunc(list, func(h hostSilence) bool { return alive(h) && !h.brief }) {
		return nil
	}
	for n := range list {
		if h := &list[n]; !alive(*h) && (h.waited > 1 || h.lone) && !h.brief && h.to != 0 {
			within := timing.Silence{From: h.owed, To: h.to}
			h.went = t.sendersBeside(a, packet.Addr{}, func(x *timing.Activity) bool { return x.Sent(&within) })
		}
	}
	return slices.DeleteFunc(list, func(h hostSilence) bool { return !alive(h) })
}

// owed returns the silences of a host in most of which requests to it waited that show that it owed something, and who went on in each.
func (t *teller) owed(a packet.Addr) (list []hostSilence) {
	announces := t.announces(a)
	for _, h := range t.silencesOf(a) {
		if h.lone = h.rounds < 2 && h.waited < 2; announces && h.cameUp() {
			h.owed, h.survived = h.from, t.wentThrough(a, &h)
		} else if h.lone && !(announces && h.missedOne()) { // one that was lost, or several
			since := t.missedMany(a, &h)
			if since == 0 {
				since = t.cutBothWays(a, &h)
			}
			if h.brief = since != 0; !h.brief {
				continue
			}
			h.owed, h.survived = since, true
		} else if h.waited == 0 {
			h.owed, h.survived = h.missed, true
		}
		within := timing.Silence{From: h.owed, To: h.to}
		if h.to == 0 {
			within.To = h.asked
		}
		if within.Length() < interruption || 2*within.Length() < within.To-h.from || t.mayAnswerPings(a, &within) {
			continue
		}
		h.went = t.wentOnBeside(a, packet.Addr{}, &within)
		list = append(list, h)
	}
	return list
}

// wentThrough reports whether a connection of a host went on after a silence of it.
func (t *teller) wentThrough(a packet.Addr, h *hostSilence) bool {
	return slices.ContainsFunc(t.run.Connections, func(c agent.Connection) bool {
		return c.First < h.From && slices.ContainsFunc(c.Ends[:], func(e agent.End) bool { return e.Addr == a && e.Last >= h.To })
	})
}

// length is for how long something was owed in it.
func (h *hostSilence) length() int64 { return h.to - h.owed }

// lasted says how long it was: where nobody asked the host any more for more than half of the time that it was silent, at least until the last who
// did, as it need not have been down since.
func (h *hostSilence) lasted() string {
	if least := h.atLeast(); least > 0 {
		return fmt.Sprintf("between %s and %s", span(least), span(h.length()))
	}
	return span(h.length())
}

// atLeast is for how long it was so at least, where that is less than half of it; 0: it is not.
func (h *hostSilence) atLeast() int64 {
	if least := h.asked - h.owed; !h.survived && least > 0 && 2*least < h.length() {
		return least
	}
	return 0
}

// timeOf says when a host owed something that was silent, and for how long.
func (t *teller) timeOf(h *hostSilence) string {
	if h.to == 0 {
		return fmt.Sprintf("from %s on until the end", t.offset(h.owed))
	}
	return fmt.Sprintf("%s from %s on", h.lasted(), t.offset(h.owed))
}

// back names the first frame of a host after a time in which it was down.
func (t *teller) back(h *hostSilence) string {
	switch {
	case h.after == 0:
		return "its next connection, " + t.offset(h.to)
	case h.by != "":
		return fmt.Sprintf("%s in frame %d, %s", h.by, h.after, t.offset(h.to))
	}
	return fmt.Sprintf("frame %d, %s", h.after, t.offset(h.to))
}
