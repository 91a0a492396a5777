package qp

import (
	"ibwitness/packet"
	"ibwitness/wqe"
)

// Ring holds the newest messages of a send queue in PSN order. It grows while more messages are outstanding than it holds;
// answered ones stay until they are overwritten, since a retransmission is held against them.
type Ring struct {
	buf        []wqe.SendWQE
	head, tail uint32 // messages head … tail-1; Invariant: tail-head <= len(buf)
}

const (
	ringMin = 4
	ringMax = 1 << 14
)

// Len is how many messages the ring holds.
func (r *Ring) Len() int { return int(r.tail - r.head) }

// At returns the i-th oldest message.
func (r *Ring) At(i int) *wqe.SendWQE {
	return &r.buf[(r.head+uint32(i))&uint32(len(r.buf)-1)]
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
	return &r.buf[(r.tail-1)&uint32(len(r.buf)-1)]
}

// touch reads from where the next message will be written, or from the newest one; see Pair.Touch.
func (r *Ring) touch(back uint32) uint64 {
	if len(r.buf) == 0 {
		return 0
	}
	return uint64(r.buf[(r.tail-back)&uint32(len(r.buf)-1)].First)
}

// Push appends a message. Those whose Last precedes una may be overwritten.
func (r *Ring) Push(una packet.PSN) *wqe.SendWQE {
	if r.Len() == len(r.buf) {
		if len(r.buf) > 0 && (r.done(una) || len(r.buf) >= ringMax) {
			r.head++
		} else {
			r.grow()
		}
	}
	w := &r.buf[r.tail&uint32(len(r.buf)-1)]
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
	buf := make([]wqe.SendWQE, max(ringMin, 2*len(r.buf)))
	n := r.Len()
	for i := range n {
		buf[i] = *r.At(i)
	}
	r.buf, r.head, r.tail = buf, 0, uint32(n)
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

// UpTo returns the index of the newest message that begins at or before psn, or -1. Most look-ups are for the newest
// messages, so it walks from there for a few steps before it bisects.
func (r *Ring) UpTo(psn packet.PSN) int {
	n := r.Len()
	lo, hi := 0, n
	for k := range min(n, 4) {
		if i := n - 1 - k; !r.At(i).First.After(psn) {
			return i
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

// History holds the newest request packets by PSN.
type History struct{ buf []Sent }

const (
	historyMin = 8
	historyMax = 1 << 12
)

// Put remembers a packet; outstanding is how many PSNs are not acknowledged, which the history grows to hold.
func (h *History) Put(psn packet.PSN, frame uint64, t packet.Trace, outstanding int) {
	if len(h.buf) < historyMax && (outstanding >= len(h.buf) || len(h.buf) == 0) {
		h.grow()
	}
	h.buf[uint32(psn)&uint32(len(h.buf)-1)] = Sent{PSN: psn | valid, Frame: uint32(frame), Trace: t}
}

// touch reads from where a packet will be put; see Pair.Touch.
func (h *History) touch(psn packet.PSN) uint64 {
	if len(h.buf) == 0 {
		return 0
	}
	return uint64(h.buf[uint32(psn)&uint32(len(h.buf)-1)].PSN)
}

// valid marks a used slot: PSN 0 is a PSN like any other.
const valid = 1 << 31

// Get returns what was sent with this PSN, or nil when it is no longer (or was never) known.
func (h *History) Get(psn packet.PSN) *Sent {
	if len(h.buf) == 0 {
		return nil
	}
	if s := &h.buf[uint32(psn)&uint32(len(h.buf)-1)]; s.PSN == psn|valid {
		return s
	}
	return nil
}

// Drop forgets what was sent with this PSN.
func (h *History) Drop(psn packet.PSN) {
	if s := h.Get(psn); s != nil {
		*s = Sent{}
	}
}

func (h *History) grow() {
	buf := make([]Sent, max(historyMin, 2*len(h.buf)))
	for _, s := range h.buf {
		if s.PSN&valid != 0 {
			buf[uint32(s.PSN)&uint32(len(buf)-1)] = s
		}
	}
	h.buf = buf
}

// Reset forgets everything.
func (h *History) Reset() { clear(h.buf) }
