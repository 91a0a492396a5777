package exercise

import (
	"encoding/binary"
	"math/rand/v2"

	"ibwitness/link"
	"ibwitness/mad"
	"ibwitness/packet"
)

// The Q_Key of the queue pair of general services (section 10.2.4), and the lane of subnet management.
const (
	gsiQKey = 0x8001_0000
	vl15    = 15
)

// source is where a packet comes from where it does not say otherwise.
type source struct {
	addr  packet.Addr // of the port; permissive while it has no LID
	mac   [6]byte
	peer  [6]byte // MAC address of the other station
	lanes int     // 0: on Ethernet
	v1    bool
	rate  uint64 // bits a second that a stream sends where it does not say; 0: its port holds it back
}

// encap is how a packet is carried.
func (s *source) encap(p *Packet) packet.Encap {
	switch {
	case s.lanes > 0:
		return packet.Native
	case s.v1:
		return packet.RoCEv1
	case p.To.IsIPv4():
		return packet.RoCEv2IPv4
	}
	return packet.RoCEv2IPv6
}

// build makes packet n of a step: on a native link from LRH through VCRC, on Ethernet the frame. vl is its lane.
func (p *Packet) build(s *source, n uint64, chance *rand.Rand) (data []byte, vl uint8) {
	if p.Form == asBytes {
		data = append(data, p.Payload...)
		if len(data) > 0 && !p.Link {
			vl = data[0] >> 4
		}
		return data, vl
	}
	x := p.packet(s, n, chance)
	for i := range p.Set {
		f := &p.Set[i]
		f.id.Set(x, f.value.of(n, chance))
	}
	p.lane(x, s)
	given := x.IPSum
	if x.SealIPv4(); p.sets("ip_sum") {
		x.IPSum = given
	}
	x.SealICRC()
	if s.lanes > 0 {
		data = x.Append(nil)
	} else {
		data = x.AppendEthernet(nil, or(p.FromMAC, s.mac), or(p.ToMAC, s.peer))
	}
	p.spoil(x, data)
	return data[:len(data)-min(p.Cut, len(data)-1)], x.VL
}

// or is a, or b where a is zero.
func or(a, b [6]byte) [6]byte {
	if a == ([6]byte{}) {
		return b
	}
	return a
}

// sets reports whether a field is set by its name.
func (p *Packet) sets(name string) bool {
	for i := range p.Set {
		if p.Set[i].id == fieldNames[name] {
			return true
		}
	}
	return false
}

// packet makes a packet that is right.
func (p *Packet) packet(s *source, n uint64, chance *rand.Rand) *packet.Packet {
	x := &packet.Packet{
		Encap: s.encap(p), Opcode: p.Opcode, Src: s.addr, Dst: p.To, SGID: p.SGID, DGID: p.DGID, PKey: 0xFFFF, MigReq: !(&packet.Packet{Opcode: p.Opcode, Encap: s.encap(p)}).IsCNP(), SrcPort: 0xC000,
		Payload: p.Fill.payload(int(p.Length.of(n, chance)), p.Payload, chance),
	}
	if !p.From.IsZero() {
		x.Src = p.From
	}
	if !p.DGID.IsZero() {
		x.Has |= packet.HasGRH
	}
	if p.Form == management {
		p.manage(x, n, chance)
	}
	if p.Form == raw || p.Form == rawIPv6 {
		p.raw(x)
	} else {
		x.Complete()
	}
	return x
}

// manage makes a packet one that carries a MAD.
func (p *Packet) manage(x *packet.Packet, n uint64, chance *rand.Rand) {
	x.Opcode = packet.Op(packet.UD, packet.SendOnly)
	x.Payload = p.MAD.encode(n, chance)
	if !p.MAD.Class.Subnet() {
		x.DestQP, x.SrcQP, x.QKey = 1, 1, gsiQKey
	}
	x.MigReq = false
}

// raw makes a packet without transport: what follows its RWH or IPv6 header is payload, in whole words.
func (p *Packet) raw(x *packet.Packet) {
	x.Payload = append(x.Payload, make([]byte, -len(x.Payload)&3)...)
	x.SLID, x.DLID = packet.LIDOf(x.Src), packet.LIDOf(x.Dst)
	x.Has, x.LNH = packet.HasLRH|packet.HasVCRC|packet.HasRWH, packet.LNHRaw
	x.EtherType = 0x0800
	if p.Form == rawIPv6 {
		x.Has, x.LNH = packet.HasLRH|packet.HasVCRC|packet.HasIPv6, packet.LNHIPv6
		x.IPVer, x.NxtHdr, x.HopLmt, x.PayLen = 6, 59, 64, uint16(len(x.Payload)) // 59: nothing follows that has a header
	}
	x.PktLen = uint16((len(x.Append(nil)) - 2) / 4)
}

// lane gives a packet on a native link its lane, where no field says it.
func (p *Packet) lane(x *packet.Packet, s *source) {
	switch {
	case s.lanes == 0 || p.sets("vl"):
	case p.VL >= 0:
		x.VL = uint8(p.VL)
	case p.Form == management && p.MAD.Class.Subnet():
		x.VL = vl15
	default:
		x.VL = x.SL % uint8(s.lanes)
	}
}

// spoil makes the CRCs of a packet what the script says.
func (p *Packet) spoil(x *packet.Packet, data []byte) {
	end := len(data)
	if x.Has&packet.HasVCRC != 0 {
		end -= 2
	}
	if x.Has&packet.HasICRC != 0 && end >= 4 {
		p.ICRC.put(data[end-4 : end])
	}
	if x.Has&packet.HasVCRC != 0 {
		binary.LittleEndian.PutUint16(data[end:], packet.VCRC(data[:end]))
		p.VCRC.put(data[end:])
	}
}

// put makes a CRC, as it is on the wire, what it shall be.
func (c checksum) put(b []byte) {
	switch {
	case c.wrong:
		for i := range b {
			b[i] ^= 0xFF
		}
	case c.given:
		for i := range b {
			b[i] = byte(c.value >> (8 * (len(b) - 1 - i)))
		}
	}
}

// mark says how a packet ends.
func (p *Packet) mark() link.Mark { return link.Mark{Bad: p.Bad, End: p.End} }

// permissive is the address of a port that has no LID.
var permissive = packet.LIDAddr(mad.PermissiveLID)
