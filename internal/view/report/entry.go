package report

import (
	"slices"
	"strings"

	"ibwitness/rule"
)

const (
	// handful is how many findings of severity error with one cause are shown each for itself. More are one fault that is systematic, and one line.
	handful = 5
	// firstFrames is how many of the frames of a folded finding are named.
	firstFrames = 10
)

// Entry is a finding as it is shown: it may represent others with the same cause.
type Entry struct {
	*rule.Finding
	ID     uint64        // its number among those that were made, from 1
	Count  uint64        // findings that it represents, itself among them; 0: only itself
	Frames []uint64      // the first of them, ascending, of the tap of the finding
	Newest *rule.Finding // the last of them; nil with Count 0
}

// cause is what findings have in common that are folded into one: a warning is shown once for a connection, and of severity error one that
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

// Folder folds findings as they are told, those with one cause into one entry: see cause. Events are never folded.
type Folder struct {
	causes map[cause][]*Entry // what there is of each: at most a handful, or one that represents all
	last   uint64             // ID of the newest entry
}

// Add takes a finding, and returns the entry that it went to: one of its own, or one that represents it and others. merged are the entries whose
// findings that one represents from now on too.
func (s *Folder) Add(f *rule.Finding) (e *Entry, merged []*Entry) {
	if f.Class == rule.Event {
		return s.newEntry(f), nil
	}
	c := causeOf(f)
	list := s.causes[c]
	if len(list) > 0 && list[0].Count > 0 {
		list[0].add(f)
		return list[0], nil
	}
	if len(list) == handful {
		e = list[0]
		for _, l := range list {
			e.add(l.Finding)
		}
		e.add(f)
		s.causes[c] = []*Entry{e}
		return e, list[1:]
	}
	e = s.newEntry(f)
	if f.Rule.Row().Severity != rule.Error {
		e.add(f)
	}
	if s.causes == nil {
		s.causes = map[cause][]*Entry{}
	}
	s.causes[c] = append(list, e)
	return e, nil
}

// newEntry makes an entry for a finding.
func (s *Folder) newEntry(f *rule.Finding) *Entry {
	s.last++
	return &Entry{Finding: f, ID: s.last}
}

// Forget drops an entry that is no longer shown: its cause begins again when it is reported again.
func (s *Folder) Forget(e *Entry) {
	if e.Class == rule.Event {
		return
	}
	c := causeOf(e.Finding)
	rest := slices.DeleteFunc(s.causes[c], func(x *Entry) bool { return x == e })
	if len(rest) > 0 {
		s.causes[c] = rest
		return
	}
	delete(s.causes, c)
}

// Fold lists findings in their order, those with one cause as one. of gives the index into list that each finding went to. With all set nothing is
// folded.
func Fold(findings []rule.Finding, all bool) (list []Entry, of []int) {
	var s Folder
	of = make([]int, len(findings))
	made := make([]*Entry, 0, len(findings)) // by ID; where one was merged, the one that represents it
	for i := range findings {
		f := &findings[i]
		var e *Entry
		var merged []*Entry
		if all {
			e = s.newEntry(f)
		} else {
			e, merged = s.Add(f)
		}
		if e.Finding == f {
			made = append(made, e)
		}
		for _, m := range merged {
			made[m.ID-1] = e
		}
		of[i] = int(e.ID) - 1
	}
	list = make([]Entry, 0, len(made))
	at := make([]int, len(made)) // where in list
	for i, e := range made {
		if e.ID != uint64(i)+1 {
			at[i] = at[e.ID-1]
			continue
		}
		at[i] = len(list)
		list = append(list, *e)
	}
	for i := range list {
		list[i].ID = uint64(i) + 1
	}
	for i := range of {
		of[i] = at[of[i]]
	}
	return list, of
}

// add has the entry represent one more finding.
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

// Times is how many findings the entry represents.
func (e *Entry) Times() uint64 { return max(e.Count, 1) }

// Last is the newest finding that the entry represents.
func (e *Entry) Last() *rule.Finding {
	if e.Newest != nil {
		return e.Newest
	}
	return e.Finding
}

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
