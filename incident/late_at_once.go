package incident

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/packet"
	"ibwitness/timing"
)

// answersTook is how long half of the answers to requests of one end took, that were not retransmitted: before, while and since requesters retransmitted what was answered late. 0: too few are known.
type answersTook struct {
	before, meanwhile, since time.Duration
	longest                  bool // meanwhile is what the longest took: all that is known were retransmitted
}

// fewestTook is how many answers tell how long half of them took at least.
const fewestTook = 4

// tookAround is how long the answers to requests of an end took around a time in which they came late.
func tookAround(e *timing.End, from, to int64) (a answersTook) {
	var parts [3][]time.Duration
	for _, w := range e.Acks.List {
		switch {
		case w.At+int64(w.Took) < from:
			parts[0] = append(parts[0], w.Took)
		case w.At >= from && w.At+int64(w.Took) <= to:
			parts[1] = append(parts[1], w.Took)
		case w.At > to:
			parts[2] = append(parts[2], w.Took)
		}
	}
	for n, took := range []*time.Duration{&a.before, &a.meanwhile, &a.since} {
		if list := parts[n]; len(list) >= fewestTook {
			slices.Sort(list)
			*took = list[len(list)/2]
		}
	}
	return a
}

// stepped reports whether answers took clearly longer meanwhile than before and, as far as that is known, since.
func (a answersTook) stepped() bool {
	return a.before > 0 && 4*a.meanwhile >= 5*a.before && (a.since == 0 || 4*a.meanwhile >= 5*a.since)
}

// alike reports whether others stepped about as far.
func (a answersTook) alike(b answersTook) bool {
	near := func(x, y time.Duration) bool { return 8*max(x-y, y-x) <= max(x, y) }
	return a.stepped() && b.stepped() && near(a.before, b.before) && near(a.meanwhile, b.meanwhile)
}

// said tells it.
func (a answersTook) said() string {
	text := fmt.Sprintf("half of them took %s or more meanwhile, and %s before", span(int64(a.meanwhile)), span(int64(a.before)))
	if a.longest {
		text = fmt.Sprintf("they took up to %s meanwhile, and half of them %s or more before", span(int64(a.meanwhile)), span(int64(a.before)))
	}
	if a.since > 0 {
		text += fmt.Sprintf(", %s since", span(int64(a.since)))
	}
	return text
}

// tookOf is how long the answers to requests of an incident took around it; of a connection that is not known it is nothing.
func (t *teller) tookOf(i *Incident) (a answersTook) {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for from := range c.Ends {
			if c.Timing != nil && party(&c.Ends[from]) == i.Local && party(&c.Ends[1-from]) == i.Peer {
				a = tookAround(&c.Timing.Ends[from], i.Begin, i.End)
				if a.meanwhile == 0 && c.Ends[from].Trouble != nil {
					k := c.Ends[from].Trouble.Settled(c.Ends[from].Stalled)
					_, took := shortestTimer(&k)
					a.meanwhile, a.longest = time.Duration(took), true
				}
				return a
			}
		}
	}
	return a
}

// lateAtOnce has an incident in which answers came later than a timer waits say how long they took before and since, and who had the same delay without retransmitting; those of others whose answers took
// about as long at the same time are one with it, where they ask other responders: lateTogether tells of those of one.
func (t *teller) lateAtOnce(list []Incident) []Incident {
	merged := map[*Incident]bool{}
	if !t.timed() {
		return list
	}
	for n := range list {
		i := &list[n]
		if merged[i] || !i.lateOnly() || len(i.Also) > 0 {
			continue
		}
		took := t.tookOf(i)
		if !took.stepped() {
			continue
		}
		all := []*Incident{i}
		for m := range list[n+1:] {
			if o := &list[n+1+m]; !merged[o] && o.lateOnly() && len(o.Also) == 0 && o.Peer.Addr != i.Peer.Addr && i.sameTime(o) && took.alike(t.tookOf(o)) {
				all = append(all, o)
			}
		}
		i.fact("answers", took.said())
		i.fact("spared", t.sparedBy(took, all))
		if len(all) > 1 {
			i.leadAtOnce(all)
			for _, o := range all[1:] {
				merged[o] = true
			}
		}
	}
	return without(list, merged)
}

// sameTime reports whether two incidents overlap for most of the time of each.
func (i *Incident) sameTime(o *Incident) bool {
	both := min(i.End, o.End) - max(i.Begin, o.Begin)
	return 4*both >= 3*max(i.End-i.Begin, o.End-o.Begin)
}

// sparedBy names the connections whose answers took about as long at the time of incidents, and that retransmitted nothing; "": there are none.
func (t *teller) sparedBy(took answersTook, all []*Incident) string {
	var names []string
	i := all[0]
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for from := range c.Ends {
			e := &c.Ends[from]
			if c.Timing == nil || !c.Service.Reliable() || e.Retransmissions > 0 || e.Stalled || !e.QPNKnown || !took.alike(tookAround(&c.Timing.Ends[from], i.Begin, i.End)) {
				continue
			}
			names = append(names, fmt.Sprintf("%v QP 0x%x to %v (%s)", e.Addr, e.QPN, c.Ends[1-from].Addr, count(e.Messages, "message")))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "the same delay, and nothing retransmitted: " + listed(names) + ", with a longer timer"
}

// leadAtOnce has an incident tell of all requesters whose answers came late at the same time.
func (i *Incident) leadAtOnce(all []*Incident) {
	var names, timeouts []string
	none, rounds, hosts := "nothing was lost, as each copy was answered too", uint64(0), map[packet.Addr]bool{}
	for _, o := range all {
		said, _, _ := strings.Cut(o.again.said, ": the answers came late")
		names = append(names, said)
		if strings.Contains(o.again.said, " of these rounds ") {
			none = "most likely nothing was lost"
		}
		rounds += o.again.rounds
		hosts[o.Local.Addr] = true
		if at := o.Local.Addr.String(); !slices.Contains(timeouts, at) {
			timeouts = append(timeouts, at)
		}
	}
	i.includesAll(all[1:])
	for _, o := range all[1:] {
		i.Connections += o.Connections
	}
	i.What = fmt.Sprintf("%d connections of %s had answers that took longer than their ACK timeouts at the same time, and retransmitted in %s what was answered: %s.",
		i.Connections, count(uint64(len(hosts)), "host"), count(rounds, "round"), none)
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool {
		return slices.Contains([]string{"caused", "where", "host", "also"}, f.Label)
	})
	for n := range i.Facts {
		if f := &i.Facts[n]; i.Local.QPNKnown && slices.Contains([]string{"goodput", "cost", "timer", "answers"}, f.Label) {
			f.Text = fmt.Sprintf("QP 0x%x: %s", i.Local.QPN, f.Text)
		}
	}
	i.Facts = slices.Insert(i.Facts, 0, Fact{"each", listed(names)})
	i.FitsWith = []string{"ACK timeouts that are shorter than an answer takes on a path that became longer for all of them at that time (another route, a queue), or responders that were held up alike"}
	i.Next = []string{
		"a longer ACK timeout of these queue pairs on " + enumerate(timeouts) + " (rdma resource show qp)",
		"what changed on the path that they have in common at that time",
	}
	i.listed = true
}
