package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
)

// slowByObject tells of objects of a server, as a namespace, a LUN, a file or a file system, all commands on which are slow, while those on others are
// not.
func (t *teller) slowByObject() {
	if !t.timed() || t.lossy() || len(t.run.Connections) > mostOthers {
		return
	}
	list := t.answering(byObject)
	for n := range list {
		s := &list[n]
		if s.other || s.long || slices.ContainsFunc(t.order, func(i *Incident) bool { return i.Kind == Slow && i.Peer.Addr == s.server }) {
			continue
		}
		if s.find(); s.slow > 0 && s.alike() {
			t.tellSlowObject(s)
		}
	}
}

// alike reports whether commands of an opcode or procedure that are slow on the slow objects work on others, too, and each of these is far faster
// there, so that it is the object and not what the commands are.
func (s *classesOfServer) alike() bool {
	slow, others := s.onObjects(true), s.onObjects(false)
	n := 0
	for _, k := range slow {
		at := slices.IndexFunc(others, func(x classSum) bool { return x.name == k.name })
		if at < 0 || others[at].answers < fewestOfClass || k.answers < fewestOfClass {
			continue
		}
		if s.times*others[at].mean() > k.mean() {
			return false
		}
		n++
	}
	return n > 0
}

// onObjects adds up by opcode or procedure what works on its slow objects, or on its others.
func (s *classesOfServer) onObjects(slow bool) (list []classSum) {
	for _, c := range s.on {
		for _, p := range c.Upper.Pairs {
			if name := targetName(c.Upper, p.Target); name != "" && contains(s.classes[:s.slow], name) == slow {
				list = added(list, classSum{c.Upper.Classes[p.Class].Name, p.Answers, p.Took, p.Longest})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b classSum) int { return int(int64(b.answers) - int64(a.answers)) })
	return list
}

// tellSlowObject tells of it.
func (t *teller) tellSlowObject(s *classesOfServer) {
	var names, fast []string
	longest := time.Duration(0) // of the others
	for n, k := range s.classes {
		switch {
		case n < s.slow:
			names = append(names, k.name)
		case k.name != "":
			fast, longest = append(fast, k.name), max(longest, k.longest)
		}
	}
	slices.Sort(names)
	slices.Sort(fast)
	others := enumerate(fast)
	if len(fast) > mostClassNames {
		others = fmt.Sprintf("%d others", len(fast))
	}
	set := slowSet{server: s.server}
	for _, c := range s.on {
		if slices.ContainsFunc(c.Upper.Targets, func(k agent.Target) bool { return slices.Contains(names, k.Name) }) {
			set.add(c, func(o *agent.Operation) bool { return slices.Contains(names, targetName(c.Upper, o.Target)) })
		}
	}
	if set.slowest == nil {
		return
	}
	i := t.slowAt(&set)
	i.show(set.slowest.Frame, set.slowest.Answer)
	i.slowOf = unchanged(s.on)
	i.What = fmt.Sprintf("Commands on %s of %v are slow for %s: half of them took %s or longer, in the mean %s; "+
		"those on %s, on %s, took %s at most, in the mean %s.",
		enumerate(names), s.server, sorted(slices.Clone(set.clients)), span(int64(s.half)), fullMeans(s.onObjects(true)),
		others, onThese(len(s.on)), span(int64(longest)), fullMeans(s.onObjects(false)))
	i.slowFacts(&set, "", "")
	i.FitsWith = []string{onlyOn(enumerate(names))}
	i.Next = []string{lookBelow(s.server, enumerate(names), s.protocol, "")}
	t.tell(i, names[0])
}

// fullMeans is meansOf, with what all names begin with before it.
func fullMeans(list []classSum) string {
	name := list[0].name
	return name[:commonWords(name, name)] + meansOf(list)
}
