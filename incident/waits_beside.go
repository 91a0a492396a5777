package incident

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/upper"
)

// waitInAll tells how many commands beside o of c have no answer, on it and on the other connections between the hosts; only says what those of c
// have in common, which counts them.
func (t *teller) waitInAll(i *Incident, c *agent.Connection, o *agent.Operation, end int64, only string) {
	if t.waitBeside(i, c, o, end) {
		return
	}
	n, beside, queues, oldest := c.Upper.Open, 0, 0, int64(0)
	for _, d := range t.siblings(c)[:min(len(t.siblings(c)), mostOthers)] {
		u := d.Upper
		if d == c || u == nil || !u.Answered || u.Oldest == nil || u.Protocol != c.Upper.Protocol || d.Ends[u.Oldest.From].Addr != i.Local.Addr ||
			u.Oldest.Unsure || u.Oldest.Since < o.Since || min(cmp.Or(d.Closed.At, t.run.Last), end)-u.Oldest.Since < patience {
			continue
		}
		beside, queues = beside+u.Open, queues+1
		if oldest == 0 || u.Oldest.Since < oldest {
			oldest = u.Oldest.Since
		}
	}
	var said []string
	if n > 1 && only == "" {
		said = append(said, count(uint64(n), "command")+" in all have no answer")
	}
	if beside > 0 && t.timed() && !t.lossy() {
		have := map[bool]string{true: "has", false: "have"}[beside == 1]
		said = append(said, fmt.Sprintf("%s on %s between the hosts, of which the oldest was sent at %s, %s none either",
			count(uint64(beside), "command"), count(uint64(queues), "other connection"), t.offset(oldest), have))
	}
	i.fact("waits", strings.Join(said, "; "))
}

// waitBeside tells of command o of c, which waits until end, on how many connections between the hosts others wait at the same time, and how many, and reports whether they do: it is the server that stopped, and
// not what a queue of it needs. Those on connections that began after it are counted, too.
func (t *teller) waitBeside(i *Incident, c *agent.Connection, o *agent.Operation, end int64) bool {
	queues, commands, alive := 0, 0, ""
	after, open := 0, 0
	list := t.siblings(c)
	if len(list) > mostOthers {
		return false
	}
	for _, d := range list {
		w := waitsUntil(d, t.run.Last)
		if w == 0 || d.Upper.Protocol != c.Upper.Protocol || d.Ends[d.Upper.Oldest.From].Addr != i.Local.Addr ||
			d.Upper.Oldest.Since >= end && d.First < end || w <= o.Since {
			continue
		}
		if d.First >= end {
			after, open = after+1, open+d.Upper.Open
		}
		queues++
		commands += d.Upper.Open
		if k := d.Upper.Oldest; d != c && strings.Contains(k.Name, "Keep Alive") {
			alive = fmt.Sprintf(", among them %s on QP 0x%x of %v, in frame %d", k.Name, d.Ends[k.From].QPN, i.Local.Addr, k.Frame)
			if k.Tap == o.Tap {
				i.show(k.Frame)
			}
		}
	}
	if queues < 2 {
		return false
	}
	if after > 0 {
		alive += fmt.Sprintf(", %d of them on %s that began after the disconnect", open, count(uint64(after), "connection"))
	}
	i.fact("waits", fmt.Sprintf("%s on %d connections between the hosts have no answer%s", count(uint64(commands), "command"), queues, alive))
	return true
}

// waitsUntil is until when the oldest command of a connection that has no answer had none, if it waited for long; 0: it did not, or there is none.
func waitsUntil(c *agent.Connection, last int64) int64 {
	u := c.Upper
	if u == nil || !u.Answered || u.Oldest == nil {
		return 0
	}
	if c.Closed.At != 0 {
		last = c.Closed.At
	}
	if last-u.Oldest.Since < upper.SlowAfter {
		return 0
	}
	return last
}

// resumes tells when the hosts of c, whose command o had no answer when it was closed, have another connection, and how long after the command, where nothing that began after it was answered there, and all other connections were closed, too.
func (t *teller) resumes(i *Incident, c *agent.Connection, o *agent.Operation) {
	if c.Closed.At == 0 || !t.timed() {
		return
	}
	next := t.nextOf(c, c.Closed.At)
	if next == nil {
		return
	}
	s := fmt.Sprintf("the next connection of the hosts began %s after the disconnect", span(next.First-c.Closed.At))
	if next.FirstTap == i.Tap {
		s += fmt.Sprintf(", in frame %s", t.firstFrame(next))
		i.show(next.FirstFrame)
	}
	alone := o.Later == 0
	for _, d := range t.siblings(c) {
		alone = alone && (d.First >= next.First || d.Closed.At != 0 && d.Closed.At <= next.First)
	}
	if alone {
		s += fmt.Sprintf(", %s after this command; they had no other in between", span(next.First-o.Since))
	}
	i.fact("then", s+t.hangsAgain(i, c, o, next))
}

// hangsAgain says since when commands hang on a connection that began with next or later, of the hosts of c, whose command o hung; "": none does.
func (t *teller) hangsAgain(i *Incident, c *agent.Connection, o *agent.Operation, next *agent.Connection) string {
	var on *agent.Connection
	list := t.siblings(c)
	if t.lossy() || len(list) > mostOthers {
		return ""
	}
	for _, d := range list {
		if d.First < next.First || waitsUntil(d, t.run.Last) == 0 || d.Upper.Protocol != c.Upper.Protocol || d.Upper.Oldest.Unsure ||
			d.Ends[d.Upper.Oldest.From].Addr != i.Local.Addr {
			continue
		}
		if _, hangs := t.hangs(d); hangs && (on == nil || d.Upper.Oldest.Since < on.Upper.Oldest.Since) {
			on = d
		}
	}
	if on == nil {
		return ""
	}
	k, open, target := on.Upper.Oldest, on.Upper.Open, ""
	if x, was := targetOf(on.Upper, k), targetOf(c.Upper, o); x != nil && was != nil && x.Name == was.Name && x.Open == open {
		target = " on " + x.Name
	}
	frame := ""
	if k.Tap == i.Tap {
		frame = fmt.Sprintf(", from frame %d on", k.Frame)
		i.show(k.Frame)
	}
	have := map[bool]string{true: "has", false: "have"}[open == 1]
	queue := ""
	if on.Upper.Queue != "" && on.Upper.Queue == c.Upper.Queue {
		queue = ", which is " + on.Upper.Queue + " again"
	}
	return fmt.Sprintf("; but %s%s %s no answer there either, on QP 0x%x of %v%s, since %s%s",
		count(uint64(open), "command"), target, have, on.Ends[k.From].QPN, i.Local.Addr, queue, t.offset(k.Since), frame)
}

// servesOthers tells which other hosts the server answered on all their connections, each command within a second, while it did not answer o of c: it is not all of it that stopped.
func (t *teller) servesOthers(i *Incident, c *agent.Connection, o *agent.Operation, end int64) {
	var hosts []packet.Addr
	known, late, longest := map[packet.Addr]bool{}, map[packet.Addr]bool{}, int64(0)
	served := func(d *agent.Connection) (host packet.Addr, of bool) {
		if d.Upper == nil || d.Upper.Protocol != c.Upper.Protocol {
			return host, false
		}
		one := cmp.Or(d.Upper.Slowest, d.Upper.Oldest)
		if one == nil {
			return host, false
		}
		from := one.From
		return d.Ends[from].Addr, d.Ends[1-from].Addr == i.Peer.Addr && d.Ends[from].Addr != i.Local.Addr
	}
	for n := range t.run.Connections {
		d := &t.run.Connections[n]
		if host, of := served(d); of && (d.Upper.Slow > 0 || waitsUntil(d, t.run.Last) != 0) {
			late[host] = true
		}
	}
	for n := range t.run.Connections {
		d := &t.run.Connections[n]
		host, of := served(d)
		if !of || late[host] || d.Timing == nil || d.Upper.Slowest == nil {
			continue
		}
		k := d.Upper.Slowest
		if inside := wellInside(o.Since, end); answeredIn(&d.Timing.Ends[k.From].Series, inside, end) == 0 || answeredIn(&d.Timing.Ends[1-k.From].Series, inside, end) == 0 {
			continue // no commands, or no answers, were sent then
		}
		if !known[host] {
			known[host] = true
			hosts = append(hosts, host)
		}
		longest = max(longest, k.Ended-k.Since)
	}
	if len(hosts) == 0 {
		return
	}
	i.fact("others", fmt.Sprintf("%v answered commands of %s meanwhile, none of them later than %s", i.Peer.Addr, sorted(hosts), time.Duration(longest).Round(time.Microsecond)))
	for n, f := range i.FitsWith {
		if f == allStopped {
			i.FitsWith[n] = fmt.Sprintf("what serves %v there and not the others, as its controller, subsystem or export, that is stopped", i.Local.Addr)
		}
	}
}
