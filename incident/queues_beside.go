package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
)

// protocolOf names the protocol of the commands of a connection, and which queue of its server that is.
func protocolOf(u *agent.Upper) string {
	if u.Queue == "" {
		return u.Protocol
	}
	return u.Protocol + ", " + u.Queue + " as its REQ says"
}

// queuesBeside tells of command o of c, which waits until end, how many commands of the same two hosts were answered on other connections meanwhile: it is not all of the server that stopped.
func (t *teller) queuesBeside(i *Incident, c *agent.Connection, o *agent.Operation, end int64) {
	beside := t.answeredBeside(c, o.From, o.Since, end)
	if beside == "" {
		return
	}
	alike := t.alsoAnswered(c, o, end)
	if alike != "" {
		alike = ", some of them on " + alike + ", too"
	}
	i.fact("others", beside+" meanwhile"+alike)
	for n, f := range i.FitsWith {
		if f == allStopped {
			i.FitsWith[n] = fmt.Sprintf("a thread of the program on %v that serves this queue pair, and not the others, that hung", i.Peer.Addr)
			if alike != "" { // what they work on is no cause then
				i.FitsWith[0], i.FitsWith[n] = i.FitsWith[n], i.FitsWith[0]
				i.servedAlone = true
			}
		}
	}
}

// alsoAnswered names what command o of c works on, where the server answered a command on it on another connection of the two hosts that began well after o, and before end; "": that is not known.
func (t *teller) alsoAnswered(c *agent.Connection, o *agent.Operation, end int64) string {
	on := targetOf(c.Upper, o)
	if on == nil {
		return ""
	}
	for _, d := range t.siblings(c) {
		if u := d.Upper; d != c && u != nil && u.Protocol == c.Upper.Protocol && u.Slowest != nil && d.Ends[u.Slowest.From].Addr == c.Ends[o.From].Addr &&
			slices.ContainsFunc(u.Targets, func(k agent.Target) bool {
				return k.Name == on.Name && k.Newest > wellInside(o.Since, end) && k.Newest < end
			}) {
			return on.Name
		}
	}
	return ""
}

// answeredBeside says how many commands the peer of end from of c answered on other connections of the same two hosts between two times; "": it is not known that it answered any well after the first.
func (t *teller) answeredBeside(c *agent.Connection, from int, since, until int64) string {
	list := t.siblings(c)
	if len(list) > mostOthers {
		return ""
	}
	commands, connections := uint64(0), uint64(0)
	for _, d := range list {
		u := d.Upper
		if d == c || u == nil || u.Protocol != c.Upper.Protocol || u.Slowest == nil || d.Ends[u.Slowest.From].Addr != c.Ends[from].Addr {
			continue
		}
		if n := commandsAnswered(d, since, until); commandsAnswered(d, wellInside(since, until), until) > 0 {
			commands, connections = commands+n, connections+1
		}
	}
	if connections == 0 {
		return ""
	}
	return fmt.Sprintf("%v answered at least %s of %v on %s", c.Ends[1-from].Addr, count(commands, "command"), c.Ends[from].Addr, count(connections, "other connection"))
}

// commandsAnswered counts the commands of a connection that were answered between two times, as far as that is known.
func commandsAnswered(d *agent.Connection, since, until int64) uint64 {
	n := uint64(0)
	for _, at := range d.Upper.Recent {
		if at > since && at < until {
			n++
		}
	}
	if d.Timing == nil || d.Timing.Commands == nil {
		return n
	}
	x, most := &d.Timing.Commands.Series, uint64(0)
	for k := range x.Slots {
		if begin := x.Start + int64(k)*x.Width; begin > since && begin+x.Width < until {
			most += uint64(x.Slots[k].Messages)
		}
	}
	return max(n, most)
}

// beforeBurst is until when another command counts as answered while a slow one waited: not in the same burst as it, as what stopped goes on.
func beforeBurst(o *agent.Operation) int64 { return o.Ended - min(aftermath, (o.Ended-o.Since)/4) }
