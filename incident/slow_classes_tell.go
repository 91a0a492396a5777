package incident

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
)

// slowByClasses tells of some opcodes or procedures that are slow at a server from the beginning, where others are not, and of another server that
// is fast, or where they take very long.
func (t *teller) slowByClasses() {
	for _, s := range t.slowServers() {
		if s.long || !slices.ContainsFunc(t.order, func(i *Incident) bool { return i.Kind == Slow && i.Peer.Addr == s.server }) {
			t.tellSlowClasses(s)
		}
	}
}

// slowServers returns servers at which some classes are slow, and others are not.
func (t *teller) slowServers() []*classesOfServer {
	if t.slowParts != nil {
		return *t.slowParts
	}
	var slow []*classesOfServer
	if t.slowParts = &slow; !t.timed() || t.lossy() || len(t.run.Connections) > mostOthers {
		return nil
	}
	list := t.answering(byClass)
	for n := range list {
		s := &list[n]
		if s.other {
			continue
		}
		if s.find(); s.slow == 0 || s.long && !t.ofSlowClasses(s) {
			continue
		}
		if ok := s.compare(list); ok || s.half >= slowItself {
			slow = append(slow, s)
		}
	}
	return slow
}

// ofSlowClasses reports whether all commands of a server that took so long that they are told apart are of several slow classes.
func (t *teller) ofSlowClasses(s *classesOfServer) bool {
	return s.slow > 1 && !slices.ContainsFunc(s.on, func(c *agent.Connection) bool {
		list := c.SlowCommands()
		if len(list) == 0 {
			return false
		}
		late, _ := t.lateOf(c, list[0])
		return late.target != "" || len(t.slowCommands(c)) < len(list) || slices.ContainsFunc(list, func(o *agent.Operation) bool {
			return o.Class >= len(c.Upper.Classes) || !contains(s.classes[:s.slow], c.Upper.Classes[o.Class].Name)
		})
	})
}

// slowByClass reports whether the long commands of a connection are told with all others of several classes.
func (t *teller) slowByClass(c *agent.Connection) bool {
	return slices.ContainsFunc(t.slowServers(), func(s *classesOfServer) bool { return s.long && slices.Contains(s.on, c) })
}

// compare finds other servers that are far faster with the slow classes of one; ok: there are such, and none that is not.
func (s *classesOfServer) compare(list []classesOfServer) (ok bool) {
	ok = true
	for n := range list {
		x := &list[n]
		if x.server == s.server || x.protocol != s.protocol {
			continue
		}
		same := x.those(s.classes[:s.slow])
		switch {
		case len(same) == 0:
		case slices.ContainsFunc(same, func(k classSum) bool { return unevenTimes*k.mean() > s.half }):
			ok = false
		default:
			s.faster = append(s.faster, x)
		}
	}
	return ok && len(s.faster) > 0
}

// those returns those of its classes that are among some, as far as a few were answered.
func (s *classesOfServer) those(list []classSum) (same []classSum) {
	for _, k := range list {
		for _, x := range s.classes {
			if x.name == k.name && x.answers >= fewestOfClass {
				same = append(same, x)
			}
		}
	}
	return same
}

// tellSlowClasses tells of them.
func (t *teller) tellSlowClasses(s *classesOfServer) {
	slow, others := slices.Clone(s.classes[:s.slow]), s.classes[s.slow:]
	slices.SortStableFunc(slow, func(a, b classSum) int { return cmp.Compare(b.answers, a.answers) })
	i := t.slowAt(&s.slowSet)
	i.show(s.slowest.Frame, s.slowest.Answer)
	i.slowOf = unchanged(s.on)
	is := "are"
	if s.slow == 1 {
		is = "is"
	}
	i.What = fmt.Sprintf("%s of %v %s slow for %s: half of them took %s or longer, in the mean %s; %s on %s take far less: %s",
		namesOf(slow), s.server, is, sorted(slices.Clone(s.clients)), span(int64(s.half)), meansOf(slow),
		kindsOf(s.protocol), onThese(len(s.on)), meansOf(others))
	for k, x := range s.faster {
		if k < mostCompanions {
			i.What += fmt.Sprintf("; at %v, %s", x.server, meansOf(x.those(slow)))
		}
		i.slowOf = append(i.slowOf, unchanged(x.on)...)
	}
	i.What += "."
	i.slowFacts(&s.slowSet, "", "")
	var names []string
	for _, k := range slow {
		names = append(names, k.name)
	}
	i.FitsWith = []string{neededBy(names...)}
	if too := s.slowToo(others); len(too) > 0 {
		at := s.faster[0]
		i.fact("too", fmt.Sprintf("%s, where %v takes %s: slower, too", meansOf(too), at.server, meansOf(at.those(too))))
		i.FitsWith[0] += "; or its disks as a whole: " + namesOf(too) + " takes longer, too"
	}
	i.Next = []string{lookBelow(s.server, "", s.protocol, "")}
	t.tell(i, slow[0].name)
}

// kindsOf says what the other classes of a protocol are.
func kindsOf(protocol string) string {
	if strings.HasPrefix(protocol, "RPC") {
		return "other procedures"
	}
	return "other commands"
}

func onThese(n int) string {
	if n == 1 {
		return "the same connection"
	}
	return fmt.Sprintf("the same %d connections", n)
}

// slowToo returns those of other classes that take ten times as long or more than at each server that is faster with the slow ones.
func (s *classesOfServer) slowToo(others []classSum) (too []classSum) {
	for _, k := range others {
		n := 0
		for _, x := range s.faster {
			if same := x.those([]classSum{k}); len(same) > 0 && classTimes*same[0].mean() <= k.mean() {
				n++
			}
		}
		if n > 0 && n == len(s.faster) && k.mean() >= time.Millisecond {
			too = append(too, k)
		}
	}
	return too
}

// unchanged leaves out connections of which it is told from when on their commands took longer.
func unchanged(list []*agent.Connection) []*agent.Connection {
	return slices.DeleteFunc(slices.Clone(list), func(c *agent.Connection) bool {
		return c.Timing != nil && c.Timing.Commands != nil && c.Timing.Commands.Changes()
	})
}

// namesOf enumerates classes, what all names begin with only once.
func namesOf(list []classSum) string {
	names := []string{list[0].name}
	for _, k := range list[1:] {
		names = append(names, strings.TrimPrefix(k.name, k.name[:commonWords(k.name, list[0].name)]))
	}
	return enumerate(names)
}

// meansOf says what classes took in the mean, and how many they were.
func meansOf(list []classSum) string {
	var said []string
	for _, k := range list {
		said = append(said, fmt.Sprintf("%s %s (%s)", k.name[commonWords(k.name, list[0].name):], span(int64(k.mean())), number(k.answers)))
	}
	return enumerate(said)
}

// commonWords is how many bytes of two names are the words that both begin with.
func commonWords(a, b string) (n int) {
	for k := 0; k < len(a) && k < len(b) && a[k] == b[k]; k++ {
		if a[k] == ' ' {
			n = k + 1
		}
	}
	return n
}
