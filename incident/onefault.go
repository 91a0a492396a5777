package incident

import (
	"fmt"
	"slices"
	"strings"
)

// Damage and losses between two hosts at the same time are most likely one fault of what lies between them, and so are losses in both directions.

// retransmitting is what an incident of losses tells of, in words and as the number of rounds, for one that tells of it too.
type retransmitting struct {
	said   string // "10.0.0.1 QP 0x1 retransmitted 3 of 12 packets to 10.0.0.2 QP 0x2 (25 %), in 1 round"; empty: it is none
	rounds uint64
	late   bool      // nothing was lost: the answers came late
	short  bool      // likewise, as they take longer than the ACK timeout
	lost   [2]uint64 // rounds for what was lost before the tap: from its Local to its Peer, and the other way
	other  string    // what is said of another connection of its group, where it is the only one
}

// joins reports whether an incident is of losses that one of other losses, or of damage, may tell of: why the packets were lost is not known.
func (i *Incident) joins() bool {
	return i.Kind == Loss && i.again.said != "" && !i.again.late && !i.explained && !i.ofTrimmed && !i.ofMarked && !i.oneSided && i.within == 0
}

// oneFault has damage tell of the losses between the same two hosts at the same time, where it is of no others, and losses of those in the other direction.
func (t *teller) oneFault(list []Incident) []Incident {
	merged, losses := map[*Incident]bool{}, map[pair][]*Incident{}
	for n := range list {
		if i := &list[n]; i.joins() {
			k := pairBy(i.Local.Addr, i.Peer.Addr)
			losses[k] = append(losses[k], i)
		}
	}
	for n := range list {
		i := &list[n]
		if merged[i] || !i.joins() && (i.Kind != Damage || i.betweenHosts > 1) {
			continue
		}
		too := 0
		for _, o := range losses[pairBy(i.Local.Addr, i.Peer.Addr)] {
			if o != i && !merged[o] && i.overlaps(o) {
				i.lostToo(o)
				merged[o] = true
				too++
			}
		}
		if i.Kind == Damage && too > 0 && i.again.rounds > i.damaged {
			i.lostAndDamaged()
		}
		if i.Kind == Loss && !t.damages(i) {
			i.oneWay()
		}
	}
	return without(list, merged)
}

// overlaps reports whether losses between the hosts of an incident were at the same time; what is damaged or trimmed is retransmitted some time later.
func (i *Incident) overlaps(o *Incident) bool {
	late := int64(0)
	if i.Kind == Damage || i.Kind == Trimmed {
		late = together
	}
	return o.Begin <= i.End+late && i.Begin <= o.End
}

// lostToo has an incident tell of losses.
func (i *Incident) lostToo(o *Incident) {
	switch what := strings.TrimSuffix(i.What, "."); {
	case i.Kind == Loss:
		i.What = fmt.Sprintf("%s. At the same time %s.", what, o.again.said)
	case i.again.rounds == 0:
		i.What = fmt.Sprintf("%s; %s.", what, o.again.said)
	default:
		i.What = fmt.Sprintf("%s; and %s.", what, o.again.said)
	}
	i.again.rounds += o.again.rounds
	there, back := 0, 1
	if o.Local.Addr != i.Local.Addr {
		there, back = 1, 0
	}
	i.again.lost[there] += o.again.lost[0]
	i.again.lost[back] += o.again.lost[1]
	i.takeOver(o)
}

// lostAndDamaged says that packets were lost, too.
func (i *Incident) lostAndDamaged() {
	i.What = fmt.Sprintf("Packets between %v and %v were lost and damaged, or damaged on both sides of the tap: %s", i.Local.Addr, i.Peer.Addr, i.What)
	i.fact("lost", fmt.Sprintf("%s of retransmission are more than the packets that came damaged to the tap: others were lost, or damaged after it", count(i.again.rounds, "round")))
	i.FitsWith = append([]string{"one bad link, cable or transceiver between them: some of what it damages is dropped before the tap, and never comes there"}, i.FitsWith...)
}

// takeOver takes over what another incident says of the time and place of its losses. What they fit with is what this one tells of.
func (i *Incident) takeOver(o *Incident) {
	for _, f := range o.Facts {
		if !slices.Contains([]string{"caused", "cost", "where", "also"}, f.Label) {
			continue
		}
		switch n := slices.IndexFunc(i.Facts, func(k Fact) bool { return k.Label == f.Label }); {
		case n < 0:
			i.fact(f.Label, f.Text)
		case i.Facts[n].Text != f.Text && (i.Kind == Loss || f.Label == "cost"):
			i.Facts[n].Text += "; of what " + o.Local.Addr.String() + " retransmitted: " + f.Text
		}
	}
	if o.Tap == i.Tap {
		i.show(o.Frames...)
	}
	i.foundToo(o.Found)
	i.Begin, i.End, i.Lost, i.Ongoing = min(i.Begin, o.Begin), max(i.End, o.End), max(i.Lost, o.Lost), i.Ongoing || o.Ongoing
	i.Connections = max(i.Connections, o.Connections)
}

// damagedBetween is between how many pairs of hosts, of which the capture has connections, packets were damaged.
func (t *teller) damagedBetween(ways []*onWay) int {
	known, pairs := map[pair]bool{}, map[pair]bool{}
	for k := range t.run.Connections {
		e := &t.run.Connections[k].Ends
		known[pairBy(e[0].Addr, e[1].Addr)] = true
	}
	for _, w := range ways {
		if k := pairBy(w.from, w.to); w.damaged.n > 0 && known[k] {
			pairs[k] = true
		}
	}
	return len(pairs)
}
