package incident

import (
	"fmt"
	"math"
	"slices"
	"time"

	"ibwitness/agent"
)

// classOn is the commands of one opcode that work on one target of a server, on all connections.
type classOn struct {
	targetKey
	class   string
	answers uint64
	took    time.Duration
	half    time.Duration // half of those of each connection took as long at least; 0: that is not known
	other   bool          // what is told otherwise, or may be the network
	set     slowSet
}

func (k *classOn) mean() time.Duration { return k.took / time.Duration(k.answers) }

// farBelow reports whether its commands take far less than those of a slow one.
func (k *classOn) farBelow(slow *classOn) bool { return unevenTimes*k.mean() <= slow.half }

// uneven tells of the commands of one opcode that take many times as long on one target as on others, of the same server or another.
func (t *teller) uneven() {
	if !t.timed() || t.lossy() || len(t.run.Connections) > mostOthers {
		return
	}
	list := t.classesOn()
	for n := range list {
		k := &list[n]
		if k.other || k.answers < fewestUneven || k.half < unevenAfter || k.set.slowest == nil || 4*k.set.acked > k.half {
			continue
		}
		alike := companions(list, k)
		if len(alike) == 0 || slices.ContainsFunc(alike, func(x *classOn) bool { return !x.farBelow(k) }) {
			continue
		}
		t.tellUneven(k, append(besideOn(list, k), alike...))
	}
}

// classesOn adds up the commands by opcode, target and server.
func (t *teller) classesOn() (list []classOn) {
	for n := range t.run.Connections {
		u := t.run.Connections[n].Upper
		if u == nil || !u.Answered {
			continue
		}
		server := t.run.Connections[n].Ends[1-fromOf(u)].Addr
		for m := range u.Pairs {
			p := &u.Pairs[m]
			if p.Target == 0 {
				continue
			}
			key, class := targetKey{server, u.Protocol, u.Targets[p.Target-1].Name}, u.Classes[p.Class].Name
			at := slices.IndexFunc(list, func(x classOn) bool { return x.targetKey == key && x.class == class })
			if at < 0 {
				at = len(list)
				list = append(list, classOn{targetKey: key, class: class, half: math.MaxInt64})
			}
			t.addClass(&list[at], &t.run.Connections[n], p)
		}
	}
	return list
}

// halfOf is what half of the commands of a pair of a connection took at least, where all others took less; 0: that is not known.
func halfOf(c *agent.Connection, p *agent.Pair) time.Duration {
	half := halfTook(c, p.Answers)
	for m := range c.Upper.Pairs {
		if x := &c.Upper.Pairs[m]; (x.Class != p.Class || x.Target != p.Target) && x.Longest >= half {
			return 0
		}
	}
	return half
}

// addClass takes the commands of an opcode and a target on a connection.
func (t *teller) addClass(s *classOn, c *agent.Connection, p *agent.Pair) {
	half := halfOf(c, p)
	s.answers, s.took, s.half = s.answers+p.Answers, s.took+p.Took, min(s.half, half)
	s.set.add(c, func(o *agent.Operation) bool { return o.Class == p.Class && o.Target == p.Target })
	s.other = s.other || t.otherwise(c) || len(c.SlowCommands()) > 0 || movesMuch(c, half)
}

// companions are the commands of the opcode of a slow one on other targets, those of the same server first.
func companions(list []classOn, slow *classOn) (alike []*classOn) {
	for n := range list {
		k := &list[n]
		if k.class == slow.class && k.protocol == slow.protocol && k.targetKey != slow.targetKey && k.answers >= fewestOfClass {
			alike = append(alike, k)
		}
	}
	slices.SortStableFunc(alike, func(a, b *classOn) int {
		switch {
		case (a.server == slow.server) == (b.server == slow.server):
			return 0
		case a.server == slow.server:
			return -1
		}
		return 1
	})
	return alike
}

// besideOn are the commands of other opcodes on the target of a slow one that take far less.
func besideOn(list []classOn, slow *classOn) (others []*classOn) {
	for n := range list {
		if k := &list[n]; k.targetKey == slow.targetKey && k.class != slow.class && k.answers >= fewestOfClass && k.farBelow(slow) {
			others = append(others, k)
		}
	}
	return others
}

// tellUneven tells of it, and of what it is compared with.
func (t *teller) tellUneven(k *classOn, others []*classOn) {
	i := t.slowAt(&k.set)
	i.show(k.set.slowest.Frame, k.set.slowest.Answer)
	var said []string
	var cached []string
	sameServer := false
	for n, x := range others {
		where := ""
		switch {
		case x.targetKey == k.targetKey:
			where, cached = x.class+" there", append(cached, x.class)
		case x.server == k.server:
			where, sameServer = x.class+" on "+x.name, true
		default:
			where = fmt.Sprintf("%s on %s of %v", x.class, x.name, x.server)
		}
		if n < mostCompanions {
			said = append(said, fmt.Sprintf("%s %s (%s)", where, span(int64(x.mean())), number(x.answers)))
		}
	}
	if n := len(others) - len(said); n > 0 {
		said = append(said, fmt.Sprintf("%d more likewise", n))
	}
	i.What = fmt.Sprintf("%s on %s of %v is slow: usually %s, %s in the mean of %s commands of %s; others%s take far less in the mean: %s.",
		k.class, k.name, k.server, span(int64(k.half)), span(int64(k.mean())), number(k.answers), sorted(slices.Clone(k.set.clients)),
		onTheSame(k, others), enumerate(said))
	i.slowFacts(&k.set, "", "")
	i.FitsWith = []string{onlyOn(k.name)}
	if !sameServer {
		i.FitsWith = []string{fmt.Sprintf("what %s is on at %v: its disk, RAID, cache or snapshot; or a server that waits itself", k.name, k.server)}
	}
	if n := len(cached); n > 0 && n <= mostClassNames {
		i.FitsWith[0] += fmt.Sprintf(" (%s may be answered from a cache)", enumerate(cached))
	}
	i.Next = []string{lookBelow(k.server, k.name, k.protocol, "")}
	t.tell(i, k.name+" "+k.class)
}

// onTheSame says that others have the same queue pairs as a slow one, where they do.
func onTheSame(slow *classOn, others []*classOn) string {
	for _, x := range others {
		if x.targetKey != slow.targetKey && !slices.Equal(x.set.on, slow.set.on) {
			return ""
		}
	}
	return " on the same " + map[bool]string{true: "queue pair", false: fmt.Sprintf("%d queue pairs", len(slow.set.on))}[len(slow.set.on) == 1]
}
