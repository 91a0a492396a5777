package incident

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/upper"
)

// openCommands are the commands of all clients that a server has not answered, which answers none any more: it is not what some of them need.
type openCommands struct {
	of      []*agent.Connection // on which they are, the one first whose oldest began first
	clients []packet.Addr
	count   int
	closed  int             // of the connections, those that were closed while they waited
	again   bool            // and after which their clients sent commands on others
	since   int64           // when the last answer to any came
	targets []*agent.Target // on what they work, the sums of all connections; nil: that is not known of all
}

// noneAnswered returns the open commands of all clients of the server of c where it answers none any more: several clients wait, or one that has closed
// a connection and waits on the next, all commands of a connection were sent after the last answer to any, and nobody shows to be served; nil: it is
// not so, or not known.
func (t *teller) noneAnswered(c *agent.Connection) *openCommands {
	u := c.Upper
	if !t.timed() || t.lossy() || len(t.run.Connections) > mostOthers {
		return nil
	}
	key := targetKey{server: c.Ends[1-u.Oldest.From].Addr, protocol: u.Protocol}
	all, known := t.none[key]
	if !known {
		if t.none == nil {
			t.none = map[targetKey]*openCommands{}
		}
		all = t.openOf(t.commandsOfServer(c))
		t.none[key] = all
	}
	return all
}

// openOf returns them of the connections of a server; nil: it answers some, or that is not known.
func (t *teller) openOf(list []*agent.Connection) *openCommands {
	all := &openCommands{}
	for _, d := range list {
		switch n := len(d.Upper.Recent); {
		case n > 0:
			all.since = max(all.since, d.Upper.Recent[n-1])
		case d.Upper.Answers > 0:
			return nil
		}
	}
	var fresh []*agent.Connection
	for _, d := range list {
		u := d.Upper
		if u.Oldest == nil || d.Closed.At != 0 && d.Closed.At <= all.since {
			continue
		}
		_, hangs := t.hangs(d)
		switch {
		case !hangs && (d.Closed.At != 0 || t.followsHung(d, list, all.since)):
			fresh = append(fresh, d) // it had no time to show that
			continue
		case !hangs || u.Oldest.Unsure || u.Oldest.Interim != 0 || u.GivenUp > 0:
			return nil
		}
		all.of = append(all.of, d)
		if client := clientOf(d); !slices.Contains(all.clients, client) {
			all.clients = append(all.clients, client)
		}
	}
	after := slices.ContainsFunc(all.of, func(d *agent.Connection) bool { return d.Upper.Oldest.Since > all.since })
	if len(all.of) == 0 || all.since == 0 || t.run.Last-all.since < upper.SlowAfter || !after {
		return nil
	}
	slices.SortStableFunc(all.of, func(a, b *agent.Connection) int { return cmp.Compare(a.Upper.Oldest.Since, b.Upper.Oldest.Since) })
	if t.countOpen(all, fresh); len(all.clients) < 2 && !all.again {
		return nil
	}
	return all
}

// followsHung reports whether connection d of a list began when its client had closed another of it, on which commands hung, after a time.
func (t *teller) followsHung(d *agent.Connection, list []*agent.Connection, since int64) bool {
	return slices.ContainsFunc(list, func(c *agent.Connection) bool {
		if c.Upper.Oldest == nil || c.Closed.At <= since || c.Closed.At > d.First || clientOf(c) != clientOf(d) {
			return false
		}
		_, hangs := t.hangs(c)
		return hangs
	})
}

// countOpen counts the commands that are open: those of connections that a client has closed only where it has begun no other since, as it sends
// them again there. fresh are others that began too late to show that they wait.
func (t *teller) countOpen(all *openCommands, fresh []*agent.Connection) {
	var newest []*agent.Connection
	both := slices.Concat(all.of, fresh)
	for _, d := range both {
		later := d.Closed.At != 0 && slices.ContainsFunc(both, func(x *agent.Connection) bool {
			return x.First >= d.Closed.At && clientOf(x) == clientOf(d)
		})
		if !later {
			newest, all.count = append(newest, d), all.count+d.Upper.Open
		}
		if d.Closed.At != 0 {
			all.closed++
			all.again = all.again || later
		}
	}
	all.targets = targetsOpen(newest, all.count)
}

// clientOf is the host of a connection whose oldest command is open.
func clientOf(c *agent.Connection) packet.Addr { return c.Ends[c.Upper.Oldest.From].Addr }

// targetsOpen adds up on what the open commands of some connections work, of which there are so many; nil: it is not known of all.
func targetsOpen(list []*agent.Connection, open int) (targets []*agent.Target) {
	for _, c := range list {
		for n := range c.Upper.Targets {
			k := &c.Upper.Targets[n]
			at := slices.IndexFunc(targets, func(x *agent.Target) bool { return x.Name == k.Name })
			if open -= k.Open; k.Open > 0 && at < 0 {
				targets = append(targets, &agent.Target{Name: k.Name, Open: k.Open})
			} else if k.Open > 0 {
				targets[at].Open += k.Open
			}
		}
	}
	if open != 0 {
		return nil
	}
	return targets
}

// closedInVain says of an incident of all clients of a server that some closed their connections, which did not help.
func (i *Incident) closedInVain(t *teller, all *openCommands) {
	i.End, i.Ongoing = t.run.Last, true
	i.Lost = time.Duration(i.End - i.Begin)
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "then" || f.Label == "waits" })
	who, they, closing := "clients", "they", "they close"
	if len(all.clients) == 1 {
		who, they, closing = all.clients[0].String(), "it", "it closes"
	}
	then := fmt.Sprintf("%s closed %s on which %s waited", who, count(uint64(all.closed), "connection"), they)
	if all.again {
		then += fmt.Sprintf(", and sent commands on new ones, which were not answered either: that %s them follows from the wait, and does not end it", closing)
	}
	i.fact("then", then)
}

// answersNone has an incident of the oldest command that a server has not answered tell of those of all its clients.
func (t *teller) answersNone(i *Incident, all *openCommands) {
	first := all.of[0]
	o, server := first.Upper.Oldest, i.Peer.Addr
	protocol := protocolOf(first.Upper)
	waits := "for " + span(i.End-o.Since)
	if first.Closed.At != 0 {
		waits = "sent at " + t.offset(o.Since)
	}
	whose, of := "any client", " of "+sorted(slices.Clone(all.clients))
	if len(all.clients) == 1 {
		whose, of = all.clients[0].String(), ""
	}
	i.What = fmt.Sprintf("%v has answered no command (%s) of %s since %s: %d%s are open, the first of them %s of %v, %s.",
		server, protocol, whose, t.offset(all.since), all.count, of, o.Name, &i.Local, waits)
	i.listed, i.Connections = true, len(all.of)
	if all.closed > 0 {
		i.closedInVain(t, all)
	}
	var said []string
	for _, d := range all.of {
		k, last := d.Upper.Oldest, "none was answered"
		if n := len(d.Upper.Recent); n > 0 {
			last = "the last answer came at " + t.offset(d.Upper.Recent[n-1])
		}
		if client := clientOf(d); client != i.Local.Addr && !slices.Contains(i.Also, client) {
			i.Also = append(i.Also, client)
		}
		if len(said) < mostClientTold {
			said = append(said, fmt.Sprintf("%v: %d open, the first sent at %s (%s, in frame %d); %s",
				clientOf(d), d.Upper.Open, t.offset(k.Since), k.Name, k.Frame, last))
			if k.Tap == i.Tap {
				i.show(k.Frame)
			}
		}
	}
	if n := len(all.of) - len(said); n > 0 {
		said = append(said, count(uint64(n), "more connection"))
	}
	i.fact("clients", enumerateSeparately(said))
	service := fmt.Sprintf("the service of %v as a whole: all its threads wait, perhaps for what the first of these commands need, "+
		"or it has stopped, while its adapter acknowledges", server)
	i.FitsWith = []string{service}
	if n := len(all.targets); n == 1 {
		i.FitsWith = append(i.FitsWith, fmt.Sprintf("what is below %s there: all that are open work on that", all.targets[0].Name))
	} else if n > 1 {
		var on []string
		for _, k := range all.targets[:min(n, mostClassNames)] {
			on = append(on, fmt.Sprintf("%d on %s", k.Open, k.Name))
		}
		if n > mostClassNames {
			on = append(on, fmt.Sprintf("the others on %d more", n-mostClassNames))
		}
		i.fact("work on", enumerate(on)+": not what is below one of these, unless all threads wait for it")
	}
	i.Next = []string{
		fmt.Sprintf("on %v: what the threads of its service wait for, and how many it has "+
			"(stacks of tasks in state D, dmesg for hung tasks, iostat)", server),
		fmt.Sprintf("what the first of these commands need there: they began %s before the last answer to others", span(max(all.since-o.Since, 0))),
	}
	if o.Since >= all.since {
		i.Next = i.Next[:1]
	}
}
