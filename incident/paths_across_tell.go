package incident

import (
	"fmt"
	"slices"
	"strings"
)

// leadAcross has an incident of losses tell of all of them.
func (t *teller) leadAcross(i *Incident, a *across) {
	spared := a.spared()
	if a.by != nil {
		a.takeRest(t)
		spared = a.by.spared(t, a)
	}
	t.lead(i, a.sum, spared)
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "paths" || f.Label == "worst" })
	i.Facts = slices.Insert(i.Facts, 0, Fact{"paths", a.said()})
	i.fact("answers", a.answersSaid())
	i.FitsWith = slices.DeleteFunc(i.FitsWith, func(f string) bool { return f == tooShort })
	i.ofPath(true)
	if a.by != nil {
		t.leadEntered(i, a)
	}
}

// spared says what lost nothing.
func (a *across) spared() string {
	return fmt.Sprintf("; on the other %d between the same hosts, with about %s, nothing: likely one path of several (a member of an ECMP group or LAG)",
		a.steady, count(a.sentSteady, "packet"))
}

// said names the UDP source ports of those that lost packets.
func (a *across) said() string {
	var list []string
	for _, f := range a.flows[:min(len(a.flows), mostPorts)] {
		list = append(list, fmt.Sprintf("%d from %v to %v (%s)", f.port, f.from, f.to, f.count()))
	}
	if n := len(a.flows) - len(list); n > 0 {
		list = append(list, fmt.Sprintf("%d more", n))
	}
	said := "the UDP source ports of what was lost: " + enumerate(list)
	clean := slices.DeleteFunc(slices.Clone(a.cleanFlows), func(w wayPorts) bool {
		return !slices.ContainsFunc(a.flows, func(f hashedFlow) bool { return f.way == w.way })
	})
	if clean := portsByWay(clean); clean != "" && a.onlyAnswers {
		said += "; of the others, which lost nothing: " + strings.TrimSuffix(strings.TrimPrefix(clean, " ("), ")")
	}
	return said
}

// count is how often something of a flow was lost, and how many NAKs asked for it.
func (f *hashedFlow) count() string {
	said := times(uint64(f.losses))
	if f.naks > 0 {
		said += ", " + count(uint64(f.naks), "NAK")
	}
	return said
}

// answersSaid tells of the requests of the other direction that only a timer had retransmitted, as answers on the same flows were lost.
func (a *across) answersSaid() string {
	on, all, gone := 0, uint32(0), uint32(0)
	for _, f := range a.flows {
		if f.answers > 0 {
			on, all, gone = on+1, all+f.answers, gone+f.gone
		}
	}
	if all == 0 {
		return ""
	}
	said := fmt.Sprintf("on %d of these %d connections only a timer had requests of the other direction retransmitted, %s in all: "+
		"answers that were lost on that path fit", on, len(a.flows), times(uint64(all)))
	switch {
	case gone == all && a.onlyAnswers:
		said = strings.TrimSuffix(said, "answers that were lost on that path fit") +
			"by the IPv4 identifications, the answering host sent a packet each time that was lost before the tap, and lost no other: most likely the answer"
	case gone > 0:
		said += fmt.Sprintf("; %s, by the IPv4 identifications, a packet that the answering host sent right after the request "+
			"was lost before the tap, likely the answer", times(uint64(gone)))
	}
	return said
}
