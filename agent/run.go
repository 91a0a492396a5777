package agent

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"

	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// MaxWorkers is up to how many workers are of use.
const MaxWorkers = packet.Buckets

// Run verifies everything that src delivers. The result does not depend on the number of workers. It is valid for what was read even
// when an error is returned: what src said of a file that is cut or turns to garbage, or the context's error.
func Run(ctx context.Context, src fabricagent.Source, opt Options) (*Result, error) {
	if opt.OneClock {
		return runOneClock(ctx, src, opt)
	}
	workers := opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = min(workers, MaxWorkers)
	if opt.Profile.CNPs.By == verifier.PacedByPort {
		workers = 1 // the timer of a port is of all its connections
	}
	e := &engine{src: src, opt: opt, shards: make([]*shard, workers)}
	for i := range e.shards {
		e.shards[i] = &shard{t: NewTransport(opt.Near)}
		e.shards[i].t.shard, e.shards[i].t.shards = i, workers
		e.shards[i].t.SetProfile(opt.Profile)
		e.shards[i].t.rc.Uncounted = !opt.Coverage
		if opt.Timing {
			e.shards[i].t.measure(opt.Messages)
		}
		if opt.Watch != nil {
			e.shards[i].made = opt.Watch.Made
		}
		if opt.Latencies || opt.Watch != nil {
			e.shards[i].t.rc.Latencies = new(verifier.Latencies)
		}
	}
	e.logs()
	e.several = len(src.Taps()) > 1
	if opt.Watch != nil {
		e.watch = newWatch(e, opt.Watch)
	}
	var err error
	if workers == 1 {
		err = e.runSingle(ctx)
	} else {
		err = e.runParallel(ctx)
	}
	r := e.result()
	if e.watch != nil {
		e.watch.end(r)
	}
	return r, err
}

// engine reads batches of frames and takes each packet to the transport agent of its pair of addresses.
type engine struct {
	src     fabricagent.Source
	opt     Options
	shards  []*shard
	sums    sums
	several bool
	clocks  clocks
	numbers numberings
	skews   skews
	watch   *watch // nil: everything is reported at the end

	completions *completions // nil: no events are known
	changing    bool         // what becomes of findings is noted
	together    bool         // all taps number their frames together, as in one file

	batches   uint64       // read
	short     bool         // memory is short
	gone      []Connection // that were forgotten since it was
	forgotten Forgotten
}

// shard is one transport agent; one goroutine steps it.
type shard struct {
	t    *Transport
	mine []*packet.Packet // of the batch that is being verified
	made func([]rule.Finding)
	last [2]uint32 // Seq of the newest finding that made has taken, and of the newest on a link

	decoder                  // of the packets that only this shard is to see
	room    []*packet.Packet // for them
}

// next reads the next batch into w.
func (e *engine) next(w *batch) error {
	b, err := e.src.Next()
	if b == nil {
		return err
	}
	w.source = b
	n := len(b.Frames)
	if n > 0 {
		e.see(b.Frames)
	}
	w.stepped = e.clocks.step.Count > 0
	taps := e.src.Taps()
	w.taps = taps
	e.several = e.several || len(taps) > 1
	w.dropped, w.missed = false, false
	for i := range taps {
		w.dropped = w.dropped || taps[i].Dropped > 0
	}
	if e.watch != nil {
		w.dropped, w.missed = false, e.watch.missed(taps)
	}
	return err
}

// see watches, of all frames in their order, what the capture itself is: its clocks, and of a run that ends and is measured what it lost.
func (e *engine) see(frames []fabricagent.Frame) {
	if e.clocks.take(frames); e.watch == nil && e.opt.Timing {
		e.numbers.take(frames)
		e.skews.take(frames)
	}
}

// dropped tells the transport agent what the capture has lost, and that its clock was set.
func (s *shard) dropped(w *batch) {
	if w.stepped {
		s.t.stepped()
	}
	if w.missed {
		s.t.lostFrames()
	} else if w.dropped {
		s.t.Dropped()
	}
}

// step has a transport agent verify the packets of a batch that are its.
func (s *shard) step(w *batch, me, shards int, several bool) {
	s.dropped(w)
	s.t.SetSeveral(several)
	if s.made != nil {
		defer s.reportNew()
	}
	for i := range w.links {
		if int(w.links[i].Mark.Link)%shards == me {
			s.t.Link(&w.links[i])
		}
	}
	s.t.pauses(w, me, shards)
	defer s.t.trim()
	switch {
	case w.schedule.shared:
		s.verifyOwn(w, me)
		return
	case shards == 1 && len(w.events) == 0:
		s.t.Packets(w.packets)
		return
	}
	mine, common, events := s.mine[:0], w.common, w.events
	for i, p := range w.packets {
		for len(events) > 0 && events[0].before == i {
			if v := &events[0]; s.t.states.Tells(v.log, v.Event) {
				s.t.Packets(mine)
				mine = mine[:0]
				s.t.sourceEvent(v.log, v.Event)
			}
			events = events[1:]
		}
		all := len(common) > 0 && common[0] == i
		if all {
			common = common[1:]
		}
		if all || shards == 1 || int(w.shards[i]) == me {
			mine = append(mine, p)
		} else if s.begins(p) {
			s.t.Packets(mine)
			mine = mine[:0]
			s.t.hasSent(p)
		}
	}
	s.t.Packets(mine)
	s.mine = mine
}

// begins reports whether a packet of another shard may be the first datagram of a queue pair whose start PSN is known, as one that came damaged may be: the next one,
// to whichever destination it goes, is not. Only events tell of start PSNs, and where there are events a packet is decoded whole before any shard has it.
func (s *shard) begins(p *packet.Packet) bool {
	t := s.t.table
	return t.FreshQPs() && (p.ICRCState == packet.CRCBad || p.Has&packet.HasDETH != 0 && t.IsFresh(wqe.QP{Addr: p.Src, QPN: p.SrcQP}))
}

// trim drops findings beyond those that are kept.
func (t *Transport) trim() {
	t.Rec.Trim()
	if t.links != nil {
		t.links.Rec.Trim()
	}
}

// reportNew hands out the findings that were made since it did last.
func (s *shard) reportNew() {
	reportAfter(s.made, s.t.Rec.Findings, &s.last[0])
	if s.t.links != nil {
		reportAfter(s.made, s.t.links.Rec.Findings, &s.last[1])
	}
}

// reportAfter hands out the findings of a list that were made after the last one.
func reportAfter(made func([]rule.Finding), list []rule.Finding, last *uint32) {
	n := len(list)
	for n > 0 && int32(list[n-1].Seq-*last) > 0 {
		n--
	}
	if n < len(list) {
		*last = list[len(list)-1].Seq
		made(slices.DeleteFunc(slices.Clone(list[n:]), rule.Finding.Taken))
	}
}

// portion is how many frames are decoded before they are verified: as many as there is room for, since memory is fetched ahead of the packets of each portion from its beginning on.
const portion = fabricagent.BatchSize

// runSingle does everything in the calling goroutine.
func (e *engine) runSingle(ctx context.Context) error {
	w := e.newBatch()
	var errs []error
	for {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(errs, err)...)
		}
		w.source = nil
		err := e.next(w)
		if w.source != nil {
			rest := w.source.Frames
			if t := e.shards[0].t; t.table.Few() {
				e.each(w, t)
				rest = nil
			}
			for len(rest) > 0 {
				n := min(len(rest), portion)
				w.decode(rest[:n], 1)
				e.merge(w)
				e.shards[0].step(w, 0, 1, e.several)
				e.complete(w)
				w.expect(e.left(), n)
				rest = rest[n:]
			}
			e.done(w)
			if e.mustPause() {
				e.pause()
			}
		}
		switch {
		case err == io.EOF:
			return errors.Join(errs...)
		case err != nil:
			errs = append(errs, err)
			if len(errs) > 1000 {
				return errors.Join(errs...)
			}
		}
	}
}

// each decodes and verifies the frames of a batch one by one.
func (e *engine) each(w *batch, t *Transport) {
	e.shards[0].dropped(w)
	if c := e.completions; c != nil {
		c.lost(w)
	}
	t.SetSeveral(e.several)
	p, frames, completions := w.all[0], w.source.Frames, e.completions
	w.links, w.frames, w.pause = w.links[:0], frames, false
	for i := range frames {
		if w.packet(&frames[i], p) {
			w.sums.rdma++
			if completions == nil {
				t.packet(p)
			} else {
				completions.logs.meet(p)
				e.eventsUpTo(p.Time)
				t.packet(p)
				completions.packet(p)
			}
		}
		if len(w.links) > 0 {
			for k := range w.links {
				t.Link(&w.links[k])
			}
			w.links = w.links[:0]
		}
	}
	t.pauses(w, 0, 1)
	w.expect(e.left(), len(frames))
	w.sums.packets += uint64(len(frames))
	if s := e.shards[0]; s.made != nil {
		s.reportNew()
	}
	t.trim()
	if e.completions != nil {
		e.completed(w)
	}
}

// left is how many packets the fast paths have left, that of RC and that of messages, of which there is one shard.
func (e *engine) left() uint64 {
	n := e.shards[0].t.rc.Left
	if e.completions != nil {
		n += e.completions.wire.Left
	}
	return n
}

// done gives a batch back and tells the progress.
func (e *engine) done(w *batch) {
	e.collect(&w.decoder)
	w.source.Release()
	if e.opt.Progress != nil {
		e.opt.Progress(e.sums.packets)
	}
}
