package timing

import "time"

// slots is how many parts a Series has at most.
const slots = 64

// shortest is how long a slot of a Series is at least, nanoseconds.
const shortest = int64(time.Millisecond)

// Series is what an end sent over time: in slots of equal width, which doubles each time that they no longer reach far enough. Its zero value is ready.
type Series struct {
	Start int64 // of the first slot, a multiple of Width
	Width int64 // of a slot; 0: there is nothing yet
	Slots []Slot
}

// Slot is what an end sent in a part of the time.
type Slot struct {
	Bytes         uint64        // payload, without what was retransmitted
	Retransmitted uint64        // payload
	Slowest       time.Duration // most that a message took which was answered then
	Took          time.Duration // that the messages took which were answered then, in all
	Length        uint64        // of those messages, bytes in all
	Gap           time.Duration // longest from the end of a message to the beginning of the next, which was then
	Messages      uint32        // that were answered then, whose time is known
	Marked        uint32        // packets that the network had marked
	NAKs, RNRNAKs uint32        // NAKs of all other codes, and RNR NAKs
	Reads         uint32        // most READs and atomics that waited for their answer
}

func (s *Slot) add(o Slot) {
	s.Bytes += o.Bytes
	s.Retransmitted += o.Retransmitted
	s.Slowest = max(s.Slowest, o.Slowest)
	s.Took += o.Took
	s.Length += o.Length
	s.Gap = max(s.Gap, o.Gap)
	s.Messages += o.Messages
	s.Marked += o.Marked
	s.NAKs += o.NAKs
	s.RNRNAKs += o.RNRNAKs
	s.Reads = max(s.Reads, o.Reads)
}

// add adds what was at a time. One before the start counts as at the start: a clock was set.
func (s *Series) add(at int64, what Slot) {
	if s.Width == 0 {
		s.Width = shortest
		s.Start = at - at%s.Width
	}
	k := (max(at, s.Start) - s.Start) / s.Width
	for k >= slots {
		s.widen()
		k = (at - s.Start) / s.Width
	}
	for int64(len(s.Slots)) <= k {
		s.Slots = append(s.Slots, Slot{})
	}
	s.Slots[k].add(what)
}

// widen makes the slots twice as wide.
func (s *Series) widen() {
	old := s.Slots
	start := s.Start
	s.Width *= 2
	s.Start -= s.Start % s.Width
	s.Slots = make([]Slot, 0, slots)
	for i, o := range old {
		k := int((start + int64(i)*(s.Width/2) - s.Start) / s.Width)
		for len(s.Slots) <= k {
			s.Slots = append(s.Slots, Slot{})
		}
		s.Slots[k].add(o)
	}
}

// begin has the series begin no later than at a time.
func (s *Series) begin(at int64) {
	if at >= s.Start {
		return
	}
	for (s.Start-at)/s.Width+int64(len(s.Slots)) >= slots-1 {
		s.widen()
		if at >= s.Start {
			return
		}
	}
	n := (s.Start - at + s.Width - 1) / s.Width
	s.Slots = append(make([]Slot, n, slots), s.Slots...)
	s.Start -= n * s.Width
}

// merge adds another series.
func (s *Series) merge(o *Series) {
	if o.Width == 0 {
		return
	}
	if s.Width == 0 {
		*s = *o
		return
	}
	s.begin(o.Start)
	for s.Width < o.Width {
		s.widen()
	}
	for i, w := range o.Slots {
		s.add(o.Start+int64(i)*o.Width, w)
	}
}

// End is the end of the last slot.
func (s *Series) End() int64 { return s.Start + int64(len(s.Slots))*s.Width }
