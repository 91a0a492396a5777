package incident

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/upper"
)

// tellServiceStopped tells of a time in which a host answered no command of a protocol, whose connections are given.
func (t *teller) tellServiceStopped(a packet.Addr, k *lull, of []*agent.Connection) {
	first := &k.waits[0]
	i := t.between(Interrupted, first.c, 1-first.end)
	i.Begin, i.End, i.Lost, i.listed, i.lulls, i.Connections = k.From, k.To, time.Duration(k.Length()), true, []lull{*k}, len(k.waits)
	acks, last, commands, exact := time.Duration(0), int64(0), uint64(0), true
	slow, longest := uint64(0), int64(0)
	for n := range k.waits {
		w := &k.waits[n]
		acks, last = max(acks, w.acks), max(last, w.answered)
		late := &w.c.Upper.Late
		commands, slow = commands+late.Count, slow+w.c.Upper.Slow
		if o := w.c.Upper.Slowest; o.Ended >= k.To && o.Since < k.To {
			longest = max(longest, o.Ended-o.Since)
		}
		begun := k.From
		if !k.atOnce() {
			begun -= k.slack
		}
		exact = exact && len(late.Times) == 1 && late.Times[0].From >= begun && late.Times[0].To <= k.To+k.slack
		for _, l := range late.Times {
			if l.From < k.To {
				last = max(last, l.To)
			}
		}
		if x := w.c.Ends[1-w.end].Addr; x != i.Local.Addr && !slices.Contains(i.Also, x) {
			i.Also = append(i.Also, x)
		}
		if n < mostClientTold {
			i.show(w.frame)
		}
	}
	slices.SortFunc(i.Also, packet.Addr.Compare)
	waited := "those that waited"
	if exact {
		waited = "the " + count(commands, "command") + " that waited"
	}
	i.What = fmt.Sprintf("%v answered no command of any client (%s) for %s, while its adapter acknowledged what came within %s, "+
		"and then %s on %s, within %s: its software stopped or waited, and not its adapter or the network.",
		a, k.protocol, span(k.Length()), span(int64(acks)), waited, count(uint64(len(k.waits)), "connection"),
		span(max(last-k.To, int64(time.Microsecond))))
	if !k.atOnce() {
		took := ""
		if exact {
			took = fmt.Sprintf(": %s on %s took %s or longer, up to %s", count(slow, "command"), count(uint64(len(k.waits)), "connection"), span(upper.SlowAfter), span(longest))
		}
		i.What = fmt.Sprintf("%v answered no command of any client (%s) from %s to %s (%s), while its adapter acknowledged what came within %s%s; "+
			"then all that waited had an answer within %s. Its software stopped or waited, and not its adapter or the network.",
			a, k.protocol, t.offset(k.From), t.offset(k.To), span(k.Length()), span(int64(acks)), took, span(max(last-k.To, int64(time.Microsecond))))
	}
	i.fact("stopped", fmt.Sprintf("from %s to %s", t.offset(k.From), t.offset(k.To)))
	i.fact("waited", t.waitedOf(k))
	i.fact("accepted", t.acceptedIn(i, a, k))
	i.fact("others", t.othersOf(a, k, of))
	i.FitsWith = []string{
		fmt.Sprintf("the program of %v that serves these clients, stopped as a whole: a stop signal, a debugger, no CPU, a virtual machine "+
			"that was paused, the firmware of an adapter that serves them itself", a),
		"less so, a program all of whose threads waited for one thing: a lock, its disks, another host",
	}
	if i.says("others") {
		i.FitsWith[0] = fmt.Sprintf("the program of %v that serves these clients, stopped as a whole, and not the host: a stop signal, "+
			"a debugger, no CPU", a)
	}
	i.Next = []string{fmt.Sprintf("what the program on %v did at that time: its log, its stack, CPU, who sent it a signal; then its disks", a)}
	if first := k.waits[0].came; !k.atOnce() {
		i.serviceWaited(a, k.From-first)
	}
	t.tellAs(i, group{Interrupted, a, a, "program of " + k.protocol})
}

// serviceWaited says what fits where the service of a host did not stop at once, but so many nanoseconds after the first command that
// waited had come.
func (i *Incident) serviceWaited(a packet.Addr, after int64) {
	i.FitsWith = []string{
		fmt.Sprintf("a program of %v all of whose threads waited for one thing: its disks, file system, a lock, another host", a),
		"less so, one that was stopped as a whole: a stop signal, a debugger, no CPU",
	}
	if after > aftermath {
		i.fact("first", fmt.Sprintf("the first command that waited had come %s before that: its threads stopped one after another", span(after)))
	}
	i.Next = []string{fmt.Sprintf("what the threads of the program on %v waited for at that time (dmesg for hung tasks, its log, disks), "+
		"and how many it has", a)}
}

// acceptedIn says which connections a host accepted when its program went on; "": none.
func (t *teller) acceptedIn(i *Incident, a packet.Addr, k *lull) string {
	var list []string
	for _, f := range t.accepted(a) {
		if f.Time >= k.To && f.Time <= k.To+aftermath {
			list = append(list, fmt.Sprintf("one of %v, in frame %d%s", f.Accused.Addr, f.Frame, t.askedWhile(f.Accused.Addr, a, k)))
			i.show(f.Frame)
		}
	}
	if len(list) == 0 || len(list) > mostClientTold {
		return ""
	}
	return "connections when it went on: " + enumerate(list)
}

// askedWhile says when a client first asked the communication manager of a host, where that was in a time; "": it was not.
func (t *teller) askedWhile(client, a packet.Addr, k *lull) string {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		e := endOf(c, a)
		if e == nil || endOf(c, client) == nil || c.Service != packet.UD || e.QPN != 1 || c.First < k.From || c.First >= k.To {
			continue
		}
		return fmt.Sprintf(", whose first datagram to the communication manager came at %s, in frame %d", t.offset(c.First), c.FirstFrame)
	}
	return ""
}

// waitedOf says of which clients commands waited in a time, and since when.
func (t *teller) waitedOf(k *lull) string {
	var list []string
	done := map[packet.Addr]bool{}
	for n := range k.waits {
		w := &k.waits[n]
		a, on, frame := w.c.Ends[1-w.end].Addr, uint64(0), w.frame
		if done[a] {
			continue
		}
		done[a] = true
		for m := range k.waits {
			if x := &k.waits[m]; x.c.Ends[1-x.end].Addr == a {
				on++
			}
		}
		if len(list) < mostClientTold {
			list = append(list, fmt.Sprintf("%v since %s on %s (that one answered in frame %d)", a, t.offset(w.came), count(on, "connection"), frame))
		}
	}
	s := enumerate(list)
	if more := len(done) - len(list); more > 0 {
		s += fmt.Sprintf("; and %d more hosts", more)
	}
	return s
}

// othersOf says which other protocols a host went on to serve in a time; "": none is known.
func (t *teller) othersOf(a packet.Addr, k *lull, of []*agent.Connection) string {
	var went []string
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		e := servesAt(c, a)
		if e < 0 || slices.Contains(of, c) || slices.Contains(went, c.Upper.Protocol) {
			continue
		}
		if own, all := c.Timing.Ends[e].Messages(); all && own.Sends(&timing.Silence{From: k.From, To: k.To}, 2) {
			went = append(went, c.Upper.Protocol)
		}
	}
	if len(went) == 0 {
		return ""
	}
	slices.Sort(went)
	return fmt.Sprintf("%v answered commands of %s all the time", a, strings.Join(went, ", "))
}
