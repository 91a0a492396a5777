package incident

import (
	"fmt"
	"slices"

	"ibwitness/packet"
	"ibwitness/qp"
)

// scaleOfLosses has an incident of losses begin with how many packets host x had to retransmit to another on all their connections, where most were lost after the tap on the way there, and with
// where nothing was lost. What it said of one connection becomes a fact. It reports whether it is so.
func (t *teller) scaleOfLosses(i *Incident, x, host packet.Addr, clean string) bool {
	var packets, again uint64
	var after, asked, timers, rounds uint32
	storms := stormSum{}
	on, all := uint64(0), lossSum{ends: map[Party]bool{}}
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for from := range c.Ends {
			e := &c.Ends[from]
			if !c.Service.Reliable() || e.Addr != x || c.Ends[1-from].Addr != host || lost(e) == 0 {
				continue
			}
			p, k := placesOf(e.Trouble), e.Trouble.Settled(e.Stalled)
			all.addEnd(e, &k)
			on, packets, again = on+1, packets+e.Packets, again+uint64(e.Retransmissions)
			asked += max(p.after, c.Ends[1-from].SequenceNAKs-min(c.Ends[1-from].SequenceNAKs, p.before)) // some NAKs have no round of their own
			storms.add(e)
			after, timers, rounds = after+p.after, timers+e.Trouble.Sum.Rounds[qp.TimerExpired], rounds+lost(e)
		}
	}
	if on < 2 || 2*after < rounds || i.Local.Addr != x || i.Peer.Addr != host {
		return false
	}
	by := count(uint64(asked), "PSN sequence NAK")
	if timers > 0 {
		by += " and " + count(uint64(timers), "timeout")
		if least := t.shortestTimerOf(&all); least > 0 {
			by += " of " + span(least) + " or longer"
		}
	}
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return slices.Contains([]string{"host", "caused", "where", "also"}, f.Label) }) // the sentence says that of all
	i.Facts = slices.Insert(i.Facts, 0, Fact{"worst", i.What})
	if n := slices.IndexFunc(i.Facts, func(f Fact) bool { return f.Label == "cost" }); n >= 0 {
		i.Facts[n].Text = all.cost(t) // like what the sentence says
	}
	i.ofOne(&storms, on)
	i.What = fmt.Sprintf("%v retransmitted %s of %s to %v on %s (%s): lost after the tap, on the way there (%s); between the tap and %s, nothing.",
		x, number(again), count(packets, "packet"), host, count(on, "connection"), share(again, packets), by, clean)
	i.ofAll = true
	if s := t.sumOfLosses(x, false, func(a packet.Addr) bool { return a == host }); s.tells() {
		i.sum = s
	}
	return true
}
