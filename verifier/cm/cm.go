package cm

import (
	"encoding/binary"
	"math"
	"strings"
	"time"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// The bounds of what a Verifier keeps.
const (
	maxExchanges = 1 << 14
	maxDelays    = 1 << 12
)

// Times that no message gives.
const (
	// slack is how far opposite directions of a capture may be out of order, and nearby how far they are at a tap near the sender of an answer:
	// a communication manager takes longer than that to send one, and where a direction is recorded later, responses are before their requests.
	slack  = int64(time.Millisecond)
	nearby = slack / 4
	// hold is for how long an exchange that is over is remembered: late repetitions belong to it.
	hold = int64(time.Minute)
	// crossing is within what time two messages may have crossed: the sender of the second need not have read the first.
	crossing = int64(100 * time.Millisecond)
)

// Stats counts what the verifier met.
type Stats struct {
	Messages uint64 // that were judged
	Cut      uint64 // messages of which too little was captured
	Evicted  uint64 // exchanges forgotten because there were too many
}

// Verifier judges the exchanges of one shard of the engine. It is not safe for concurrent use. It must see all messages between two
// hosts, in time order but for the slight disorder of real captures.
type Verifier struct {
	Rec *rule.Recorder
	// Near reports whether the tap is near an endpoint, by its address or its GID; Lossy whether the capture says that it missed packets.
	Near  func(a, gid packet.Addr) bool
	Lossy func() bool
	// Traffic finds the connection of a queue pair that CM has announced, and which end of it that is.
	Traffic func(q wqe.QP) (c *qp.Pair, end int, ok bool)
	// First returns the first packet that a host has sent to a queue pair that nothing is known of: time, frame, opcode and PSN.
	First func(q wqe.QP, peer packet.Addr) (packet.Packet, bool)
	// Since tells from when on the packets between two hosts are seen.
	Since func(a, b packet.Addr) int64

	stats     Stats
	now       int64
	slots     []exchange
	free      int32
	oldest    int32 // ends of the list of exchanges, by when they were last spoken of
	newest    int32
	n         int
	byID      map[key]int32
	byTID     map[tidKey]int32
	byQP      map[qpKey]int32  // exchange · 2 + side
	byEnd     map[tidKey]int32 // of a DREQ or LAP: exchange · 2 + the side that sent it
	byService map[serviceKey]int32
	due       deadlines
	delays    map[delayKey]uint8
	delayed   []Delayed
	unjudged  map[[2]packet.Addr]bool // that a host has sent another one a message that could not be judged
	whole     [mad.Size]byte          // the datagram at hand; one that was cut is completed with zeros
}

// New returns a verifier that reports to rec.
func New(rec *rule.Recorder) *Verifier {
	return &Verifier{
		Rec: rec, free: -1, oldest: -1, newest: -1,
		Near: func(_, _ packet.Addr) bool { return false }, Lossy: func() bool { return false },
		Since:   func(_, _ packet.Addr) int64 { return math.MaxInt64 },
		Traffic: func(wqe.QP) (*qp.Pair, int, bool) { return nil, 0, false },
		First:   func(wqe.QP, packet.Addr) (p packet.Packet, ok bool) { return p, false },
		byID:    map[key]int32{}, byTID: map[tidKey]int32{}, byQP: map[qpKey]int32{}, byEnd: map[tidKey]int32{}, byService: map[serviceKey]int32{},
		delays: map[delayKey]uint8{}, unjudged: map[[2]packet.Addr]bool{},
	}
}

// Stats returns what the verifier has met so far.
func (v *Verifier) Stats() Stats { return v.stats }

// fixed is how many bytes of a message area must have been captured for the message to be judged: all before additional information and
// private data (table T8).
var fixed = map[mad.Attribute]int{
	mad.AttrREQ: 140, mad.AttrMRA: 10, mad.AttrREJ: 12, mad.AttrREP: 36, mad.AttrRTU: 8, mad.AttrDREQ: 12, mad.AttrDREP: 8,
	mad.AttrSIDRReq: 16, mad.AttrSIDRRep: 24, mad.AttrLAP: 64, mad.AttrAPR: 12,
}

// message is a message at hand.
type message struct {
	*packet.Packet
	h    mad.Header
	b    []byte // all 256 bytes
	have int    // bytes of the message area that were captured
	sees [2]bool
}

// cameFrom is the Ethernet address that a message came from; 0: not known.
func (m *message) cameFrom() uint64 {
	return uint64(binary.BigEndian.Uint16(m.MAC[:]))<<32 | uint64(binary.BigEndian.Uint32(m.MAC[2:]))
}

// The sides of message.sees: whether what its sender, and its receiver, sent and got until now is proven.
const (
	sender   = 0
	receiver = 1
)

// Packet takes a datagram to or from QP1 whose ICRC is not wrong. Those of other management classes are ignored.
func (v *Verifier) Packet(p *packet.Packet) {
	if p.Has&packet.HasDETH == 0 || len(p.Payload) < mad.HeaderSize {
		return
	}
	m := message{Packet: p, have: min(len(p.Payload), mad.Size) - mad.HeaderSize}
	if err := mad.DecodeHeader(p.Payload, &m.h); err != nil || m.h.Class != mad.ClassCM {
		return
	}
	v.tick(p.Time)
	v.expire()
	lossy := v.Lossy()
	m.sees = [2]bool{!lossy && v.Near(p.Src, p.SGID), !lossy && v.Near(p.Dst, p.DGID)}
	if !v.header(&m) {
		v.noteUnjudged(p)
		v.wrongHeader(&m)
		return
	}
	need, ok := fixed[m.h.Attribute]
	switch {
	case !ok:
		return
	case m.have < need:
		v.stats.Cut++
		v.noteUnjudged(p)
		return
	}
	clear(v.whole[copy(v.whole[:], p.Payload):])
	m.b = v.whole[:]
	v.stats.Messages++
	v.message(&m)
	v.bound()
}

// wrongHeader notes a message whose header is wrong: its receiver may have processed it all the same.
func (v *Verifier) wrongHeader(m *message) {
	if i, ok := v.byTID[tidKey{m.Dst, m.Src, m.h.TID}]; ok {
		x := &v.slots[i] // it was answered, though not well
		x.req.excuse()
		x.req.answered, x.told = true, x.told|toldEarly
	}
	if i, ok := v.byTID[tidKey{m.Src, m.Dst, m.h.TID}]; ok {
		v.slots[i].told |= toldEarly | toldRejected // it may be the RTU, or the REQ again
	}
	if ref, ok := v.byEnd[tidKey{m.Dst, m.Src, m.h.TID}]; ok {
		v.slots[ref>>1].disconnectAnswered(1 - int(ref&1))
	}
}

// noteUnjudged notes a message that could not be judged, and may be answered all the same.
func (v *Verifier) noteUnjudged(p *packet.Packet) {
	if len(v.unjudged) >= maxDelays {
		clear(v.unjudged)
	}
	v.unjudged[[2]packet.Addr{p.Src, p.Dst}] = true
}

// message decodes a message and steps the exchange that it belongs to.
func (v *Verifier) message(m *message) {
	switch m.h.Attribute {
	case mad.AttrREQ:
		step(m, v.req)
	case mad.AttrMRA:
		step(m, v.mra)
	case mad.AttrREJ:
		step(m, v.rej)
	case mad.AttrREP:
		step(m, v.rep)
	case mad.AttrRTU:
		step(m, v.rtu)
	case mad.AttrDREQ:
		step(m, v.dreq)
	case mad.AttrDREP:
		step(m, v.drep)
	case mad.AttrSIDRReq:
		step(m, v.sidrReq)
	case mad.AttrSIDRRep:
		step(m, v.sidrRep)
	case mad.AttrLAP:
		step(m, v.lap)
	case mad.AttrAPR:
		step(m, v.apr)
	}
}

func step[M any, P interface {
	*M
	mad.Message
}](m *message, take func(*message, P)) {
	d := P(new(M))
	if d.Decode(m.b) == nil {
		take(m, d)
	}
}

// Pass judges what should have happened before a time.
func (v *Verifier) Pass(now int64) { v.pass(now) }

// Finish judges what was still open when the capture ended, at time end.
func (v *Verifier) Finish(end int64) {
	v.pass(end)
	for i := v.oldest; i >= 0; i = v.slots[i].next {
		v.atEnd(&v.slots[i])
	}
	v.close()
}

// covered counts that a rule was exercised.
func (v *Verifier) covered(id rule.ID) { v.Rec.Cover[id].Exercised++ }

// ordered reports whether a rule is on what came before a message, and not on its bytes.
func ordered(id rule.ID) bool {
	name := id.String()
	return strings.HasPrefix(name, "CM-SM-") || strings.HasPrefix(name, "CM-TID-") || strings.HasPrefix(name, "CM-ID-") || strings.HasPrefix(name, "CM-LAP-")
}

// accuse makes a finding on a message against its sender.
func (v *Verifier) accuse(m *message, id rule.ID, class rule.Class, d rule.Verdict) {
	d.Rule, d.Class, d.Role = id, class, rule.Sender
	if m.Cut && class == rule.Violation {
		d.Class, d.Detail = rule.Unproven, rule.CutShort
	}
	if (m.sees[sender] || m.sees[receiver]) && ordered(id) {
		d.Assumes = rule.AssumesNear
	}
	v.Rec.Add(d.On(m.Packet, rule.Endpoint{Addr: m.Src, QPN: m.SrcQP, QPNKnown: true}, rule.Endpoint{Addr: m.Dst, QPN: m.DestQP, QPNKnown: true}))
}

// judge counts a rule as exercised, and reports a violation by the sender of a message where bad is true.
func (v *Verifier) judge(m *message, id rule.ID, bad bool, d func() rule.Verdict) {
	v.covered(id)
	if bad {
		v.accuse(m, id, rule.Violation, d())
	}
}
