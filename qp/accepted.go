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
// ranges, however many R_Keys there are: a newer one takes the place of the one of its set that was noted longest ago.
type Accepted struct {
	sets *[acceptedSets]acceptedSet // nil: there are none
}

const acceptedSets = 512

// acceptedSet is the places in which a range may be.
type acceptedSet [4]accepted

// accepted is the range of one R_Key of a send queue.
type accepted struct {
	owner     uintptr // ring of its send queue, and right that the messages needed; 0: the place is free
	low, high uint64
	rkey      uint32
	lowAt     uint32 // low bits of the frames that named the first byte, the last one, and the newest of all
	highAt    uint32
	newest    uint32
}

// ownerOf is the owner of ranges of a ring for a right, which the low bits of its address have room for.
func ownerOf(r *Ring, right Right) uintptr { return uintptr(unsafe.Pointer(r)) | uintptr(right) }

// queue is the address of the ring that a range is of.
func (x *accepted) queue() uintptr { return x.owner &^ uintptr(numRights) }

// set returns where the ranges of an R_Key for a right are, in requests to a queue pair.
func (a *Accepted) set(to, key uint32, right Right) *acceptedSet {
	const spread = 0x9e3779b97f4a7c15
	return &a.sets[(uint64(to)<<34^uint64(key)<<2^uint64(right))*spread>>40%acceptedSets]
}

// of returns the range of an R_Key, which is not 0; nil: there is none.
func (s *acceptedSet) of(owner uintptr, key uint32) *accepted {
	for k := range s {
		if x := &s[k]; x.rkey == key && x.owner == owner {
			return x
		}
	}
	return nil
}

// oldest returns the place for a new range: that of the range which was noted longest ago. A free one is as if it had been noted in frame 0.
func (s *acceptedSet) oldest() *accepted {
	x := &s[0]
	for k := 1; k < len(s); k++ {
		if y := &s[k]; int32(y.newest-x.newest) < 0 {
			x = y
		}
	}
	return x
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
	if a.sets == nil {
		a.sets = new([acceptedSets]acceptedSet)
	}
	right := RightOf(w.Op)
	owner, set := ownerOf(r, right), a.set(to, w.RKey, right)
	x := set.of(owner, w.RKey)
	if x == nil {
		*set.oldest() = accepted{owner, low, high, w.RKey, w.Frame, w.Frame, w.Frame}
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
	if a.sets == nil || key == 0 {
		return list
	}
	for right := range numRights {
		if x := a.set(to, key, right).of(ownerOf(r, right), key); x != nil {
			at := func(frame uint32) uint64 { return packet.FrameNear(near, frame) }
			list[right] = AcceptedRange{x.low, x.high, at(x.lowAt), at(x.highAt), at(x.newest)}
		}
	}
	return list
}

// used returns the frame of the newest message of a ring that was accepted for a right, with any R_Key; 0: none is known.
func (a *Accepted) used(r *Ring, right Right, near uint64) (frame uint64) {
	owner := ownerOf(r, right)
	a.each(func(x *accepted) {
		if x.owner == owner {
			frame = max(frame, packet.FrameNear(near, x.newest))
		}
	})
	return frame
}

// ownKeys counts the R_Keys with which messages of a ring were accepted; several says that more than one message was with one of them.
func (a *Accepted) ownKeys(r *Ring) (n uint32, several bool) {
	queue := ownerOf(r, 0)
	a.each(func(x *accepted) {
		if x.queue() == queue {
			n++
			several = several || x.lowAt != x.newest || x.highAt != x.newest
		}
	})
	return n, several
}

// each calls a function for every range that there is.
func (a *Accepted) each(f func(x *accepted)) {
	if a.sets == nil {
		return
	}
	for i := range a.sets {
		for k := range a.sets[i] {
			if x := &a.sets[i][k]; x.owner != 0 {
				f(x)
			}
		}
	}
}
