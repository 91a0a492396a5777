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

// targetKey is what commands work on, of a server.
type targetKey struct {
	server         packet.Addr
	protocol, name string
}

// slowTarget is what all commands work on that were late, of one client or several, while those on others were soon answered.
type slowTarget struct {
	clients     []packet.Addr
	late        lateCommands
	on, answers uint64 // commands that were late, and all that were answered, which work on it
	longest     int64  // of them, nanoseconds
	slowest     *agent.Operation
	of          *agent.Connection // of slowest
	hung        *agent.Connection // on which the oldest command has no answer and works on it; nil: there is none
}

// slowTargetOf returns what command o of c works on, where it is slow for several clients, or a command on it hangs, too; nil: it is not.
func (t *teller) slowTargetOf(c *agent.Connection, o *agent.Operation) *slowTarget {
	k := targetOf(c.Upper, o)
	if k == nil || !t.timed() || t.lossy() || len(t.run.Connections) > mostOthers {
		return nil
	}
	if t.slowOn == nil {
		t.slowOn = map[targetKey]*slowTarget{}
		t.findSlowTargets()
	}
	s := t.slowOn[targetKey{c.Ends[1-o.From].Addr, c.Upper.Protocol, k.Name}]
	if s == nil || len(s.clients) < 2 && s.hung == nil || t.lateElse(c, k.Name) {
		return nil
	}
	return s
}

// findSlowTargets looks for all of them.
func (t *teller) findSlowTargets() {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		slow := t.slowCommands(c)
		if len(slow) == 0 {
			continue
		}
		o := slow[0]
		l, _ := t.lateOf(c, o)
		if l.target == "" {
			continue
		}
		key := targetKey{c.Ends[1-o.From].Addr, c.Upper.Protocol, l.target}
		s := t.slowOn[key]
		if s == nil {
			s = &slowTarget{}
			t.slowOn[key] = s
		}
		if client := c.Ends[o.From].Addr; !slices.Contains(s.clients, client) {
			s.clients = append(s.clients, client)
			t.addLateOn(s, c, &l)
		}
		if took := o.Ended - o.Since; took > s.longest {
			s.longest, s.slowest, s.of = took, o, c
		}
	}
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if _, hangs := t.hangs(c); !hangs {
			continue
		}
		o := c.Upper.Oldest
		k := targetOf(c.Upper, o)
		if k == nil {
			continue
		}
		s := t.slowOn[targetKey{c.Ends[1-o.From].Addr, c.Upper.Protocol, k.Name}]
		if s != nil && (s.hung == nil || o.Since < s.hung.Upper.Oldest.Since) {
			s.hung = c
		}
	}
}

// addLateOn takes the late commands of a client, one of whose connections to the server is c.
func (t *teller) addLateOn(s *slowTarget, c *agent.Connection, l *lateCommands) {
	s.late.connections += l.connections
	s.late.more = s.late.more || l.more
	s.late.times = upper.JoinLate(append(s.late.times, l.times...))
	s.late.b.longest = max(s.late.b.longest, l.b.longest)
	for _, name := range l.b.names {
		if !slices.Contains(s.late.b.names, name) {
			s.late.b.names = append(s.late.b.names, name)
		}
	}
	for _, d := range t.siblings(c) {
		if d.Upper == nil || d.Upper.Protocol != c.Upper.Protocol {
			continue
		}
		for n := range d.Upper.Targets {
			if k := &d.Upper.Targets[n]; k.Name == l.target {
				s.on, s.answers = s.on+k.Late.Count, s.answers+k.Answers
			}
		}
	}
}

// lateElse reports whether commands of any client of the server of c were late that do not work on a target.
func (t *teller) lateElse(c *agent.Connection, target string) bool {
	return slices.ContainsFunc(t.commandsOfServer(c), func(d *agent.Connection) bool {
		on, _ := lateOn(d.Upper, target)
		return on < d.Upper.Late.Count
	})
}

// says is the sentence about it.
func (s *slowTarget) says(t *teller, name string, server packet.Addr) string {
	others := "others"
	if slices.Sort(s.late.b.names); len(s.late.b.names) <= mostClassNames {
		others = "those on " + enumerate(s.late.b.names)
	}
	return fmt.Sprintf("%s of %s commands on %s of %v took %v or longer, up to %s, from %s on, of %s; %s took at most %s. ",
		number(s.on), number(s.answers), name, server, time.Duration(upper.LateAfter), span(s.longest), t.offset(s.late.times[0].From),
		sorted(s.clients), others, span(int64(s.late.b.longest)))
}

// onSlowTarget has an incident of command o, which works on a target that is slow, tell of all commands on that.
func (t *teller) onSlowTarget(i *Incident, c *agent.Connection, o *agent.Operation, s *slowTarget) {
	name := targetOf(c.Upper, o).Name
	i.What = s.says(t, name, i.Peer.Addr) + i.What
	i.listed = true
	if o.Ended == 0 { // that others were answered is said
		i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "meanwhile" })
	}
	i.Connections = s.late.connections
	i.alsoOf(s.clients)
	if k := s.slowest; k != o {
		i.fact("worst", fmt.Sprintf("%s of %v, in frame %d, answered in frame %d, after %s",
			k.Name, s.of.Ends[k.From].Addr, k.Frame, k.Answer, span(s.longest)))
		if k.Tap == i.Tap {
			i.show(k.Frame, k.Answer)
		}
	}
	if n := slices.IndexFunc(i.Facts, func(f Fact) bool { return f.Label == "command" }); n >= 0 && o.Since > s.late.times[0].From {
		i.Facts[n].Text += ", sent at " + t.offset(o.Since)
	}
	i.Begin = min(i.Begin, s.late.times[0].From)
	i.End = max(i.End, s.late.times[len(s.late.times)-1].To)
	i.FitsWith = []string{onlyOn(name)}
	look := lookBelow(i.Peer.Addr, name, c.Upper.Protocol, ", at these times")
	i.Next = append([]string{look}, i.Next[min(1, len(i.Next)):]...)
}

// slowCommands returns the commands of a connection that took long, where that is not because of the transport, the longest first.
func (t *teller) slowCommands(c *agent.Connection) []*agent.Operation {
	return slices.DeleteFunc(t.slowOf(c), t.held)
}

// slowOf returns all of them, those among them whose answers were held until their client sent a message.
func (t *teller) slowOf(c *agent.Connection) []*agent.Operation {
	u := c.Upper
	if _, one := onlyEnd(c); one || u == nil || !u.Answered || !t.timed() {
		return nil
	}
	return slices.DeleteFunc(c.SlowCommands(), func(o *agent.Operation) bool {
		return queued(c, o) || overlapped(c, o) || t.asLongAsTimer(c, o) || t.flushedOver(o.Since, o.Ended) || t.inSilence(c, o)
	})
}

// hangs reports whether the oldest command of a connection has had no answer for long, until a time, where that is not because of the transport.
func (t *teller) hangs(c *agent.Connection) (end int64, hangs bool) {
	u := c.Upper
	if _, one := onlyEnd(c); one || u == nil || !u.Answered || u.Oldest == nil {
		return 0, false
	}
	end = cmp.Or(c.Closed.At, t.run.Last)
	return end, end-u.Oldest.Since >= upper.SlowAfter && t.transported(c) && !t.flushedOver(u.Oldest.Since, end)
}
