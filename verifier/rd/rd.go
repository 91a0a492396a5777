package rd

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// Contexts is what is known of two end-to-end contexts that are connected (family RD). Messages of many queue pairs share them, one after the
// other, and PSNs are theirs. Requests go both ways.
type Contexts [2]context

// contexts returns what is known of the two end-to-end contexts of c.
func contexts(c *qp.Pair) *Contexts {
	x, ok := c.Contexts().(*Contexts)
	if !ok {
		x = new(Contexts)
		c.HoldContexts(x)
	}
	return x
}

// context is one of the two as a requester.
type context struct {
	joined  bool
	unsure  bool       // joined within a message, or after a gap
	matched uint8      // responses that were to its messages: the first may be why the two ends were taken for a pair
	open    wqe.Op     // message of which more packets are to come
	next    packet.PSN // of the next request
	high    packet.PSN // after the newest ever sent
	slack   int        // how much later it may be: the READ before it takes as many PSNs more, at most
	back    packet.PSN // from which a NAK has the requester begin again, with goesBack
	refused bool       // the newest message was refused with back: another one may take its PSN
	nak     bool
	message message // the newest
	before  message // the one before it
	waits   map[uint32]wait
	overlap *overlap
	early   *packet.Packet // response to a PSN that has not been seen sent
	paths   qp.Paths
}

// message is a message on an end-to-end context.
type message struct {
	op                 wqe.Op
	resync             bool
	ended, acked       bool
	reused             bool // it took the PSN of one that was refused
	wrongKey           bool // its Q_Key is not that of its destination
	first, last        packet.PSN
	srcQP, destQP, key uint32
	frame              uint64
	at                 int64
	length             uint32 // bytes so far, while it is whole
	whole              bool   // its first packet was seen, and none is missing
	tap                uint16
	again              bool
}

// wait is an RNR NAK that makes a source QP wait.
type wait struct {
	psn       packet.PSN
	at, until int64
	frame     uint64
}

// overlap is a message that began while the one before it had not been acknowledged: its response may have been recorded late.
type overlap struct {
	begin  *packet.Packet
	before message
}

// Packet judges one packet of RD that end from of c sent.
func (v *Verifier) Packet(c *qp.Pair, from int, p *packet.Packet) {
	x := contexts(c)
	v.Show(p)
	switch in := p.Info(); {
	case v.Broken:
		v.Gap(c, from, p)
	case in.Request:
		v.request(&x[from], c, from, p)
	case in.Response:
		v.response(&x[1-from], c, from, p)
	}
}

// Gap takes a packet that end from sent of which it is not known what its receiver makes of it: it may drop it, or not look at what is wrong.
func (v *Verifier) Gap(c *qp.Pair, from int, p *packet.Packet) {
	x := contexts(c)
	switch in := p.Info(); {
	case in.Request:
		x[from].joined = false
	case in.Response:
		e := &x[1-from]
		e.unsure, e.overlap = true, nil
	}
}

// TakeWrongService takes a packet of another service, which names a QP and no end-to-end context: that is judged elsewhere.
func (v *Verifier) TakeWrongService(*qp.Pair, *packet.Packet, rule.Class, ...uint64) {}

// malformed is the newest packet of RD of which the end-to-end context is not known: its PSN is not missing there.
type malformed struct {
	from, to packet.Addr
	psn      packet.PSN
}

// Malformed takes a packet of RD whose headers are not those of an opcode of RD. That was reported already.
func (v *Verifier) Malformed(p *packet.Packet) { v.malformed = malformed{p.Src, p.Dst, p.PSN} }

// Finish judges what was open when the capture ended.
func (v *Verifier) Finish(c *qp.Pair, _ int64) {
	x := contexts(c)
	for from := range x {
		e := &x[from]
		if e.overlap != nil {
			v.overlaps(e, c, from, 0)
		}
		if e.early != nil {
			v.unseen(e, c, 1-from)
		}
	}
}

// accuse makes a finding against end from on packet p. own is the queue pair that sent it, other the one that it was sent to.
func (v *Verifier) accuse(c *qp.Pair, from int, p *packet.Packet, own uint32, d rule.Verdict) {
	a, b := &c.Ends[from], &c.Ends[1-from]
	if p.Src == a.Addr && v.Rec.Compares(d.Rule, d.Class, a.Addr, b.Addr, p.Time) {
		d.Comparison = v.Compare(nil, from, p, d)
	}
	if d.Class == rule.Violation {
		d.Assumes |= c.Assumptions()
	}
	v.Rec.Report(p, d, rule.Endpoint{Addr: a.Addr, QPN: own, QPNKnown: true}, rule.Endpoint{Addr: b.Addr, QPN: p.DestQP, QPNKnown: true})
}

// Asked reports whether a response may be to the newest message of end 0 of c, so that the two belong together.
func Asked(c *qp.Pair, p *packet.Packet) bool {
	e := &contexts(c)[0]
	m := &e.message
	return e.joined && m.has(p.PSN) && m.srcQP == p.DestQP
}

// has reports whether a PSN is one of the message.
func (m *message) has(psn packet.PSN) bool { return m.frame != 0 && psn.In(m.first, m.last) }

// Join makes one pair of two of which one direction is known each: what end 0 of other has sent is from end 1 of c.
func Join(c, other *qp.Pair) { contexts(c)[1] = contexts(other)[0] }

// Waiting is a message that has no answer.
type Waiting struct {
	Since int64  // when it was sent last
	Again bool   // that was not the first time
	Frame uint64 // in which it began
	Tap   uint16
}

// Waits returns the newest message of end from of c, if it has no answer.
func Waits(c *qp.Pair, from int) (w Waiting, ok bool) {
	e := &contexts(c)[from]
	m := &e.message
	return Waiting{m.at, m.again, m.frame, m.tap}, e.joined && !e.unsure && !e.nak && m.frame != 0 && m.ended && !m.acked
}
