package attach

import (
	"encoding/binary"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// sealer gives frames of a tap where the ICRC is not there yet the one that they should have.
type sealer struct {
	buf     []byte
	p       packet.Packet
	checker packet.Checker
}

const icrcSize = 4

// seal replaces the data of a frame by a copy with a right ICRC; absent says that the four bytes are missing, and not only their value. Lengths of IP and UDP that do
// not count them are corrected. What is no RoCE or InfiniBand packet stays as it is.
func (s *sealer) seal(f *fabricagent.Frame, absent bool) {
	if int(f.Len) > len(f.Data) {
		return // cut: its ICRC is not judged
	}
	s.buf = append(s.buf[:0], f.Data...)
	if absent {
		s.buf = append(s.buf, 0, 0, 0, 0)
		lengthen(s.buf)
	}
	g := *f
	g.Data, g.Len = s.buf, uint32(len(s.buf))
	fabricagent.Decode(&g, &s.p)
	icrc, at, ok := s.checker.Right(&s.p)
	if !ok {
		return
	}
	binary.LittleEndian.PutUint32(s.p.Data[at:], icrc)
	f.Data, f.Len = g.Data, g.Len
}

// lengthen has an Ethernet frame count an ICRC that was appended, where its lengths do not.
func lengthen(b []byte) {
	const vlan, ipv4, ipv6, udp = 0x8100, 0x0800, 0x86dd, 17
	at := 12
	for len(b) >= at+6 && binary.BigEndian.Uint16(b[at:]) == vlan {
		at += 4
	}
	if len(b) < at+2 {
		return
	}
	kind, ip := binary.BigEndian.Uint16(b[at:]), b[at+2:]
	switch {
	case kind == ipv4 && len(ip) >= 28+icrcSize && ip[9] == udp && int(binary.BigEndian.Uint16(ip[2:])) == len(ip)-icrcSize:
		head := int(ip[0]&15) * 4
		if head < 20 || len(ip) < head+8 {
			return
		}
		add(ip[2:])
		add(ip[head+4:])
		sum := uint32(0)
		ip[10], ip[11] = 0, 0
		for i := 0; i < head; i += 2 {
			sum += uint32(binary.BigEndian.Uint16(ip[i:]))
		}
		sum = sum>>16 + sum&0xffff
		binary.BigEndian.PutUint16(ip[10:], ^uint16(sum>>16+sum))
	case kind == ipv6 && len(ip) >= 48+icrcSize && ip[6] == udp && int(binary.BigEndian.Uint16(ip[4:])) == len(ip)-40-icrcSize:
		add(ip[4:])
		add(ip[44:])
	}
}

// add adds the ICRC to a length.
func add(b []byte) { binary.BigEndian.PutUint16(b, binary.BigEndian.Uint16(b)+icrcSize) }
