package incident

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/packet"
	"ibwitness/timing"
)

// tellLulls tells of the times in which the programs of a host sent nothing.
func (t *teller) tellLulls(a packet.Addr, list []lull) {
	first := &list[0].waits[0]
	i := t.between(Interrupted, first.c, 1-first.end)
	i.Begin, i.End, i.listed, i.lulls = list[0].From, list[len(list)-1].To, true, list
	shortest, longest, acks, busy := list[0].Length(), int64(0), time.Duration(0), t.busyOf(a, &list[0])
	var when, asked []string
	on, slowest := map[[2]Party]bool{}, waitedOn{}
	for n := range list {
		k := &list[n]
		shortest, longest = min(shortest, k.Length()), max(longest, k.Length())
		i.Lost += time.Duration(k.Length())
		when = append(when, fmt.Sprintf("%s from %s to %s", span(k.Length()), t.offset(k.From), t.offset(k.To)))
		for m := range k.waits {
			w := &k.waits[m]
			peer := &w.c.Ends[1-w.end]
			on[[2]Party{party(&w.c.Ends[w.end]), party(peer)}] = true
			if acks = max(acks, w.acks); peer.Addr != i.Local.Addr && !slices.Contains(i.Also, peer.Addr) {
				i.Also = append(i.Also, peer.Addr)
			}
			if w.answered-w.came > slowest.answered-slowest.came {
				slowest = *w
			}
			i.show(w.frame)
		}
		asked = append(asked, t.askedIn(k))
	}
	slices.SortFunc(i.Also, packet.Addr.Compare)
	i.Connections = len(on)
	lasted := "for " + span(longest)
	if shortest != longest {
		lasted = fmt.Sprintf("for %s to %s", span(shortest), span(longest))
	}
	often := times(uint64(len(list)))
	i.What = fmt.Sprintf("%s, %s, no program of %v sent a message on any of its %d busy connections, while its adapter acknowledged what came within %s: "+
		"its software stopped or waited, and not its adapter or the network; then all went on.",
		strings.ToUpper(often[:1])+often[1:], lasted, a, busy, span(int64(acks)))
	i.programsOf = a
	i.fact("stopped", enumerateSeparately(when))
	i.fact("waited", enumerateSeparately(asked))
	i.fact("longest", fmt.Sprintf("a message of %v QP 0x%x waited %s for the next one of %v", slowest.c.Ends[1-slowest.end].Addr, slowest.c.Ends[1-slowest.end].QPN,
		span(slowest.answered-slowest.came), a))
	var meanwhile []string
	if reads := list[0].reads; len(reads) > 0 {
		meanwhile = append(meanwhile, fmt.Sprintf("its adapter served the READs of %s as before", someOf(reads)))
	}
	if went := t.wentOnBeside(a, packet.Addr{}, &list[0].Silence); len(went) > 0 {
		meanwhile = append(meanwhile, someOf(went)+" went on among others")
	}
	i.fact("meanwhile", strings.Join(meanwhile, "; "))
	i.FitsWith = []string{
		fmt.Sprintf("a program or the kernel of %v that had no CPU: a stop signal or debugger, garbage collection, the scheduler, a virtual machine that was paused", a),
		"a program that waited itself, with all that it serves: a lock, its disks, another host",
	}
	i.Next = []string{
		fmt.Sprintf("what %v did at these times: the log of the program and of its garbage collector, its stack, CPU and steal time, dmesg", a),
		"whether one program serves all of these connections",
	}
	t.tellAs(i, group{Interrupted, a, a, "programs"})
}

// askedIn says what waited for the programs of a host in a time.
func (t *teller) askedIn(k *lull) string {
	var names []string
	for n := range k.waits {
		w := &k.waits[n]
		name := fmt.Sprintf("%v since %s", w.c.Ends[1-w.end].Addr, t.offset(w.came))
		if w.frame != 0 {
			name += fmt.Sprintf(" (answered in frame %d)", w.frame)
		}
		names = append(names, name)
	}
	return enumerate(names)
}

// busyOf is on how many connections a host sent messages before a time and after it.
func (t *teller) busyOf(a packet.Addr, k *lull) (n int) {
	for m := range t.run.Connections {
		c := &t.run.Connections[m]
		for e := range c.Ends {
			if c.Ends[e].Addr != a || c.Timing == nil || c.Service == packet.UD {
				continue
			}
			if own := messagesOn(c, e); asksOwn(&c.Timing.Ends[e]) && own.First != 0 && own.First <= k.From && own.Last >= k.To {
				n++
			}
		}
	}
	return n
}

// Stopped reports whether the incident tells that the programs of a host stopped when something took so long, until a time.
func (i *Incident) Stopped(a packet.Addr, until int64, took time.Duration) bool {
	return i.Peer.Addr == a && slices.ContainsFunc(i.lulls, func(k lull) bool {
		return until-int64(took) >= k.From && until >= k.To && until <= k.To+aftermath
	})
}

// asksOwn reports whether an end sends messages.
func asksOwn(e *timing.End) bool {
	return slices.ContainsFunc(e.Ops[:], func(o *timing.Operation) bool { return o != nil })
}
