package sim

import (
	"bytes"
	"encoding/binary"

	"ibwitness/fabricagent"
	"ibwitness/link"
	"ibwitness/packet"
)

// corrupt changes the bytes of a frame, which p was decoded from.
func (m *Mechanism) corrupt(e *Error, x *flight, p *packet.Packet) {
	head := headOf(x, p)
	x.other = true
	if e.Change != nil {
		q := *p
		q.Payload, q.Pad = bytes.Clone(p.Payload), bytes.Clone(p.Pad)
		e.Change(&q, m.chance)
		q.SealIPv4()
		q.SealICRC()
		x.frame = q.Append(bytes.Clone(x.frame[:head]))
		return
	}
	frame := bytes.Clone(x.frame)
	data := frame[head:][:len(p.Data)]
	for _, bit := range e.Bits {
		flip(data[p.BTHOff:], bit)
	}
	n := (len(data) - p.BTHOff) * 8
	for range e.Flip {
		bit := m.chance.IntN(n)
		for bit/8 == resv8a { // no ICRC covers it
			bit = m.chance.IntN(n)
		}
		flip(data[p.BTHOff:], bit)
	}
	x.frame = frame
}

// disturb inverts a bit of a frame, after the headers before the packet. The state of a port is no frame on the wire.
func (m *Mechanism) disturb(x *flight) {
	head := etherSize
	if m.path.fabric.opt.Link == fabricagent.LinkTap {
		head = link.HeaderSize
		if k, _, ok := link.DecodeHeader(x.frame); ok && k == link.Physical {
			return
		}
	}
	if len(x.frame) <= head {
		return
	}
	m.Sums.Corrupted++
	x.other = true
	x.frame = bytes.Clone(x.frame)
	flip(x.frame[head:], m.chance.IntN((len(x.frame)-head)*8))
}

// resv8a is the byte of the BTH that holds FECN, BECN and reserved bits.
const resv8a = 4

// flip inverts a bit, the first being the most significant of the first byte; one after the end is not changed.
func flip(b []byte, bit int) {
	if bit >= 0 && bit/8 < len(b) {
		b[bit/8] ^= 0x80 >> (bit % 8)
	}
}

// headOf is how many bytes of a frame precede the packet that was decoded from it.
func headOf(x *flight, p *packet.Packet) int {
	head := len(x.frame) - len(p.Data)
	for head > 0 && &x.frame[head] != &p.Data[0] { // padding after the packet
		head--
	}
	return head
}

// mark sets ECN 11, which no ICRC covers.
func (m *Mechanism) mark(x *flight, p *packet.Packet) {
	head := headOf(x, p)
	x.frame = bytes.Clone(x.frame)
	b := x.frame[head:]
	if p.Has&packet.HasIPv6 != 0 {
		b[1] |= 3 << 4
	} else {
		sum := uint32(^binary.BigEndian.Uint16(b[10:])) + uint32(^b[1]&3) // RFC 1624
		b[1] |= 3
		binary.BigEndian.PutUint16(b[10:], ^uint16(sum+sum>>16))
	}
	frame := fabricagent.Frame{Link: fabricagent.LinkEthernet, Len: uint32(len(x.frame)), Data: x.frame}
	fabricagent.Decode(&frame, p)
}
