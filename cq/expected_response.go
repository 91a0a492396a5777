package cq

import (
	"fmt"

	"ibwitness/expect"
	"ibwitness/packet"
)

// Responses keeps the newest responses.
type Responses interface {
	// Response begins the packet that is expected in place of a response, whose payload is given where it is known; nil: that is not kept any more.
	Response(at PacketRef, payload []byte) *expect.Expected
}

// compareResponse puts a response beside what should have been sent in its place; nil: it is not kept any more, or no field of it differs.
func (a *Agent) compareResponse(at PacketRef, payload []byte, expects func(*expect.Expected)) *expect.Comparison {
	if a.Responses == nil {
		return nil
	}
	e := a.Responses.Response(at, payload)
	if e == nil {
		return nil
	}
	expects(e)
	return e.Compare()
}

// refusal says that a response should have been a negative acknowledgement.
func refusal(s packet.Syndrome) func(*expect.Expected) {
	return func(e *expect.Expected) {
		p := e.Packet()
		e.Set(expect.Opcode, uint64(packet.Op(p.Opcode.Service(), packet.Acknowledge)))
		e.Set(expect.Syndrome, uint64(s))
	}
}

// syndrome says in words which syndrome a response should have had.
func syndrome(text string) func(*expect.Expected) {
	return func(e *expect.Expected) { e.Say(expect.Syndrome, text, false) }
}

// found says which data the response to a READ or an atomic should have had, of which only the checksum is known.
func found(x *observation, crc uint32) func(*expect.Expected) {
	return func(e *expect.Expected) {
		text := fmt.Sprintf("data with CRC-32 %#08x (here %#08x)", crc, x.crc)
		switch {
		case e.Has(expect.OrigData):
			e.Say(expect.OrigData, text, false)
		case x.m.Packets > 1:
			e.Say(expect.Payload, "the end of "+text, false)
		default:
			e.Say(expect.Payload, text, false)
		}
	}
}
