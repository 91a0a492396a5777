package report

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// Place is a frame of an input.
type Place struct {
	Tap   uint16
	Frame uint64
}

// Comments are what findings say of frames: each at its own, and a pointer to it at those that prove it. number says which number a frame has where the
// comments are read; one that is not there, 0, has no comment. Events are left out unless all is set.
func Comments(findings []rule.Finding, all bool, number func(Place) uint64) map[Place][]string {
	return comments(findings, all, number, func(i int) string { return Comment(&findings[i]) })
}

// comments is Comments, with what the comment of each finding says.
func comments(findings []rule.Finding, all bool, number func(Place) uint64, comment func(int) string) map[Place][]string {
	comments := map[Place][]string{}
	for i := range findings {
		f := &findings[i]
		at := Place{f.Tap, f.Frame}
		if f.Frame == 0 || f.Class == rule.Event && !all || number(at) == 0 {
			continue
		}
		comments[at] = append(comments[at], comment(i))
	}
	for i := range findings {
		f := &findings[i]
		own := number(Place{f.Tap, f.Frame})
		if f.Frame == 0 || f.Class == rule.Event || own == 0 {
			continue
		}
		for _, n := range f.Evidence {
			at, text := Place{f.Tap, n}, fmt.Sprintf("see %v, frame %d", f.Rule, own)
			if n != f.Frame && number(at) != 0 && !slices.Contains(comments[at], text) {
				comments[at] = append(comments[at], text)
			}
		}
	}
	return comments
}

// Annotate copies the frames of src, which were verified with result r, as a pcapng in which each finding is a comment of its packet, with
// pointers to it at the frames that prove it, and in which the endpoints have names. Events are left out unless all is set.
func Annotate(w io.Writer, src fabricagent.Source, r *agent.Result, all bool) error {
	list, of := Fold(r.Findings, all)
	comments := comments(r.Findings, all, func(p Place) uint64 { return p.Frame }, func(i int) string {
		switch e := &list[of[i]]; {
		case e.Count < 2:
			return Comment(&r.Findings[i])
		case e.Finding == &r.Findings[i]:
			return fmt.Sprintf("%s; the first of %d, again in %s", Comment(e.Finding), e.Count, e.again())
		default:
			return fmt.Sprintf("%v %s again, as in frame %d", e.Rule, e.Rule.Row().Name, e.Frame)
		}
	})
	for i := range r.Waived {
		if w := &r.Waived[i]; w.Frame != 0 {
			at := Place{w.Tap, w.Frame}
			comments[at] = append(comments[at], Comment(&w.Finding)+", waived: "+w.Why)
		}
	}
	run := runOf(src)
	out := fabricagent.NewRecording(w, "ibwitness", run)
	if err := out.Name(names(r)); err != nil {
		return err
	}
	var lost []uint64 // at each tap so far
	last := int64(0)
	for {
		b, err := src.Next()
		if b != nil {
			for _, t := range src.Taps()[len(lost):] { // more may show while reading
				if _, err := out.AddTap(t); err != nil {
					return err
				}
				lost = append(lost, 0)
			}
		}
		if run != nil {
			if err := drops(out, src, lost, last); err != nil {
				return err
			}
		}
		if b != nil {
			for i := range b.Frames {
				f := &b.Frames[i]
				last = f.Time
				if err := out.Write(f, comments[Place{f.Tap, f.Number}]...); err != nil {
					return err
				}
			}
			b.Release()
		}
		if err == io.EOF || err != nil && b == nil {
			if err == io.EOF {
				err = nil
			}
			if run = runOf(src); run != nil && run.End != 0 && len(lost) > 0 {
				err = errors.Join(err, out.End(run.End))
			}
			return errors.Join(err, out.Flush())
		}
	}
}

// runOf is what a source says of the run that it is a recording of; nil: it is of none.
func runOf(src fabricagent.Source) *fabricagent.Recorded {
	if rec, ok := src.(fabricagent.Recording); ok {
		if run, ok := rec.Recorded(); ok {
			return &run
		}
	}
	return nil
}

// drops copies what taps have lost since it was copied before, at a time.
func drops(out *fabricagent.Writer, src fabricagent.Source, lost []uint64, at int64) error {
	for i, t := range src.Taps()[:len(lost)] {
		if t.Dropped == lost[i] {
			continue
		}
		lost[i] = t.Dropped
		if err := out.Drops(uint16(i), t.Dropped, at); err != nil {
			return err
		}
	}
	return nil
}

// Comment is what the comment of a finding says.
func Comment(f *rule.Finding) string {
	row := f.Rule.Row()
	if f.Class == rule.Event {
		return fmt.Sprintf("event: %s, %s", row.Name, accused(f))
	}
	class := f.Class.String()
	if f.Class == rule.Violation && row.Severity != rule.Error {
		class = row.Severity.String()
	}
	s := fmt.Sprintf("%s %v %s, %s: expected %s, actual %s", class, f.Rule, row.Name, accused(f), f.Expected, f.Actual)
	if f.Detail != "" {
		s += "; " + f.Detail
	}
	return s + " [" + row.Ref + "]"
}

// names gives names to the endpoints, in the order in which they show, and says which are accused.
func names(r *agent.Result) map[packet.Addr]string {
	bad := map[packet.Addr]bool{}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Class == rule.Violation && f.Rule.Row().Severity == rule.Error {
			bad[f.Accused.Addr] = true
		}
	}
	names := map[packet.Addr]string{}
	for i := range r.Connections {
		for _, e := range r.Connections[i].Ends {
			if _, ok := names[e.Addr]; ok || e.Addr.IsZero() {
				continue
			}
			name := fmt.Sprintf("endpoint-%d", len(names)+1)
			if bad[e.Addr] {
				name += "-accused"
			}
			names[e.Addr] = name
		}
	}
	return names
}
