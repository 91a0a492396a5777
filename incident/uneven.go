package incident

import (
	"fmt"
	"math"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
)

// Of how many commands of an opcode at least, from which median on, and how many times as long as the mean of each that is compared, it is told
// that they are slow on one target; each moves no more than so many bits a second, so that no link is what they wait for.
const (
	fewestUneven = 32
	unevenAfter  = 5 * time.Millisecond
	unevenTimes  = 50
	unevenRate   = 100e6
)

// mostCompanions is how many others are named that are compared.
const mostCompanions = 4

// classOn is the commands of one opcode that work on one target of a server, on all connections.
type classOn struct {
	targetKey
	class   string
	answers uint64
	took    time.Duration
	half    time.Duration     // half of those of each connection took as long at least; 0: that is not known
	acked   time.Duration     // no request on these connections waited longer for its own answer
	other   bool              // what is told otherwise, or may be the network
	slowest *agent.Operation  // as far as it is kept
	of      *agent.Connection // of slowest
	clients []packet.Addr
	on      []int // the places of the connections
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
		if k.other || k.answers < fewestUneven || k.half < unevenAfter || k.slowest == nil || 4*k.acked > k.half {
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
			t.addClass(&list[at], n, p)
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
func (t *teller) addClass(s *classOn, at int, p *agent.Pair) {
	c := &t.run.Connections[at]
	u, from := c.Upper, fromOf(c.Upper)
	s.answers, s.took = s.answers+p.Answers, s.took+p.Took
	if !slices.Contains(s.on, at) {
		s.on = append(s.on, at)
	}
	half := halfOf(c, p)
	s.half = min(s.half, half)
	acked, moved := slowestAnswer(c), c.Ends[0].Bytes+c.Ends[1].Bytes
	s.acked = max(s.acked, acked)
	_, hangs := t.hangs(c)
	s.other = s.other || hangs || acked == 0 || len(c.SlowCommands()) > 0 || c.Ends[0].Trouble != nil || c.Ends[1].Trouble != nil ||
		float64(8*moved)/float64(u.Answers) > unevenRate*half.Seconds()
	if client := c.Ends[from].Addr; !slices.Contains(s.clients, client) {
		s.clients = append(s.clients, client)
	}
	for _, o := range u.Longest {
		if o.Class == p.Class && o.Target == p.Target && (s.slowest == nil || o.Ended-o.Since > s.slowest.Ended-s.slowest.Since) {
			s.slowest, s.of = o, c
		}
	}
}

// slowestAnswer is the longest that a request of a connection waited for its own answer; 0: that was not measured.
func slowestAnswer(c *agent.Connection) (most time.Duration) {
	if c.Timing == nil {
		return 0
	}
	for e := range c.Timing.Ends {
		for _, o := range c.Timing.Ends[e].Ops {
			if o != nil {
				most = max(most, o.Most)
			}
		}
	}
	return most
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
	o := k.slowest
	i := t.between(Slow, k.of, o.From)
	i.Begin, i.End, i.Lost, i.Tap = k.of.First, max(k.of.Ends[0].Last, k.of.Ends[1].Last), time.Duration(o.Ended-o.Since), o.Tap
	i.show(o.Frame, o.Answer)
	i.listed, i.Connections = true, len(k.on)
	for _, a := range k.clients {
		if a != i.Local.Addr {
			i.Also = append(i.Also, a)
		}
	}
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
		k.class, k.name, k.server, span(int64(k.half)), span(int64(k.mean())), number(k.answers), sorted(slices.Clone(k.clients)),
		onTheSame(k, others), enumerate(said))
	i.fact("longest", fmt.Sprintf("%s of %v, in frame %d, answered in frame %d, after %s", o.Name, &i.Local, o.Frame, o.Answer, span(o.Ended-o.Since)))
	i.fact("transport", fmt.Sprintf("no request on %s waited longer than %s for its own answer: it is not the network",
		theConnections(len(k.on)), span(int64(k.acked))))
	i.FitsWith = []string{"what " + k.name + " is on there, and the others are not: its disk, RAID, cache or snapshot"}
	if !sameServer {
		i.FitsWith = []string{fmt.Sprintf("what %s is on at %v: its disk, RAID, cache or snapshot; or a server that waits itself", k.name, k.server)}
	}
	if n := len(cached); n > 0 && n <= mostClassNames {
		i.FitsWith[0] += fmt.Sprintf(" (%s may be answered from a cache)", enumerate(cached))
	}
	i.Next = []string{fmt.Sprintf("what %s is on at %v: iostat, its SMART log, RAID state and the log", k.name, k.server)}
	t.tell(i, k.name+" "+k.class)
}

// onTheSame says that others have the same queue pairs as a slow one, where they do.
func onTheSame(slow *classOn, others []*classOn) string {
	for _, x := range others {
		if x.targetKey != slow.targetKey && !slices.Equal(x.on, slow.on) {
			return ""
		}
	}
	return " on the same " + map[bool]string{true: "queue pair", false: fmt.Sprintf("%d queue pairs", len(slow.on))}[len(slow.on) == 1]
}

func theConnections(n int) string {
	if n == 1 {
		return "the connection"
	}
	return fmt.Sprintf("these %d connections", n)
}
