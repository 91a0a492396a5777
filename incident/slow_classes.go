package incident

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
)

// slowItself is from which median on commands of some opcodes or procedures are slow, where no other server is compared.
const slowItself = 100 * time.Millisecond

// halvings is how often an eighth is taken off what half of some commands may have taken, until it is certain.
const halvings = 16

// classSum is the commands of one opcode or procedure that a server answered.
type classSum struct {
	name          string
	answers       uint64
	took, longest time.Duration
}

func (k *classSum) mean() time.Duration { return k.took / time.Duration(max(k.answers, 1)) }

// classesOfServer is what a server answered, by opcode or procedure, on all connections.
type classesOfServer struct {
	server   packet.Addr
	protocol string
	classes  []classSum // the slowest in the mean first
	on       []*agent.Connection
	other    bool               // what is told otherwise, or not known
	long     bool               // some took so long that each is told, unless all are told together
	slow     int                // how many of its classes, the first ones, are slow
	half     time.Duration      // half of whose commands on each connection took so long at least
	faster   []*classesOfServer // that are far faster with these
}

// answering returns it of each server.
func (t *teller) answering() (list []classesOfServer) {
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
			list = append(list, classesOfServer{server: server, protocol: u.Protocol})
		}
		s := &list[at]
		_, hangs := t.hangs(c)
		s.on = append(s.on, c)
		s.other = s.other || hangs || measured(c) == nil || slowestAnswer(c) == 0 ||
			c.Ends[0].Trouble != nil || c.Ends[1].Trouble != nil
		s.long = s.long || len(c.SlowCommands()) > 0
		for m := range u.Classes {
			if u.Classes[m].Answers > 0 {
				s.add(&u.Classes[m])
			}
		}
	}
	for n := range list {
		slices.SortFunc(list[n].classes, func(a, b classSum) int {
			return cmp.Or(cmp.Compare(b.mean(), a.mean()), strings.Compare(a.name, b.name))
		})
	}
	return list
}

func (s *classesOfServer) add(k *agent.Class) {
	at := slices.IndexFunc(s.classes, func(x classSum) bool { return x.name == k.Name })
	if at < 0 {
		at = len(s.classes)
		s.classes = append(s.classes, classSum{name: k.Name})
	}
	x := &s.classes[at]
	x.answers, x.took, x.longest = x.answers+k.Answers, x.took+k.Took, max(x.longest, k.Longest)
}

// find finds which of its classes are slow, while each other takes far less in the mean.
func (s *classesOfServer) find() {
	for n := 1; n < len(s.classes) && n <= mostClassNames && farTimes*s.classes[0].mean() >= unevenAfter; n++ {
		slow, others := s.classes[:n], s.classes[n:]
		half := s.halfOf(slow)
		apart := half >= unevenAfter && sumOf(slow) >= fewestUneven && sumOf(others) >= fewestUneven
		for i := range slow {
			apart = apart && slow[i].answers >= fewestOfClass && farTimes*slow[i].mean() >= half && !waitsByDesign(slow[i].name)
		}
		for i := range others {
			apart = apart && classTimes*others[i].mean() <= half
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
		u, answers := c.Upper, uint64(0)
		for m := range u.Classes {
			if contains(slow, u.Classes[m].Name) {
				answers += u.Classes[m].Answers
			}
		}
		if answers == 0 {
			continue
		}
		half := halfOfClasses(c, slow, answers)
		if 4*slowestAnswer(c) > half || float64(8*(c.Ends[0].Bytes+c.Ends[1].Bytes))/float64(u.Answers) > unevenRate*half.Seconds() {
			return 0
		}
		least = min(least, half)
	}
	return least
}

func contains(list []classSum, name string) bool {
	return slices.ContainsFunc(list, func(k classSum) bool { return k.name == name })
}

// halfOfClasses is what half of so many commands, all of some classes, took at least: of the others only so many took as long as the sum of their
// times allows; 0: that is not known.
func halfOfClasses(c *agent.Connection, slow []classSum, answers uint64) time.Duration {
	h, half := measured(c), halfTook(c, answers)
	for range halvings {
		half -= half / 8
		may := uint64(0)
		for m := range c.Upper.Classes {
			if k := &c.Upper.Classes[m]; half > 0 && k.Longest >= half && !contains(slow, k.Name) {
				may += min(k.Answers, uint64(k.Took/half))
			}
		}
		if half > 0 && 2*h.Above(half) >= answers+2*may {
			return half
		}
	}
	return 0
}
