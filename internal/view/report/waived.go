package report

import (
	"fmt"
	"strings"

	"ibwitness/agent"
	"ibwitness/rule"
)

// waivedEntry is a violation that is no error, and why: it may represent others with the same cause.
type waivedEntry struct {
	Entry
	why string
}

// waivedEntries lists the waived violations of a run as they are shown, by why they are waived.
func waivedEntries(r *agent.Result, all bool) (list []waivedEntry) {
	var reasons []string
	of := map[string][]rule.Finding{}
	for i := range r.Waived {
		w := &r.Waived[i]
		if of[w.Why] == nil {
			reasons = append(reasons, w.Why)
		}
		of[w.Why] = append(of[w.Why], w.Finding)
	}
	for _, why := range reasons {
		for _, e := range entries(of[why], all) {
			list = append(list, waivedEntry{e, why})
		}
	}
	return list
}

// WaivedLine says how often a rule was broken by whom without being an error, and why.
type WaivedLine struct {
	Count         uint64
	Rule, By, Why string
}

// WaivedLines sums up the waived violations of a run.
func WaivedLines(r *agent.Result) (list []*WaivedLine) {
	known := map[WaivedLine]*WaivedLine{}
	for i := range r.Waived {
		w := &r.Waived[i]
		row := w.Rule.Row()
		key := WaivedLine{Rule: row.ID + " " + row.Name, By: accused(&w.Finding), Why: w.Why}
		l := known[key]
		if l == nil {
			l = &WaivedLine{Rule: key.Rule, By: key.By, Why: key.Why}
			known[key] = l
			list = append(list, l)
		}
		l.Count++
	}
	return list
}

// String is one line for people.
func (l *WaivedLine) String() string {
	return fmt.Sprintf("%s by %s: %s", l.Rule, l.By, strings.TrimSuffix(l.Why, "."))
}

// waived lists what was waived, and why.
func (t *text) waived() {
	lines := WaivedLines(t.res)
	if len(lines) == 0 {
		return
	}
	t.heading("Waived")
	tab := newTable(">count", "rule", "by", "why")
	const most = 12
	for i, l := range lines {
		if i == most && !t.All && len(lines) > most+1 {
			tab.add("", fmt.Sprintf("… and %d more (--all)", len(lines)-most))
			break
		}
		tab.add(number(l.Count), l.Rule, l.By, printable(l.Why))
	}
	t.lines(tab.lines("  ", t.dim))
}

// waivedFindingLine is what a line of JSON says of a waived violation.
func waivedFindingLine(e *waivedEntry) *jsonFinding {
	line := findingLine(&e.Entry)
	line.Class, line.Waived = "waived", e.why
	return line
}
