package incident

import (
	"fmt"
	"path/filepath"
	"slices"

	"ibwitness/agent"
	"ibwitness/fabricagent"
)

// orderKnown reports whether the order of what hosts sent each other is known: where the clocks of interfaces differ, it is that of one direction only.
func (t *teller) orderKnown() bool { return len(t.run.Apart) == 0 }

// clocksDiffer tells that the clocks of interfaces differ, by how much, and when they were set.
func (t *teller) clocksDiffer(all *agent.Skew) {
	a := &t.run.Apart[0]
	most := a.Most()
	early, against := t.interfaceOf(a.Early), t.interfaceOf(a.Against)
	i := &Incident{Kind: Untrusted, Certainty: Proven, Begin: t.run.First, End: t.run.Last, Tap: a.Early, foremost: true}
	i.show(most.Answer)
	i.What = fmt.Sprintf("The clocks of the interfaces differ: what %s shows is stamped too early, compared with %s: %s; %s of %s %s dated before their requests.",
		early, against, t.levels(a), number(a.Before), count(a.Answers, "answer"), are(a.Before))
	i.fact("example", fmt.Sprintf("frame %d of tap %d answers frame %d of tap %d, by their PSNs", most.Answer, a.Early, most.Request, a.Against))
	i.fact("offset", fmt.Sprintf("%s at the median of %s, and more by what the responder takes to answer", span(int64(most.Median)), count(uint64(most.Answers), "answer")))
	i.fact("drift", drift(most))
	i.fact("set", t.clocksSet(a))
	for k := 1; k < len(t.run.Apart); k++ {
		o := &t.run.Apart[k]
		i.fact("too", fmt.Sprintf("%s, compared with %s: %s; %s of %s", t.interfaceOf(o.Early), t.interfaceOf(o.Against), t.levels(o), number(o.Before), count(o.Answers, "answer")))
	}
	t.lostAllTheSame(i, all)
	i.fact("sound", "order, counts and retransmissions within one direction")
	i.fact("not told", "latencies, waits, silences, and what is missing where answers are compared with requests: that needs the order across the interfaces")
	i.FitsWith = []string{"two capture cards or hosts, each with its own clock, whose files were merged", "one host that stamps one interface in hardware and the other in software"}
	i.Next = append([]string{t.mergeAgain(a, most)}, "capture again with one clock for both interfaces: PTP, hardware timestamps of one card, or both directions on one port")
	t.order = append(t.order, i)
}

// levels says by how much the stamps of taps differ, and until when.
func (t *teller) levels(a *agent.Apart) (said string) {
	const mostTold = 4
	for k := range a.Levels {
		l := &a.Levels[k]
		if k == mostTold {
			return said + fmt.Sprintf(", and %s more", count(uint64(len(a.Levels)-k), "step"))
		}
		if k > 0 {
			said += fmt.Sprintf(" until %s, then ", t.offset(a.Levels[k-1].Last))
		}
		said += by(l)
	}
	return said
}

// by says by how much answers are dated before their requests.
func by(l *agent.ApartLevel) string {
	least, most := span(int64(l.Least)), span(int64(l.Most))
	switch {
	case l.Most <= 0:
		return "no answer before its request"
	case l.Least <= 0:
		return "by no more than " + most
	case least == most:
		return "by " + most
	}
	return "by " + least + " to " + most
}

// drift says how the clocks ran apart; "": not by more than answers differ.
func drift(l *agent.ApartLevel) string {
	seconds := l.Between.Seconds()
	by := l.Ends - l.Begins
	if seconds < 1 || by.Abs() <= 2*l.Spread {
		return ""
	}
	return fmt.Sprintf("from %s to %s within %s, %.1fµs a second", span(int64(l.Begins)), span(int64(l.Ends)), span(int64(l.Between)), by.Abs().Seconds()*1e6/seconds)
}

// clocksSet says when one of the clocks was set.
func (t *teller) clocksSet(a *agent.Apart) string {
	if len(a.Levels) < 2 {
		return ""
	}
	was, then := &a.Levels[0], &a.Levels[1]
	return fmt.Sprintf("one of the clocks, between %s and %s, by about %s (frame %d is the first request after it): what seems faster or slower from then on is that",
		t.offset(was.Last), t.offset(then.First), span(int64((was.Ends - then.Begins).Abs())), then.Request)
}

// mergeAgain is how to correct the stamps of a tap.
func (t *teller) mergeAgain(a *agent.Apart, l *agent.ApartLevel) string {
	by := fmt.Sprintf("editcap -t %.6f", l.Most.Seconds())
	until := ""
	if len(a.Levels) > 1 {
		until = fmt.Sprintf(" for its frames from %s to %s only (divide it there with editcap -A and -B)", t.offset(l.First), t.offset(l.Last))
		if l.First == a.Levels[0].First {
			until = fmt.Sprintf(" for its frames until %s only (divide it there with editcap -B and -A)", t.offset(l.Last))
		}
	}
	if !t.oneFile() {
		return fmt.Sprintf("check again with corrected clocks: %s on %s%s", by, filepath.Base(t.run.Taps[a.Early].File), until)
	}
	file := filepath.Base(t.run.Taps[a.Early].File)
	return fmt.Sprintf("merge again with corrected clocks: tshark -r %s -Y frame.interface_id==%d -w early.pcapng, likewise with != for the rest (rest.pcapng), %s early.pcapng moved.pcapng%s, and mergecap -w corrected.pcapng rest.pcapng moved.pcapng",
		file, a.Early, by, until)
}

// oneFile reports whether all taps are of one file.
func (t *teller) oneFile() bool {
	taps := t.run.Taps
	return !slices.ContainsFunc(taps, func(o fabricagent.Tap) bool { return o.File != taps[0].File })
}

// interfaceOf names a tap.
func (t *teller) interfaceOf(n uint16) string {
	tap := &t.run.Taps[n]
	switch {
	case tap.Interface != "":
		return fmt.Sprintf("tap %d (%s)", n, tap.Interface)
	case !t.oneFile():
		return fmt.Sprintf("tap %d (%s)", n, filepath.Base(tap.File))
	}
	return fmt.Sprintf("tap %d", n)
}

// ordered leaves out what rests on the order of what two interfaces show, where that is not known.
func (t *teller) ordered(list []Incident) []Incident {
	if t.orderKnown() {
		return list
	}
	return slices.DeleteFunc(list, func(i Incident) bool {
		switch i.Kind {
		case Interrupted, Slow, Waiting, Ignored, Unserved:
			return true
		default:
			return false
		}
	})
}
