package incident

import (
	"cmp"
	"fmt"
	"slices"

	"ibwitness/packet"
)

// gone is what of a peer a requester has lost, that answers it no more.
type gone uint8

const (
	notGone   gone = iota // no request says so
	goneQuiet             // all of it: nothing of it is in the capture since
	goneHere              // a connection: it goes on sending elsewhere
	goneFor               // all of it for a time, after which it answered again
)

// lostPeer is what several hosts have in common that lost a peer at the same time.
type lostPeer struct {
	kind      Kind
	certainty Certainty
	peer      packet.Addr
	gone      gone
}

// reached is the question that an incident of several hosts answers: they did not.
func reached(peer string) string { return "whether other hosts still reached " + peer + " then" }

// peers makes incidents one in which several hosts lost the same peer within a second, or while it was down once, told by the one that lost the most
// time, which comes first in the list; those in which it answered again must overlap too.
func (t *teller) peers(list []Incident) []Incident {
	of := map[lostPeer][]*Incident{}
	for n := range list {
		if i := &list[n]; i.gone != notGone {
			k := lostPeer{i.Kind, i.Certainty, i.Peer.Addr, i.gone}
			of[k] = append(of[k], i)
		}
	}
	merged := map[*Incident]bool{}
	for _, group := range of {
		for len(group) > 0 {
			n := t.begunWhileDown(group, begunTogether(group, group[0].gone == goneFor))
			if n > 1 {
				losers(group[:n], merged)
			}
			group = group[n:]
		}
	}
	return without(list, merged)
}

// begunTogether puts incidents in the order in which they began, and returns how many of them are one with the first: they began within a second
// of it, and overlap where that is asked for.
func begunTogether(list []*Incident, overlap bool) int {
	slices.SortStableFunc(list, func(a, b *Incident) int { return cmp.Compare(a.Begin, b.Begin) })
	n, until := 1, list[0].End
	for n < len(list) && list[n].Begin-list[0].Begin < together && (!overlap || list[n].Begin < until) {
		until = max(until, list[n].End)
		n++
	}
	return n
}

// begunWhileDown returns how many of incidents, in the order in which they began, began while their peer was down, as the first did, or n.
func (t *teller) begunWhileDown(list []*Incident, n int) int {
	if n == len(list) || list[0].Kind != Unanswered || !list[0].lostPeer() {
		return n
	}
	for _, d := range t.downs(list[0].Peer.Addr) {
		for list[0].beganIn(&d, list[0].Begin) && n < len(list) && list[n].beganIn(&d, list[n].Begin) {
			n++
		}
	}
	return n
}

// without is a list without the incidents that others of it tell of.
func without(list []Incident, merged map[*Incident]bool) []Incident {
	out := list[:0:0]
	for n := range list {
		if !merged[&list[n]] {
			out = append(out, list[n])
		}
	}
	return out
}

// losers has the incident that lost the most time tell of all, in the order in which they began.
func losers(all []*Incident, merged map[*Incident]bool) {
	best := slices.MaxFunc(all, func(a, b *Incident) int { return cmp.Compare(a.Lost, b.Lost) })
	var names []string
	spread := all[len(all)-1].Begin - all[0].Begin
	for _, i := range all {
		names = append(names, i.Local.Addr.String())
		if i == best {
			continue
		}
		merged[i] = true
		best.Also = append(best.Also, i.Local.Addr)
		best.Connections += i.Connections
		best.Begin, best.End, best.Ongoing = min(best.Begin, i.Begin), max(best.End, i.End), best.Ongoing || i.Ongoing
		best.foundToo(i.Found)
	}
	what := "lost " + best.Peer.Addr.String()
	switch best.gone {
	case goneHere:
		what = "lost connections with " + best.Peer.Addr.String()
	case goneFor:
		what = "waited for " + best.Peer.Addr.String()
	}
	at := "at the same time"
	if spread > 0 {
		at = "within " + span(spread)
	}
	best.What = fmt.Sprintf("%d hosts %s %s: %s", len(all), what, at, best.What)
	best.fact("hosts", enumerate(names)+"; this is the one that lost the most time")
	questions := []string{reached(best.Peer.Addr.String()), othersToo}
	best.Next = slices.DeleteFunc(best.Next, func(s string) bool { return slices.Contains(questions, s) })
	switch n := slices.Index(best.FitsWith, answeredLate); {
	case best.gone != goneFor:
	case n >= 0:
		best.FitsWith[n] = best.Peer.Addr.String() + " or its adapter, that stopped for that long: it is what they have in common, and what was sent had arrived, and was answered late"
	default:
		stopped := thatStopped(best.Peer.Addr)
		best.FitsWith = slices.DeleteFunc(best.FitsWith, func(f string) bool { return f == stopped })
		best.FitsWith = slices.Insert(best.FitsWith, 0, stopped+": it is what they have in common")
	}
}

// foundToo takes the findings of another incident, which is told as one with this.
func (i *Incident) foundToo(list []Found) {
	for _, f := range list {
		if n := slices.IndexFunc(i.Found, func(k Found) bool { return k.Rule == f.Rule && k.Class == f.Class }); n >= 0 {
			i.Found[n].Count += f.Count
		} else {
			i.Found = append(i.Found, f)
		}
	}
}
