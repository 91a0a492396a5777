package qp

import (
	"math"
	"unsafe"

	"ibwitness/packet"
	"ibwitness/wqe"
)

// Right is what an R_Key allows a peer to do.
type Right uint8

// The rights.
const (
	RightToRead Right = iota
	RightToWrite
	RightToAtomic
	numRights
)

// RightOf is the right that an operation with an R_Key needs.
func RightOf(o wqe.Op) Right {
	switch {
	case o == wqe.Read:
		return RightToRead
	case o.Atomic():
		return RightToAtomic
	}
	return RightToWrite
}

// String names the operations that need it.
func (r Right) String() string { return [...]string{"RDMA READs", "RDMA WRITEs", "atomics"}[r] }

// Accepted is which bytes were accepted with which R_Keys by messages that are no longer kept, of all connections: what a refusal is compared with. Each bucket of pairs of
// addresses has room for so many ranges, however many R_Keys there are: a newer one takes the place of the oldest. Ranges are written one after the other, as a cache likes
// it, and that of an R_Key which is used again when half of them are newer is written once more, so that R_Keys in use stay.
type Accepted struct {
	logs    [packet.Buckets]*acceptedLog // nil: the bucket has none
	waiting [acceptedAtOnce]leaving
	n       uint32 // how many wait to be noted
}

// leaving is a message that leaves a ring: a line of the cache.
type leaving struct {
	wqe.SendWQE
	ring   uintptr
	to     uint32 // the queue pair that its requests went to
	bucket uint8  // of the addresses between which they went
}

// acceptedAtOnce is how many messages wait until they are noted.
const acceptedAtOnce = 32

// acceptedLog is the ranges, and where to find them.
type acceptedLog struct {
	ranges [acceptedRanges]accepted
	n      uint32                // how many were written, modulo 2^32: number i is at i modulo the places
	hints  [acceptedHints]uint32 // by hash of the R_Key: low bits of the number of its newest range, whether that was used again, and other bits of the hash
}

const (
	acceptedRanges = 128 // a power of two
	acceptedHints  = 128

	hintUsed = 1 << 16 // below it are the bits of the number, above it those of the hash
)

// accepted is the range of one R_Key of a send queue.
type accepted struct {
	keyOf
	low, high uint64
	lowAt     uint32 // low bits of the frames that named the first byte, the last one, and the newest of all
	highAt    uint32
	newest    uint32
}

// keyOf is an R_Key and what it was used for.
type keyOf struct {
	ring uintptr // address of the ring of the send queue
	use  uint64  // the R_Key, above its 32 bits the queue pair that the requests go to, and above its 24 bits the right that they need; 0: there is none
}

// hash returns where the hint of an R_Key is, and its bits of the hash. It does not depend on where the ring lies in memory, which is another place in each run.
func (k *keyOf) hash() (at, hint uint32) {
	h := k.use * 0x9e3779b97f4a7c15
	return uint32(h >> 32 % acceptedHints), uint32(h>>32) &^ (2*hintUsed - 1)
}

// noted is what there is to note of the messages of an operation. Branches for that would be guessed wrong, as one operation follows another.
type noted struct {
	use    uint64   // the right that it needs, as in keyOf
	length uint32   // bits of Length that tell how many bytes it is of
	bytes  uint32   // of how many it is whatever Length says
	flags  wqe.Flag // a message without all of these is not noted
}

var notedOf = func() (t [8]noted) {
	for i := range t {
		o := wqe.Op(i)
		n := noted{flags: wqe.Whole | wqe.Ended, use: uint64(RightOf(o)) << 56, length: math.MaxUint32}
		if o.Responded() {
			n.flags |= wqe.Answered
		}
		if low, high := extent(&wqe.SendWQE{Op: o}); low < high { // whatever its length
			n.length, n.bytes = 0, uint32(high-low)
		}
		t[i] = n
	}
	return t
}()

// take takes message w of connection c, which leaves ring r acknowledged, when packet p of its direction comes, if it has an R_Key. There is no branch for that, which would be
// guessed wrong, as one operation follows another: what has none is written over by the next. It reports whether there is no room for one more until noteAll, which it leaves to
// others so that the compiler puts it where it is called.
func (a *Accepted) take(r *Ring, c *Pair, p *packet.Packet, w *wqe.SendWQE) (full bool) {
	x := &a.waiting[a.n%acceptedAtOnce]
	x.SendWQE, x.ring, x.to, x.bucket = *w, uintptr(unsafe.Pointer(r)), p.DestQP, c.Ends[0].bucket
	a.n += (w.RKey | -w.RKey) >> 31
	return a.n == acceptedAtOnce
}

// noteAll notes all messages that wait.
//
//go:noinline
func (a *Accepted) noteAll() {
	for i := range a.waiting[:a.n] {
		w := &a.waiting[i]
		l := &a.logs[w.bucket%packet.Buckets]
		if *l == nil {
			*l = new(acceptedLog)
		}
		(*l).note(w)
	}
	a.n = 0
}

// note notes a message with an R_Key.
func (l *acceptedLog) note(w *leaving) {
	o := &notedOf[w.Op&7]
	n := w.Length&o.length | o.bytes
	if w.Flags&o.flags != o.flags || n == 0 { // whoever needs no byte is asked for no R_Key
		return
	}
	low, high := w.VA, w.VA+uint64(n)
	k := keyOf{w.ring, o.use | uint64(w.to)<<32 | uint64(w.RKey)}
	at, hint := k.hash()
	h := l.hints[at]
	if h&^(2*hintUsed-1) == hint && l.extend(at, k, low, high, w.Frame) {
		return
	}
	if h&hintUsed == 0 || l.old(h) {
		l.hints[at] = hint | l.n%hintUsed
	}
	x := l.next()
	x.keyOf, x.low, x.high = k, low, high
	x.lowAt, x.highAt, x.newest = w.Frame, w.Frame, w.Frame
}

// old reports whether half of the ranges are newer than that of a hint.
func (l *acceptedLog) old(hint uint32) bool { return (l.n-hint)%hintUsed > acceptedRanges/2 }

// next returns the place of the next range.
func (l *acceptedLog) next() *accepted {
	x := &l.ranges[l.n%acceptedRanges]
	l.n++
	return x
}

// extend notes what a message adds to the range that a hint names, and reports whether that is the range of its R_Key.
func (l *acceptedLog) extend(at uint32, k keyOf, low, high uint64, frame uint32) bool {
	h := &l.hints[at]
	x := &l.ranges[*h%acceptedRanges]
	if x.keyOf != k {
		return false
	}
	x.newest = frame
	if low < x.low {
		x.low, x.lowAt = low, frame
	}
	if high > x.high {
		x.high, x.highAt = high, frame
	}
	if l.old(*h) {
		*h = *h&^(hintUsed-1) | l.n%hintUsed
		*l.next() = *x
	}
	*h |= hintUsed
	return true
}

// rangesOf returns the bytes that were accepted with each R_Key, by the right that they need, by the queue pair of connection c that sends NAK p, before what a ring keeps, which
// holds the requests to it. to is the number of that queue pair.
func (a *Accepted) rangesOf(r *Ring, c *Pair, to uint32, p *packet.Packet) map[uint32][numRights]AcceptedRange {
	a.noteAll()
	l := a.logs[c.Bucket()%packet.Buckets]
	if l == nil {
		return nil
	}
	all := map[uint32][numRights]AcceptedRange{}
	for i := range uint32(acceptedRanges) { // from the oldest on
		x := &l.ranges[(l.n+i)%acceptedRanges]
		if x.use == 0 || x.ring != uintptr(unsafe.Pointer(r)) || uint32(x.use>>32)&0xFFFFFF != to {
			continue
		}
		at := func(frame uint32) uint64 { return packet.FrameNear(p.Frame, frame) }
		key := uint32(x.use)
		ranges := all[key]
		ranges[x.use>>56].join(AcceptedRange{x.low, x.high, at(x.lowAt), at(x.highAt), at(x.newest)})
		all[key] = ranges
	}
	return all
}

// newestWith returns the bytes that were accepted with the R_Key of request w, for the right that it needs, between addresses of the bucket of connection c, by the queue pair that accepted the
// newest such; NAK p refuses w. It is asked for where none are known of the connection itself: whether they were over by then frames tell, and not rings, which are used for several connections.
func (a *Accepted) newestWith(c *Pair, w *wqe.SendWQE, p *packet.Packet) (e *EarlierRange) {
	l := a.logs[c.Bucket()%packet.Buckets]
	if l == nil {
		return e
	}
	use := uint64(RightOf(w.Op))<<56 | uint64(w.RKey)
	for i := range uint32(acceptedRanges) { // from the oldest on
		x := &l.ranges[(l.n+i)%acceptedRanges]
		if x.use&^(0xFFFFFF<<32) != use {
			continue
		}
		at := func(frame uint32) uint64 { return packet.FrameNear(p.Frame, frame) }
		if qpn := uint32(x.use>>32) & 0xFFFFFF; e == nil || qpn != e.QPN {
			e = &EarlierRange{QPN: qpn}
		}
		e.join(AcceptedRange{x.low, x.high, at(x.lowAt), at(x.highAt), at(x.newest)})
	}
	return e
}
