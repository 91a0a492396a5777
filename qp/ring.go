package qp

import (
	"unsafe"

	"ibwitness/packet"
	"ibwitness/wqe"
)

// Ring holds the newest messages of a send queue in PSN order. It grows while more messages are outstanding than it holds;
// the newest few answered ones stay until they are overwritten, since a retransmission is compared with them. It is a quarter of a line of the cache, and
// has room for as many messages as it had to hold at a time: very many queue pairs send very few. Numbers of messages only ever grow, modulo 2^16.
type Ring struct {
	first      *wqe.SendWQE // of size places, the first; nil: there is none yet
	head, tail uint16       // messages head … tail-1; Invariant: tail-head <= size
	due        uint16       // number of the message that is answered next, if those are answered one by one, plus one; 0: not known
	size       uint16       // a power of two, or 0
}

const (
	ringFirst = 2
	ringMin   = 4 // messages that are kept before an answered one makes room
	ringMax   = 1 << 14
)

func (r *Ring) slots() []wqe.SendWQE { return unsafe.Slice(r.first, r.size) }

// Len is how many messages the ring holds.
func (r *Ring) Len() int { return int(r.tail - r.head) }

// slot returns the place of message i, of a ring that has places.
func (r *Ring) slot(i uint16) *wqe.SendWQE {
	return (*wqe.SendWQE)(unsafe.Add(unsafe.Pointer(r.first), uintptr(i&(r.size-1))*unsafe.Sizeof(wqe.SendWQE{})))
}

// At returns the i-th oldest message.
func (r *Ring) At(i int) *wqe.SendWQE {
	return r.slot(r.head + uint16(i))
}

// Oldest returns the oldest message that is kept, or nil.
func (r *Ring) Oldest() *wqe.SendWQE {
	if r.tail == r.head {
		return nil
	}
	return r.At(0)
}

// Newest returns the newest message, or nil.
func (r *Ring) Newest() *wqe.SendWQE {
	if r.tail == r.head {
		return nil
	}
	return r.slot(r.tail - 1)
}

// Push appends a message. Those whose Last precedes una may be overwritten.
func (r *Ring) Push(una packet.PSN) *wqe.SendWQE {
	if n := int(r.size); r.Len() == n {
		if n >= ringMin && r.done(una) || n >= ringMax {
			r.head++
		} else {
			r.grow()
		}
	}
	w := r.slot(r.tail)
	r.tail++
	*w = wqe.SendWQE{}
	return w
}

// done reports whether the oldest message is acknowledged to its end. One that is cut by a gap may go on before una.
func (r *Ring) done(una packet.PSN) bool {
	w := r.At(0)
	return w.Last.Before(una) && (w.Has(wqe.Ended) || r.Len() > 1 && r.At(1).Last.Before(una))
}

func (r *Ring) grow() {
	more := make([]wqe.SendWQE, max(2*int(r.size), ringFirst))
	n := r.Len()
	for i := range n {
		more[i] = *r.At(i)
	}
	r.first, r.size, r.head, r.tail, r.due = &more[0], uint16(len(more)), 0, uint16(n), 0
}

// Find returns the message that psn belongs to, and its index, or nil.
func (r *Ring) Find(psn packet.PSN) (*wqe.SendWQE, int) {
	i := r.UpTo(psn)
	if i < 0 {
		return nil, -1
	}
	if w := r.At(i); psn.In(w.First, w.Last) {
		return w, i
	}
	return nil, -1
}

// Due returns the message that psn belongs to, and its place, or nil. It looks first where the newest answer makes it likely.
func (r *Ring) Due(psn packet.PSN) (*wqe.SendWQE, uint16) {
	if at := r.due - 1; at-r.head < r.tail-r.head {
		if w := r.slot(at); psn.In(w.First, w.Last) {
			return w, at
		}
	}
	w, i := r.Find(psn)
	return w, r.head + uint16(i)
}

// IsDue reports whether the message before the one at a place is the newest that was Answered.
func (r *Ring) IsDue(at uint16) bool { return r.due != 0 && r.due == at+1 }

// Answered notes that the message at a place, and all before it, have been acknowledged to the end.
func (r *Ring) Answered(at uint16) { r.due = at + 2 }

// Unanswered forgets which message was Answered last.
func (r *Ring) Unanswered() { r.due = 0 }

// Before returns the message before the one at a place, and goes there; nil: there is none.
func (r *Ring) Before(at *uint16) *wqe.SendWQE {
	if *at == r.head {
		return nil
	}
	*at--
	return r.slot(*at)
}

// UpTo returns the index of the newest message that begins at or before psn, or -1. Most look-ups are for the newest
// messages, so it walks from there for a few steps before it bisects.
func (r *Ring) UpTo(psn packet.PSN) int {
	n, s := r.Len(), r.slots()
	mask := r.size - 1
	lo, hi := 0, n
	for k := range min(n, 4) {
		if w := &s[(r.tail-1-uint16(k))&mask]; !w.First.After(psn) {
			return n - 1 - k
		}
		hi = n - 1 - k
	}
	for lo < hi {
		mid := (lo + hi) / 2
		if r.At(mid).First.After(psn) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo - 1
}

// Truncate drops the messages that begin at or after psn, and cuts one that spans it. It returns the number of the oldest dropped.
func (r *Ring) Truncate(psn packet.PSN) (ordinal uint32, dropped bool) {
	for r.Len() > 0 {
		w := r.Newest()
		if w.First.Before(psn) {
			if !w.Last.Before(psn) {
				w.Last = psn.Add(-1)
				w.Flags &^= wqe.Ended
			}
			return ordinal, dropped
		}
		ordinal, dropped = w.Ordinal, true
		r.tail--
	}
	return ordinal, dropped
}

// Reset drops everything.
func (r *Ring) Reset() { r.head, r.tail = 0, 0 }

// Sent is what is kept of one request packet: enough to tell whether a later one with its PSN is the same.
type Sent struct {
	PSN   packet.PSN
	Frame uint32
	Trace packet.Trace
}

// History holds the newest request packets by PSN. Like a Ring it has room for as many as it had to hold.
type History struct {
	first *Sent  // of size places, the first; nil: there is none yet
	size  uint16 // a power of two, or 0
}

const (
	historyFirst = 4
	historyMin   = 8 // PSNs that are kept before an acknowledged one makes room
	historyMax   = 1 << 12
)

func (h *History) slots() []Sent { return unsafe.Slice(h.first, h.size) }

// slot returns the place of a PSN, of a history that has places.
func (h *History) slot(psn packet.PSN) *Sent {
	return (*Sent)(unsafe.Add(unsafe.Pointer(h.first), uintptr(uint16(psn)&(h.size-1))*unsafe.Sizeof(Sent{})))
}

// Put remembers a packet; outstanding is how many PSNs are not acknowledged, which the history grows to hold.
func (h *History) Put(psn packet.PSN, frame uint64, t packet.Trace, outstanding int) {
	*h.Place(psn, outstanding) = Sent{PSN: psn | Valid, Frame: uint32(frame), Trace: t}
}

// Place returns where a packet is to be remembered, all fields of which the caller sets.
func (h *History) Place(psn packet.PSN, outstanding int) *Sent {
	if n := int(h.size); outstanding >= n && n < historyMax || n < historyMin && h.taken(psn) {
		h.grow(outstanding)
	}
	return h.slot(psn)
}

// taken reports whether the place of a PSN has another one.
func (h *History) taken(psn packet.PSN) bool {
	if h.size == 0 {
		return true
	}
	s := h.slot(psn)
	return s.PSN&Valid != 0 && s.PSN != psn|Valid
}

// Valid marks a used slot: PSN 0 is a PSN like any other.
const Valid = 1 << 31

// Get returns what was sent with this PSN, or nil when it is no longer (or was never) known.
func (h *History) Get(psn packet.PSN) *Sent {
	if h.size == 0 {
		return nil
	}
	if s := h.slot(psn); s.PSN == psn|Valid {
		return s
	}
	return nil
}

// First returns the first PSN of a range, the ends included, that is known, and whether there is one.
func (h *History) First(from, to packet.PSN) (psn packet.PSN, known bool) {
	s := h.slots()
	if n := to.Diff(from) + 1; n <= len(s) {
		for i := range n {
			if at := from.Add(i); h.Get(at) != nil {
				return at, true
			}
		}
		return 0, false
	}
	for i := range s { // a READ may take half of all PSNs
		if at := s[i].PSN &^ Valid; s[i].PSN&Valid != 0 && at.In(from, to) && (!known || at.Before(psn)) {
			psn, known = at, true
		}
	}
	return psn, known
}

// Drop forgets what was sent with this PSN.
func (h *History) Drop(psn packet.PSN) {
	if s := h.Get(psn); s != nil {
		*s = Sent{}
	}
}

// grow doubles the places, or makes as many as outstanding PSNs need of those that few queue pairs use.
func (h *History) grow(outstanding int) {
	old := h.slots()
	n := max(2*len(old), historyFirst)
	if outstanding >= historyMin {
		n = max(n, 2*historyMin)
	} else if outstanding >= n {
		n = historyMin
	}
	more := make([]Sent, n)
	for _, s := range old {
		if s.PSN&Valid != 0 {
			more[uint32(s.PSN)&uint32(len(more)-1)] = s
		}
	}
	h.first, h.size = &more[0], uint16(n)
}

// Reset forgets everything.
func (h *History) Reset() { clear(h.slots()) }
