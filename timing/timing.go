// Package timing measures what the messages of a connection took: how long each waited for its answer, how large it was, how far apart they were, and what was sent over time.
// It follows what the verifiers have judged, one packet after the other, where a run is asked for it: nothing else pays for it.
//
// Times are nanoseconds since the Unix epoch, as the tap saw the packets. A time that a message took is from the first packet of its request to the packet that answers all of
// it: what an application waits, less the way from the requester to the tap and back. It counts retransmissions, unlike verifier.Latencies.
package timing

import (
	"slices"
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// Message is a request message, as far as it was seen.
type Message struct {
	Op            wqe.Op
	From          int // the end that sent the request
	Tap           uint16
	PSN           packet.PSN // of its first packet
	Length        uint32     // bytes of payload: of a READ or WRITE, what it asks for
	RKey          uint32     // of a READ, WRITE or atomic
	VA            uint64
	Begin         int64 // of its first packet
	Sent          int64 // of the last packet of the request, when that was first sent; 0: not seen
	Answered      int64 // 0: not seen
	Frame         uint64
	AnswerFrame   uint64
	Retransmitted uint32 // packets of the request
	last          packet.PSN
	unsure        bool // that its answer was not seen shows nothing
	asks          bool // its last packet asks for an ACK, before which no answer to a READ or an atomic is due; once it is answered, that the same tap saw the ACK, by the same clock
}

// Took is how long the message waited for its answer; false: that is not known.
func (m *Message) Took() (time.Duration, bool) {
	if m.Answered < m.Begin || m.Answered == 0 {
		return 0, false
	}
	return time.Duration(m.Answered - m.Begin), true
}

// NumOps is how many operations there are.
const NumOps = int(wqe.AtomicWrite) + 1

// Connection is what the messages of a connection took, by the end that sent the requests.
type Connection struct {
	Ends     [2]End
	Messages []Message // those that are kept, in the order in which they ended
	Exchange Exchange
	Commands *Waits // of those of the protocol above; nil: none is known
	room     *Room  // for them; nil: none are kept
	newest   turn
}

// End is what the messages of one end took, and what it sent.
type End struct {
	Ops    [NumOps]*Operation // by wqe.Op; nil: there was none
	Gaps   *verifier.Histogram
	Turns  Turns
	Series Series
	Busy   Busy
	Active Activity
	Sent   []Sent   // when its first messages were sent, in the order in which they began
	Acks   AckWaits // of messages of which no packet was retransmitted
	Copied AckWaits // of those of which some were
	Asks   []Sent   // when its first READs and atomics were sent and answered

	Packets uint64 // that the end sent and that were judged
	Marked  uint64 // of them, those that the network had marked as having met congestion (ECN CE, FECN)
	Empty   uint64 // RDMA WRITEs of it without data and without immediate data: no program notices them
	Reads   int    // most READs and atomics of it that waited for their answer at a time
	VL      uint8  // of InfiniBand, of its newest packet

	Acked Answered // SENDs and WRITEs of it that were acknowledged
	Read  Answered // READs of it that were answered, and that it went on from without retransmitting them
	Tally Tally    // what its READs asked for, and what came

	open       []Message // not answered yet, in PSN order
	waiting    int       // READs and atomics among them
	read       []readAnswer
	next       packet.PSN // after the newest request
	joined     bool
	quietSince int64 // when the newest message ended; 0: not known
	newest     newestSent
	runs       runs
}

// LastRequest is when the last packet of the end's newest message was first sent; 0: that is not known.
func (e *End) LastRequest() int64 { return e.quietSince }

// Operation is what the messages of one operation took.
type Operation struct {
	Count         uint64
	Bytes         uint64
	Retransmitted uint64 // messages of which a packet was
	Incomplete    uint64 // messages that nothing completed as far as the capture goes: no answer, or a NAK that ends the connection
	Untimed       uint64 // messages of which it is not known how long they took: their beginning, their end, or which answer is theirs was not seen
	Sizes         Sizes
	Answered      uint32 // bytes of the largest of which it is known how long it took: it was answered
	Latency       verifier.Histogram
	Most          time.Duration // longest of them: the histogram knows no more than the bound of a bucket
}

// Observe counts how long a message took.
func (o *Operation) Observe(took time.Duration) {
	o.Latency.Observe(took)
	o.Most = max(o.Most, took)
}

// Quantile is the time that a share of the messages did not exceed, as exactly as the histogram tells; of all of them, what the longest took.
func (o *Operation) Quantile(share float64) time.Duration {
	if share >= 1 {
		return o.Most
	}
	return min(o.Latency.Quantile(share), o.Most)
}

const (
	// mostOpen is how many messages of an end may wait for their answer.
	mostOpen = 1 << 14
	// farAway is how many PSNs apart packets are of one stream at most.
	farAway = 1 << 20
)

// New is a connection of which nothing is known, whose messages are kept in a room; nil: they are not.
func New(r *Room) *Connection { return &Connection{room: r} }

// Packet takes a packet that end from has sent, after the verifier of its service has judged it.
func (c *Connection) Packet(pair *qp.Pair, from int, p *packet.Packet) {
	in, e := p.Info(), &c.Ends[from]
	e.Packets++
	e.Active.packet(p.Time, p.Frame)
	marked := false
	if !p.Part { // what is usual is on IPv4 and not marked, and these fields of it were not read
		e.VL = p.VL
		if marked = p.FECN || pair.Encap.OnIP() && p.TClass&3 == 3; marked {
			e.Marked++
			e.Series.add(p.Time, Slot{Marked: 1})
		}
	}
	if p.PayloadLen > 0 {
		e.Busy.packet(p, marked)
	}
	switch {
	case in.Request:
		c.request(pair, from, p, in)
	case in.Response:
		switch {
		case p.Opcode.Fn() != packet.Acknowledge:
			e.Series.add(p.Time, Slot{Bytes: uint64(p.PayloadLen)})
			if p.Opcode.Fn() != packet.AtomicAck {
				c.Ends[1-from].Tally.answers(pair, p)
			}
		case p.Syndrome.Type() == packet.RNRNAK:
			e.Series.add(p.Time, Slot{RNRNAKs: 1})
		case p.Syndrome.Type() == packet.NAK:
			e.Series.add(p.Time, Slot{NAKs: 1})
		}
		c.answered(pair, 1-from, p)
	}
}

// request takes a packet of a request.
func (c *Connection) request(pair *qp.Pair, from int, p *packet.Packet, in *packet.Info) {
	e, q := &c.Ends[from], &pair.Ends[from].SQ
	if ahead := p.PSN.Diff(e.next); e.joined && (ahead > farAway || ahead < -farAway) {
		c.giveUp(from, false)
	}
	begins := in.First || in.Only
	at, seen := e.place(p, begins)
	late := e.joined && p.PSN.Before(e.next)
	e.goesBack(p.PSN)
	if p.Opcode.Fn() == packet.ReadRequest {
		e.Tally.asks(pair, p)
	}
	if seen || late && p.PSN.Before(q.Una) || late && at < 0 {
		e.Series.add(p.Time, Slot{Retransmitted: uint64(p.PayloadLen)})
		return
	}
	e.Series.add(p.Time, Slot{Bytes: uint64(p.PayloadLen)})
	if !e.joined || p.PSN.After(e.next) {
		e.quietSince = 0 // what was before is not known
	}
	if !late {
		e.joined, e.next = true, p.PSN.Add(1)
	}
	if begins {
		at = c.begin(q, from, p, at, late)
	} else if at < 0 {
		return
	}
	m := &e.open[at]
	m.last = packet.Later(m.last, p.PSN)
	if m.Op != wqe.Read && m.Op != wqe.Write {
		m.Length += uint32(p.PayloadLen)
	}
	if in.Last || in.Only {
		c.Exchange.sent(from, m.Op, p)
		m.Sent, e.quietSince = p.Time, p.Time
		m.asks = p.AckReq && e.waiting == 0
		if !m.Op.Responded() {
			e.sent(m)
			c.newest = turn{from, p.Time, p.Frame}
		}
		if !pair.Reliable() {
			c.end(from, m)
			e.open = e.open[:0]
		}
	}
}

// place finds where a packet of a request belongs among the messages that wait: the place of the message that it continues, or that it begins; negative: it does neither. seen says that
// it was seen before.
func (e *End) place(p *packet.Packet, begins bool) (at int, seen bool) {
	i := len(e.open)
	for i > 0 && p.PSN.Before(e.open[i-1].PSN) {
		i--
	}
	if i > 0 {
		switch m := &e.open[i-1]; {
		case !p.PSN.After(m.last):
			m.Retransmitted++
			return 0, true
		case !begins && m.Sent == 0 && p.PSN == m.last.Add(1):
			return i - 1, false
		}
	}
	if !begins {
		return -1, false
	}
	return i, false
}

// begin takes the first packet of a message, which has its place among those that wait, and returns that. late says that it was sent before, and the tap has not seen it.
func (c *Connection) begin(q *qp.SendQueue, from int, p *packet.Packet, at int, late bool) int {
	e := &c.Ends[from]
	if e.quietSince != 0 && !late {
		if e.Gaps == nil {
			e.Gaps = new(verifier.Histogram)
		}
		gap := time.Duration(p.Time - e.quietSince)
		e.Gaps.Observe(gap)
		e.Series.add(p.Time, Slot{Gap: gap})
		if c.newest.from != from && c.newest.at != 0 && !wqe.OpOf(p.Opcode.Fn()).Responded() {
			e.Turns.add(time.Duration(p.Time-c.newest.at), p.Time, p.Frame)
		}
	}
	if len(e.open) == mostOpen {
		next := e.next
		c.giveUp(from, false)
		e.joined, e.next, at = true, next, 0
	}
	m := Message{Op: wqe.OpOf(p.Opcode.Fn()), From: from, Tap: p.Tap, PSN: p.PSN, RKey: p.RKey, VA: p.VA, Begin: p.Time, Frame: p.Frame, last: p.PSN, unsure: late}
	if m.Op == wqe.Read || m.Op == wqe.Write {
		m.Length = p.DMALen
		if m.Length == 0 && p.Opcode.Fn() == packet.WriteOnly && !late {
			e.Empty++
		}
	}
	if m.Op == wqe.Read {
		if w, _ := q.Messages.Find(p.PSN); w != nil && w.First == p.PSN {
			m.last = w.Last
			e.next = packet.Later(e.next, w.Last.Add(1))
		}
	}
	e.open = slices.Insert(e.open, at, m)
	if m.Op.Responded() {
		e.waiting++
		e.Reads = max(e.Reads, e.waiting)
		e.Series.add(p.Time, Slot{Reads: uint32(e.waiting)})
	}
	return at
}

// answered takes response p to an end: what it answers has ended.
func (c *Connection) answered(pair *qp.Pair, to int, p *packet.Packet) {
	e, q := &c.Ends[to], &pair.Ends[to].SQ
	done := 0
	for i := range e.open {
		m := &e.open[i]
		if m.Op.Responded() { // how many PSNs it takes may not have been known when it began
			if w, _ := q.Messages.Find(m.PSN); w != nil && w.First == m.PSN {
				m.last = w.Last
				m.unsure = m.unsure || q.Una.After(w.Last) && !w.AnswerCame(w.Last) // what came after it is acknowledged
			}
		}
		if !m.last.Before(q.Una) || m.Sent == 0 && (i+1 == len(e.open) || e.open[i+1].PSN.After(q.Una)) {
			break // of one whose end was not seen, more may come
		}
		if m.unsure = m.unsure || m.Sent == 0; !m.unsure {
			m.Answered, m.AnswerFrame = p.Time, p.Frame
			m.asks = m.asks && p.Tap == m.Tap
		}
		done++
		c.end(to, m)
	}
	if done > 0 {
		e.open = e.open[:copy(e.open, e.open[done:])]
	}
	if pair.Paired {
		c.Exchange.acknowledged(to, p, e.open)
	}
}

// end counts a message of an end.
func (c *Connection) end(from int, m *Message) {
	e := &c.Ends[from]
	o := e.Ops[m.Op]
	if o == nil {
		o = new(Operation)
		e.Ops[m.Op] = o
	}
	if m.Op.Responded() {
		e.waiting--
		e.asks(m)
	}
	o.Count++
	o.Bytes += uint64(m.Length)
	o.Sizes.add(m.Length)
	o.Retransmitted += uint64(min(m.Retransmitted, 1))
	switch took, ok := m.Took(); {
	case ok:
		o.Observe(took)
		o.Answered = max(o.Answered, m.Length)
		e.answers(m)
		e.waits(m).add(m)
		e.Series.add(m.Answered, Slot{Slowest: took, Took: took, Length: uint64(m.Length), Messages: 1})
	case m.unsure:
		o.Untimed++
	default:
		o.Incomplete++
	}
	if c.room.admits(m) {
		c.Messages = append(c.Messages, *m)
	}
}

// giveUp counts the messages of an end that wait for an answer, which is not looked for any more. ended says that the capture has.
func (c *Connection) giveUp(from int, ended bool) {
	e := &c.Ends[from]
	for i := range e.open {
		e.open[i].unsure = e.open[i].unsure || !ended
		c.end(from, &e.open[i])
	}
	e.open, e.joined = e.open[:0], false
}

// Finish counts what still waits for an answer. It comes after the last packet.
func (c *Connection) Finish() {
	for i := range c.Ends {
		c.giveUp(i, true)
		c.Ends[i].took(len(c.Ends[i].read))
		c.Ends[i].open, c.Ends[i].read = nil, nil
	}
	c.room = nil
}

// Command counts how long a command of the protocol above waited for its answer, which came in a frame.
func (c *Connection) Command(d time.Duration, at int64, frame uint64) {
	if c.Commands == nil {
		c.Commands = new(Waits)
	}
	c.Commands.Add(d, at, frame)
}
