package live

import (
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"ibwitness/fabricagent"
)

// Source delivers the frames of network interfaces in the order of time. Where nothing comes for a while, Next returns an empty batch.
type Source struct {
	opt    Options
	rings  []*ring
	wake   int // an eventfd that ends waiting
	polled []unix.PollFd
	frames uint64
	now    int64
	clock  func() time.Time
	looked time.Time // when the state of the interfaces was looked at
	errs   []error
	closed atomic.Bool

	mu    sync.Mutex // of what others look at while Next runs
	taps  []fabricagent.Tap
	stats []Stats // by tap
}

// Open opens network interfaces. Errors are *OpenError.
func Open(o Options) (s *Source, err error) {
	o = o.withDefaults()
	s = &Source{opt: o, wake: -1, clock: time.Now}
	defer func() {
		if err != nil {
			s.shut()
		}
	}()
	if len(o.Interfaces) == 0 {
		return nil, errors.New("live: no interface is named")
	}
	for n, name := range o.Interfaces {
		i, err := net.InterfaceByName(name)
		if err != nil {
			return s, &OpenError{name, "find it", "ip -br link lists the interfaces", err}
		}
		for share := range o.Sockets {
			r, err := openRing(i, share, &o)
			if err != nil {
				return s, err
			}
			r.tap = uint16(n)
			s.rings = append(s.rings, r)
		}
		t := fabricagent.Tap{Interface: name, Link: fabricagent.LinkEthernet}
		if o.SnapLen < mostSnap {
			t.SnapLen = o.SnapLen
		}
		s.taps = append(s.taps, t)
		s.stats = append(s.stats, Stats{Interface: name})
	}
	if s.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return s, err
	}
	for _, r := range s.rings {
		s.polled = append(s.polled, unix.PollFd{Fd: int32(r.fd), Events: unix.POLLIN})
	}
	s.polled = append(s.polled, unix.PollFd{Fd: int32(s.wake), Events: unix.POLLIN})
	return s, nil
}

// batch is a batch with the blocks that its frames are parts of.
type batch struct {
	fabricagent.Batch
	space  [fabricagent.BatchSize]fabricagent.Frame
	blocks []*block
}

var batches = sync.Pool{New: func() any { return new(batch) }}

// Next returns the next batch. It is empty where nothing has come for a while, and at the end, after Close, the error is io.EOF.
func (s *Source) Next() (*fabricagent.Batch, error) {
	b := batches.Get().(*batch)
	b.Batch = fabricagent.NewBatch(b.space[:0], func() {
		for _, k := range b.blocks {
			k.release()
		}
		b.blocks = b.blocks[:0]
		batches.Put(b)
	})
	for end := s.clock().Add(s.opt.Idle); !s.closed.Load(); {
		now := s.clock() // before the rings are looked at: who is held up between knows nothing of what came meanwhile
		if now.Sub(s.looked) >= looks {
			s.look(now)
		}
		s.fill(b, now)
		s.count(b)
		if n := len(b.Frames); n > 0 {
			s.now = max(s.now, b.Frames[n-1].Time)
			return &b.Batch, nil
		}
		if !s.opt.Hardware {
			s.now = max(s.now, now.Add(-4*s.opt.Hold).UnixNano())
		}
		left := min(end.Sub(now), looks)
		if left <= 0 {
			return &b.Batch, nil
		}
		if len(s.rings) > 1 {
			left = min(left, s.opt.Hold) // frames may wait for those of another ring
		}
		if !s.wait(left) {
			break
		}
	}
	b.Release()
	return nil, s.end()
}

// fill takes frames in the order of time, as far as it is known that no earlier one is to come.
func (s *Source) fill(b *batch, now time.Time) {
	b.Frames = b.space[:0]
	limit := now.Add(-4 * s.opt.Hold).UnixNano() // the kernel has handed out by now what came before
	for len(b.Frames) < len(b.space) {
		var first *ring
		at, bound := int64(0), int64(1<<63-1)
		for _, r := range s.rings {
			if !r.ready() {
				if !r.dead && len(s.rings) > 1 {
					bound = limit
				}
			} else if t := stamp(r.frame()); first == nil || t < at {
				first, at = r, t
			}
		}
		if first == nil || at > bound {
			return
		}
		if k := first.block; !slices.Contains(b.blocks, k) {
			k.refs.Add(1)
			b.blocks = append(b.blocks, k)
		}
		b.Frames = b.space[:len(b.Frames)+1]
		f := &b.Frames[len(b.Frames)-1]
		stamped := first.take(f)
		s.frames++
		f.Number = s.frames
		if s.opt.Hardware && !stamped {
			s.note(f.Tap, func(t *Stats) { t.Unstamped++ })
		}
	}
}

// count brings the counters up to date, before the frames after a loss are judged.
func (s *Source) count(b *batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range b.Frames {
		t := &s.stats[b.Frames[i].Tap]
		t.Frames++
		t.Down = false
	}
	for _, r := range s.rings {
		if r.dead {
			continue
		}
		n, err := r.drops()
		if err != nil {
			continue // it shows when the ring is polled
		}
		if n > 0 {
			s.stats[r.tap].Dropped += n
			s.taps = slices.Clone(s.taps)
			s.taps[r.tap].Dropped += n
		}
	}
}

func (s *Source) note(tap uint16, f func(*Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.stats[tap])
}

// wait waits for a block. It is false where no interface is left.
func (s *Source) wait(d time.Duration) bool {
	ms := int(max(d.Milliseconds(), 1))
	if _, err := unix.Poll(s.polled, ms); err != nil && err != unix.EINTR {
		s.errs = append(s.errs, err)
		return false
	}
	alive := false
	for i, r := range s.rings {
		if s.polled[i].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0 {
			s.trouble(r)
		}
		alive = alive || !r.dead || r.left > 0
	}
	return alive
}

// trouble looks at what happened to the interface of a ring. One that is down may come up again, and one that is gone come back.
func (s *Source) trouble(r *ring) {
	_, _ = unix.GetsockoptInt(r.fd, unix.SOL_SOCKET, unix.SO_ERROR) // which clears it
	s.look(s.clock())
	name := s.stats[r.tap].Interface
	if r.dead && !slices.ContainsFunc(s.errs, func(e error) bool { return e.(*GoneError).Interface == name }) {
		s.errs = append(s.errs, &GoneError{name})
	}
}

// end is what Next returns when no more is to come: what went wrong, once, and then io.EOF.
func (s *Source) end() error {
	if err := errors.Join(s.errs...); err != nil {
		s.errs = nil
		return err
	}
	return io.EOF
}

// Now returns the time up to which all frames were delivered: that of the newest one, or where none comes, some time ago. It must not be
// called while Next is.
func (s *Source) Now() int64 { return s.now }

// Taps returns the interfaces. Dropped counts what the kernel has lost.
func (s *Source) Taps() []fabricagent.Tap {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taps
}

// Stats returns the counters of each interface. It may be called from any goroutine.
func (s *Source) Stats() []Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.stats)
}

// Progress knows no end.
func (s *Source) Progress() (done, total int64) { return 0, 0 }

// Stop ends the capture: Next delivers no more. It may be called from any goroutine.
func (s *Source) Stop() {
	s.closed.Store(true)
	s.mu.Lock() // Close may be closing it
	defer s.mu.Unlock()
	_, _ = unix.Write(s.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
}

// Close closes the interfaces, once Next is not being called any more.
func (s *Source) Close() error {
	s.Stop()
	s.shut()
	return nil
}

func (s *Source) shut() {
	for _, r := range s.rings {
		r.close()
	}
	s.rings = nil
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wake >= 0 {
		_ = unix.Close(s.wake)
		s.wake = -1
	}
}
