package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/timing"
)

// From how many commands on, and from which mean or which longest time on, it is told how long the commands of a connection took.
const (
	fewestCommands = 16
	commandMean    = time.Millisecond
	commandLongest = 10 * time.Millisecond
	commandsTold   = 3
)

// commands tells how long the peer of a connection took to answer the commands of the protocol above: that is not the network, where requests were acknowledged meanwhile.
func (t *text) commands() {
	var list []*agent.Connection
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		if slowCommands(c) && !t.sharedTells(c) {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b *agent.Connection) int { return cmp.Compare(b.Upper.Took, a.Upper.Took) })
	for k, c := range list {
		if k == commandsTold && !t.All {
			t.line("  … and on %s so; --all tells every one", count(len(list)-k, "more connection"))
			return
		}
		t.prose("  ", t.commandsOf(c))
	}
}

// readsFirst tells which ends are bound by how many READs they may have outstanding before it is told how long commands took, where that is why.
func (t *text) readsFirst() {
	for i := range t.res.Connections {
		if c := &t.res.Connections[i]; slowCommands(c) && !t.sharedTells(c) {
			if limit, _ := t.readsLimit(c); !limit {
				continue
			}
			t.readsUp = true
			t.boundByDepth(t.depths(t.paced()))
			return
		}
	}
}

// readsLimit reports whether the server of a connection mostly waits for what it fetches for the commands there, as it may have so few READs outstanding. sure is false where the READs
// of the slowest command are not kept.
func (t *text) readsLimit(c *agent.Connection) (is, sure bool) {
	by := 1 - c.Upper.Slowest.From
	for _, d := range t.depths(nil) {
		switch {
		case d.end != &c.Ends[by]:
		case 2*d.waited >= time.Duration(d.Count)*d.elapsed:
			return true, true
		case d.oneAgreed():
			return fetchedIn(c, by)
		}
	}
	return false, true
}

// fetchedIn reports whether an end that has one READ outstanding at a time waited for one of them most of the time that its slowest command took; or may have, where these are not kept.
func fetchedIn(c *agent.Connection, by int) (most, kept bool) {
	o, waited := c.Upper.Slowest, int64(0)
	asks := c.Timing.Ends[by].Asks
	if len(asks) == 0 || o.Since > asks[len(asks)-1].End {
		return true, false
	}
	for _, s := range asks {
		waited += max(min(s.End, o.Ended)-max(s.Begin, o.Since), 0)
	}
	return 2*waited >= o.Ended-o.Since, true
}

// commandsOf tells how long the commands of a connection took.
func (t *text) commandsOf(c *agent.Connection) string {
	u, o := c.Upper, c.Upper.Slowest
	local, peer := &c.Ends[o.From], &c.Ends[1-o.From]
	return fmt.Sprintf("%v took %s in the mean to answer %s of %v %s (%s), at most %s (%s, frames %d to %d)%s%s%s.",
		peer.Addr, span(u.Took/time.Duration(u.Answers)), count(u.Answers, "command"), local.Addr, qp(local.QPN, local.QPNKnown), u.Protocol,
		span(time.Duration(o.Ended-o.Since)), o.Name, o.Frame, o.Answer, t.spread(c), cmp.Or(ofOneClass(u), byClass(u)), t.programs(c))
}

// byClass says how long the commands of each of few opcodes or procedures took in the mean, where one took many times as long as another: the mean of all says little then; "": it is not so.
func byClass(u *agent.Upper) string {
	var said []string
	least, most := time.Duration(math.MaxInt64), time.Duration(0)
	for i := range u.Classes {
		if k := &u.Classes[i]; k.Answers >= fewestOfClass {
			mean := k.Took / time.Duration(k.Answers)
			least, most = min(least, mean), max(most, mean)
			said = append(said, fmt.Sprintf("%s %s (%s)", k.Name, span(mean), number(k.Answers)))
		}
	}
	if len(said) < 2 || len(said) > mostByClass || classTimes*least > most {
		return ""
	}
	return "; in the mean, " + enumerate(said)
}

// slowCommands reports whether it is told how long the commands of a connection took.
func slowCommands(c *agent.Connection) bool {
	u := c.Upper
	if u == nil || u.Answers < fewestCommands || len(c.SlowCommands()) > 0 || c.Ends[0].Trouble != nil || c.Ends[1].Trouble != nil { // else incidents tell it
		return false
	}
	longest, changes := time.Duration(u.Slowest.Ended-u.Slowest.Since), c.Timing != nil && c.Timing.Commands.Changes()
	return u.Took/time.Duration(u.Answers) >= commandMean || longest >= commandLongest || changes
}

// classTimes is how many times as long as any other those of one opcode or procedure take in the mean, at least fewestOfClass of them, where that is told.
const (
	classTimes    = 10
	fewestOfClass = 3
	mostByClass   = 4 // of so many opcodes or procedures at most it is told what each took
)

// ofOneClass says that only the commands of one opcode or procedure take long, where others were answered meanwhile; "": that is not so.
func ofOneClass(u *agent.Upper) string {
	o := u.Slowest
	if o.Class >= len(u.Classes) || o.Others < fewestOfClass || u.Classes[o.Class].Answers < fewestOfClass {
		return ""
	}
	k, n, longest := &u.Classes[o.Class], uint64(0), time.Duration(0)
	for i := range u.Classes {
		if i != o.Class {
			n, longest = n+u.Classes[i].Answers, max(longest, u.Classes[i].Longest)
		}
	}
	mean := k.Took / time.Duration(k.Answers)
	if classTimes*longest > mean {
		return ""
	}
	return fmt.Sprintf("; only %s takes long, %s in the mean of %s: of the other %s none took longer than %s, of which %s were answered while the slowest waited",
		k.Name, span(mean), number(k.Answers), number(n), span(longest), number(o.Others))
}

// spread says, where times were measured, from when on commands of a connection took many times as long, or else how many of them took long; "": they took about as long as each other.
func (t *text) spread(c *agent.Connection) string {
	if c.Timing == nil || c.Timing.Commands == nil {
		return ""
	}
	w := c.Timing.Commands
	if k, ok := w.Change(); ok {
		return ": " + t.change(&k)
	}
	usual, long := w.Latency.Quantile(0.5), w.Latency.Above(timing.LongTurn)
	if long == 0 || w.Most < longTimes*usual {
		return ""
	}
	if all := w.Latency.Count(); 4*long >= all && 4*(all-long) >= all { // what half of all took says nothing of either
		half := float64(long) / float64(2*all)
		return fmt.Sprintf(": %s took longer than %v, %s in the median, and the others %s", number(long), time.Duration(timing.LongTurn),
			span(w.Latency.Quantile(1-half)), span(w.Latency.Quantile(0.5-half)))
	}
	return fmt.Sprintf(": usually %s, and %s of them longer than %v", span(usual), number(long), time.Duration(timing.LongTurn))
}

// programs says that the time which commands of a connection took is not that of the network, where requests were answered much sooner; nor
// that of its program or its disks, where it waits for what it fetches.
func (t *text) programs(c *agent.Connection) string {
	switch limit, sure := t.readsLimit(c); {
	case limit && !sure:
		return ", in which it waited for data that it fetches by RDMA READ, one at a time: see READ depth"
	case limit:
		return ", most of which it waited for data that it fetches by RDMA READ: see READ depth"
	}
	most := c.SlowestMessage()
	u := c.Upper
	if longest := time.Duration(u.Slowest.Ended - u.Slowest.Since); most == 0 || lateTimes*most > longest {
		return ""
	}
	return fmt.Sprintf(", while no request on the connection waited longer than %s for its own answer: the time went by in its program, or at its disks", span(most))
}
