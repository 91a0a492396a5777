package fabricagent

import (
	"sync"
	"sync/atomic"
)

// BatchSize is how many frames a full batch holds. Batches do not depend on the number of workers.
const BatchSize = 256

// Batch is a run of frames that share buffers. Every batch of a Source but the last holds BatchSize frames.
type Batch struct {
	Frames []Frame
	free   func()
}

// NewBatch returns a batch of a source outside this package. free, where not nil, is called when it is released.
func NewBatch(frames []Frame, free func()) Batch { return Batch{Frames: frames, free: free} }

// Release gives the buffers of the batch back, from any goroutine and in any order. Neither the batch nor its frames
// may be used afterwards.
func (b *Batch) Release() {
	if b.free != nil {
		b.free()
	}
}

// held is a buffer that several owners share; the last to let go gives it back to its pool.
type held interface {
	retain()
	release()
}

// lot is a batch with what it holds on to: the blocks that its frames are slices of, or, in a merged batch, the lots
// that they were taken from.
type lot struct {
	Batch
	space [BatchSize]Frame
	holds []held
	block *block // the last one held
	refs  atomic.Int32
	live  atomic.Bool
}

var lots sync.Pool // no New: its function would refer to lots

func newLot() *lot {
	l, _ := lots.Get().(*lot)
	if l == nil {
		l = new(lot)
		l.free = func() {
			// A second Release of the same batch is a mistake that must not free somebody else's buffers.
			if l.live.CompareAndSwap(true, false) {
				l.release()
			}
		}
	}
	l.Frames = l.space[:0]
	l.refs.Store(1)
	l.live.Store(true)
	return l
}

func (l *lot) retain() { l.refs.Add(1) }

func (l *lot) release() {
	if l.refs.Add(-1) != 0 {
		return
	}
	for _, h := range l.holds {
		h.release()
	}
	l.holds = l.holds[:0]
	l.block = nil
	lots.Put(l)
}

// hold keeps h alive until the lot is released.
func (l *lot) hold(h held) {
	h.retain()
	l.holds = append(l.holds, h)
}

// holdBlock is hold for a block that may be held already.
func (l *lot) holdBlock(b *block) {
	if l.block != b {
		l.block = b
		l.hold(b)
	}
}

// add returns the next frame to fill in, a slice of block b. The lot must not be full.
func (l *lot) add(b *block) *Frame {
	l.holdBlock(b)
	n := len(l.Frames)
	l.Frames = l.Frames[:n+1]
	return &l.Frames[n]
}
