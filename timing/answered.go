package timing

import (
	"math/bits"
	"slices"

	"ibwitness/packet"
	"ibwitness/wqe"
)

// Answered is how large the messages were that were answered.
type Answered struct {
	Count          uint64
	Most           uint32 // bytes of the largest
	Newest, Before int64  // when the newest was answered, and the one before it; 0: none was
	// BySize is when the newest was answered of those of up to 256, 512, 1024 and 2048 bytes, more than those of the class before, and of larger ones; 0: none was.
	BySize [5]int64
}

// SizeClass is the place in BySize of a message of so many bytes.
func SizeClass(n uint32) int { return min(bits.Len32(max(n, 1)-1|0xFF)-8, 4) }

func (a *Answered) add(bytes uint32, at int64) {
	a.Count++
	by := &a.BySize[SizeClass(bytes)]
	*by = max(*by, at)
	a.Most = max(a.Most, bytes)
	if at > a.Newest {
		a.Newest, at = at, a.Newest
	}
	a.Before = max(a.Before, at)
}

// Merge adds what another one counts.
func (a *Answered) Merge(o *Answered) {
	if o.Count == 0 {
		return
	}
	a.Count, a.Most = a.Count+o.Count, max(a.Most, o.Most)
	times := [...]int64{a.Newest, a.Before, o.Newest, o.Before}
	slices.Sort(times[:])
	a.Newest, a.Before = times[3], times[2]
	for i, at := range o.BySize {
		a.BySize[i] = max(a.BySize[i], at)
	}
}

// InPackets counts messages that are larger than a packet, which has so many bytes at most, as one packet.
func (a *Answered) InPackets(most uint32) {
	k := SizeClass(most)
	for i := k + 1; i < len(a.BySize); i++ {
		a.BySize[k], a.BySize[i] = max(a.BySize[k], a.BySize[i]), 0
	}
}

// LargeSince is the most bytes of the class of the largest that were answered after a time, and when the newest larger one was; 0: none was.
func (a *Answered) LargeSince(at int64) (most uint32, last int64) {
	k := len(a.BySize) - 1
	for ; k >= 0 && a.BySize[k] <= at; k-- {
		last = max(last, a.BySize[k])
	}
	if k < 0 {
		return 0, last
	}
	return 256 << k, last
}

// Since is how many were answered after a time, up to 2.
func (a *Answered) Since(at int64) (n int) {
	for _, t := range [...]int64{a.Newest, a.Before} {
		if t > at {
			n++
		}
	}
	return n
}

// mostRead is how many READs that were answered wait at most for the requester to go on from them.
const mostRead = 64

// readAnswer is a READ that was answered, as far as the tap shows: its requester may retransmit it.
type readAnswer struct {
	last   packet.PSN
	length uint32
	at     int64
	again  bool // it has
}

// answers notes that a message was answered.
func (e *End) answers(m *Message) {
	switch m.Op {
	case wqe.Send, wqe.Write:
		e.Acked.add(m.Length, m.Answered)
	case wqe.Read:
		if len(e.read) == mostRead {
			e.took(mostRead / 2)
		}
		e.read = append(e.read, readAnswer{m.last, m.Length, m.Answered, false})
	}
}

// goesBack notes that a requester has sent a PSN: it has not taken the answer to a READ that ends there or later, as it retransmits that.
func (e *End) goesBack(psn packet.PSN) {
	for i := len(e.read) - 1; i >= 0 && !e.read[i].last.Before(psn); i-- {
		e.read[i].again = true
	}
}

// took counts the oldest n of the READs that were answered: those that were not retransmitted since, and those before these, whose answers it took at last.
func (e *End) took(n int) {
	newest := len(e.read) - 1
	for newest >= 0 && e.read[newest].again {
		newest--
	}
	for _, r := range e.read[:min(n, newest+1)] {
		e.Read.add(r.length, r.at)
	}
	e.read = e.read[:copy(e.read, e.read[n:])]
}
