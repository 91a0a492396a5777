package qp

import "ibwitness/packet"

// Storm adds up times in which much of what a requester sent was retransmitted.
type Storm struct {
	Time    int64 // nanoseconds, in all; 0: there was none
	Sent    Sums  // in them: packets and payload; no messages
	Again   Sums  // of that, what was retransmitted
	First   int64 // nanoseconds since the Unix epoch
	Last    int64
	Frame   uint64 // of the first and of the newest packet that was retransmitted
	Newest  uint64
	Tap     uint16
	Windows uint32 // how many times in a row it was measured
}

// A storm is measured in windows, which begin and end with a packet that is retransmitted.
const (
	stormLasts   = int64(100e6) // nanoseconds that a window lasts, at least
	stormPackets = 64           // packets that are retransmitted in it, at least
	stormShare   = 4            // of its payload at least one part in so many is retransmitted
	stormPause   = int64(1e9)   // nanoseconds without a retransmission that end it
)

// Storming is the storms of a send queue.
type Storming struct {
	Sum    Storm
	Window Storm // that has not ended
	Before Sums  // what had been sent before it
	Newest int64 // when the newest packet was retransmitted, in a storm or not
}

// add counts packet p, which is retransmitted. sent is what its end has sent, with it.
func (s *Storming) add(p *packet.Packet, sent Sums) {
	s.Newest = p.Time
	w := &s.Window
	if w.Windows == 0 || p.Time-w.Last > stormPause || p.Time < w.Last {
		s.end()
		s.begin(p, sent)
	}
	w.Again.Packets++
	w.Again.Bytes += uint64(p.PayloadLen)
	w.Sent = Sums{Packets: sent.Packets - s.Before.Packets, Bytes: sent.Bytes - s.Before.Bytes}
	w.Last, w.Newest, w.Time = p.Time, p.Frame, p.Time-w.First
	if w.Time >= stormLasts && w.Again.Packets >= stormPackets {
		s.end()
	}
}

// begin begins a window with packet p.
func (s *Storming) begin(p *packet.Packet, sent Sums) {
	s.Window = Storm{First: p.Time, Last: p.Time, Frame: p.Frame, Tap: p.Tap, Windows: 1}
	s.Before = Sums{Packets: sent.Packets - 1, Bytes: sent.Bytes - uint64(p.PayloadLen)}
}

// end ends the window.
func (s *Storming) end() {
	s.Sum = s.Sum.with(&s.Window)
	s.Window = Storm{}
}

// with adds a window, where that was a storm.
func (s Storm) with(w *Storm) Storm {
	if w.Time < stormLasts || w.Again.Packets < stormPackets || w.Again.Bytes*stormShare < w.Sent.Bytes || w.Again.Bytes == 0 {
		return s
	}
	if s.Windows == 0 {
		return *w
	}
	s.Time += w.Time
	s.Sent, s.Again = s.Sent.plus(w.Sent), s.Again.plus(w.Again)
	s.Last = w.Last
	s.Windows++
	if s.Tap == w.Tap {
		s.Newest = w.Newest
	}
	return s
}

// Storm returns in which times much of what the requester sent was retransmitted.
func (t *Trouble) Storm() Storm {
	if t.Storming == nil {
		return Storm{}
	}
	return t.Storming.Sum.with(&t.Storming.Window)
}
