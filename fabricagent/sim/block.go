package sim

import "sync/atomic"

// block is room for frames of one port, one after the other. It is used again once none of its frames is on its way and no batch of a Recorder has one.
type block struct {
	bytes   []byte
	used    int          // bytes
	flights int          // on their way, and one while the port adds frames
	batches atomic.Int32 // that have a frame of it; they are released in other goroutines
	kept    bool         // somebody keeps a frame: it is not used again
}

const (
	// blockSize is how many bytes of frames a block has.
	blockSize = 64 << 10
	// mostFrame is the longest frame that a block is for.
	mostFrame = blockSize / 8
)

// blocks are those of one port.
type blocks struct {
	open *block   // that frames are added to
	full []*block // oldest first
}

// room returns room for a frame of at most so many bytes, or nil where that is too long. It is the same until a frame in it is sent.
func (b *blocks) room(size int) []byte {
	if size > mostFrame {
		return nil
	}
	if b.open == nil || size > len(b.open.bytes)-b.open.used {
		b.next()
	}
	at := b.open.used
	return b.open.bytes[at : at : at+size]
}

// next has another block take frames: the oldest one, if nobody has a frame of it, or a new one.
func (b *blocks) next() {
	if x := b.open; x != nil {
		if x.flights--; !x.kept {
			b.full = append(b.full, x)
		}
	}
	b.open = nil
	if len(b.full) > 0 {
		oldest := b.full[0]
		b.full = b.full[:copy(b.full, b.full[1:])]
		switch {
		case oldest.kept:
		case oldest.flights == 0 && oldest.batches.Load() == 0:
			oldest.used = 0
			b.open = oldest
		default: // one that is held for long does not keep the others
			b.full = append(b.full, oldest)
		}
	}
	if b.open == nil {
		b.open = &block{bytes: make([]byte, blockSize)}
	}
	b.open.flights = 1
}

// take returns the block that a frame is in, if it is the one that room was returned for last.
func (b *blocks) take(frame []byte) *block {
	x := b.open
	if x == nil || len(frame) == 0 || x.used+len(frame) > len(x.bytes) || &x.bytes[x.used] != &frame[0] {
		return nil
	}
	x.used += (len(frame) + 7) &^ 7
	return x
}
