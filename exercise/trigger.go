package exercise

import (
	"bytes"

	"ibwitness/link"
	"ibwitness/mad"
	"ibwitness/packet"
)

// Heard is what a port has received.
type Heard struct {
	Kind   link.Kind
	Mark   link.Mark
	Data   []byte         // on a native link from LRH through VCRC, a link packet, or the physical state; on Ethernet the frame
	Packet *packet.Packet // nil where it is no packet of RDMA
	Flow   *link.FlowControl
	MAD    *mad.Header
}

// hear makes out what has come on a native link.
func hear(k link.Kind, m link.Mark, data []byte) *Heard {
	h := &Heard{Kind: k, Mark: m, Data: data}
	switch k {
	case link.Packet:
		if f, ok := link.DecodeFlowControl(data); ok {
			h.Flow = &f
		}
	case link.Data:
		if p := new(packet.Packet); packet.DecodeInfiniBand(p, data, len(data)) {
			h.decoded(p)
		}
	}
	return h
}

// decoded notes what packet it is.
func (h *Heard) decoded(p *packet.Packet) {
	p.CheckICRC()
	p.CheckVCRC()
	h.Packet = p
	if d := new(mad.Header); p.Has&packet.HasDETH != 0 && p.DestQP <= 1 && mad.DecodeHeader(p.Payload, d) == nil {
		h.MAD = d
	}
}

// wrong reports whether what was received is damaged in a way.
func (h *Heard) wrong(how string) bool {
	p := h.Packet
	switch how {
	case "ebp":
		return h.Mark.Bad && h.Mark.End == link.EGP
	case "end":
		return h.Mark.Bad
	case "lpcrc":
		return h.Kind == link.Packet && (h.Flow == nil || !h.Flow.Good)
	case "icrc":
		return p != nil && p.ICRCState == packet.CRCBad
	case "vcrc":
		return p != nil && p.VCRCState == packet.CRCBad
	case "length":
		return p != nil && p.Flaws&(packet.FlawLRHLength|packet.FlawShort|packet.FlawIPLength|packet.FlawUDPLength) != 0
	}
	return false
}

// errorsHeard are the ways in which what is received may be damaged.
var errorsHeard = map[string]string{"ebp": "ebp", "end": "end", "lpcrc": "lpcrc", "icrc": "icrc", "vcrc": "vcrc", "length": "length"}

// Trigger is what a stream waits for: so many things of which all conditions hold.
type Trigger struct {
	Line    int
	Stream  string // which has ended; then there is no other condition
	Count   int
	matches []func(*Heard) bool
}

// takes reports whether what was received is what the trigger waits for.
func (t *Trigger) takes(h *Heard) bool {
	if t.Stream != "" {
		return false
	}
	for _, m := range t.matches {
		if !m(h) {
			return false
		}
	}
	return true
}

// pattern is bytes at an offset, of which only some bits count.
type pattern struct {
	at         int
	data, mask []byte
}

func (p *pattern) in(h *Heard) bool {
	if len(h.Data) < p.at+len(p.data) {
		return false
	}
	if p.mask == nil {
		return bytes.Equal(h.Data[p.at:p.at+len(p.data)], p.data)
	}
	for i, b := range p.data {
		if i < len(p.mask) && (h.Data[p.at+i]^b)&p.mask[i] != 0 {
			return false
		}
	}
	return true
}

// ofPacket makes a condition on a packet.
func ofPacket(is func(*packet.Packet) bool) func(*Heard) bool {
	return func(h *Heard) bool { return h.Packet != nil && is(h.Packet) }
}

// ofMAD makes a condition on a management datagram.
func ofMAD(is func(*mad.Header) bool) func(*Heard) bool {
	return func(h *Heard) bool { return h.MAD != nil && is(h.MAD) }
}
