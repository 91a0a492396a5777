package agent

import (
	"errors"
	"fmt"
	"math"

	"ibwitness/cq"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// Session verifies what its caller pushes: frames and verbs events in the order in which they happened, what a capture has lost, resets of devices, and the
// time. What it finds comes back before the call returns. It is the engine of Run without a source: it has no goroutine and no clock, and is not safe for
// concurrent use. A simulation testbench attaches to it.
//
// A finding about a packet of which fields are wrong carries the packet beside the expected one: see rule.Finding.Comparison.
//
// Each method returns what has become of the findings: of those that it made, and of earlier ones that it has proven, doubted or withdrawn. Finding.Seq
// names a finding in all changes. The list is valid until the next call.
type Session struct {
	e       *engine
	t       *Transport
	w       *batch
	in      *pushed
	frame   [1]fabricagent.Frame
	changes []rule.Change
	now     int64
	ended   bool
	number  uint64 // of the newest frame
	apart   bool   // taps number their frames each for itself
}

// ErrEnded is the error of a session that has ended.
var ErrEnded = errors.New("agent: the session has ended: begin another one")

// pushed is the source of a session: only its taps.
type pushed struct {
	taps    []fabricagent.Tap
	numbers []uint64 // frames of each tap
}

func (p *pushed) Next() (*fabricagent.Batch, error) { return nil, nil }
func (p *pushed) Taps() []fabricagent.Tap           { return p.taps }
func (p *pushed) Progress() (done, total int64)     { return 0, 0 }
func (p *pushed) Close() error                      { return nil }

// NewSession begins a session. Of the options, Workers, Watch, Short and Progress have no meaning. Logs of Options.Events are read as the time of the
// frames passes them; Event pushes the events of a device that is at work.
func NewSession(opt Options) *Session {
	s := newSession(opt)
	s.t.tellChanges()
	s.e.changing = true
	s.e.logs()
	s.w.count(s.e)
	return s
}

// newSession is a session that tells no changes, without logs.
func newSession(opt Options) *Session {
	in := &pushed{}
	t := NewTransport(opt.Near)
	t.shards = 1
	t.SetProfile(opt.Profile)
	t.looks, t.beside = new(looks), true
	t.rc.Uncounted, t.rc.OneClock, t.uc.OneClock, t.table.OneClock = !opt.Coverage, opt.OneClock, opt.OneClock, opt.OneClock
	if opt.Latencies {
		t.rc.Latencies = new(verifier.Latencies)
	}
	if opt.Timing {
		t.measure(opt.Messages)
	}
	s := &Session{t: t, in: in, e: &engine{src: in, opt: opt, shards: []*shard{{t: t}}}}
	s.w = s.e.newBatch()
	s.w.source = &fabricagent.Batch{}
	return s
}

// Tap adds a place where frames are seen, and returns the number by which Frame.Tap names it.
func (s *Session) Tap(t fabricagent.Tap) (uint16, error) {
	if n := len(s.in.taps); n > 1<<16-1 {
		return 0, fmt.Errorf("agent: there are %d taps already: use fewer", n)
	}
	s.in.taps = append(s.in.taps, t)
	s.in.numbers = append(s.in.numbers, 0)
	s.e.several = len(s.in.taps) > 1
	return uint16(len(s.in.taps) - 1), nil
}

// Frame verifies a frame that a tap saw. Its Number, where that is 0, is the next one of the tap. Its data is not kept.
func (s *Session) Frame(f *fabricagent.Frame) ([]rule.Change, error) {
	switch {
	case s.ended:
		return nil, ErrEnded
	case int(f.Tap) >= len(s.in.taps):
		return nil, fmt.Errorf("agent: a frame of tap %d, and there are %d: add it with Tap first", f.Tap, len(s.in.taps))
	}
	s.in.numbers[f.Tap]++
	s.frame[0] = *f
	if f.Number == 0 {
		s.frame[0].Number = s.in.numbers[f.Tap]
	}
	s.take(s.frame[:])
	return s.news(), nil
}

// take verifies one frame.
func (s *Session) take(frame []fabricagent.Frame) {
	if c := s.e.completions; c != nil && s.e.opt.Unordered && frame[0].Time > s.now {
		c.queues.Advance(frame[0].Time) // as if somebody had told the time
	}
	s.reach(frame[0].Time)
	s.apart = s.apart || frame[0].Number <= s.number
	s.number = frame[0].Number
	w := s.w
	w.source.Frames, w.sums, w.taps = frame, sums{}, s.in.taps
	s.e.see(frame)
	w.stepped = s.e.clocks.step.Count > 0
	s.e.each(w, s.t)
	s.e.sums.add(w.sums)
}

// reach says that a frame or an event comes at a time. Where time is that of hardware, or all is stamped by one clock, what was due before is told first.
func (s *Session) reach(now int64) {
	s.now = max(s.now, now)
	s.t.looks.now = s.now
	if s.e.opt.Profile.HardwareTimers || s.e.opt.OneClock {
		s.t.due(s.now)
	}
}

// NameDevice says that events of a device will come, and what findings call them: see rule.Finding.Log. It is needed only for that.
func (s *Session) NameDevice(addr packet.Addr, name string) error {
	if s.ended {
		return ErrEnded
	}
	n := s.e.device(addr)
	s.e.completions.sources[n].Call(name)
	return nil
}

// Event takes a verbs event of the device that its QP.Addr names, by the clock of the frames.
func (s *Session) Event(e *cq.Event) ([]rule.Change, error) {
	if s.ended {
		return nil, ErrEnded
	}
	if e.Kind == cq.EvReset {
		return s.resetAt(e)
	}
	s.reach(e.Time)
	if c := s.e.events(); s.e.opt.Unordered {
		c.queues.Advance(e.Time)
	}
	s.e.event(e)
	return s.news(), nil
}

// Lost says that a tap has missed n frames: nothing is proven by what it does not show.
func (s *Session) Lost(tap uint16, n uint64) ([]rule.Change, error) {
	switch {
	case s.ended:
		return nil, ErrEnded
	case int(tap) >= len(s.in.taps):
		return nil, fmt.Errorf("agent: tap %d has lost frames, and there are %d: add it with Tap first", tap, len(s.in.taps))
	}
	s.in.taps[tap].Dropped += n
	s.lost(n)
	return s.news(), nil
}

// lost takes over that n frames more are missing.
func (s *Session) lost(n uint64) {
	if n == 0 {
		return
	}
	s.w.dropped = true
	s.t.Dropped()
	if s.e.completions != nil {
		s.e.completions.incomplete()
	}
}

// EventsLost says that events of a device are missing, or that its log breaks off: nothing is proven by what it has not told, nor of a queue pair that was there then.
// One that is made later is judged as any other. In a log, the line "lost" says the same.
func (s *Session) EventsLost(device packet.Addr) ([]rule.Change, error) {
	return s.Event(&cq.Event{Time: s.now, Kind: cq.EvLost, QP: wqe.QP{Addr: device}})
}

// resetAt takes the reset of a device at the time of its event.
func (s *Session) resetAt(e *cq.Event) ([]rule.Change, error) {
	s.now = max(s.now, e.Time)
	s.advance(s.now)
	s.e.reset(s.t, e.QP.Addr, s.now)
	return s.news(), nil
}

func (s *Session) advance(now int64) {
	s.e.advance(now)
	s.t.due(now)
}

// Advance says that no frame and no event comes before a time: what is due until then and missing is reported.
func (s *Session) Advance(now int64) ([]rule.Change, error) {
	switch {
	case s.ended:
		return nil, ErrEnded
	case now < s.now:
		return nil, fmt.Errorf("agent: the time %d is before %d, up to which frames and events have come: it cannot go back", now, s.now)
	}
	s.now = now
	s.advance(now)
	return s.news(), nil
}

// Reset says that a device was reset: its queue pairs and connections are gone, and what they owed with them.
func (s *Session) Reset(device packet.Addr) ([]rule.Change, error) {
	if s.ended {
		return nil, ErrEnded
	}
	s.e.reset(s.t, device, s.now)
	return s.news(), nil
}

// End ends the session, judges what is still open, and returns everything that was found, as Run does. The changes are those that the end has made.
func (s *Session) End() (*Result, []rule.Change, error) {
	if s.ended {
		return nil, nil, ErrEnded
	}
	return s.end(), s.news(), nil
}

// end judges what is still open. Where one clock stamps all, and all taps number their frames together, these are those of one file, whatever it is called.
func (s *Session) end() *Result {
	s.ended = true
	s.e.together = s.e.opt.OneClock && !s.apart
	return s.e.result()
}

// news returns what has become of the findings since it was called before.
func (s *Session) news() []rule.Change {
	list := s.t.Rec.Changes()
	var links, events []rule.Change
	if s.t.links != nil {
		links = s.t.links.Rec.Changes()
	}
	if s.e.completions != nil {
		events = s.e.completions.rec.Changes()
	}
	if len(links)+len(events) == 0 {
		return list
	}
	s.changes = append(s.changes[:0], list...)
	s.add(events, ofEvents)
	s.add(links, ofLink)
	return s.changes
}

// add adds changes of findings whose numbers have a mark.
func (s *Session) add(list []rule.Change, mark uint32) {
	for i := range list {
		list[i].Finding.Seq |= mark
		s.changes = append(s.changes, list[i])
	}
}

// Waits is requests without a response, or work requests without a completion, of one queue pair.
type Waits struct {
	QP    rule.Endpoint // that waits
	Peer  rule.Endpoint
	What  cq.Waits
	Count int
	Since int64  // when the oldest began to wait, or last made progress
	Frame uint64 // of the oldest; 0: no frame shows it
	ID    uint64 // of the oldest work request, where events tell of it
	// MayHaveGivenUp: the requester waits for nothing any more if its retries are exhausted, which neither its events nor its attributes tell.
	MayHaveGivenUp bool
}

// Outstanding lists what waits for something, for a check at the end of a test: requests without a response, and work requests without a completion.
func (s *Session) Outstanding() (list []Waits) {
	for c := range s.t.table.All() {
		var k Connection
		s.t.open(c, &k)
		for e := range k.Ends {
			a, b := &c.Ends[e], &c.Ends[1-e]
			life := qp.LifeUnknown
			if s.t.states != nil && a.Numbered {
				life = s.t.states.At(a.Addr, a.Number, s.now)
			}
			if life == qp.Gone {
				continue // in error, or reset: it waits for nothing
			}
			if end := &k.Ends[e]; end.Open > 0 {
				list = append(list, Waits{
					QP: rule.Endpoint{Addr: a.Addr, QPN: a.Number, QPNKnown: a.Numbered}, Peer: rule.Endpoint{Addr: b.Addr, QPN: b.Number, QPNKnown: b.Numbered},
					What: cq.WaitsForResponse, Count: int(end.Open), Since: end.OpenSince, Frame: end.OpenFrame,
					MayHaveGivenUp: life == qp.LifeUnknown && mayHaveGivenUp(a, c.RQ(1-e)),
				})
			}
		}
	}
	if s.e.completions != nil {
		for _, o := range s.e.completions.queues.Outstanding() {
			list = append(list, Waits{QP: o.QP, Peer: o.Peer, What: o.What, Count: o.Count, Since: o.Since, ID: o.ID})
		}
	}
	return list
}

// mayHaveGivenUp reports whether a requester may have exhausted its retries, after timeouts or after the RNR NAKs of receive queue r: then its queue pair is in
// error, and waits for nothing (9.7.6.1.3, 9.9.2.1).
func mayHaveGivenUp(a *qp.QP, r *qp.ReceiveQueue) bool {
	if r.State == qp.RNRNAKed {
		return !a.Knows(qp.KnowsRNRRetry) || a.Attr.RNRRetry < 7 && r.NAK.RNRs > a.Attr.RNRRetry
	}
	return a.SQ.Restarts > 0 && (!a.Knows(qp.KnowsRetryCnt) || a.SQ.Restarts >= uint16(a.Attr.RetryCnt))
}

// tellChanges has the agent note what becomes of its findings.
func (t *Transport) tellChanges() {
	t.changing = true
	t.Rec.Follow()
}

// reset ends the connections of a device at time now.
func (e *engine) reset(t *Transport, device packet.Addr, now int64) {
	if e.completions != nil {
		e.completions.queues.Reset(device, now)
		t.states.Reset(device, now)
	}
	t.unknow(device)
	n := 0
	for c := range t.table.All() {
		if c.Leave(c.Ends[0].Addr == device || c.Ends[1].Addr == device); c.Leaving() {
			n++
		}
	}
	if n == 0 {
		return
	}
	opened := t.opened
	t.conclude(now)
	t.opened = opened
	Reconcile(t)
	e.gone = append(e.gone, connections([]*Transport{t}, true, math.MaxInt, 0)...)
	lossy := t.table.Lossy
	t.forget()
	if lossy {
		t.Dropped()
	}
}

// Cover is how often a rule was exercised and violated until now. Of some rules it is counted at the end that they were exercised.
func (s *Session) Cover(id rule.ID) rule.Count {
	n := s.t.Rec.Cover[id]
	if s.t.links != nil {
		n.Add(s.t.links.Rec.Cover[id])
	}
	if s.e.completions != nil {
		n.Add(s.e.completions.rec.Cover[id])
	}
	return n
}

// unknow forgets what events have told of the queue pairs of a device, for connections that begin later.
func (t *Transport) unknow(device packet.Addr) {
	for q := range t.table.ResolvedQPs() {
		if q.Addr == device {
			t.table.Unknow(q)
		}
	}
}
