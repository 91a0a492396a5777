package realtime

import (
	"container/heap"
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"ibwitness/hcaagent/remote"
	"ibwitness/hcaagent/soft"
	"ibwitness/qp"
)

// Adapter is an adapter in software that runs by the clock on the wall. It is safe for concurrent use.
type Adapter struct {
	hca  *soft.HCA
	info remote.Info

	calls  chan func()
	frames chan []byte
	stop   chan struct{}
	once   sync.Once
	done   sync.WaitGroup
	clock  clock
	leave  func() error
}

var _ remote.Device = (*Adapter)(nil)

// errClosed is what verbs answer after Close.
var errClosed = errors.New("realtime: the adapter was closed")

// New starts an adapter. Its Clock is set; its Send, Event, Notify and Strayed are called in the goroutine of the adapter, and must not call it. Close ends it and then calls
// leave, where that is not nil.
func New(opt soft.Options, info remote.Info, leave func() error) (*Adapter, error) {
	a := &Adapter{info: info, leave: leave, calls: make(chan func()), frames: make(chan []byte, 256), stop: make(chan struct{})}
	opt.Clock = &a.clock
	hca, err := soft.New(opt)
	if err != nil {
		return nil, err
	}
	a.hca = hca
	a.done.Go(a.run)
	return a, nil
}

// Receive hands over a frame that arrives, which is the adapter's to keep. Where too many wait the frame is lost, which it reports.
func (a *Adapter) Receive(frame []byte) bool {
	select {
	case a.frames <- frame:
		return true
	default:
		return false
	}
}

// Limits are the attributes of the device that bound those of its queue pairs.
func (a *Adapter) Limits() qp.Limits { return a.hca.Limits() }

// Info describes the adapter.
func (a *Adapter) Info() remote.Info { return a.info }

// Close ends the adapter.
func (a *Adapter) Close() error {
	var err error
	a.once.Do(func() {
		close(a.stop)
		a.done.Wait()
		if a.leave != nil {
			err = a.leave()
		}
	})
	return err
}

// near is the time for which the adapter does not sleep: the runtime's timers are late by up to a millisecond.
const near = 200 * time.Microsecond

// run is the goroutine of the adapter.
func (a *Adapter) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait := a.clock.run()
		if wait <= near {
			select {
			case f := <-a.calls:
				f()
			case f := <-a.frames:
				a.hca.Receive(f)
			case <-a.stop:
				return
			default:
				runtime.Gosched()
			}
			continue
		}
		timer.Reset(wait)
		select {
		case f := <-a.calls:
			f()
		case f := <-a.frames:
			a.hca.Receive(f)
		case <-a.stop:
			return
		case <-timer.C:
		}
	}
}

// do has the goroutine of the adapter call f.
func (a *Adapter) do(ctx context.Context, f func()) error {
	done := make(chan struct{})
	select {
	case a.calls <- func() { f(); close(done) }:
		<-done
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-a.stop:
		return errClosed
	}
}

// clock is the clock on the wall, with what is to be called.
type clock struct{ alarms alarms }

// Now returns nanoseconds since the Unix epoch.
func (c *clock) Now() int64 { return time.Now().UnixNano() }

// After has f called when d nanoseconds have passed.
func (c *clock) After(d int64, f func()) {
	c.alarms.count++
	heap.Push(&c.alarms, alarm{c.Now() + d, c.alarms.count, f})
}

// atOnce is how many alarms are called before the adapter looks for anything else to do.
const atOnce = 64

// run calls what is due, and returns how long it is until something is.
func (c *clock) run() time.Duration {
	for range atOnce {
		if len(c.alarms.list) == 0 {
			return time.Hour
		}
		if d := c.alarms.list[0].at - c.Now(); d > 0 {
			return time.Duration(d)
		}
		heap.Pop(&c.alarms).(alarm).f()
	}
	return 0
}

// alarm is a call that is to be made.
type alarm struct {
	at    int64
	order uint64 // of those of the same time
	f     func()
}

// alarms are a heap of them, the earliest first.
type alarms struct {
	list  []alarm
	count uint64
}

func (a *alarms) Len() int { return len(a.list) }
func (a *alarms) Less(i, j int) bool {
	x, y := &a.list[i], &a.list[j]
	return x.at < y.at || x.at == y.at && x.order < y.order
}
func (a *alarms) Swap(i, j int) { a.list[i], a.list[j] = a.list[j], a.list[i] }
func (a *alarms) Push(x any)    { a.list = append(a.list, x.(alarm)) }
func (a *alarms) Pop() any {
	last := len(a.list) - 1
	x := a.list[last]
	a.list[last] = alarm{}
	a.list = a.list[:last]
	return x
}
