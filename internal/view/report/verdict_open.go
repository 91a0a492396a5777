package report

import (
	"fmt"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
)

// NothingViolated says that none of the rules was broken, how many of them were exercised, and, as that is not to say that nothing is wrong, how many incidents there are.
func NothingViolated(incidents, exercised, rules int) string {
	return fmt.Sprintf("nothing violated%s; %d of %d rules exercised", butIncidents(incidents), exercised, rules)
}

// NothingProven says that no violation is proven, and how many incidents there are; what is suspected is to follow.
func NothingProven(incidents int) string {
	return noneProven + butIncidents(incidents) + "; open: "
}

const noneProven = "no violation is proven"

// butIncidents is how the verdict line goes on where nothing is violated, or proven to be, and there are incidents.
func butIncidents(incidents int) string {
	if incidents == 0 {
		return ""
	}
	return ", but " + count(incidents, "incident")
}

// OpenRequests says which requests had no response when the capture ended.
func OpenRequests(o *agent.Open) string { return openRequests(o, 0) }

// openOf says which requests of a run had no response when the capture ended.
func openOf(r *agent.Result) string { return openRequests(&r.Open, sameMaybe(r.Connections)) }

// sameMaybe is how many of the connections with requests that had no response may be the other direction of another: where nothing is answered, no
// packet tells which directions of two hosts belong together.
func sameMaybe(list []agent.Connection) (n int) {
	type way struct{ from, to packet.Addr }
	ways := map[way]int{}
	for i := range list {
		c := &list[i]
		if c.PairedBy != agent.NotPaired || c.Ends[0].Open == 0 || c.Ends[1].Packets > 0 || c.Elsewhere() {
			continue
		}
		from, to := c.Ends[0].Addr, c.Ends[1].Addr
		if back := (way{to, from}); ways[back] > 0 {
			ways[back]--
			n++
		} else {
			ways[way{from, to}]++
		}
	}
	return n
}

// openRequests is OpenRequests where some of the connections may be the same.
func openRequests(o *agent.Open, same int) string {
	if o.Managed == o.Requests {
		return fmt.Sprintf("%s without a response, as in frame %d", count(o.Requests, "management request"), o.Frame)
	}
	on := count(o.Connections, "connection")
	if same > 0 && same < o.Connections {
		on = fmt.Sprintf("%d to %s", o.Connections-same, on)
	}
	s := count(o.Requests, "request") + " on " + on
	if o.Apart {
		return s + " had no response after them: the clocks of the interfaces differ, and it may be dated before its request"
	}
	if o.Usual() {
		if s += " had no response yet when the capture ended"; !o.Unclocked && o.Waited >= time.Millisecond {
			return s + ", after up to " + span(o.Waited) // an answer takes less, as a rule
		}
		return s + ", as in any capture that is stopped under load"
	}
	s += fmt.Sprintf(" without a response, the oldest in frame %d", o.Frame)
	if o.Again {
		s += ", though retransmitted"
	}
	switch {
	case o.Unclocked:
	case o.Waited >= time.Millisecond:
		s += ": none came for them in the last " + span(o.Waited) + " of the capture"
	}
	return s
}

// Unjudged says why none of the InfiniBand or RoCE packets of a capture was judged.
func Unjudged(rdma uint64, why []agent.Note) string {
	s := "none of " + count(rdma, "InfiniBand or RoCE packet") + " could be judged" + foremost(why)
	if len(why) == 0 {
		s += ": their headers are inconsistent"
	}
	return s
}

// NoRDMA says that there is no packet to judge in so many frames, and what is there instead that is no usual traffic.
func NoRDMA(frames uint64, why []agent.Note) string {
	return "no InfiniBand or RoCE packet in " + count(frames, "frame") + foremost(why)
}

// foremost names the first reasons why something was not judged.
func foremost(why []agent.Note) (s string) {
	for i, n := range why[:min(len(why), 3)] {
		s += [...]string{": ", "; ", "; "}[i] + number(n.Count) + " " + printable(n.Reason)
	}
	return s
}
