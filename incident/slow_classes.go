package incident

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
)

// halvings is how often an eighth is taken off what half of some commands may have taken, until it is certain.
const halvings = 16

// classSum is the commands of one opcode or procedure that a server answered, or those that work on one object of it.
type classSum struct {
	name          string // "": they work on no object that is known
	answers       uint64
	took, longest time.Duration
}

// parting is by what the commands of a connection are parted, and how many times as long as others those are that are slow.
type parting struct {
	parts func(u *agent.Upper) []classSum
	times time.Duration
}

var (
	byClass  = parting{classSums, classTimes}
	byObject = parting{objectSums, unevenTimes}
)

func classSums(u *agent.Upper) (list []classSum) {
	for _, k := range u.Classes {
		if k.Answers > 0 {
			list = append(list, classSum{k.Name, k.Answers, k.Took, k.Longest})
		}
	}
	return list
}

func objectSums(u *agent.Upper) (list []classSum) {
	for _, p := range u.Pairs {
		list = added(list, classSum{targetName(u, p.Target), p.Answers, p.Took, p.Longest})
	}
	return list
}

// added adds commands to those of the same name.
func added(list []classSum, k classSum) []classSum {
	at := slices.IndexFunc(list, func(x classSum) bool { return x.name == k.name })
	if at < 0 {
		return append(list, k)
	}
	x := &list[at]
	x.answers, x.took, x.longest = x.answers+k.answers, x.took+k.took, max(x.longest, k.longest)
	return list
}

func (k *classSum) mean() time.Duration { return k.took / time.Duration(max(k.answers, 1)) }

// classesOfServer is what a server answered, in parts, on all connections.
type classesOfServer struct {
	parting
	slowSet
	protocol string
	classes  []classSum         // the slowest in the mean first
	other    bool               // what is told otherwise, or not known
	long     bool               // some took so long that each is told, unless all are told together
	slow     int                // how many of its classes, the first ones, are slow
	half     time.Duration      // half of whose commands on each connection took so long at least
	faster   []*classesOfServer // that are far faster with these
}

// answering returns it of each server.
func (t *teller) answering(by parting) (list []classesOfServer) {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		u := c.Upper
		if u == nil || !u.Answered || u.Answers == 0 {
			continue
		}
		server := c.Ends[1-fromOf(u)].Addr
		at := slices.IndexFunc(list, func(s classesOfServer) bool { return s.server == server && s.protocol == u.Protocol })
		if at < 0 {
			at = len(list)
			list = append(list, classesOfServer{parting: by, slowSet: slowSet{server: server}, protocol: u.Protocol})
		}
		s := &list[at]
		s.add(c, func(*agent.Operation) bool { return true })
		parts := by.parts(u)
		s.other = s.other || s.slowest == nil || measured(c) == nil || t.otherwise(c) || len(parts) == 0
		s.long = s.long || len(c.SlowCommands()) > 0
		for _, k := range parts {
			s.classes = added(s.classes, k)
		}
	}
	for n := range list {
		slices.SortFunc(list[n].classes, func(a, b classSum) int {
			return cmp.Or(cmp.Compare(b.mean(), a.mean()), strings.Compare(a.name, b.name))
		})
	}
	return list
}

// find finds which of its classes are slow, while each other takes far less in the mean.
func (s *classesOfServer) find() {
	for n := 1; n < len(s.classes) && n <= mostClassNames && farTimes*s.classes[0].mean() >= unevenAfter; n++ {
		slow, others := s.classes[:n], s.classes[n:]
		half := s.halfOf(slow)
		apart := half >= unevenAfter && sumOf(slow) >= fewestUneven && sumOf(others) >= fewestUneven
		for i := range slow {
			apart = apart && slow[i].name != "" && slow[i].answers >= fewestOfClass && farTimes*slow[i].mean() >= half && !waitsByDesign(slow[i].name)
		}
		for i := range others {
			apart = apart && s.times*others[i].mean() <= half
		}
		if apart {
			s.slow, s.half = n, half
			return
		}
	}
}

func sumOf(list []classSum) (n uint64) {
	for i := range list {
		n += list[i].answers
	}
	return n
}

// waitsByDesign reports whether commands of a class are answered when something happens, as those that wait for a change or a lock.
func waitsByDesign(name string) bool {
	return strings.Contains(name, "NOTIFY") || strings.Contains(name, "LOCK") || strings.Contains(name, "Asynchronous")
}

// halfOf is what half of the commands of some classes took at least, on each connection that has some; 0: that is not known, or much data moved
// for each.
func (s *classesOfServer) halfOf(slow []classSum) time.Duration {
	least := time.Duration(math.MaxInt64)
	for _, c := range s.on {
		parts, answers := s.parts(c.Upper), uint64(0)
		for _, k := range parts {
			if contains(slow, k.name) {
				answers += k.answers
			}
		}
		if answers == 0 {
			continue
		}
		half := halfOfParts(c, parts, slow, answers)
		if 4*c.SlowestMessage() > half || movesMuch(c, half) {
			return 0
		}
		least = min(least, half)
	}
	return least
}

func contains(list []classSum, name string) bool {
	return slices.ContainsFunc(list, func(k classSum) bool { return k.name == name })
}

// halfOfParts is what half of so many commands, all of some parts, took at least: of the others only so many took as long as the sum of their
// times allows; 0: that is not known.
func halfOfParts(c *agent.Connection, parts, slow []classSum, answers uint64) time.Duration {
	h, half := measured(c), halfTook(c, answers)
	for range halvings {
		half -= half / 8
		may := uint64(0)
		for _, k := range parts {
			if half > 0 && k.longest >= half && !contains(slow, k.name) {
				may += min(k.answers, uint64(k.took/half))
			}
		}
		if half > 0 && 2*h.Above(half) >= answers+2*may {
			return half
		}
	}
	return 0
}
