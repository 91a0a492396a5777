package agent

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"ibwitness/fabricagent"
	"ibwitness/internal/cache"
	"ibwitness/packet"
)

const (
	// burst is how many batches a worker reads in a row, so that the others have something to do until it is done with its part of them, and seldom wait: to wake
	// one takes as long as to verify a batch, where processors are virtual.
	burst = 16
	// fetchAhead is how many frames before one is decoded its bytes are fetched: another core may have read it.
	fetchAhead = 2
	// low is with how many batches left a worker reads more before it goes on, so that none has to wait.
	low = 2
	// mostEarly is how many packets of a batch are decoded at most by the worker that reads it while the others wait for what it reads.
	mostEarly = 16
	// bulky is from how many bytes a frame on, in the mean, another worker saves more by decoding it than handing over the packet costs: it is the ICRC that takes long.
	bulky = 384
)

// workers is the workers of a run. Each steps one shard, through all batches in their order. What it needs to know of a frame to do so it reads from the frame itself: it
// decodes those of its own shard, when their turn has come, so that no packet goes from one core to another. A worker that has nothing to do reads batches for all.
type workers struct {
	e    *engine
	ring []batch       // batches by their number
	read atomic.Uint64 // how many batches have been read
	open atomic.Int64  // of them, those that are not done
	idle atomic.Int32  // workers that wait, or are about to

	reading atomic.Bool // a worker reads

	mu    sync.Mutex
	wake  sync.Cond
	pause bool // when all batches are done, the first worker does what needs that; nothing is read before
	ended bool // there is nothing more to read

	// Of the worker that reads.
	ctx   context.Context
	errs  []error
	shard [packet.Buckets]uint8 // of each bucket
	apart int                   // batches that are yet to be decoded by one worker, as those before them had too much that tells no shard
	order chan *batch
}

// schedule is how a batch goes through the workers.
type schedule struct {
	shared  bool                                  // each worker decodes the frames of its shard
	mine    []frameList                           // by shard
	early   int                                   // how many were decoded nevertheless, when they were read
	at      [fabricagent.BatchSize]*packet.Packet // their packets, by frame; nil: not decoded
	several bool
	upTo    uint64         // packets that were read, up to and with this batch
	busy    atomic.Bool    // from when it is read until it is done
	left    atomic.Int32   // workers that have yet to step their shards
	decoded sync.WaitGroup // where it is not shared
}

// frameList is the frames of a batch that a shard takes.
type frameList struct {
	n  int
	at [fabricagent.BatchSize]uint8
}

// add adds a frame. There is room for all of a batch, once each.
func (l *frameList) add(i int) {
	l.at[l.n%len(l.at)] = uint8(i)
	l.n++
}

// runParallel has as many workers as there are shards verify everything. The first is the calling goroutine.
func (e *engine) runParallel(ctx context.Context) error {
	n := len(e.shards)
	c := &workers{e: e, ctx: ctx, ring: make([]batch, 4*n+2*burst)}
	c.wake.L = &c.mu
	for i := range c.ring {
		w := &c.ring[i]
		w.count(e)
		w.schedule.mine = make([]frameList, n)
	}
	for i := range c.shard {
		c.shard[i] = uint8(i % n)
	}
	var workers, last sync.WaitGroup
	if e.completions != nil {
		c.order = make(chan *batch, len(c.ring))
		last.Go(func() {
			for w := range c.order {
				e.complete(w)
				c.done(w)
			}
		})
	}
	for i, s := range e.shards {
		if s.count(e); i > 0 {
			workers.Go(func() { c.work(i) })
		}
	}
	c.work(0)
	workers.Wait()
	if c.order != nil {
		close(c.order)
	}
	last.Wait()
	c.collect()
	return errors.Join(c.errs...)
}

// work is what worker i does.
func (c *workers) work(i int) {
	e, s := c.e, c.e.shards[i]
	for at := uint64(0); ; at++ {
		if left := c.read.Load() - at; left == 0 && !c.next(i, at) {
			return
		} else if left <= low && e.watch == nil && !c.reading.Load() {
			c.ahead()
		}
		w := c.batch(at)
		if !w.schedule.shared {
			w.schedule.decoded.Wait()
		}
		s.step(w, i, len(e.shards), w.schedule.several)
		upTo := w.schedule.upTo
		if w.schedule.left.Add(-1) == 0 {
			if c.order != nil {
				c.order <- w
			} else {
				c.done(w)
			}
		}
		if i == 0 && e.opt.Progress != nil {
			e.opt.Progress(upTo)
		}
	}
}

// batch is a batch by its number.
func (c *workers) batch(at uint64) *batch { return &c.ring[at%uint64(len(c.ring))] }

// ahead reads batches although there are some left, where that is possible.
func (c *workers) ahead() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mayRead() {
		c.fill()
	}
}

// mayRead reports whether batches can be read now.
func (c *workers) mayRead() bool {
	return !c.pause && !c.ended && !c.reading.Load() && !c.batch(c.read.Load()).schedule.busy.Load()
}

// next returns when a batch has been read, perhaps by this worker; false: there are no more.
func (c *workers) next(i int, at uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		c.idle.Add(1) // before it looks: who changes what it looks at looks at this then
		switch {
		case at < c.read.Load():
			c.idle.Add(-1)
			return true
		case c.pause:
			if i == 0 && c.open.Load() == 0 {
				c.collect()
				c.e.pause()
				c.pause = false
				c.wake.Broadcast()
				c.idle.Add(-1)
				continue
			}
		case c.ended:
			c.idle.Add(-1)
			return false
		case c.mayRead():
			c.idle.Add(-1)
			c.fill()
			continue
		}
		c.wake.Wait()
		c.idle.Add(-1)
	}
}

// signal wakes who waits for a change that has been made.
func (c *workers) signal() {
	if c.idle.Load() > 0 {
		c.mu.Lock()
		c.wake.Broadcast()
		c.mu.Unlock()
	}
}

// fill reads a few batches, with mu unlocked meanwhile.
func (c *workers) fill() {
	c.reading.Store(true)
	c.mu.Unlock()
	var pause, ended bool
	var apart *batch
	for k := 0; k < burst && !pause && !ended && apart == nil; k++ {
		w := c.batch(c.read.Load())
		if w.schedule.busy.Load() {
			break
		}
		apart, ended = c.take(w)
		pause = w.source != nil && c.e.mustPause()
		if c.e.watch != nil {
			break // a source that is live may keep what is read waiting for the next batch
		}
	}
	c.mu.Lock()
	c.pause, c.ended = pause, ended
	c.reading.Store(false)
	c.wake.Broadcast()
	if apart != nil {
		c.mu.Unlock()
		apart.decode(apart.source.Frames, len(c.e.shards))
		apart.schedule.decoded.Done()
		c.mu.Lock()
	}
}

// take reads a batch. It returns it where it is yet to be decoded, and whether it is the last one.
func (c *workers) take(w *batch) (apart *batch, ended bool) {
	e := c.e
	if err := c.ctx.Err(); err != nil {
		c.errs = append(c.errs, err)
		return nil, true
	}
	w.source = nil
	err := e.next(w)
	if w.source != nil {
		t := &w.schedule
		t.upTo = c.batch(c.read.Load()+uint64(len(c.ring))-1).schedule.upTo + uint64(len(w.source.Frames))
		t.several = e.several
		switch t.shared = c.shares(w.source.Frames); {
		case t.shared:
			c.share(w)
		case e.completions != nil: // a source may hand over events with its batches
			w.room(fabricagent.BatchSize)
			w.decode(w.source.Frames, len(e.shards))
			e.merge(w)
		default:
			w.room(fabricagent.BatchSize)
			t.decoded.Add(1)
			apart = w
		}
		t.left.Store(int32(len(e.shards)))
		t.busy.Store(true)
		c.open.Add(1)
		c.read.Add(1)
		c.signal()
	}
	if err != nil && err != io.EOF {
		c.errs = append(c.errs, err)
	}
	return apart, err == io.EOF || len(c.errs) >= 1000
}

// shares reports whether each worker is to decode the frames of its shard. Not so where packets are needed together afterwards, where it takes more than addresses
// to tell their shards, and where so much of the traffic is of one shard that its worker is late: decoding is work that others can do for it.
func (c *workers) shares(frames []fabricagent.Frame) bool {
	switch {
	case c.e.completions != nil || len(frames) == 0:
		return false
	case c.apart > 0:
		c.apart--
		return false
	}
	return int(c.open.Load()) < len(c.ring)/2 || frames[len(frames)/2].Len+frames[0].Len < 2*bulky
}

// share gives each frame to the worker that is to decode it. What does not tell that at once is decoded.
func (c *workers) share(w *batch) {
	t := &w.schedule
	for k := range t.mine {
		t.mine[k].n = 0
	}
	if t.early > 0 {
		t.early, t.at = 0, [fabricagent.BatchSize]*packet.Packet{}
	}
	frames := w.source.Frames
	w.frames, w.links, w.pause = frames, w.links[:0], false
	w.sums.packets += uint64(len(frames))
	for i := range frames {
		if src, dst, ok := fabricagent.Ends(&frames[i]); ok {
			t.mine[c.shard[packet.Bucket(src, dst)]].add(i)
			continue
		}
		c.decodeEarly(w, i)
	}
	if t.early > mostEarly {
		c.apart = len(c.ring)
	}
}

// decodeEarly decodes a frame for the worker that it belongs to.
func (c *workers) decodeEarly(w *batch, i int) {
	t, n := &w.schedule, len(c.e.shards)
	w.room(fabricagent.BatchSize)
	p := w.all[t.early]
	if !w.packet(&w.frames[i], p) {
		return
	}
	w.sums.rdma++
	t.at[i] = p
	t.early++
	first, last := 0, n-1
	if !common(p) {
		first = shardOf(p, n)
		last = first
	}
	for k := first; k <= last; k++ {
		t.mine[k].add(i)
	}
}

// verifyOwn verifies the packets of a batch that are the shard's.
func (s *shard) verifyOwn(w *batch, me int) {
	t := &w.schedule
	if s.room == nil {
		s.room = room(fabricagent.BatchSize)
	}
	mine, p := s.mine[:0], s.room[0]
	few := s.t.table.Few()
	l := &t.mine[me]
	for k, i := range l.at[:l.n] {
		if k += fetchAhead; k < l.n {
			cache.FetchBytes(w.frames[l.at[k]].Data)
		}
		if early := t.at[i]; early != nil {
			if mine = append(mine, early); few {
				s.t.packet(early)
			}
			continue
		}
		if !few {
			p = s.room[len(mine)]
		}
		if s.packet(&w.frames[i], p) {
			s.sums.rdma++
			if few {
				s.t.packet(p)
			} else {
				mine = append(mine, p)
			}
		}
	}
	if !few {
		s.t.Packets(mine)
	}
	s.expect(s.t.rc.Left, l.n)
	s.mine = mine
}

// done gives a batch back.
func (c *workers) done(w *batch) {
	w.source.Release()
	w.schedule.busy.Store(false)
	c.open.Add(-1)
	c.signal()
}

// collect sums up what was counted. All batches are done.
func (c *workers) collect() {
	for _, s := range c.e.shards {
		c.e.collect(&s.decoder)
	}
	for i := range c.ring {
		c.e.collect(&c.ring[i].decoder)
	}
}
