package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ibwitness/incident"
)

// stallsListed is how many stalls are listed at most.
const stallsListed = 5

// idleTimes is for how many times as long as anything stalled an end may have sent no command for that to be among the stalls: else it was idle.
const idleTimes = 2

// stall is a time without progress that was over, and who made none.
type stall struct {
	since, lasted int64
	cause         int // which of the three it is
	who           string
}

// The causes of stalls.
const (
	ofServer = iota
	ofPath
	ofProgram
)

// stalls lists the stalls, the longest first, where nothing graver happened and they have two causes or more: else their incidents, one of which comes first, or a pause after these, may be taken for the only cause.
func (t *text) stalls(list []incident.Incident) {
	if list[0].Kind != incident.Interrupted && list[0].Kind != incident.Slow {
		return
	}
	var all []stall
	causes := map[int]bool{}
	for i := range list {
		k := &list[i]
		s := stall{since: k.Begin, lasted: int64(k.Lost)}
		switch {
		case k.Certainty != incident.Proven:
			continue
		case k.Kind == incident.Slow && k.End-k.Begin > 2*int64(k.Lost): // of many commands: when the one that took so long began is told there
			continue
		case k.Kind == incident.Slow:
			s.cause, s.who = ofServer, fmt.Sprintf("%v had not answered a command", &k.Peer)
		case k.Kind == incident.Interrupted:
			s.cause, s.who = ofPath, fmt.Sprintf("%v had no progress with %v", &k.Local, &k.Peer)
		default: // a loss, or what else costs less
			continue
		}
		all = append(all, s)
	}
	longest, slow := int64(0), int64(0)
	for i := range all {
		longest = max(longest, all[i].lasted)
	}
	for i := range list {
		if k := &list[i]; k.Kind == incident.Slow { // a server that is slow for longer than a program paused answers the question
			slow = max(slow, k.End-k.Begin)
		}
	}
	pauses := t.idlePauses()
	if n := slices.IndexFunc(pauses, func(p pause) bool {
		return p.Length() > slow && (p.others > 0 && !p.stalled || p.told(list) && p.Length() <= idleTimes*longest)
	}); n >= 0 {
		p := &pauses[n]
		all = append(all, stall{p.From, p.Length(), ofProgram, fmt.Sprintf("%v %s sent no command and waited for none", p.local.Addr, qp(p.local.QPN, p.local.QPNKnown))})
	}
	for i := range all {
		causes[all[i].cause] = true
	}
	if len(causes) < 2 {
		return
	}
	slices.SortStableFunc(all, func(a, b stall) int { return cmp.Compare(b.lasted, a.lasted) })
	t.line("  Stalls of %d kinds, the longest first:", len(causes))
	for _, s := range all[:min(len(all), stallsListed)] {
		t.line("    %-9s from %s: %s", span(time.Duration(s.lasted)), offset(s.since, t.res.First), s.who)
	}
	t.line("")
}

// told reports whether an incident is about the connection of a pause.
func (p *pause) told(list []incident.Incident) bool {
	return slices.ContainsFunc(list, func(i incident.Incident) bool {
		return i.Local.Addr == p.local.Addr && i.Local.QPNKnown && i.Local.QPN == p.local.QPN && p.local.QPNKnown
	})
}
