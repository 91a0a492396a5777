package incident

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// From which bounds on commands of a server are slow: of how many commands at least, and from which median on, where others of the server take so
// many times less; each moves no more than so many bits a second, so that no link is what they wait for.
const (
	fewestUneven = 32
	unevenAfter  = 5 * time.Millisecond
	unevenTimes  = 50
	unevenRate   = 100e6
	// slowItself is from which median on commands of some opcodes or procedures are slow, where no other server is compared.
	slowItself = 100 * time.Millisecond
	// slowSinceLeast is how many commands before and since at least are compared.
	slowSinceLeast = 8
	// slowPerRound is for how many slow commands one round of retransmission is allowed, which cannot slow so many.
	slowPerRound = 8
)

// mostCompanions is how many others are named that are compared.
const mostCompanions = 4

// slowSet is the connections on which some commands of a server are slow, and what every finder tells of them.
type slowSet struct {
	server     packet.Addr
	on         []*agent.Connection
	clients    []packet.Addr
	acked      time.Duration // no request on these connections that the commands need waited longer for its own answer
	rounds     uint64        // of retransmission on these connections
	begin, end int64
	slowest    *agent.Operation // of the commands, as far as it is kept
	of         *agent.Connection
}

// add takes a connection, and the slowest of the commands that are meant.
func (s *slowSet) add(c *agent.Connection, meant func(*agent.Operation) bool) {
	for _, o := range c.Upper.Longest {
		if meant(o) && (s.slowest == nil || o.Ended-o.Since > s.slowest.Ended-s.slowest.Since) {
			s.slowest, s.of = o, c
		}
	}
	if slices.Contains(s.on, c) {
		return
	}
	if len(s.on) == 0 || c.First < s.begin {
		s.begin = c.First
	}
	s.on, s.acked, s.end = append(s.on, c), max(s.acked, c.SlowestNeeded()), max(s.end, c.Ends[0].Last, c.Ends[1].Last)
	for e := range c.Ends {
		s.rounds += roundsOf(c.Ends[e].Trouble)
	}
	if a := c.Ends[fromOf(c.Upper)].Addr; !slices.Contains(s.clients, a) {
		s.clients = append(s.clients, a)
	}
}

// roundsOf is how many rounds of retransmission an end had.
func roundsOf(k *qp.Trouble) uint64 {
	if k == nil {
		return 0
	}
	settled := k.Settled(false)
	return settled.Sum.Total()
}

// otherwise reports whether more happened on a connection than that commands were slow, as that answers were held, or it is not known how soon its requests were acknowledged.
func (t *teller) otherwise(c *agent.Connection) bool {
	_, hangs := t.hangs(c)
	return hangs || t.holds(c) || c.SlowestMessage() == 0 || c.Ends[0].Trouble != nil || c.Ends[1].Trouble != nil
}

// movesMuch reports whether a link may be what the commands of a connection wait for, which take so long.
func movesMuch(c *agent.Connection, took time.Duration) bool {
	return float64(8*(c.Ends[0].Bytes+c.Ends[1].Bytes))/float64(c.Upper.Answers) > unevenRate*took.Seconds()
}

// slowAt begins to tell of it.
func (t *teller) slowAt(s *slowSet) *Incident {
	o := s.slowest
	i := t.between(Slow, s.of, o.From)
	i.Begin, i.End, i.Lost, i.Tap = s.begin, s.end, time.Duration(o.Ended-o.Since), o.Tap
	i.listed, i.Connections = true, len(s.on)
	i.alsoOf(s.clients)
	return i
}

// alsoOf adds other clients than the one that is named.
func (i *Incident) alsoOf(clients []packet.Addr) {
	for _, a := range clients {
		if a != i.Local.Addr {
			i.Also = append(i.Also, a)
		}
	}
}

// slowFacts tells of the slowest one, then a fact of the finder, and that it is not the network.
func (i *Incident) slowFacts(s *slowSet, label, text string) {
	o := s.slowest
	i.fact("longest", fmt.Sprintf("%s of %v, in frame %d, answered in frame %d, after %s", o.Name, &i.Local, o.Frame, o.Answer, span(o.Ended-o.Since)))
	i.fact("data", i.moved(o))
	i.fact(label, text)
	again := ", and none was retransmitted: it is not the network"
	if s.rounds > 0 {
		again = fmt.Sprintf("; %s of retransmission, told apart, cannot slow so many: it is not the network", count(s.rounds, "round"))
	}
	i.fact("transport", fmt.Sprintf("no request on %s waited longer than %s for its own answer%s", theConnections(len(s.on)), span(int64(s.acked)), again))
}

func theConnections(n int) string {
	if n == 1 {
		return "the connection"
	}
	return fmt.Sprintf("these %d connections", n)
}

// onlyOn is what fits with commands that are slow on an object of a server, and not on others.
func onlyOn(name string) string {
	return "what " + name + " is on there, and the others are not: its disk, RAID, cache or snapshot"
}

// neededBy is what fits with commands of some opcodes or procedures that are slow, where others are not.
func neededBy(names ...string) string {
	const need = "what these commands need of the server and the others do not: "
	if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(strings.ToUpper(name), "READ") }) {
		return need + "its disks, its file system, or a mirror elsewhere"
	}
	return need + "a disk or file system that is full or slow to write, a journal, a write cache that is off or full, " +
		"a snapshot, a mirror elsewhere"
}

// lookBelow is where to look at a server for what slow commands wait for: what is below an object; "": any disk. when says at which times; "": at any.
func lookBelow(server packet.Addr, object, protocol, when string) string {
	what := "its disks"
	switch {
	case strings.HasPrefix(object, "file id"):
		what = "the volume with the file of " + strings.TrimPrefix(object, "file ")
	case object != "":
		what = "what " + object + " is on"
	case protocol == rpcOverRDMA:
		what = "the disks that nfsd exports, and the journal of their file system"
	}
	how := "iostat -x"
	if strings.HasPrefix(protocol, "SMB") {
		how = "latency of its disk (of Windows: Avg. Disk sec/Transfer; else iostat -x)"
	}
	return fmt.Sprintf("at %v%s: %s: %s, SMART log, write cache, RAID state and the log", server, when, what, how)
}
