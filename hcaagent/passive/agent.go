package passive

import (
	"time"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// The defaults of Options.
const (
	DefaultMaxPending = 1 << 14
	DefaultMaxLive    = 1 << 18
	DefaultHold       = 60 * time.Second
)

// Options bound the memory of an Agent. A zero field takes its default.
type Options struct {
	MaxPending int           // exchanges that wait for their answer; about 500 bytes each
	MaxLive    int           // connections that the agent answers for
	Hold       time.Duration // how long, by the packets' times, repetitions of a finished exchange are recognised
}

// Stats counts what the agent met.
type Stats struct {
	Messages   uint64 // CM messages that were read
	Unreadable uint64 // management packets that were cut off too early, had a wrong ICRC or no 256 bytes
	Unmatched  uint64 // messages of exchanges that the capture does not show, or that contradict them
	Unjudged   uint64 // requests for a service whose connections are not learned: RD, reserved ones, impossible QPNs
	Evicted    uint64 // exchanges forgotten because there were too many
}

// Agent learns queue pairs from CM exchanges and answers for them. It is not safe for concurrent use. It must see all packets of
// both ends of an exchange, in time order but for the slight disorder of real captures.
type Agent struct {
	opt   Options
	stats Stats
	now   int64 // the newest time seen
	slots []exchange
	free  int32 // first unused slot, by next; -1: none
	lists [phases]list
	byKey map[key]int32
	byQP  map[wqe.QP]int32 // slot<<1 | side
	facts []Fact
	whole [mad.Size]byte // a cut datagram, completed with zeros
}

// New returns an agent that knows nothing yet.
func New(opt Options) *Agent {
	if opt.MaxPending <= 0 {
		opt.MaxPending = DefaultMaxPending
	}
	if opt.MaxLive <= 0 {
		opt.MaxLive = DefaultMaxLive
	}
	if opt.Hold <= 0 {
		opt.Hold = DefaultHold
	}
	a := &Agent{opt: opt, free: -1, byKey: map[key]int32{}, byQP: map[wqe.QP]int32{}}
	for ph := range a.lists {
		a.lists[ph] = list{head: -1, tail: -1}
	}
	return a
}

// Stats returns what the agent has met so far.
func (a *Agent) Stats() Stats { return a.stats }

// essential is how many bytes of a message area must have been captured for the message to be of use (table T8): for a REQ all before
// its paths, else all before additional information and private data.
var essential = map[mad.Attribute]int{
	mad.AttrREQ: pathAt, mad.AttrREP: 28, mad.AttrRTU: 8, mad.AttrREJ: 12, mad.AttrDREQ: 11, mad.AttrDREP: 8, mad.AttrSIDRReq: 16, mad.AttrSIDRRep: 24,
}

// Management takes a packet and returns what it teaches; the result is valid until the next call. Packets that are not UD to or from
// QP1, and management classes other than CM, teach nothing; nor do those with a wrong ICRC, which their receiver drops. A packet seen
// at several taps, and a repetition, teaches once.
func (a *Agent) Management(p *packet.Packet) []Fact {
	a.facts = a.facts[:0]
	if p.Has&packet.HasBTH == 0 || p.Opcode.Service() != packet.UD || p.DestQP != 1 && p.SrcQP != 1 {
		return nil
	}
	a.now = max(a.now, p.Time)
	if !readable(p) {
		a.stats.Unreadable++
		return nil
	}
	var h mad.Header
	if err := mad.DecodeHeader(p.Payload, &h); err != nil || h.Class != mad.ClassCM || h.Method != mad.Send {
		return nil
	}
	need, ok := essential[h.Attribute]
	if !ok {
		return nil
	}
	have := len(p.Payload) - mad.HeaderSize
	if have < need || h.ClassVersion != 2 || a.message(p, h.Attribute, a.completed(p.Payload), have) != nil {
		a.stats.Unreadable++
		return nil
	}
	a.stats.Messages++
	a.bound()
	return a.facts
}

// readable reports whether a packet holds a management datagram, whose header was captured and whose ICRC is not wrong.
func readable(p *packet.Packet) bool {
	return p.Has&packet.HasDETH != 0 && len(p.Payload) >= mad.HeaderSize && p.PayloadLen == mad.Size && p.ICRCState != packet.CRCBad
}

// completed returns a datagram, with zeros for what was not captured of it.
func (a *Agent) completed(b []byte) []byte {
	if len(b) < mad.Size {
		clear(a.whole[copy(a.whole[:], b):])
		b = a.whole[:]
	}
	return b
}

// message decodes all 256 bytes of a MAD, of whose message area have were captured, and takes it to its exchange.
func (a *Agent) message(p *packet.Packet, attr mad.Attribute, b []byte, have int) error {
	switch attr {
	case mad.AttrREQ:
		return step(p, b, func(p *packet.Packet, m *mad.REQ) { a.req(p, m, have >= pathAt+mad.PathSize) })
	case mad.AttrREP:
		return step(p, b, a.rep)
	case mad.AttrRTU:
		return step(p, b, a.rtu)
	case mad.AttrREJ:
		return step(p, b, a.rej)
	case mad.AttrDREQ:
		return step(p, b, a.dreq)
	case mad.AttrDREP:
		return step(p, b, a.drep)
	case mad.AttrSIDRReq:
		return step(p, b, a.sidrReq)
	case mad.AttrSIDRRep:
		return step(p, b, a.sidrRep)
	}
	return nil
}

func step[M any, P interface {
	*M
	mad.Message
}](p *packet.Packet, b []byte, take func(*packet.Packet, P)) error {
	m := P(new(M))
	if err := m.Decode(b); err != nil {
		return err
	}
	take(p, m)
	return nil
}
