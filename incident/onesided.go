package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/packet"
)

// wentOn reports whether the capture holds only what end from of a reliable connection has sent, and shows that it was answered: its requester has gone on.
func wentOn(c *agent.Connection, from int) bool {
	e := &c.Ends[from]
	if !c.Service.Reliable() || e.Packets == 0 || c.Ends[1-from].Packets > 0 {
		return false
	}
	if x := e.Trouble; x != nil && (x.Sum.Count > 0 || x.Now.Total() > 0) {
		return !e.Stalled || x.Now.Later
	}
	return e.Open > 0 && e.Messages > 2*uint64(e.Open) && waits(e, e.Last+silence)
}

// usualSent is from how many packets on, without a retransmission, a requester has been answered: few send as many before they wait.
const usualSent = 16

// direction is from which host to which.
type direction struct{ from, to packet.Addr }

// sides is of how many connections the capture holds which directions.
type sides struct {
	both, one int  // connections of both, and of one where the capture shows that there was another
	steady    int  // of the latter, those without a retransmission
	halves    int  // likewise, of one where another between the same hosts has the other direction: they may be one connection
	whole     bool // it holds no connection of both, and of most the other is missing
	packets   uint64
	again     uint64 // of them, retransmitted
}

// sides counts the connections by their directions.
func (t *teller) sides() *sides {
	if t.sided != nil {
		return t.sided
	}
	s := &sides{}
	t.sided = s
	lone := map[direction]bool{} // in which there are connections of one direction
	both := map[direction]bool{} // between which hosts there are some of both
	for i := range t.run.Connections {
		if from, one := onlyEnd(&t.run.Connections[i]); one {
			c := &t.run.Connections[i]
			lone[direction{c.Ends[from].Addr, c.Ends[1-from].Addr}] = true
		} else if c := &t.run.Connections[i]; c.Service.Reliable() && c.Ends[0].Packets > 0 {
			both[direction{c.Ends[0].Addr, c.Ends[1].Addr}], both[direction{c.Ends[1].Addr, c.Ends[0].Addr}] = true, true
		}
	}
	sent, silent, unpaired := 0, 0, 0
	for i := range t.run.Connections {
		c := &t.run.Connections[i]
		from, one := onlyEnd(c)
		if !one {
			if c.Service.Reliable() && c.Ends[0].Packets > 0 {
				s.both++
			}
			continue
		}
		e := &c.Ends[from]
		other := direction{c.Ends[1-from].Addr, e.Addr}
		on, steady := wentOn(c, from), e.Packets > usualSent && e.Retransmissions == 0
		if lone[other] && other.from != other.to { // they may be the two directions of one that was not paired
			unpaired++
			if steady {
				s.halves++
			}
		} else if on || steady {
			sent++
		} else {
			silent++
		}
		if !lone[other] && (on && (e.Retransmissions == 0 || !both[other]) || c.Elsewhere()) { // else it may have gone on though nothing answered
			s.one++
			if e.Retransmissions == 0 {
				s.steady++
			}
		}
		s.packets, s.again = s.packets+e.Packets, s.again+uint64(e.Retransmissions)
	}
	s.whole = s.both == 0 && sent > 0 && silent+unpaired <= sent
	return s
}

// onlyEnd returns the end of a reliable connection which has sent anything where the other has not, and whether there is one.
func onlyEnd(c *agent.Connection) (from int, one bool) {
	if !c.Service.Reliable() || (c.Ends[0].Packets == 0) == (c.Ends[1].Packets == 0) {
		return 0, false
	}
	if c.Ends[0].Packets == 0 {
		from = 1
	}
	return from, true
}

// oneSided reports whether the capture does not hold the answers to what end from of a connection has sent, though there were some.
func (t *teller) oneSided(c *agent.Connection, from int) bool {
	if wentOn(c, from) || c.Elsewhere() {
		return true
	}
	f, one := onlyEnd(c)
	return one && f == from && !c.Ends[from].Stalled && t.sides().whole
}

// oneDirection tells that the capture holds one direction only.
func (t *teller) oneDirection() {
	s := t.sides()
	if !s.whole && s.one == 0 || len(t.run.Skewed) > 0 { // where answers come before their requests, connections are not paired
		return
	}
	i := &Incident{
		Kind: Untrusted, Certainty: Proven, Begin: t.run.First, End: t.run.Last, What: "The capture holds one direction of each connection: which requests were answered is not in it.", oneSided: s.whole,
		Next: []string{"capture both directions: a mirror port for rx and tx, or tcpdump on the RDMA device"},
	}
	if !s.whole {
		i.What = fmt.Sprintf("The capture holds one direction only of %s of %s: which requests were answered there is not in it.", number(uint64(s.one)), count(uint64(s.one+s.halves+s.both), "connection"))
	}
	if !s.whole && s.halves > 0 {
		i.fact("and", fmt.Sprintf("of %s more it holds one direction each, between the same two hosts: some of these may be the two directions of one", number(uint64(s.halves))))
	}
	if !s.whole && s.steady > 0 && s.both > 0 {
		i.fact("answered", fmt.Sprintf("on %s the requester went on, without a retransmission: it had answers, which passed elsewhere", number(uint64(s.steady))))
		i.FitsWith = []string{"a tap at one of several links (LAG, ECMP): switches choose one for each flow and direction by its addresses and ports, so that answers pass another; the network and the adapters may be sound"}
		i.Next = []string{"tap or mirror all links of the group, or the ports of the hosts"}
	}
	if s.again > 0 {
		i.fact("again", fmt.Sprintf("%s retransmitted, of %s of one direction (%s): what asked for that is not in the capture", number(s.again), count(s.packets, "packet"), share(s.again, s.packets)))
	}
	t.order = append(t.order, i)
}
