package cq

import (
	"sort"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// Posted is a send request as its packets have to show it: the request, the attributes of its queue pair, and what memory held. It is valid until the next event.
type Posted struct {
	Request *wqe.SendRequest
	Type    qp.Type // of the queue pair that sends it
	QP      wqe.QP
	Attr    *qp.Attr
	Vector  *wqe.AddressVector // of a datagram; nil: not known
	Near    bool               // the tap is near the queue pair: traffic class and hop limit of the vector are as sent
	PSN     packet.PSN         // of its first packet
	Packets int                // PSNs that it takes
	PMTU    uint32             // bytes
	Length  uint32             // bytes of the message
	Data    []byte             // of the message, from its first byte on, as far as it is known; nil: not at all
	Sum     uint32             // CRC-32 (IEEE) of the message, where Summed
	Summed  bool

	made made
}

// made is what a Posted was made of.
type made struct {
	of         *sendRequest // nil: it is to be made again
	by         *queuePair
	generation int // of what is known
	unsent     int64
	pmtu       uint32
	last       int64 // ordinals of its packets
	first      int64
}

// Slice is what is known of the payload of packet i, from 0 on: how many bytes it has, and which; nil: that is not known.
func (x *Posted) Slice(i int) (length int, data []byte) {
	at := 0
	length = int(x.Length)
	if x.Packets > 1 {
		at = i * int(x.PMTU)
		length = min(length-at, int(x.PMTU))
	}
	if at+length <= len(x.Data) {
		data = x.Data[at : at+length]
	}
	return length, data
}

// Posted tells which send request a packet of some requests is of, by its ordinal and its bytes of payload, and the how manieth packet of it that is, from 0 on.
// It returns false where that is not certain.
func (a *Agent) Posted(s *Requests, ord int64, payload int, into *Posted) (i int, ok bool) {
	q, psn := s.requester, s.start.Add(int(ord&packet.PSNMask))
	if q == nil || s != q.out || !q.compares() || q.unmatched != nil || ord < 0 {
		return 0, false
	}
	ord += q.sending.unsent
	if m := &into.made; m.of != nil && m.by == q && m.generation == a.generation && m.unsent == q.sending.unsent && m.pmtu == s.pmtu &&
		m.first <= ord && ord <= m.last && (q.stopped == nil || ord < q.stopped.first) {
		return int(ord - m.first), true // the packet before was of it too
	}
	w, ord := q.sending.find(q, ord, uint32(payload))
	if w == nil || q.stopped != nil && ord >= q.stopped.first || w.packets != 1 && s.pmtu == 0 {
		return 0, false
	}
	i = int(ord - w.first)
	of := w
	if q.typ == qp.TypeUD {
		of = nil // the PSN is that of the newest, where some took none
	}
	*into = Posted{
		Request: w.req(), Type: q.typ, QP: wqe.QP{Addr: q.addr(), QPN: q.qpn}, Attr: &q.attr, Vector: w.vector, Near: w.vector != nil && a.near(q.addr()),
		PSN: psn.Add(-i), Packets: w.packets, PMTU: s.pmtu, Length: w.length, Data: w.data,
		Sum: w.event.Sum, Summed: w.event.Summed, made: made{of, q, a.generation, q.sending.unsent, s.pmtu, w.last(), w.first},
	}
	return i, true
}

// place is the first of the posted requests that ends at an ordinal or after it: nearly always it is that of the newest packet.
func (s *sending) place(posted []*sendRequest, ord int64) int {
	k := s.guess - s.posted.first()
	if k < 0 || k >= len(posted) || posted[k].last() < ord || k > 0 && posted[k-1].last() >= ord {
		k = sort.Search(len(posted), func(i int) bool { return posted[i].last() >= ord })
	}
	return k
}

// has reports whether a packet is one of the request, by its ordinal.
func (w *sendRequest) has(ord int64) bool { return w.first <= ord && ord <= w.last() }

// find returns the request that a packet is of, by its ordinal, or nil, and the ordinal after the datagrams before it that took no PSN.
func (s *sending) find(q *queuePair, ord int64, payload uint32) (*sendRequest, int64) {
	list := s.posted.all()
	if len(list) == 0 || ord < list[0].first {
		return nil, ord
	}
	k := max(s.guess-s.posted.first(), 0)
	if k < len(list) && !list[k].has(ord) {
		k++ // nearly always it is that of the packet before, or the next
	}
	if k >= len(list) || !list[k].has(ord) {
		k = sort.Search(len(list), func(i int) bool { return list[i].last() >= ord })
	}
	if q.typ == qp.TypeUD {
		for n := beyondMTU(list[k:], payload, max(q.longestSent(), payload)); n > 0; n-- {
			ord += int64(list[k].packets)
			k++
		}
	}
	if k == len(list) || !list[k].has(ord) {
		return nil, ord
	}
	s.guess = k + s.posted.first()
	return list[k], ord
}

// departure is a packet that departs from what its work request lets expect.
type departure struct {
	first      int64 // ordinal of its message
	ord        int64
	at         PacketRef
	comparison *expect.Comparison // nil: there are very many like it
}

// mostDepartures is how many are kept of some requests, of messages that have not been compared.
const mostDepartures = 64

// Departed reports whether it is known that a message departs from its work request in a field, by the ordinal of its packet i. The first packet that does is enough.
func (s *Requests) Departed(ord int64, i int, field expect.ID) bool {
	for k := range s.departed {
		if d := &s.departed[k]; d.first == ord-int64(i) && d.in(field) {
			return true
		}
	}
	return false
}

// Departs says that packet i of a message departs from its work request. c is beside it what was expected, nil where there are very many like it.
func (s *Requests) Departs(ord int64, i int, at *PacketRef, c *expect.Comparison) {
	d := departure{ord - int64(i), ord, *at, c}
	if len(s.departed) == mostDepartures {
		s.departed = append(s.departed[:0], s.departed[mostDepartures/2:]...)
	}
	s.departed = append(s.departed, d)
}

// in reports whether a packet departs in a field. Of one that was not compared it is not known in which.
func (d *departure) in(field expect.ID) bool {
	return d.comparison == nil || d.comparison.Departs(field)
}

// departure returns the first packet of a message that departs in a field, or nil. A message of another length may depart in the opcode that ends it.
func (s *Requests) departure(m *Message, field expect.ID) *departure {
	for k := range s.departed {
		if d := &s.departed[k]; m.First <= d.ord && d.ord <= m.Last() && d.in(field) {
			return d
		}
	}
	if field == expect.Payload {
		return s.departure(m, expect.Opcode)
	}
	return nil
}

// compared forgets the departures in messages that have been compared.
func (s *Requests) compared(upTo int64) {
	left := s.departed[:0]
	for _, d := range s.departed {
		if d.ord >= upTo {
			left = append(left, d)
		}
	}
	clear(s.departed[len(left):])
	s.departed = left
}

// shows completes a verdict that a message departs in a field: the packet that shows it, beside the expected one.
func (s *Requests) shows(m *Message, field expect.ID, v verdict) verdict {
	v.at = m.Begin
	if d := s.departure(m, field); d != nil {
		if v.Comparison = d.comparison; d.at.Frame != m.Begin.Frame {
			v.at, v.Evidence = d.at, []uint64{m.Begin.Frame}
		}
	}
	return v
}
