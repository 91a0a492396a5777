package incident

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/qp"
	"ibwitness/rule"
)

// damagedTimes is when packets of each flow came damaged.
func (t *teller) damagedTimes() map[flow][]int64 {
	if t.damagedAt == nil {
		t.damagedAt = map[flow][]int64{}
		for k := range t.run.Findings {
			f := &t.run.Findings[k]
			if slices.Contains(own[Damage], f.Rule) && f.Accused.Role != rule.Capture {
				x := flow{way{f.Accused.Addr, f.Peer.Addr}, f.Peer.QPN}
				t.damagedAt[x] = append(t.damagedAt[x], f.Time)
			}
		}
	}
	return t.damagedAt
}

// ofDamage reports whether as many packets of the connection of an interruption came damaged in its stall s as its requester went back: then
// nothing else shows to have kept it from going on.
func (t *teller) ofDamage(i *Incident, s *qp.Stall) bool {
	if !t.damages(i) || s.Ended == 0 || !i.Local.QPNKnown || !i.Peer.QPNKnown {
		return false
	}
	n := t.damagedIn(&i.Local, &i.Peer, s)
	return n > 0 && n >= s.Total()
}

// damagedIn is how many packets between two queue pairs came damaged in a stall.
func (t *teller) damagedIn(a, b *Party, s *qp.Stall) (n uint64) {
	for _, x := range [...]flow{{way{a.Addr, b.Addr}, b.QPN}, {way{b.Addr, a.Addr}, a.QPN}} {
		for _, at := range t.damagedTimes()[x] {
			if at >= s.Since && at <= s.Last {
				n++
			}
		}
	}
	return n
}

// underDamage has damage tell of the interruptions that it led to.
func underDamage(list []Incident) []Incident {
	n := slices.IndexFunc(list, func(i Incident) bool { return i.Kind == Damage })
	if n < 0 {
		return list
	}
	i, merged := &list[n], map[*Incident]bool{}
	var stalls []*Incident
	for m := range list {
		if o := &list[m]; o.Kind == Interrupted && o.byDamage && o.within == 0 && o.storm == 0 && len(o.Also) == 0 {
			stalls = append(stalls, o)
			merged[o] = true
		}
	}
	if len(stalls) == 0 {
		return list
	}
	i.stallsUntil(stalls, "until a timer expired: each time a packet of the same queue pairs had come damaged")
	longest := stalls[0]
	for _, o := range stalls {
		if o.Lost > longest.Lost {
			longest = o
		}
		i.includes(o)
	}
	i.What = fmt.Sprintf("%s; %v made no progress for up to %s, until its timer expired.", strings.TrimSuffix(i.What, "."), &longest.Local, span(int64(longest.Lost)))
	for _, f := range longest.Facts {
		if f.Label == "repeated" {
			i.fact(f.Label, strings.TrimSuffix(f.Text, "; this is the longest"))
		}
	}
	return without(list, merged)
}
