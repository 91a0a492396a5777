package incident

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
)

// damageAskedFor is how long after a packet came damaged a NAK asks for it at most, nanoseconds: as others come after it.
const damageAskedFor = int64(10 * time.Millisecond)

// allDamaged reports whether at least as many packets of a connection came damaged as one of its requesters went back, n times: in each of the
// stalls that are kept, too.
func (t *teller) allDamaged(i *Incident, k *qp.Trouble, n uint64) bool {
	if !t.damages(i) || !i.Local.QPNKnown || !i.Peer.QPNKnown {
		return false
	}
	all := qp.Stall{Last: math.MaxInt64}
	if t.damagedIn(&i.Local, &i.Peer, &all) < n {
		return false
	}
	return !slices.ContainsFunc(k.Longest[:], func(s qp.Stall) bool {
		s.Since = min(s.Since, s.Begun-damageAskedFor)
		return s.Total() > uint64(s.Rounds[qp.NotReady]) && t.damagedIn(&i.Local, &i.Peer, &s) == 0
	})
}

// lostToDamage has damage tell of the losses that it explains: of connections of which as many packets came damaged as their requesters went back.
// Damage between two hosts tells so of the losses of several of their connections, if it explains all.
func (t *teller) lostToDamage(list []Incident) []Incident {
	n := slices.IndexFunc(list, func(i Incident) bool { return i.Kind == Damage })
	if n < 0 {
		return list
	}
	i, several := &list[n], list[n].betweenHosts >= fewestPairs
	merged, ways, on := map[*Incident]bool{}, map[way]bool{}, 0
	for m := range list {
		o := &list[m]
		if o == i || !i.overlaps(o) || !o.losesOn(i, several) {
			continue
		}
		if !o.byDamage {
			if several {
				continue
			}
			return list
		}
		on += o.Connections
		merged[o], ways[way{o.Local.Addr, o.Peer.Addr}] = true, true
	}
	if len(merged) == 0 || !several && on < 2 {
		return list
	}
	for m := range list {
		if merged[&list[m]] {
			i.includes(&list[m])
		}
	}
	t.costOfDamage(i, ways)
	return without(list, merged)
}

// losesOn reports whether an incident is of losses that the damage of another may explain: between any hosts, or its own.
func (i *Incident) losesOn(damage *Incident, several bool) bool {
	storm := i.Kind == Retransmitting && !i.again.late && !i.explained && !i.ofTrimmed && !i.ofMarked && !i.oneSided && i.within == 0
	return (i.joins() || storm) && i.sum == nil && (several || pairBy(i.Local.Addr, i.Peer.Addr) == pairBy(damage.Local.Addr, damage.Peer.Addr))
}

// costOfDamage says what was retransmitted on some ways, for packets that came damaged.
func (t *teller) costOfDamage(i *Incident, ways map[way]bool) {
	s := &lossSum{ends: map[Party]bool{}}
	var waits []waited
	var worst, peer Party
	most, of := uint64(0), uint64(0)
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for from := range c.Ends {
			e := &c.Ends[from]
			if lost(e) == 0 || !ways[way{e.Addr, c.Ends[1-from].Addr}] {
				continue
			}
			k := e.Trouble.Settled(e.Stalled)
			s.addEnd(e, &k)
			for _, x := range k.Longest {
				if x.Rounds[qp.TimerExpired] > 0 {
					waits = append(waits, waited{x, party(e)})
				}
			}
			if k.Again.Packets > most {
				most, of, worst, peer = k.Again.Packets, e.Packets, party(e), party(&c.Ends[1-from])
			}
		}
	}
	said := fmt.Sprintf("%s had %s retransmitted for that", count(uint64(len(s.ends)), "queue pair"), count(s.packets, "packet"))
	if s.naks > 0 {
		said += fmt.Sprintf(", %s as NAKs asked for it", times(uint64(s.naks)))
	}
	if t.timed() && len(waits) > 0 {
		longest := slices.MaxFunc(waits, func(a, b waited) int { return cmp.Compare(a.Lost(), b.Lost()) })
		said += fmt.Sprintf(", %s only once a timer had expired, after up to %s", times(uint64(s.timers)), span(longest.Lost()))
	}
	i.What = strings.TrimSuffix(i.What, ".") + "; " + said + "."
	i.lead("timers", t.timersOf(waits))
	i.lead("cost", s.cost(t)+"; what came damaged is not counted")
	i.fact("caused", s.asked(0))
	if len(s.ends) > 1 {
		i.fact("most", fmt.Sprintf("%v retransmitted %s of %s to %v", &worst, number(most), count(of, "packet"), &peer))
	}
}

// lead puts a fact first, if there is something to say.
func (i *Incident) lead(label, text string) {
	if text != "" {
		i.Facts = slices.Insert(i.Facts, 0, Fact{label, text})
	}
}

// waited is a stall until a timer expired, with who waited.
type waited struct {
	qp.Stall
	by Party
}

// timersOf says in which frames timers had packets retransmitted, how long nothing went on before, and of whom.
func (t *teller) timersOf(waits []waited) string {
	if !t.timed() {
		return ""
	}
	slices.SortFunc(waits, func(a, b waited) int {
		return cmp.Or(cmp.Compare(a.Begun, b.Begun), cmp.Compare(a.Frames.Begun[0], b.Frames.Begun[0]))
	})
	var list []string
	for _, x := range waits[:min(len(waits), portsShown)] {
		list = append(list, fmt.Sprintf("%s of %v until frame %d", span(x.Lost()), &x.by, x.Frames.Last))
	}
	if more := len(waits) - len(list); more > 0 {
		list = append(list, number(uint64(more))+" more")
	}
	return enumerate(list)
}

// path is the UDP source port of what a host sends to a queue pair of another, by which networks choose among paths; "": it is not known.
func (f *damagedFlows) path(k flow, several bool) string {
	if port, known := f.portOf[k]; known && several {
		return onPorts([]uint16{port})
	}
	return ""
}

// apart reports whether it is no chance that all damaged packets are of those flows that were hit. Where few flows are between the same hosts,
// those of several pairs of hosts tell it together: others of
// the same senders, and others to the same receivers.
func apart(flows map[flow]*damagedOf, hit, clean map[way]load) bool {
	if chanceOf(flows, hit, clean) < tooFew {
		return true
	}
	mixed := map[pair]bool{}
	for w := range hit {
		if clean[w].packets >= steadyPackets {
			mixed[pairBy(w.from, w.to)] = true
		}
	}
	if len(mixed) < fewestPairs {
		return false
	}
	for _, from := range []bool{true, false} {
		chance, harmed, spared := 1.0, bySide(hit, from), bySide(clean, from)
		for _, only := range flowsBySide(flows, from) {
			chance *= chanceOf(only, harmed, spared)
		}
		if chance >= tooFew {
			return false
		}
	}
	return true
}

// flowsBySide are the flows that were hit from each host, or to each.
func flowsBySide(flows map[flow]*damagedOf, from bool) map[packet.Addr]map[flow]*damagedOf {
	of := map[packet.Addr]map[flow]*damagedOf{}
	for k, d := range flows {
		x := k.side(from)
		if of[x] == nil {
			of[x] = map[flow]*damagedOf{}
		}
		of[x][flow{way{from: x}, uint32(len(of[x]))}] = d
	}
	return of
}
