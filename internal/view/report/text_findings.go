package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ibwitness/rule"
)

const (
	framesOfRule = 5 // findings of a rule shown with all they say
	partiesShown = 4 // pairs of accused and peer shown of a rule
)

// breached is the findings of one rule.
type breached struct {
	id      rule.ID
	times   uint64
	parties []*accusation
}

// accusation is the findings of one rule against one endpoint.
type accusation struct {
	accused, peer rule.Endpoint
	times         uint64
	entries       []*Entry
}

// findings writes one section: the findings that belong to it, by rule and accused.
func (t *text) findings(title string, ink func(...any) string, of func(*Entry) bool) {
	groups := t.group(of)
	if len(groups) == 0 {
		return
	}
	t.heading(title)
	for i, g := range groups {
		if i > 0 {
			t.line("")
		}
		t.rule(g, ink)
	}
}

// group sorts findings by rule and by whom they accuse, the most frequent rule first.
func (t *text) group(of func(*Entry) bool) []*breached {
	var groups []*breached
	byRule := map[rule.ID]*breached{}
	byParty := map[cause]*accusation{}
	for i := range t.list {
		e := &t.list[i]
		if !of(e) {
			continue
		}
		g := byRule[e.Rule]
		if g == nil {
			g = &breached{id: e.Rule}
			byRule[e.Rule] = g
			groups = append(groups, g)
		}
		key := cause{e.Rule, e.Class, e.Accused, e.Peer, ""}
		a := byParty[key]
		if a == nil {
			a = &accusation{accused: e.Accused, peer: e.Peer}
			byParty[key] = a
			g.parties = append(g.parties, a)
		}
		g.times += e.Times()
		a.times += e.Times()
		a.entries = append(a.entries, e)
	}
	slices.SortStableFunc(groups, func(a, b *breached) int {
		switch {
		case a.times > b.times:
			return -1
		case a.times < b.times:
			return 1
		}
		return 0
	})
	return groups
}

func (t *text) rule(g *breached, ink func(...any) string) {
	row := g.id.Row()
	t.flow("  ", ink(row.ID)+"  "+t.bold(row.Name)+"  "+t.dim("("+row.Severity.String()+", "+row.Ref+")"))
	brief := !t.All && row.Severity != rule.Error && g.times > framesOfRule // a warning that comes often takes no room from what is worse
	if !brief {
		t.prose("    ", row.Text)
	}
	budget := framesOfRule
	for i, a := range g.parties {
		if !t.All && i == partiesShown && len(g.parties) > partiesShown+1 {
			rest := g.times
			for _, p := range g.parties[:i] {
				rest -= p.times
			}
			t.line("    … and %s (%s); --all shows every one", count(len(g.parties)-i, "more pair"), times(rest))
			return
		}
		t.flow("    ", t.accusation(a))
		if brief {
			t.brief(a.entries[0])
			continue
		}
		take := len(a.entries)
		if !t.All {
			// Each of those accused shows at least one frame; the first gets what the others leave.
			take = min(take, max(1, budget-min(len(g.parties)-i-1, partiesShown-i-1)))
			budget -= take
		}
		var above *Entry
		for _, e := range a.entries[:take] {
			t.finding(e, above)
			above = e
		}
		if rest := len(a.entries) - take; rest > 0 {
			t.line("      … and %s; --all shows every one", number(rest)+" more")
		}
	}
}

// brief writes a finding in two lines, without what the rule says.
func (t *text) brief(e *Entry) {
	t.flow("      ", t.where(e))
	t.prose("        ", e.Actual+"; expected "+e.Expected)
}

// accusation says who did it, to whom, how often and where.
func (t *text) accusation(a *accusation) string {
	who := strings.TrimSpace(a.accused.Role.String() + " " + party(&a.accused))
	if who == "" {
		who = "endpoint not known"
	}
	if to := party(&a.peer); to != "" {
		who += " → " + to
	}
	s := t.bold(who) + "  " + times(a.times)
	first, last := a.entries[0], a.newest()
	if a.times > 1 && first.Frame != 0 {
		s += fmt.Sprintf(", frames %d to %d", first.Frame, last.Frame)
		if d := time.Duration(last.Time - first.Time); d > 0 {
			s += ", within " + span(d)
		}
	}
	return s
}

// newest is the last finding.
func (a *accusation) newest() *rule.Finding {
	var last *rule.Finding
	for _, e := range a.entries {
		f := e.Finding
		if e.Newest != nil {
			f = e.Newest
		}
		if last == nil || f.Seq >= last.Seq && f.Time >= last.Time {
			last = f
		}
	}
	return last
}

func times(n uint64) string {
	if n == 1 {
		return "once"
	}
	return number(n) + " times"
}

// finding writes one finding: the frame, expected and actual, and what else there is to know. What the finding above said is not
// said again.
func (t *text) finding(e, above *Entry) {
	if e.Count > 1 {
		defer func() { t.prose("        again     ", e.again()) }()
	}
	s := t.where(e)
	evidence := slices.Clone(e.Evidence)
	slices.Sort(evidence)
	evidence = slices.Compact(evidence)
	if above != nil && e.Expected == above.Expected && e.Actual == above.Actual && e.Detail == above.Detail {
		s += "  the same"
		if len(evidence) > 0 {
			s += ", with " + frames(evidence)
		}
		t.flow("      ", s)
		return
	}
	t.flow("      ", s)
	t.prose("        expected  ", e.Expected)
	t.prose("        actual    ", e.Actual)
	if above == nil || e.Detail != above.Detail {
		t.prose("        note      ", e.Detail)
	}
	if len(evidence) > 0 {
		t.prose("        see also  ", frames(evidence))
	}
	if t.All && e.Comparison != nil {
		t.comparison(e.Comparison)
	}
}

// where says which packet, or line of a log, a finding is on.
func (t *text) where(e *Entry) string {
	s := fmt.Sprintf("%-11s", fmt.Sprintf("frame %d", e.Frame))
	if len(t.res.Taps) > 1 {
		s = fmt.Sprintf("%-18s", fmt.Sprintf("frame %d, tap %d", e.Frame, e.Tap))
	}
	if e.Frame == 0 && !e.HasBTH {
		s = "event"
	} else {
		s += "  " + t.dim(offset(e.Time, t.res.First))
	}
	if e.Log != "" && e.Line != 0 {
		s += fmt.Sprintf("  %s line %d", e.Log, e.Line)
	}
	if e.HasBTH {
		s += fmt.Sprintf("  %s, PSN %v", e.Opcode, e.PSN)
	}
	if e.Count > 1 {
		s += fmt.Sprintf("  (first of %s)", number(e.Count))
	}
	return s
}

// again says in which frames a finding is that is shown once.
func (e *Entry) again() string {
	if len(e.Frames) < 2 {
		return ""
	}
	s := frames(e.Frames[1:])
	if rest := e.Count - uint64(len(e.Frames)); rest > 0 {
		s = "frames " + strings.Join(numerals(e.Frames[1:]), ", ") + " and " + number(rest) + " more, up to " + strconv.FormatUint(e.Newest.Frame, 10)
	}
	return s
}

// unprovenHint says how the user can have more proven.
func (t *text) unprovenHint() {
	if t.count.unproven == 0 {
		return
	}
	for i := range t.res.Connections {
		if c := &t.res.Connections[i]; c.Ends[0].Near || c.Ends[1].Near {
			return
		}
	}
	t.line("")
	t.prose("  ", "The tap position is unknown, so a packet missing here may have been lost before the tap. If it sits at one of "+
		"the endpoints, say so with --near ADDRESS: what it shows leaving that endpoint was then sent, and more can be proven.")
}
