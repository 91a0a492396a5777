package verifier_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"ibwitness/packet"
)

// otherwise seals p as one would that takes another format for right: sealed=fecn covers FECN and BECN, sealed=vcrc writes two bytes after the
// ICRC, sealed=grh a global route header before the BTH; sealed=before seals before what is between IP header and UDP was inserted.
func otherwise(p *packet.Packet, how string) ([]byte, error) {
	switch how {
	case "fecn":
		frame := p.Append(nil)
		icrc := unmasked(p, frame)
		at := len(frame) - 4
		if p.Has&packet.HasVCRC != 0 {
			at -= 2
		}
		binary.LittleEndian.PutUint32(frame[at:], icrc)
		if p.Has&packet.HasVCRC != 0 {
			p.ICRC = icrc
			sealVCRC(p)
			binary.LittleEndian.PutUint16(frame[at+4:], p.VCRC)
		}
		return frame, nil
	case "vcrc":
		grow(p, 2)
		p.SealIPv4()
		p.SealICRC()
		return append(p.Append(nil), 0xAB, 0xCD), nil
	case "grh":
		grow(p, 40)
		p.SealIPv4()
		frame := p.Append(nil)
		grh := make([]byte, 40)
		grh[0], grh[6], grh[7] = 0x60, 0x1B, 64
		binary.BigEndian.PutUint16(grh[4:], uint16(len(frame)-p.BTHOff))
		return append(frame[:p.BTHOff:p.BTHOff], append(grh, frame[p.BTHOff:]...)...), nil
	}
	if how == "before" {
		frame := p.Append(nil)
		at := 20
		if p.Has&packet.HasIPv6 != 0 {
			at = 40
		}
		more := p.BTHOff - 8 - at
		var q packet.Packet
		b := append(append([]byte(nil), frame[:at]...), frame[at+more:]...)
		if at == 40 {
			b[6] = 17
			binary.BigEndian.PutUint16(b[4:], p.PayLen-uint16(more))
		} else {
			b[0] = 0x45
			binary.BigEndian.PutUint16(b[2:], p.PayLen-uint16(more))
		}
		packet.DecodeIP(&q, b, len(b))
		q.SealICRC()
		binary.LittleEndian.PutUint32(frame[len(frame)-4:], q.ICRC)
		return frame, nil
	}
	return nil, fmt.Errorf("sealed=%s: give fecn, vcrc, grh or before", how)
}

// unmasked computes the ICRC of a frame as if FECN and BECN did not change on the way.
func unmasked(p *packet.Packet, frame []byte) uint32 {
	m := append([]byte(nil), frame...)
	bth := p.BTHOff
	var ones []byte
	switch {
	case p.Has&packet.HasLRH != 0 && p.Has&packet.HasGRH == 0:
		m[0] |= 0xF0
		m = m[:len(m)-6]
	case p.Has&packet.HasLRH != 0:
		m, bth = m[8:len(m)-6], bth-8
		ones = make([]byte, 8)
	default:
		m = m[:len(m)-4]
		ones = make([]byte, 8)
	}
	for i := range ones {
		ones[i] = 0xFF
	}
	switch {
	case p.Has&packet.HasIPv4 != 0:
		m[1], m[8], m[10], m[11] = 0xFF, 0xFF, 0xFF, 0xFF
	case p.Has&(packet.HasIPv6|packet.HasGRH) != 0:
		m[0] |= 0x0F
		m[1], m[2], m[3], m[7] = 0xFF, 0xFF, 0xFF, 0xFF
	}
	if p.Has&packet.HasUDP != 0 {
		m[bth-2], m[bth-1] = 0xFF, 0xFF
	}
	return crc32.ChecksumIEEE(append(ones, m...))
}

// tunnelled puts a packet on IP into another one, with this ECN field.
func tunnelled(b []byte, ecn uint8) []byte {
	h := []byte{0x45, ecn, 0, 0, 0, 1, 0, 0, 64, 4, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2}
	if b[0]>>4 == 6 {
		h[9] = 41
	}
	binary.BigEndian.PutUint16(h[2:], uint16(len(h)+len(b)))
	return append(h, b...)
}

// remark sets the ECN field of a frame on IP, as the network does.
func remark(frame []byte, ecn uint8) {
	if frame[0]>>4 == 4 {
		frame[1] = frame[1]&^3 | ecn
		return
	}
	frame[1] = frame[1]&^0x30 | ecn<<4
}
