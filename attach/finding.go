package attach

import (
	"encoding/json"
	"fmt"

	"ibwitness/internal/view/report"
	"ibwitness/rule"
)

// Finding is a finding, or what has become of one, as a testbench is told of it.
type Finding struct {
	ID     uint32 // the same in all changes of one finding
	Change rule.ChangeKind
	Waived bool // the configuration waives it: it is no error
	TimePS uint64
	SeenPS uint64 // of the call that found it
	Text   string // all of it in one line
	rule.Finding
}

// told is a finding that was told, or counted as an error.
type told struct {
	spoken, isError bool
}

// Next takes the next finding that was not taken.
func (r *Run) Next() (f Finding, ok bool) {
	if r.taken == len(r.pending) {
		r.pending, r.taken = r.pending[:0], 0
		return f, false
	}
	f = r.pending[r.taken]
	r.pending[r.taken] = Finding{}
	r.taken++
	return f, true
}

// Waiting is how many findings Next has to give.
func (r *Run) Waiting() int { return len(r.pending) - r.taken }

// take counts and keeps what has become of findings, and returns how many of them are new errors.
func (r *Run) take(list []rule.Change) (errors int) {
	for i := range list {
		c := &list[i]
		f := &c.Finding
		why, waived := r.waivers.Of(f)
		old := r.told[f.Seq]
		now := told{spoken: old.spoken || r.begins(c), isError: accuses(c) && !waived}
		if now.isError && !old.isError {
			errors++
		}
		r.keep(c, old, now)
		if !now.spoken {
			continue
		}
		x := Finding{ID: f.Seq, Change: c.Kind, Waived: waived, TimePS: r.stamp(f.Time), SeenPS: r.stamp(r.now), Finding: *f}
		x.Text = line(&x, why)
		r.pending = append(r.pending, x)
	}
	return errors
}

// keep counts what has become of a finding, and keeps it for its next change.
func (r *Run) keep(c *rule.Change, old, now told) {
	f := &c.Finding
	switch {
	case now.isError && !old.isError:
		r.errors++
	case old.isError && !now.isError:
		r.errors--
	}
	if now.spoken && !old.spoken {
		r.byRule[f.Rule]++
	}
	if c.Kind == rule.Withdrawn {
		delete(r.told, f.Seq)
		return
	}
	if _, known := r.told[f.Seq]; known || now != (told{}) {
		r.told[f.Seq] = now
	}
}

// accuses reports whether a finding is an error, if nothing waives it.
func accuses(c *rule.Change) bool {
	f := &c.Finding
	return c.Kind != rule.Withdrawn && f.Class == rule.Violation && f.Rule.Row().Severity == rule.Error
}

// begins reports whether a finding that was not told is told from this change on.
func (r *Run) begins(c *rule.Change) bool {
	f := &c.Finding
	return c.Kind != rule.Withdrawn && r.speaks(f) && (r.Max == 0 || r.byRule[f.Rule] < r.Max)
}

// speaks reports whether a finding is told by itself.
func (r *Run) speaks(f *rule.Finding) bool {
	switch f.Class {
	case rule.Violation:
		return r.tell >= tellWarnings || f.Rule.Row().Severity == rule.Error
	case rule.Unproven:
		return r.tell >= tellUnproven
	}
	return r.tell >= tellEvents
}

// line is a finding in one line.
func line(f *Finding, why string) string {
	s := report.Comment(&f.Finding)
	if f.Frame != 0 {
		s += fmt.Sprintf(" (frame %d)", f.Frame)
	}
	switch f.Change {
	case rule.BecameProven:
		s = "now proven: " + s
	case rule.BecameDoubted:
		s = "no longer proven: " + s
	case rule.Withdrawn:
		s = "withdrawn: " + s
	}
	if f.Waived {
		s += ", waived: " + why
	}
	return s
}

// Fields is the packet of a finding beside the one that was expected, as JSON; empty where no field of it is wrong.
func (f *Finding) Fields() string {
	if f.Comparison == nil {
		return ""
	}
	text, err := json.Marshal(f.Comparison)
	if err != nil {
		return ""
	}
	return string(text)
}

// AccusedText is who broke the rule, in words; empty where nobody is accused.
func (f *Finding) AccusedText() string { return report.Party(&f.Accused) }

// PeerText is the other side, in words.
func (f *Finding) PeerText() string { return report.Party(&f.Peer) }
