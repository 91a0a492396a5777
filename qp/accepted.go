package qp

import (
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

// Accepted is which bytes were accepted with which R_Keys by messages that are no longer kept, of all connections: what a refusal is compared with. It has room for so many
// ranges, however many R_Keys there are: a newer one takes the place of the one of those near it that was noted longest ago.
type Accepted struct {
	ranges *[acceptedRanges]accepted // nil: there are none
}

const (
	acceptedRanges = 2048
	acceptedNear   = 8 // places in which a range may be
)

// accepted is the range of one R_Key of a send queue.
type accepted struct {
	queue     uintptr // address of its ring; 0: the place is free
	low, high uint64
	rkey      uint32
	lowAt     uint32 // low bits of the frames that named the first byte, the last one, and the newest of all
	highAt    uint32
	newest    uint32
	right     Right
}

// of returns the range of an R_Key for a right, of a ring whose requests go to queue pair to, and where it is to be if there is none.
func (a *Accepted) of(r *Ring, to, key uint32, right Right) (x, free *accepted) {
	const spread = 0x9e3779b97f4a7c15
	queue := uintptr(unsafe.Pointer(r))
	first := (uint64(to)<<34 ^ uint64(key)<<2 ^ uint64(right)) * spread >> 40
	for k := range uint64(acceptedNear) {
		x := &a.ranges[(first+k)%acceptedRanges]
		switch {
		case x.queue == queue && x.rkey == key && x.right == right:
			return x, nil
		case x.queue == 0:
			return nil, x
		case free == nil || int32(x.newest-free.newest) < 0:
			free = x
		}
	}
	return nil, free
}

// note notes message w of a ring, which is acknowledged, and whose requests go to queue pair to.
func (a *Accepted) note(r *Ring, to uint32, w *wqe.SendWQE) {
	if w.RKey == 0 || !w.Has(wqe.Whole|wqe.Ended) || w.Op.Responded() && !w.Has(wqe.Answered) {
		return
	}
	low, high := extent(w)
	if low == high {
		return // whoever needs no byte is asked for no R_Key
	}
	if a.ranges == nil {
		a.ranges = new([acceptedRanges]accepted)
	}
	right := RightOf(w.Op)
	x, free := a.of(r, to, w.RKey, right)
	if x == nil {
		*free = accepted{uintptr(unsafe.Pointer(r)), low, high, w.RKey, w.Frame, w.Frame, w.Frame, right}
		return
	}
	x.newest = w.Frame
	if low < x.low {
		x.low, x.lowAt = low, w.Frame
	}
	if high > x.high {
		x.high, x.highAt = high, w.Frame
	}
}

// before returns the bytes that were accepted with an R_Key before what a ring keeps, by the right that they need. near is a frame near which they were.
func (a *Accepted) before(r *Ring, to, key uint32, near uint64) (list [numRights]AcceptedRange) {
	if a.ranges == nil {
		return list
	}
	for right := range numRights {
		if x, _ := a.of(r, to, key, right); x != nil {
			at := func(frame uint32) uint64 { return packet.FrameNear(near, frame) }
			list[right] = AcceptedRange{x.low, x.high, at(x.lowAt), at(x.highAt), at(x.newest)}
		}
	}
	return list
}

// used returns the frame of the newest message of a ring that was accepted for a right, with any R_Key; 0: none is known.
func (a *Accepted) used(r *Ring, right Right, near uint64) (frame uint64) {
	if a.ranges == nil {
		return 0
	}
	queue := uintptr(unsafe.Pointer(r))
	for i := range a.ranges {
		if x := &a.ranges[i]; x.queue == queue && x.right == right {
			frame = max(frame, packet.FrameNear(near, x.newest))
		}
	}
	return frame
}

// ownKeys counts the R_Keys with which messages of a ring were accepted; several says that more than one message was with one of them.
func (a *Accepted) ownKeys(r *Ring) (n uint32, several bool) {
	if a.ranges == nil {
		return 0, false
	}
	queue := uintptr(unsafe.Pointer(r))
	for i := range a.ranges {
		if x := &a.ranges[i]; x.queue == queue {
			n++
			several = several || x.lowAt != x.newest || x.highAt != x.newest
		}
	}
	return n, several
}
