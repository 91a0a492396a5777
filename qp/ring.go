package qp

import (
	"unsafe"

	"ibwitness/packet"
	"ibwitness/wqe"
)

// Ring holds the newest messages of a send queue in PSN order. It grows while more messages are outstanding than it holds;
// the newest few answered ones stay until they are overwritten, since a retransmission is compared with them. Beside them are the newest request packets, its History: very many
// queue pairs send very few, so that both are in one block of memory, which has room for as many as it had to hold at a time. A message and, after it, one packet
// fill a line of the cache; where there are more packets than messages, the others follow. The first block has two lines. Most queue pairs need four and the packets after
// them, which are a second block then, beside the first: that way nothing is left for the collector of garbage, which many connections would leave it much of.
type Ring struct {
	blocks     [2]unsafe.Pointer // the first two lines and the others, which may be of one block; nil: there are none yet
	head, tail uint16            // messages head … tail-1, whose numbers only ever grow, modulo 2^16. Invariant: tail-head <= places
	due        uint16            // number of the message that is answered next, if those are answered one by one, plus one; 0: not known
	messages   uint16            // how many places there are for messages, a power of two, less one; 0: none
	packets    packets
}

const (
	ringFirst = 2
	ringMin   = 4 // messages that are kept before an answered one makes room
	ringMax   = 1 << 14

	line = unsafe.Sizeof(ringLine{})
)

// ringLine is a line of the cache: a message and a packet.
type ringLine struct {
	message wqe.SendWQE
	packet  sent
}

// places is how many a mask has.
func places(mask uint16) int { return int(mask) + int(mask&1) }

// slot returns the place of message i, of a ring that has places.
func (r *Ring) slot(i uint16) *wqe.SendWQE {
	i &= r.messages
	block := beyond(i)
	return (*wqe.SendWQE)(unsafe.Add(r.blocks[block], (uintptr(i)-block*ringFirst)*line))
}

// beyond is 1 for what has its place after the first two lines, and 0 for the others.
func beyond(i uint16) (block uintptr) {
	if i >= ringFirst {
		block = 1
	}
	return block
}

// Len is how many messages the ring holds.
func (r *Ring) Len() int { return int(r.tail - r.head) }

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

// Push appends the message that packet p of connection c begins. Those whose Last precedes una may be overwritten: a takes of them what is to be kept.
func (r *Ring) Push(una packet.PSN, c *Pair, p *packet.Packet, a *Accepted) *wqe.SendWQE {
	if n := places(r.messages); r.Len() == n {
		oldest := r.slot(r.head)
		switch {
		case n >= ringMin && oldest.Last.Before(una) && (oldest.Has(wqe.Ended) || r.passed(una)):
			if a.take(r, c, p, oldest) {
				a.noteAll()
			}
			r.head++
		case n >= ringMax:
			r.head++
		default:
			r.grow(max(2*n, ringFirst), r.packets.places(), r.packets.form() == manyForms)
		}
	}
	w := r.slot(r.tail)
	r.tail++
	*w = wqe.SendWQE{}
	return w
}

// passed reports whether the message after the oldest one, which is cut by a gap and may go on before una, is acknowledged.
func (r *Ring) passed(una packet.PSN) bool { return r.Len() > 1 && r.At(1).Last.Before(una) }

// grow makes so many places. One that has outgrown the first block gets all that most need.
func (r *Ring) grow(messages, history int, forms bool) {
	old := *r
	if r.blocks[0] == nil {
		messages, history = max(messages, ringFirst), max(history, ringFirst)
	} else {
		messages, history = max(messages, ringMin), max(history, historyMin)
	}
	r.messages, r.packets = uint16(messages-1), packetsOf(history, old.packets.form())
	if old.blocks[1] == nil && messages == ringMin && history == historyMin && !forms && old.blocks[0] != nil && old.packets.form() != manyForms {
		r.extend(&old)
		return
	}
	size := uintptr(messages)*line + uintptr(max(history-messages, 0))*unsafe.Sizeof(sent{})
	if forms {
		size += uintptr(history) * unsafe.Sizeof(form(0))
	}
	r.blocks = [2]unsafe.Pointer{blockOf(size)}
	if messages > ringFirst {
		r.blocks[1] = unsafe.Add(r.blocks[0], ringFirst*line)
	}
	r.take(&old, forms)
}

// blockOf returns memory for so many bytes, without pointers.
func blockOf(size uintptr) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(make([]uint64, size/8)))
}

// extend adds the second block to the first, which is all that the ring had.
func (r *Ring) extend(old *Ring) {
	first := (*[ringFirst]ringLine)(r.blocks[0])
	lines := *first
	*first = [ringFirst]ringLine{}
	r.blocks[1] = blockOf((ringMin-ringFirst)*line + (historyMin-ringMin)*unsafe.Sizeof(sent{}))
	for i := old.head; i != old.tail; i++ {
		*r.slot(i) = lines[i&old.messages].message
	}
	for i := range lines {
		if s := &lines[i].packet; s.used() {
			*(*History)(r).slot(s.psn(i)) = *s
		}
	}
}

// take puts the messages and packets of a smaller ring into their places. forms says that there is a form for each packet.
func (r *Ring) take(old *Ring, forms bool) {
	for i := old.head; i != old.tail; i++ {
		*r.slot(i) = *old.slot(i)
	}
	h, before := (*History)(r), (*History)(old)
	for i := range old.packets.places() {
		s := before.slot(packet.PSN(i))
		if !s.used() {
			continue
		}
		psn := s.psn(i)
		if *h.slot(psn) = *s; forms {
			*h.formOf(psn) = before.at(psn)
		}
	}
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
	n := r.Len()
	lo, hi := 0, n
	for k := range min(n, 4) {
		if w := r.slot(r.tail - 1 - uint16(k)); !w.First.After(psn) {
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

// Reset drops all messages.
func (r *Ring) Reset() { r.head, r.tail = 0, 0 }
