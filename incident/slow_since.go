package incident

import (
	"fmt"
	"math"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/upper"
)

// slowSince is the commands of one opcode that work on one target of a server, all of which take long from a time on, on all connections.
type slowSince struct {
	targetKey
	class         string
	set           slowSet
	first, last   upper.Moment // the first slow one, and the last fast one
	before, since upper.Spent
	by            []upper.Spent // since, by client of set
	longest       time.Duration // of the others
	others        uint64        // that were answered, and began since as well
	names         []string
}

// slowFrom tells of the commands of one opcode that take many times as long from a time on, on all connections of their server.
func (t *teller) slowFrom() {
	if !t.timed() || t.lossy() || len(t.run.Connections) > mostOthers {
		return
	}
	told := map[targetKey]bool{}
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if c.Upper == nil || c.Upper.Onset == nil || !c.Upper.Answered {
			continue
		}
		o := c.Upper.Onset
		k := targetKey{c.Ends[1-fromOf(c.Upper)].Addr, c.Upper.Protocol, targetName(c.Upper, int(o.Target))}
		if told[k] {
			continue
		}
		told[k] = true
		s := slowSince{targetKey: k, class: c.Upper.Classes[o.Class].Name}
		if t.slowConnections(&s) && s.holds() {
			t.tellSlowSince(&s)
		}
	}
}

// targetName names what commands work on; "": it is not known.
func targetName(u *agent.Upper, target int) string {
	if target == 0 {
		return ""
	}
	return u.Targets[target-1].Name
}

// slowConnections adds up the commands of all connections; false: not all of these are alike, or tell so.
func (t *teller) slowConnections(s *slowSince) bool {
	s.first.At = math.MaxInt64
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		u := c.Upper
		if u == nil || u.Protocol != s.protocol || !u.Answered || u.Slowest == nil || c.Ends[1-fromOf(u)].Addr != s.server {
			continue
		}
		at := slices.IndexFunc(u.Pairs, func(p agent.Pair) bool {
			return u.Classes[p.Class].Name == s.class && targetName(u, p.Target) == s.name
		})
		if at < 0 && len(u.Classes) > 0 && (len(u.Pairs) > 0 || !slices.ContainsFunc(u.Classes, func(k agent.Class) bool { return k.Name == s.class })) {
			continue // it has none
		}
		o := u.Onset
		if at < 0 || o == nil || int(o.Class) != u.Pairs[at].Class || int(o.Target) != u.Pairs[at].Target || !t.slowConnection(s, c, o) {
			return false
		}
	}
	return true
}

// slowConnection adds up the commands of a connection; false: they do not tell, or more happened on it.
func (t *teller) slowConnection(s *slowSince, c *agent.Connection, o *upper.Onset) bool {
	u := c.Upper
	if _, hangs := t.hangs(c); hangs || c.SlowestNeeded() == 0 || len(c.SlowCommands()) > 0 || movesMuch(c, time.Duration(o.Since.Least)) {
		return false
	}
	s.set.add(c, func(x *agent.Operation) bool { return x.Class == int(o.Class) && x.Target == int(o.Target) })
	if o.First.At < s.first.At {
		s.first = o.First
	}
	if o.Last.At > s.last.At {
		s.last = o.Last
	}
	s.before, s.since = joined(s.before, o.Before), joined(s.since, o.Since)
	at := slices.Index(s.set.clients, c.Ends[fromOf(u)].Addr)
	if at == len(s.by) {
		s.by = append(s.by, upper.Spent{})
	}
	s.by[at] = joined(s.by[at], o.Since)
	for _, p := range u.Pairs {
		if k := &u.Classes[p.Class]; k.Name != s.class || p.Target != int(o.Target) {
			s.longest = max(s.longest, p.Longest)
			name := k.Name
			if p.Target != int(o.Target) && p.Target > 0 {
				name += " on " + u.Targets[p.Target-1].Name
			}
			if k.Newest > o.First.At {
				if s.others += p.Answers; !slices.Contains(s.names, name) {
					s.names = append(s.names, name)
				}
			}
		}
	}
	return true
}

// joined adds up two of them.
func joined(a, b upper.Spent) upper.Spent {
	switch {
	case a.Count == 0:
		return b
	case b.Count == 0:
		return a
	}
	return upper.Spent{Count: a.Count + b.Count, Sum: a.Sum + b.Sum, Least: min(a.Least, b.Least), Longest: max(a.Longest, b.Longest)}
}

// holds reports whether each of its commands takes many times as long since as any before, and any other at any time, on all connections from one
// time on, and not as there are more of them, or requests waited for their own answers, or were retransmitted more than now and then.
func (s *slowSince) holds() bool {
	if s.before.Count < slowSinceLeast || s.since.Count < slowSinceLeast || s.others < slowSinceLeast || s.set.slowest == nil || s.last.Frame == 0 ||
		s.last.At >= s.first.At || s.last.Tap != s.first.Tap || s.since.Least < classTimes*max(s.before.Longest, int64(s.longest)) ||
		2*int64(s.set.acked) > s.since.Least || slowPerRound*s.set.rounds > s.since.Count {
		return false
	}
	before := float64(s.before.Count) / float64(max(s.first.At-s.set.begin, 1))
	return float64(s.since.Count) <= 2*before*float64(s.set.end-s.first.At)
}

func meanOf(s upper.Spent) string { return span(s.Sum / int64(max(s.Count, 1))) }

// tellSlowSince tells of it.
func (t *teller) tellSlowSince(s *slowSince) {
	i := t.slowAt(&s.set)
	i.Begin, i.Tap, i.slowOf = s.first.At, s.first.Tap, s.set.on
	i.show(s.last.Frame, s.first.Frame, s.first.Answer)
	what, alike := s.class, ""
	if s.name != "" {
		what += " on " + s.name
	}
	if len(s.set.clients) > 1 {
		alike = " alike"
	}
	on := "the connection"
	if n := len(s.set.on); n > 1 {
		on = fmt.Sprintf("all %d connections", n)
	}
	slices.Sort(s.names)
	i.What = fmt.Sprintf("%s of %v is slow from %s on, for %s%s, on %s: ",
		what, s.server, t.offset(s.first.At), sorted(slices.Clone(s.set.clients)), alike, on) +
		fmt.Sprintf("%s in the mean of %s, none less than %s, in place of %s in the mean of %s before, at most %s; ",
			meanOf(s.since), count(s.since.Count, "command"), span(s.since.Least), meanOf(s.before), number(s.before.Count), span(s.before.Longest)) +
		fmt.Sprintf("none of %s others%s took longer than %s, before or since.", number(s.others), inBrackets(s.names), span(int64(s.longest)))
	i.fact("onset", fmt.Sprintf("the last fast one was sent at %s, in frame %d; the first slow one in frame %d, answered in frame %d, after %s",
		t.offset(s.last.At), s.last.Frame, s.first.Frame, s.first.Answer, span(s.first.Took)))
	since := ""
	if n := len(s.set.clients); n > 1 && n <= mostCompanions {
		since = s.byClient()
	}
	i.slowFacts(&s.set, "since", since)
	i.FitsWith = []string{neededBy(s.class)}
	i.Next = []string{lookBelow(s.server, s.name, s.protocol, ", from that time on")}
	t.tell(i, s.name+" "+s.class)
}

// byClient says what the commands of each client took since.
func (s *slowSince) byClient() string {
	order := slices.Clone(s.set.clients)
	slices.SortFunc(order, packet.Addr.Compare)
	var said []string
	for _, a := range order {
		x := s.by[slices.Index(s.set.clients, a)]
		said = append(said, fmt.Sprintf("%s of %v %s", number(x.Count), a, meanOf(x)))
	}
	return "in the mean, " + enumerate(said)
}

// SlowOf reports whether it tells from when on the commands of a connection were slow.
func (i *Incident) SlowOf(c *agent.Connection) bool { return slices.Contains(i.slowOf, c) }
