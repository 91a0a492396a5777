package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"ibwitness/cq"
	"ibwitness/fabricagent"
	"ibwitness/hcaagent"
)

// oneClock hands the frames of a source and the events of logs to a Session, in the order of the one clock that has stamped them.
type oneClock struct {
	s     *Session
	src   fabricagent.Source
	logs  logs
	named []bool // logs of which an event has come
}

// runOneClock verifies what a source and logs deliver as a Session does to which it is handed over as it happens. Events come before the frames of their time but those after which their
// logs say that they came.
func runOneClock(ctx context.Context, src fabricagent.Source, opt Options) (*Result, error) {
	r := &oneClock{named: make([]bool, len(opt.Events))}
	for _, l := range opt.Events {
		switch {
		case !l.Exact:
			return nil, fmt.Errorf("agent: the log %s has a clock of its own: where one clock stamps all, it is that of the frames", l.Name)
		case l.Addr.IsZero():
			return nil, fmt.Errorf(`agent: the log %s does not say which device it is of: give its "gid" in the first line`, l.Name)
		}
	}
	var tooFine []*hcaagent.Log
	if r.src, tooFine = finerThan(src, opt.Events); len(tooFine) > 0 {
		return nil, fmt.Errorf("agent: the log %s has nanoseconds, and the capture microseconds, which do not tell in which order events and frames came: save the capture with nanoseconds", tooFine[0].Name)
	}
	for _, l := range opt.Events {
		r.logs.add(l)
	}
	opt.Events, opt.Unordered = nil, true
	r.s = newSession(opt)
	err := r.frames(ctx)
	if ctx.Err() == nil {
		r.events(math.MaxInt64, 0)
		if rec, ok := src.(fabricagent.Recording); ok {
			if about, ok := rec.Recorded(); ok {
				r.s.advance(max(about.End, r.s.now))
			}
		}
	}
	return r.s.end(), err
}

// frames takes all frames, and the events before each.
func (r *oneClock) frames(ctx context.Context) error {
	e := r.s.e
	var errs []error
	for {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(errs, err)...)
		}
		b, err := r.src.Next()
		r.taps()
		if b != nil {
			for rest := b.Frames; len(rest) > 0; {
				n := 1
				if len(r.logs.list) == 0 {
					n = r.s.together(rest)
				}
				if n > 1 {
					r.s.takeAll(rest[:n])
				} else {
					r.events(rest[0].Time, rest[0].Number)
					r.s.take(rest[:1])
				}
				rest = rest[n:]
			}
			b.Release()
			if e.opt.Progress != nil {
				e.opt.Progress(e.sums.packets)
			}
			if e.mustPause() {
				e.pause()
			}
		}
		switch {
		case err == io.EOF:
			return errors.Join(errs...)
		case err != nil:
			if errs = append(errs, err); len(errs) > 1000 {
				return errors.Join(errs...)
			}
		}
	}
}

// taps takes over which taps there are, and what they have lost.
func (r *oneClock) taps() {
	s, lost := r.s, uint64(0)
	for i, t := range r.src.Taps() {
		lost += t.Dropped
		if i < len(s.in.taps) {
			lost -= s.in.taps[i].Dropped
		}
	}
	s.in.taps = r.src.Taps()
	s.e.several = len(s.in.taps) > 1
	s.lost(lost)
}

// events hands over the events up to a time, but those of that time that came after a frame or later ones.
func (r *oneClock) events(to int64, frame uint64) {
	r.logs.frame = frame
	for _, v := range r.logs.upTo(to) {
		if !r.named[v.log] && v.Kind != cq.EvReset {
			r.named[v.log] = true
			_ = r.s.NameDevice(v.QP.Addr, r.logs.list[v.log].Name) // a session that has not ended takes it
		}
		_, _ = r.s.Event(v.Event) // likewise
		if v.last {
			r.s.e.completions.sources[r.s.e.device(v.QP.Addr)].Cut()
		}
	}
}

// together is how many frames may be taken together: of many connections, without events and links, as many as nothing is due between.
func (s *Session) together(frames []fabricagent.Frame) int {
	if s.t.table.Few() || s.e.completions != nil || s.t.links != nil {
		return 1
	}
	s.reach(frames[0].Time)
	until, n := min(s.t.looks.soonest(), s.now+s.t.rc.Soonest()), 1
	for n < min(len(frames), portion) && frames[n].Time >= frames[n-1].Time && frames[n].Time <= until {
		n++
	}
	return n
}

// takeAll verifies frames between which nothing is due.
func (s *Session) takeAll(frames []fabricagent.Frame) {
	for i := range frames {
		s.apart = s.apart || frames[i].Number <= s.number
		s.number = frames[i].Number
	}
	s.now = frames[len(frames)-1].Time
	w := s.w
	w.source.Frames, w.sums, w.taps = frames, sums{}, s.in.taps
	s.e.see(frames)
	w.stepped = s.e.clocks.step.Count > 0
	w.decode(frames, 1)
	s.e.shards[0].step(w, 0, 1, s.e.several)
	w.expect(s.t.rc.Left, len(frames))
	s.e.sums.add(w.sums)
}
