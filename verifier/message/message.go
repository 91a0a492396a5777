// Package message is the verifiers' half of what the completion queue agent knows: it makes messages of the packets between two queue pairs, and tells the agent
// each that begins, ends, is acknowledged, answered, refused or retransmitted. It judges nothing.
//
// It is the engine's own, without a promise to others.
package message

import (
	"ibwitness/cq"
	"ibwitness/internal/slab"
	"ibwitness/packet"
)

// Verifier makes messages of packets and tells them to a completion queue agent.
type Verifier struct {
	// Left counts the packets that were needed whole.
	Left uint64

	queues *cq.Agent
	pos    int // of the newest packet in the capture

	flow cq.Flow      // of that packet
	at   cq.PacketRef // which it is

	departures departures
	responses  responses
	messages   slab.Of[cq.Message]
	carried    carried
}

// New returns a verifier that tells queues.
func New(queues *cq.Agent) *Verifier {
	v := &Verifier{queues: queues}
	queues.Responses = v
	return v
}

// Packet takes one packet, in the order of the capture. Of its fields Glance may have set a part.
func (v *Verifier) Packet(p *packet.Packet) {
	v.pos++
	v.queues.Reach(p.Time)
	if v.within(p) {
		v.queues.GoOn(p.Time)
		return
	}
	v.Left++
	p.Rest()
	v.packet(p)
	v.queues.Advance(p.Time)
}

func (v *Verifier) packet(p *packet.Packet) {
	if p.ICRCState == packet.CRCBad { // it never arrived
		v.damaged(p)
		return
	}
	if !followed(p) {
		return
	}
	v.refer(p)
	route := v.queues.Route(&v.flow, p.PSN, p.Time)
	if route == nil {
		return
	}
	at := &v.at
	if p.Info().Response {
		v.response(route, p, at)
	} else {
		for _, r := range route.Requests(false) {
			v.request(v.assemblyOf(r), p, at)
		}
	}
	if p.Opcode.Service() == packet.UD && route.Delivers() {
		v.queues.Datagram(route, datagram(p, at))
	}
	v.queues.Packet(route, at)
}

// followed reports whether a packet is a request or response of a service that has messages, with all its headers.
func followed(p *packet.Packet) bool {
	if p.Has&packet.HasBTH == 0 || p.Flaws&packet.FlawShort != 0 || p.Cut && p.Has&p.Info().Headers != p.Info().Headers {
		return false
	}
	in, service := p.Info(), p.Opcode.Service()
	return (in.Request || in.Response) && (service <= packet.UD || service == packet.XRC)
}

// response takes a response to the requests of a route, and keeps it for when it is asked for.
func (v *Verifier) response(route *cq.Route, p *packet.Packet, at *cq.PacketRef) {
	in := p.Info()
	more := in.First || in.Middle // of which only those are kept whose data is
	if !more {
		v.responses.keep(p, at.Pos)
	}
	for _, r := range route.Requests(true) {
		if more && r.KeepsData() {
			v.responses.keep(p, at.Pos)
		}
		v.assemblyOf(r).response(p, at)
	}
}

// damaged takes a packet with a wrong ICRC. On UC and UD nobody retransmits it, so that what completes with its data is known.
func (v *Verifier) damaged(p *packet.Packet) {
	in := p.Info()
	service := p.Opcode.Service()
	if p.Has&packet.HasBTH == 0 || !in.Only || !in.Request || service != packet.UC && service != packet.UD || p.Flaws&packet.FlawShort != 0 || p.Cut {
		return
	}
	if v.refer(p); v.queues.Delivers(v.flow) {
		v.queues.Damaged(v.flow, datagram(p, &v.at))
	}
}

// refer sets flow and at to those of a packet, field by field: a copy of a value that was just put together waits until all of it is stored.
func (v *Verifier) refer(p *packet.Packet) {
	at, f := &v.at, &v.flow
	at.Frame, at.Time, at.Pos, at.Tap, at.Op, at.PSN = p.Frame, p.Time, v.pos, p.Tap, p.Opcode, p.PSN
	f.Service, f.Src, f.Dst, f.To, f.From = p.Opcode.Service(), p.Src, p.Dst, p.DestQP, 0
	if p.Has&packet.HasDETH != 0 {
		f.From = p.SrcQP
	}
}

// assemblyOf is where the packets of some requests are assembled.
func (v *Verifier) assemblyOf(r *cq.Requests) *assembly {
	if s, ok := r.Assembler().(*assembly); ok {
		return s
	}
	s := &assembly{requests: r, messages: &v.messages, carried: &v.carried}
	r.AssembledBy(s)
	return s
}
