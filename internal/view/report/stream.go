package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"ibwitness/rule"
)

// Stream writes findings while a run goes on: one JSON object a line, with the keys of the findings of `check --format json` and a level, or on
// a terminal a line to read. Of the same rule and accused endpoint only so many are written in a minute; how many were left out is told when
// it is over. It is not safe for concurrent use.
type Stream struct {
	log    zerolog.Logger
	out    io.Writer
	w      io.Writer // of a terminal; nil: JSON
	paint  paint
	most   uint64
	events bool
	minute int64
	seen   map[repeatKey]*repeats
}

// mostSeen is of how many rules and accused endpoints it is known at a time how often they came.
const mostSeen = 4096

// repeatKey says which findings are the same.
type repeatKey struct {
	rule    rule.ID
	class   rule.Class
	accused rule.Endpoint
}

type repeats struct {
	n       uint64
	first   rule.Finding
	skipped rule.Finding // the first that was left out
	newest  rule.Finding
}

// StreamOptions say what is written.
type StreamOptions struct {
	Terminal bool // for a reader at a terminal
	Color    bool
	Most     int  // of each rule and accused endpoint in a minute; 0: all
	Events   bool // legal events too
}

// NewStream returns a stream that writes to w.
func NewStream(w io.Writer, o StreamOptions) *Stream {
	s := &Stream{log: zerolog.New(w), out: w, paint: newPaint(o.Color), most: uint64(o.Most), events: o.Events, seen: map[repeatKey]*repeats{}}
	if o.Terminal {
		s.w = w
	}
	return s
}

// Set changes how many findings are written, and whether events are.
func (s *Stream) Set(most int, events bool) { s.most, s.events = uint64(most), events }

// Found writes findings.
func (s *Stream) Found(list []rule.Finding) {
	for i := range list {
		f := &list[i]
		if f.Class == rule.Event && !s.events {
			continue
		}
		k := repeatKey{f.Rule, f.Class, f.Accused}
		r := s.seen[k]
		if r == nil {
			if len(s.seen) >= mostSeen {
				s.Flush()
			}
			r = &repeats{first: *f}
			s.seen[k] = r
		}
		r.n++
		switch {
		case s.most == 0 || r.n <= s.most:
			s.write(f)
		case r.n == s.most+1:
			r.skipped, r.newest = *f, *f
		default:
			r.newest = *f
		}
	}
}

// Tick says that it is some time, in nanoseconds since the Unix epoch.
func (s *Stream) Tick(now int64) {
	if minute := now / int64(time.Minute); minute != s.minute {
		s.minute = minute
		s.Flush()
	}
}

// Flush tells how many findings were left out so far.
func (s *Stream) Flush() {
	var left []*repeats
	for _, r := range s.seen {
		if s.most > 0 && r.n > s.most {
			left = append(left, r)
		}
	}
	slices.SortFunc(left, func(a, b *repeats) int {
		return cmp.Or(cmp.Compare(a.first.Time, b.first.Time), cmp.Compare(a.first.Frame, b.first.Frame), cmp.Compare(a.first.Seq, b.first.Seq))
	})
	for _, r := range left {
		f, n := &r.first, r.n-s.most
		if s.w != nil {
			fmt.Fprintf(s.w, "%s  %d more: %s %s, frames %d to %d\n", s.ink(f, f.Rule.String()), n, word(f), accused(f), r.skipped.Frame, r.newest.Frame)
			continue
		}
		s.log.WithLevel(level(f)).Str("kind", "repeated").Str("rule", f.Rule.String()).Str("name", f.Rule.Row().Name).Str("class", f.Class.String()).
			Uint64("count", n).Str("time", stamp(r.skipped.Time)).Uint64("frame", r.skipped.Frame).Str("last_time", stamp(r.newest.Time)).
			Uint64("last_frame", r.newest.Frame).Dict("accused", endpointDict(&f.Accused)).Send()
	}
	clear(s.seen)
}

func level(f *rule.Finding) zerolog.Level {
	if f.Class == rule.Violation {
		switch f.Rule.Row().Severity {
		case rule.Error:
			return zerolog.ErrorLevel
		case rule.Warning:
			return zerolog.WarnLevel
		}
	}
	return zerolog.InfoLevel
}

func (s *Stream) write(f *rule.Finding) {
	row := f.Rule.Row()
	if s.w != nil {
		at := time.Unix(0, f.Time).Format("15:04:05.000000")
		fmt.Fprintf(s.w, "%s  %s  %s %s: expected %s, actual %s\n", at, s.ink(f, row.ID), word(f), accused(f), f.Expected, f.Actual)
		return
	}
	e := s.log.WithLevel(level(f)).Str("kind", "finding").Str("rule", row.ID).Str("name", row.Name).Str("class", f.Class.String()).
		Str("severity", row.Severity.String()).Str("time", stamp(f.Time)).Uint16("tap", f.Tap).Uint64("frame", f.Frame).Uints64("evidence", proof(f))
	if f.HasBTH {
		e = e.Str("service", f.Service.String())
	}
	if f.Accused != (rule.Endpoint{}) {
		e = e.Dict("accused", endpointDict(&f.Accused))
	}
	if f.Peer != (rule.Endpoint{}) {
		e = e.Dict("peer", endpointDict(&f.Peer))
	}
	if f.HasBTH {
		e = e.Str("opcode", f.Opcode.String()).Uint32("psn", uint32(f.PSN))
	}
	e.Str("expected", f.Expected).Str("actual", f.Actual).Str("detail", f.Detail).Str("reference", row.Ref).Send()
}

func endpointDict(p *rule.Endpoint) *zerolog.Event {
	d := zerolog.Dict()
	if role := p.Role.String(); role != "" {
		d = d.Str("role", role)
	}
	if !p.Addr.IsZero() {
		d = d.Str("address", p.Addr.String())
	}
	if p.QPNKnown {
		d = d.Uint32("qpn", p.QPN)
	}
	for _, k := range [...][2]string{{"node", p.Node.Description}, {"node_guid", guid(p.Node.GUID)}, {"route", p.Node.Route}} {
		if k[1] != "" {
			d = d.Str(k[0], k[1])
		}
	}
	return d
}

// word is what a reader calls the finding: a violation of a rule that does not accuse is a warning or a note.
func word(f *rule.Finding) string {
	if f.Class == rule.Violation && f.Rule.Row().Severity != rule.Error {
		return map[rule.Severity]string{rule.Warning: "warning", rule.Info: "note"}[f.Rule.Row().Severity]
	}
	return f.Class.String()
}

// ink colours a rule by how bad it is.
func (s *Stream) ink(f *rule.Finding, text string) string {
	text = fmt.Sprintf("%-12s", text)
	switch level(f) {
	case zerolog.ErrorLevel:
		return s.paint.red(text)
	case zerolog.WarnLevel:
		return s.paint.yellow(text)
	}
	return text
}
