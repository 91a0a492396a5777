package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

const (
	fewestInPlace = 16 // how many PSNs have to have come late, for that to be why a receiver asks
	allButOneIn   = 10 // nearly all are all but one in so many
	copiesOfLate  = 1  // how many times as many packets that had come are retransmitted, at least: else the requester goes back for nothing that came (selective repeat)
)

// lateByPlace reports whether what filled the gaps of a requester had come late, and was not retransmitted: it went on with something else each time, and went back for what had come. Nearly nothing
// else was missing, and its timer hardly ran out.
func lateByPlace(k *qp.Trouble) bool {
	m := &k.Missing
	f := &m.Filled
	all := func(n, of uint32) bool { return allButOneIn*(of-min(n, of)) <= of }
	return f.Late >= fewestInPlace && all(f.Late, f.PSNs) && all(f.PSNs, m.PSNs) && k.Sum.Rounds[qp.SequenceAsked] > 0 &&
		allButOneIn*k.Sum.Rounds[qp.TimerExpired] <= k.Sum.Rounds[qp.SequenceAsked] && k.Again.Packets >= uint64(f.Packets)+copiesOfLate*uint64(f.PSNs)
}

// overtakenByPlace has an incident of losses tell that packets came after later ones and none was lost before the tap, where the place at which each came shows it.
func (t *teller) overtakenByPlace(i *Incident, c *agent.Connection, from int) bool {
	k := c.Ends[from].Trouble
	if c.Service != packet.RC || len(t.run.Taps) > 1 || t.damages(i) || t.trims(i) || t.lossy() || !lateByPlace(k) {
		return false
	}
	f := &k.Missing.Filled
	i.Kind, i.noneLost, i.unnumbered = Reordered, true, true
	i.What = overtakenTo(i.Peer.Addr, []lateEnd{{c, from}})
	drop := []string{"where", "missing", "paths", "caused", "each", "others", "goodput", "cost", "host"}
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return slices.Contains(drop, f.Label) })
	i.fact("order", fmt.Sprintf("%s came later than later PSNs; after %s of them came a new request, or one of before them: %v had not gone back for them", count(uint64(f.PSNs), "PSN"), number(uint64(f.Late)), i.Local.Addr))
	i.fact("in order", t.inOrderTo(c, from))
	i.FitsWith = []string{orderOfNetwork}
	i.Next = []string{afterLater(i), fmt.Sprintf("whether the adapter of %v can take packets out of order for these queue pairs", i.Peer.Addr)}
	return true
}

// lateEnd is an end of a connection whose packets came late.
type lateEnd struct {
	c    *agent.Connection
	from int
}

// overtakenTo says what came late of all that some ends sent to a host.
func overtakenTo(peer packet.Addr, ends []lateEnd) string {
	var hosts []packet.Addr
	late, naks, copies, lost := uint64(0), uint64(0), uint64(0), "nothing"
	for _, e := range ends {
		k := e.c.Ends[e.from].Trouble
		f := &k.Missing.Filled
		late, naks, copies = late+uint64(f.Late), naks+uint64(e.c.Ends[1-e.from].SequenceNAKs), copies+k.Again.Packets-uint64(f.Packets)
		hosts = append(hosts, e.c.Ends[e.from].Addr)
		if f.PSNs != k.Missing.PSNs {
			lost = "hardly anything"
		}
	}
	of := party(&ends[0].c.Ends[ends[0].from])
	who := of.String()
	if len(ends) > 1 {
		who = someOf(eachOnce(hosts))
	}
	on := ""
	if len(ends) > 1 {
		on = fmt.Sprintf(" on %d connections", len(ends))
	}
	return fmt.Sprintf("At least %s that %s sent to %v%s came after later ones, and %s was lost before the tap: %v took them for lost, sent %s, and had about %s retransmitted that had come (go-back-N).",
		count(late, "packet"), who, peer, on, lost, peer, count(naks, "PSN sequence NAK"), count(copies, "packet"))
}

// joinByPlace makes one incident of those in which packets to one host came late.
func (t *teller) joinByPlace(list []Incident) []Incident {
	merged := map[*Incident]bool{}
	for n := range list {
		i := &list[n]
		if !i.unnumbered || merged[i] {
			continue
		}
		var ends []lateEnd
		for k := range t.run.Connections {
			c := &t.run.Connections[k]
			for e := range c.Ends {
				if x := &c.Ends[e]; c.Service == packet.RC && x.Trouble != nil && c.Ends[1-e].Addr == i.Peer.Addr && lateByPlace(x.Trouble) {
					ends = append(ends, lateEnd{c, e})
				}
			}
		}
		for m := range list {
			if o := &list[m]; o != i && o.unnumbered && o.Peer.Addr == i.Peer.Addr {
				merged[o] = true
				i.includes(o)
			}
		}
		if len(ends) > 1 {
			i.What, i.Connections = overtakenTo(i.Peer.Addr, ends), len(ends)
			i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "also" || f.Label == "order" })
		}
	}
	return without(list, merged)
}

// inOrderTo names others that send to the same host, and of which nothing came late and nothing was retransmitted; "": there are none that sent enough.
func (t *teller) inOrderTo(c *agent.Connection, from int) string {
	var hosts []packet.Addr
	sent := uint64(0)
	for n := range t.run.Connections {
		d := &t.run.Connections[n]
		for e := range d.Ends {
			x := &d.Ends[e]
			if d.Service != packet.RC || d.Ends[1-e].Addr != c.Ends[1-from].Addr || x.Addr == c.Ends[from].Addr || x.Packets < c.Ends[from].Packets/allButOneIn || lost(x)+lost(&d.Ends[1-e]) > 0 {
				continue
			}
			sent += x.Packets
			hosts = append(hosts, x.Addr)
		}
	}
	if len(hosts) == 0 {
		return ""
	}
	return fmt.Sprintf("all of %s from %s to %v: what these pass is not it", count(sent, "packet"), someOf(eachOnce(hosts)), c.Ends[1-from].Addr)
}
