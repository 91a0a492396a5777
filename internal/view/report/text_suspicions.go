package report

import (
	"slices"
	"time"

	"ibwitness/incident"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier/rc"
)

// soonAfter is how long before an incident begins, and after it has ended, a suspicion may be made that it explains: what was lost is missed
// some time later.
const soonAfter = int64(time.Second)

// suspicions says what is suspected of whom. explained says that what happened would explain all of it: then nobody is named.
func (t *text) suspicions(explained bool) string {
	incidents, excuse := len(t.run.Incidents()), t.excuse()
	suspicion := func(e *Entry) bool { return e.Class == rule.Unproven && e.Rule.Row().Severity == rule.Error }
	all := t.unprovenErrors()
	if explained {
		if excuse == "" {
			excuse = "; what happened would explain that"
		}
		return noneProven + butIncidents(incidents) + "; " + t.breach(all, "suspicion", "", suspicion) + excuse
	}
	open := t.open()
	if excuse != "" || len(open) == 0 {
		return NothingProven(incidents) + t.breach(all, "suspicion", "against", suspicion) + excuse
	}
	left := func(e *Entry) bool { return suspicion(e) && open[suspect(e.Finding)] }
	n := 0
	for k := range t.list {
		if left(&t.list[k]) {
			n++
		}
	}
	s := NothingProven(incidents) + t.breach(n, "suspicion", "against", left)
	if n < all {
		s += "; what happened would explain " + number(all-n) + " more"
	}
	return s
}

// icrcsOpen reports whether packets had a wrong ICRC, and nothing shows that they were damaged on the way.
func (t *text) icrcsOpen() bool {
	return slices.ContainsFunc(t.res.Findings, func(f rule.Finding) bool { return icrc(f.Rule) && f.Class == rule.Unproven }) && !t.damagedOnWay()
}

// suspect is the rule that a finding is of, and whom it accuses.
func suspect(f *rule.Finding) cause { return cause{f.Rule, f.Class, f.Accused, f.Peer, ""} }

// open are the suspicions of which not each would be explained by an incident between the same hosts, at the same time.
func (t *text) open() map[cause]bool {
	_, near := t.lossesAfter()
	open := map[cause]bool{}
	for n := range t.res.Findings {
		f := &t.res.Findings[n]
		if f.Class == rule.Unproven && f.Rule.Row().Severity == rule.Error && !open[suspect(f)] && !t.explained(f, near) {
			open[suspect(f)] = true
		}
	}
	return open
}

// explained reports whether an incident would explain a suspicion. near are the hosts that the tap is near: what these seem to have done, no
// loss before it explains.
func (t *text) explained(f *rule.Finding, near map[packet.Addr]bool) bool {
	return slices.ContainsFunc(t.run.Incidents(), func(i incident.Incident) bool {
		switch {
		case icrc(f.Rule):
			return i.Kind == incident.Damage && t.damagedOnWay() // else its sender may compute it wrongly
		case near[f.Accused.Addr]:
			return false
		case i.Lacks() && (networkExplains[f.Rule] || f.Rule == rule.RCRSP006 && f.Detail == rc.TapMissed):
			return true
		case !i.Between(f.Accused.Addr, f.Peer.Addr), f.Time < i.Begin-soonAfter, f.Time > i.End+soonAfter && !i.Ongoing:
			return false
		case i.Kind == incident.Reordered:
			return byOrder(&i, f)
		case i.Kind == incident.Refused && f.Rule == rule.RCRSP027, i.Kind == incident.Exhausted && f.Rule == rule.RCCRD001, i.Kind == incident.NotReady && f.Rule == rule.RCCRD001:
			return true // they are a part of what is told
		case i.Kind == incident.Slow && f.Rule == rule.RCCRD001:
			return i.Ungranted() && f.Accused.Addr == i.Peer.Addr // whose peer posted no receives
		}
		return (ofLosses[i.Kind] || i.Loses()) && networkExplains[f.Rule]
	})
}
