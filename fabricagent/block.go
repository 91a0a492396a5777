package fabricagent

import (
	"io"
	"sync"
	"sync/atomic"
)

const (
	// blockSize is the usual size of a buffer. It is still in the core's cache when its frames are parsed: with 1 MiB, a
	// 105-byte frame takes a quarter longer. Beside many other files, each gets the smaller one. Frames that exceed a block
	// take the larger one.
	blockSize      = 256 << 10
	smallBlockSize = 64 << 10
	largeBlockSize = 1 << 20
	// minRead is the least room that a read is given, lest the end of a block cost many small reads.
	minRead = 4 << 10
)

// block is a buffer that batches share: frames are slices of it.
type block struct {
	buf  []byte
	refs atomic.Int32
}

var (
	blocks      = sync.Pool{New: func() any { return &block{buf: make([]byte, blockSize)} }}
	smallBlocks = sync.Pool{New: func() any { return &block{buf: make([]byte, smallBlockSize)} }}
	largeBlocks = sync.Pool{New: func() any { return &block{buf: make([]byte, largeBlockSize)} }}
)

// newBlock returns a block of at least n bytes, held by the caller.
func newBlock(n int) *block {
	var b *block
	switch {
	case n <= smallBlockSize:
		b = smallBlocks.Get().(*block)
	case n <= blockSize:
		b = blocks.Get().(*block)
	case n <= largeBlockSize:
		b = largeBlocks.Get().(*block)
	default:
		b = &block{buf: make([]byte, n)}
	}
	b.refs.Store(1)
	return b
}

func (b *block) retain() { b.refs.Add(1) }

func (b *block) release() {
	if b.refs.Add(-1) != 0 {
		return
	}
	switch len(b.buf) {
	case smallBlockSize:
		smallBlocks.Put(b)
	case blockSize:
		blocks.Put(b)
	case largeBlockSize:
		largeBlocks.Put(b)
	}
}

// stream reads an input into blocks. What was read and not yet consumed is buf[r:w], always in one block.
type stream struct {
	src   io.Reader
	blk   *block
	buf   []byte // blk.buf
	r, w  int
	base  int64 // offset in the input of buf[0]
	chunk int   // the size of the blocks
	err   error // of the last read; io.EOF at the end
}

func newStream(src io.Reader, size int) *stream {
	b := newBlock(size)
	return &stream{src: src, blk: b, buf: b.buf, chunk: size}
}

// offset is how many bytes were consumed.
func (s *stream) offset() int64 { return s.base + int64(s.r) }

// need reads until n unconsumed bytes are in one block. It is false where the input ends before; s.err says why. The
// block may have changed after it: slices taken before are those of the old block.
func (s *stream) need(n int) bool {
	for idle := 0; s.w-s.r < n; {
		if s.err != nil {
			return false
		}
		// Where n exceeds the block itself, it is first filled: turn lets it grow only then.
		if s.r > 0 && s.r+n > len(s.buf) || len(s.buf)-s.w < minRead {
			s.turn(n)
		}
		m, err := s.src.Read(s.buf[s.w:])
		s.w += m
		s.err = err
		if m > 0 {
			idle = 0
		} else if idle++; idle > 100 && err == nil {
			s.err = io.ErrNoProgress
		}
	}
	return true
}

// turn moves what is not yet consumed to the start of a block with room for n bytes. Where n is a claim of the input
// that exceeds a block, room grows only as fast as bytes arrive.
func (s *stream) turn(n int) {
	size := max(s.chunk, min(n, 2*(s.w-s.r))+minRead)
	b := s.blk
	if b.refs.Load() != 1 || len(b.buf) < size {
		b = newBlock(size)
	}
	s.w = copy(b.buf, s.buf[s.r:s.w])
	s.base += int64(s.r)
	s.r = 0
	if b != s.blk {
		s.blk.release()
		s.blk, s.buf = b, b.buf
	}
}

// skip consumes n bytes without keeping them. It is false where the input ends before.
func (s *stream) skip(n int) bool {
	for {
		have := min(n, s.w-s.r)
		s.r += have
		if n -= have; n == 0 {
			return true
		}
		if !s.need(1) {
			return false
		}
	}
}

// Read makes the stream the input of a decompressor.
func (s *stream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if !s.need(1) {
		return 0, s.err
	}
	n := copy(p, s.buf[s.r:s.w])
	s.r += n
	return n, nil
}

// ReadByte spares the decompressor a buffer of its own.
func (s *stream) ReadByte() (byte, error) {
	if s.r == s.w && !s.need(1) {
		return 0, s.err
	}
	s.r++
	return s.buf[s.r-1], nil
}

// close gives the block back. The stream must not be read afterwards.
func (s *stream) close() {
	if s.blk != nil {
		s.blk.release()
		s.blk, s.buf = nil, nil
	}
	s.r, s.w = 0, 0
	s.err = io.ErrClosedPipe
}
