package sim

import (
	"bytes"

	"ibwitness/packet"
)

// corrupt changes the bytes of a frame, which p was decoded from.
func (m *Mechanism) corrupt(e *Error, x *flight, p *packet.Packet) {
	head := len(x.frame) - len(p.Data)
	for head > 0 && &x.frame[head] != &p.Data[0] { // padding behind the packet
		head--
	}
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

// resv8a is the byte of the BTH that holds FECN, BECN and reserved bits.
const resv8a = 4

// flip inverts a bit, the first being the most significant of the first byte; one behind the end is left alone.
func flip(b []byte, bit int) {
	if bit >= 0 && bit/8 < len(b) {
		b[bit/8] ^= 0x80 >> (bit % 8)
	}
}
