package incident

import (
	"fmt"
	"slices"

	"ibwitness/packet"
	"ibwitness/timing"
)

// A sender whose packets are not ECN-capable (ECN 00) is never marked and gets no CNP: beside senders that are marked, and slow down, it takes
// what they leave.

// unmarkable is such a sender.
type unmarkable struct {
	way
	begun   int64 // when it began to send much, nanoseconds since the Unix epoch
	first   int64 // when it sent its first packet; 0: that is not known
	last    int64 // when it sent its newest packet
	bytes   uint64
	width   int64 // of the slots in which it is known what it sent
	packets uint64
	dscp    uint8
	others  []packet.Addr // who sends such packets to the receiver too, and less
	rate    float64       // bytes a second, since it began
	around  outrun
}

// unmarkable tells first which sender to the receiver of an incident cannot be marked, and sends far more than those that are, which slow
// down; false: none.
func (t *teller) unmarkable(i *Incident, list []sender) bool {
	if !t.timed() || !slices.ContainsFunc(list, func(s sender) bool { return s.marked.n > 0 && s.notified.n >= tellingCNPs }) {
		return false
	}
	var best *unmarkable
	var others []packet.Addr
	for _, u := range t.unmarkableTo(i.Peer.Addr, list) {
		if !t.takesMore(u, list, i) {
			continue
		}
		if best != nil {
			others = append(others, u.from)
		}
		if best == nil || u.rate > best.rate {
			if best != nil {
				others[len(others)-1] = best.from
			}
			best = u
		}
	}
	if best == nil {
		return false
	}
	best.others = eachOnce(others)
	t.tellUnmarkable(i, best, list)
	return true
}

// tellUnmarkable tells of it.
func (t *teller) tellUnmarkable(i *Incident, u *unmarkable, list []sender) {
	a, w := &u.around, &u.around.window
	since, before, during := fmt.Sprintf("since it began at %+.6f s", float64(u.begun-t.run.First)/1e9), "before it", "since"
	if w.begun {
		since, before, during = "all the time", "when they began", "in the second half"
	}
	i.What = fmt.Sprintf("%v sends its packets to %v as not ECN-capable (ECN 00, Not-ECT), so that the network cannot mark them and no CNP "+
		"slows it down: it sent %s %s, "+
		"while %s, whose packets are ECN-capable, marked and answered with CNPs, went down from %s to %s in all. %s",
		u.from, u.to, perSecondOf(u.rate), since, someOf(a.slowed), perSecondOf(a.before), perSecondOf(a.during), i.What)
	i.fact("ecn", fmt.Sprintf("%v: 00 in the first packet of each of its queue pairs, none of %s marked, no CNP to it, DSCP %d; "+
		"of %s %s were marked, so that they are ECN-capable",
		u.from, count(u.packets, "packet"), u.dscp, someOf(a.slowed), count(a.marked, "packet")))
	names := []string{fmt.Sprintf("%v (Not-ECT, %s since)", u.from, perSecondOf(u.rate))}
	for _, s := range list[:min(len(list), portsShown)] {
		names = append(names, fmt.Sprintf("%v (%s marked, %s, %s %s, %s %s)", s.from, number(s.marked.n), count(s.notified.n, "CNP"),
			perSecondOf(t.sentTo(s.way, w.from, w.to)), before, perSecondOf(t.sentTo(s.way, w.then, w.until)), during))
	}
	if more := len(list) - portsShown; more > 0 {
		names = append(names, number(uint64(more))+" more")
	}
	i.fact("senders", enumerate(names)+fmt.Sprintf("; payload in %s before and %s since", span(w.to-w.from), span(w.until-w.then)))
	if len(u.others) > 0 {
		i.fact("not ECT", someOf(u.others)+" too")
	}
	i.FitsWith = []string{fmt.Sprintf("a traffic class of %v without ECN, whose two lowest bits are 00: "+
		"congestion control takes the link from those that it can slow down", u.from)}
	i.Next = []string{u.beCapable()}
}

// beCapable is how its sender becomes ECN-capable.
func (u *unmarkable) beCapable() string {
	return fmt.Sprintf("ECN-capable (ECT) traffic on %v: a traffic class (ToS) of its queue pairs whose two lowest bits are 10, as %d in place of %d "+
		"(default of the adapter, of the program, or rdma_set_option), and congestion control for this priority (ecn/roce_rp)",
		u.from, u.dscp<<2|2, u.dscp<<2)
}

// unmarkableTo are the senders to a receiver of which no packet is marked, to which no CNP came, and whose queue pairs began with requests
// that were not ECN-capable.
func (t *teller) unmarkableTo(to packet.Addr, marked []sender) (list []*unmarkable) {
	not := map[packet.Addr]bool{}
	for _, s := range marked {
		not[s.from] = true
	}
	for _, x := range t.sendersTo()[to] {
		e := &x.c.Ends[x.end]
		switch {
		case e.Bytes == 0 || not[e.Addr] || e.QPNKnown && e.QPN <= 1:
			continue
		case x.c.Timing == nil || !e.NotECT || x.c.Timing.Ends[x.end].Marked > 0 || e.Trouble != nil && e.Trouble.Notified != nil:
			not[e.Addr] = true
			continue
		}
		m := &x.c.Timing.Ends[x.end]
		begun, ok := begins(m)
		n := slices.IndexFunc(list, func(u *unmarkable) bool { return u.from == e.Addr })
		if n < 0 {
			list = append(list, &unmarkable{way: way{e.Addr, to}, dscp: e.Path.DSCP})
			n = len(list) - 1
		}
		u := list[n]
		if ok && (u.begun == 0 || begun < u.begun) {
			u.begun = begun
		}
		u.first = earlier(u.first, m.Active.First)
		u.last, u.packets, u.bytes, u.width = max(u.last, e.Last), u.packets+e.Packets, u.bytes+e.Bytes, max(u.width, m.Series.Width)
	}
	return slices.DeleteFunc(list, func(u *unmarkable) bool { return not[u.from] || u.begun == 0 })
}

// begins is when an end began to send much.
func begins(m *timing.End) (at int64, ok bool) {
	if len(m.Busy.Windows) == 0 {
		return 0, false
	}
	return max(m.Busy.Windows[0].At*timing.BusyWidth, m.Active.First), true
}

// takesMore reports whether a sender sent far more since it began than each of those that are marked, which slow down, and takes what is
// measured of them.
func (t *teller) takesMore(u *unmarkable, list []sender, i *Incident) bool {
	width := max(u.width, tellingTime)
	w := window{then: (u.begun + tellingTime + width - 1) / width * width, until: min(i.End, u.last) / width * width} // whole slots
	if w.until-w.then < 2*width {
		return false
	}
	w.to = u.begun / width * width
	w.from = max(w.to-(w.until-w.then), (t.run.First+width-1-width/16)/width*width)
	if w.begun = w.to-w.from < tellingTime; w.begun {
		w.from, w.to, w.then = w.then, w.then+width, w.then+(w.until-w.then)/2
	}
	u.rate = t.sentTo(u.way, w.then, w.until)
	u.around = t.slowedIn(w, u.rate, u.from, list)
	return u.rate > 0 && len(u.around.slowed) > 0 && u.around.marked > 0 && sharesOf*u.around.before >= u.rate
}

// window is two times in which senders are compared.
type window struct {
	from, to    int64 // before
	then, until int64 // meanwhile
	begun       bool  // before is when it began: the capture begins with it
}

// outrun are senders that slowed down.
type outrun struct {
	window
	slowed         []packet.Addr
	marked         uint64  // packets of theirs
	before, during float64 // what they sent in a second, in all
}

// slowedIn are the senders that CNPs slowed down from one time to another, to far less than the rate of another one.
func (t *teller) slowedIn(w window, rate float64, but packet.Addr, list []sender) (b outrun) {
	b.window = w
	for _, o := range list {
		before, during := t.sentTo(o.way, w.from, w.to), t.sentTo(o.way, w.then, w.until)
		if o.from == but || o.notified.n < tellingCNPs || during > fallen*before || greedyTimes*during > rate || w.begun && o.notified.last.time < w.then {
			continue
		}
		b.slowed, b.before, b.during, b.marked = append(b.slowed, o.from), b.before+before, b.during+during, b.marked+o.marked.n
	}
	return b
}
