package report

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
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
	run := runOf(src)
	c := copying{src: src, out: fabricagent.NewRecording(w, "ibwitness", run), comments: foldedComments(r, all)}
	if err := c.out.Name(names(r)); err != nil {
		return err
	}
	for {
		b, err := src.Next()
		if b != nil {
			if err := c.taps(); err != nil {
				return err
			}
		}
		if run != nil {
			if err := c.drops(); err != nil {
				return err
			}
		}
		if b != nil {
			if err := c.frames(b.Frames); err != nil {
				return err
			}
			b.Release()
		}
		if err == io.EOF {
			return c.end(nil)
		}
		if err != nil && b == nil {
			return c.end(err)
		}
	}
}

// foldedComments are the comments of frames, where a finding that was made again and again is told once, and those that are waived.
func foldedComments(r *agent.Result, all bool) map[Place][]string {
	list, entry := Fold(r.Findings, all)
	of := comments(r.Findings, all, func(p Place) uint64 { return p.Frame }, func(i int) string {
		switch e := &list[entry[i]]; {
		case e.Count < 2:
			return Comment(&r.Findings[i])
		case e.Finding == &r.Findings[i]:
			return fmt.Sprintf("%s; the first of %d, again in %s", Comment(e.Finding), e.Count, e.again())
		default:
			return fmt.Sprintf("%v %s again, as in frame %d", e.Rule, e.Rule.Row().Name, e.Frame)
		}
	})
	for _, i := range incident.Of(r) {
		for k, n := range i.Frames {
			at, text := Place{i.Tap, n}, "incident: "+i.What
			if k > 0 {
				text = fmt.Sprintf("incident (%v), see frame %d", i.Kind, i.Frames[0])
			}
			of[at] = append(of[at], text)
		}
	}
	for i := range r.Waived {
		if w := &r.Waived[i]; w.Frame != 0 {
			at := Place{w.Tap, w.Frame}
			of[at] = append(of[at], Comment(&w.Finding)+", waived: "+w.Why)
		}
	}
	return of
}

// copying is a capture that is being copied, with comments.
type copying struct {
	src      fabricagent.Source
	out      *fabricagent.Writer
	comments map[Place][]string
	lost     []uint64 // at each tap so far
	last     int64    // time of the newest frame
}

// taps copies the taps that have shown since: more may while reading.
func (c *copying) taps() error {
	for _, t := range c.src.Taps()[len(c.lost):] {
		if _, err := c.out.AddTap(t); err != nil {
			return err
		}
		c.lost = append(c.lost, 0)
	}
	return nil
}

func (c *copying) frames(list []fabricagent.Frame) error {
	for i := range list {
		f := &list[i]
		c.last = f.Time
		if err := c.out.Write(f, c.comments[Place{f.Tap, f.Number}]...); err != nil {
			return err
		}
	}
	return nil
}

// end ends the copy, as the source has ended: with an error, or nil.
func (c *copying) end(err error) error {
	if run := runOf(c.src); run != nil && run.End != 0 && len(c.lost) > 0 {
		err = errors.Join(err, c.out.End(run.End))
	}
	return errors.Join(err, c.out.Flush())
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

// drops copies what taps have lost since it was copied before.
func (c *copying) drops() error {
	for i, t := range c.src.Taps()[:len(c.lost)] {
		if t.Dropped == c.lost[i] {
			continue
		}
		c.lost[i] = t.Dropped
		if err := c.out.Drops(uint16(i), t.Dropped, c.last); err != nil {
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
