package report

import (
	"strings"

	"ibwitness/rule"
)

const (
	// handful is how many findings of severity error with one cause are shown each for itself. More are one fault that is systematic, and one line.
	handful = 5
	// firstFrames is how many of the frames of a folded finding are named.
	firstFrames = 10
)

// Entry is a finding as it is shown: it may stand for others with the same cause.
type Entry struct {
	*rule.Finding
	Count  uint64        // findings that it stands for, itself among them; 0: shown for itself alone
	Frames []uint64      // the first of them, ascending, of the tap of the finding
	Newest *rule.Finding // the last of them; nil with Count 0
}

// cause is what findings have in common that are folded into one: a warning stands once for a connection, and of severity error one that
// was said of the connection more than a handful of times in the same words, numbers and opcodes aside.
type cause struct {
	rule          rule.ID
	class         rule.Class
	accused, peer rule.Endpoint
	words         string
}

func causeOf(f *rule.Finding) cause {
	c := cause{f.Rule, f.Class, f.Accused, f.Peer, ""}
	if f.Rule.Row().Severity == rule.Error {
		c.words = shape(f, f.Expected) + "\n" + shape(f, f.Actual)
	}
	return c
}

// shape is what a text says, without its numbers and the opcode of the packet.
func shape(f *rule.Finding, text string) string {
	if f.HasBTH {
		text = strings.ReplaceAll(text, f.Opcode.String(), "#")
	}
	var b strings.Builder
	number := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch is := c >= '0' && c <= '9' || number && (c >= 'a' && c <= 'f' || c == 'x' || c == '.'); {
		case is && !number:
			b.WriteByte('#')
			number = true
		case !is:
			b.WriteByte(c)
			number = false
		}
	}
	return b.String()
}

// Fold lists findings in their order, those with one cause as one: see cause. of gives the index into list that each finding went to. Events are
// never folded; with all set nothing is.
func Fold(findings []rule.Finding, all bool) (list []Entry, of []int) {
	of = make([]int, len(findings))
	list = make([]Entry, 0, len(findings))
	keys, many := []cause(nil), map[cause]uint64{}
	if !all {
		keys = make([]cause, len(findings))
		for i := range findings {
			if f := &findings[i]; f.Class != rule.Event {
				keys[i] = causeOf(f)
				many[keys[i]]++
			}
		}
	}
	seen := map[cause]int{}
	for i := range findings {
		f := &findings[i]
		folds := !all && f.Class != rule.Event && (f.Rule.Row().Severity != rule.Error || many[keys[i]] > handful)
		if !folds {
			of[i] = len(list)
			list = append(list, Entry{Finding: f})
			continue
		}
		at, ok := seen[keys[i]]
		if !ok {
			at = len(list)
			seen[keys[i]] = at
			list = append(list, Entry{Finding: f})
		}
		of[i] = at
		list[at].add(f)
	}
	return list, of
}

// add has the entry stand for one more finding.
func (e *Entry) add(f *rule.Finding) {
	e.Count++
	e.Newest = f
	if n := len(e.Frames); f.Tap == e.Tap && f.Frame != 0 && n < firstFrames && (n == 0 || e.Frames[n-1] != f.Frame) {
		e.Frames = append(e.Frames, f.Frame)
	}
}

// entries lists findings as they are shown.
func entries(findings []rule.Finding, all bool) []Entry {
	list, _ := Fold(findings, all)
	return list
}

// times is how many findings the entry stands for.
func (e *Entry) times() uint64 { return max(e.Count, 1) }

// tally counts entries by what the summary tells apart.
type tally struct {
	violations, warnings, notes, unproven, events int
}

func tallyOf(list []Entry) (t tally) {
	for i := range list {
		switch list[i].Class {
		case rule.Event:
			t.events++
		case rule.Unproven:
			t.unproven++
		case rule.Violation:
			switch list[i].Rule.Row().Severity {
			case rule.Error:
				t.violations++
			case rule.Warning:
				t.warnings++
			default:
				t.notes++
			}
		}
	}
	return t
}
