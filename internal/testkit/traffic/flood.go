package traffic

import (
	"encoding/binary"

	"ibwitness/mad"
	"ibwitness/packet"
)

// Flood is hostile traffic: packets that each ask for as much work, or as much memory, as one can.
type Flood struct {
	Name string
	// Is says what it consists of.
	Is   string
	make func(f *flooder, i int, p *packet.Packet)
}

// Managed reports whether it consists of management datagrams, whose ordinary traffic takes more work than that of data.
func (f *Flood) Managed() bool {
	var p packet.Packet
	f.make(&flooder{}, 0, &p)
	return p.DestQP == 1 && p.Opcode.Service() == packet.UD
}

// Floods are all kinds of them.
var Floods = []Flood{
	{"queue pairs", "requests of RC to a new queue pair each", func(f *flooder, i int, p *packet.Packet) {
		f.send(p, uint32(2+i))
	}},
	{"queue pairs, one address pair each", "requests of RC to a new queue pair each, of 65,536 pairs of addresses", func(f *flooder, i int, p *packet.Packet) {
		f.send(p, uint32(2+i))
		p.Src.Lo ^= uint64(i & 0xFFFF)
	}},
	{"responses", "Acknowledges to a new queue pair each", func(f *flooder, i int, p *packet.Packet) {
		p.Opcode, p.DestQP, p.PSN, p.Syndrome = packet.Op(packet.RC, packet.Acknowledge), uint32(2+i), f.psn(), 0x1F
	}},
	{"datagrams", "datagrams from a new queue pair to a new one each", func(f *flooder, i int, p *packet.Packet) {
		f.datagram(p, uint32(2+i), uint32(2+i*7))
	}},
	{"datagrams to one", "datagrams from a new queue pair each to the same one", func(f *flooder, i int, p *packet.Packet) {
		f.datagram(p, uint32(2+i), 0x11)
	}},
	{"IPv4 addresses", "requests from a new IPv4 address each", func(f *flooder, i int, p *packet.Packet) {
		f.send(p, 0x11)
		p.Src.Lo ^= f.next() & 0xFFFFFF
	}},
	{"IPv6 addresses", "requests from a new IPv6 address to a new one each", func(f *flooder, i int, p *packet.Packet) {
		f.send(p, 0x11)
		f.ipv6(p, f.next(), f.next())
	}},
	{"colliding addresses", "requests from IPv6 addresses whose sum, times two odd numbers, is the same", func(f *flooder, i int, p *packet.Packet) {
		f.send(p, 0x11)
		lo := f.next()
		f.ipv6(p, lo, 0)
		p.Src.Hi = -lo * 0x9e3779b97f4a7c15 * inverse(0xbf58476d1ce4e5b9)
	}},
	{"CNPs", "congestion notification packets to a new queue pair each", func(f *flooder, i int, p *packet.Packet) {
		p.Opcode, p.DestQP, p.PSN, p.Payload = packet.OpCNP, uint32(2+i), 0, make([]byte, 16)
	}},
	{"CNPs between many", "congestion notification packets between new addresses", func(f *flooder, i int, p *packet.Packet) {
		p.Opcode, p.DestQP, p.PSN, p.Payload = packet.OpCNP, 0x11, 0, make([]byte, 16)
		p.Src.Lo ^= f.next() & 0xFFFFFF
	}},
	{"marks", "packets with ECN 11 of a new queue pair each", func(f *flooder, i int, p *packet.Packet) {
		f.datagram(p, 0x11, uint32(2+i))
		p.TClass |= 3
	}},
	{"marks between many", "packets with ECN 11 between new addresses", func(f *flooder, i int, p *packet.Packet) {
		f.datagram(p, 0x11, 0x12)
		p.Src.Lo ^= f.next() & 0xFFFFFF
		p.TClass |= 3
	}},
	{"REQs", "REQs of CM, each of a new connection", func(f *flooder, i int, p *packet.Packet) {
		s := &f.slot
		s.id, s.ends[0].qpn = uint32(i+1), uint32(2+i)
		f.manage(p, s.request())
	}},
	{"DREQs", "DREQs of CM, each of a connection that was not", func(f *flooder, i int, p *packet.Packet) {
		id := uint32(i + 1)
		f.manage(p, &mad.DREQ{Header: mad.CMHeader(mad.AttrDREQ, uint64(id)), LocalCommID: id, RemoteCommID: id ^ 0x5555, RemoteQPN: id & packet.PSNMask})
	}},
	{"queries", "requests of one MAD class, with a new transaction ID each", func(f *flooder, i int, p *packet.Packet) {
		f.raw(p, 0x04, 1, 0x01, 0x12)
	}},
	{"SA queries", "requests to the subnet administrator, with a new transaction ID each", func(f *flooder, i int, p *packet.Packet) {
		f.raw(p, 0x03, 2, 0x01, 0x35)
	}},
	{"SA answers", "answers of the subnet administrator that nobody asked for", func(f *flooder, i int, p *packet.Packet) {
		f.raw(p, 0x03, 2, 0x81, 0x35)
	}},
	{"RMPP", "segments of RMPP, each of a new transfer", func(f *flooder, i int, p *packet.Packet) {
		f.raw(p, 0x03, 2, 0x92, 0x35)
		b := p.Payload
		b[24], b[25], b[26] = 1, 1, 1 // version, DATA, active
		binary.BigEndian.PutUint32(b[28:], uint32(1+i%3))
	}},
	{"reserved MADs", "datagrams to QP 1 whose 256 bytes are random", func(f *flooder, i int, p *packet.Packet) {
		f.raw(p, 0, 0, 0, 0)
		for k := 0; k < len(p.Payload); k += 8 {
			binary.LittleEndian.PutUint64(p.Payload[k:], f.next())
		}
	}},
	{"garbage", "random opcodes, queue pairs and PSNs", func(f *flooder, i int, p *packet.Packet) {
		x := f.next()
		p.Opcode, p.DestQP, p.PSN, p.TVer, p.PKey = packet.Opcode(x), uint32(x>>8)&packet.PSNMask, packet.PSN(x>>32&packet.PSNMask), uint8(x>>56)&15, uint16(f.next())
		p.Payload = f.bytes[:64]
	}},
	{"gaps", "requests of one queue pair, each with another PSN", func(f *flooder, i int, p *packet.Packet) {
		f.send(p, 0x11)
		p.PSN = f.psn()
	}},
	{"small gaps", "requests of one queue pair, each with a PSN three further on", func(f *flooder, i int, p *packet.Packet) {
		f.send(p, 0x11)
		p.PSN = packet.PSN(3 * i & packet.PSNMask)
	}},
	{"READs", "READ requests of 2 GiB that are never answered", func(f *flooder, i int, p *packet.Packet) {
		p.Opcode, p.DestQP, p.PSN, p.AckReq = packet.Op(packet.RC, packet.ReadRequest), 0x11, packet.PSN(i<<16&packet.PSNMask), true
		p.VA, p.RKey, p.DMALen = f.next(), 1, 1<<31
	}},
	{"unanswered requests", "requests of one queue pair that are never acknowledged", func(f *flooder, i int, p *packet.Packet) {
		f.send(p, 0x11)
		p.PSN = packet.PSN(i & packet.PSNMask)
	}},
	{"NAKs", "sequence NAKs of one queue pair with a random PSN each", func(f *flooder, i int, p *packet.Packet) {
		p.Opcode, p.DestQP, p.PSN, p.Syndrome = packet.Op(packet.RC, packet.Acknowledge), 0x11, f.psn(), 0x60
	}},
	{"retransmissions", "one request, over and over", func(f *flooder, i int, p *packet.Packet) {
		f.send(p, 0x11)
	}},
	{"odd P_Keys", "five requests of a new queue pair each, the third with another P_Key", func(f *flooder, i int, p *packet.Packet) {
		f.send(p, uint32(2+i/5))
		if p.PSN = packet.PSN(i % 5); p.PSN == 2 {
			p.PKey = 0x9000
		}
	}},
	{"changing ports", "three requests of a new queue pair each, each with another source port", func(f *flooder, i int, p *packet.Packet) {
		f.send(p, uint32(2+i/3))
		p.PSN = packet.PSN(i % 3)
		p.SrcPort += uint16(i % 3)
	}},
	{"contexts", "requests of RD, and responses of RD, to a new end-to-end context each", func(f *flooder, i int, p *packet.Packet) {
		p.Opcode, p.EEC, p.SrcQP, p.DestQP, p.QKey, p.PSN, p.AckReq, p.Payload = packet.Op(packet.RD, packet.SendOnly), uint32(2+i), 0x11, 0x12, 1, 7, true, f.bytes[:32]
		if i%2 != 0 {
			p.Opcode, p.Syndrome, p.Payload = packet.Op(packet.RD, packet.Acknowledge), 0x1F, nil
			p.Src, p.Dst = p.Dst, p.Src
		}
	}},
	{"damage", "requests whose ICRC is wrong", func(f *flooder, i int, p *packet.Packet) {
		f.send(p, uint32(2+i))
		f.damage = true
	}},
}

// inverse is the multiplicative inverse of an odd number modulo 2^64.
func inverse(x uint64) uint64 {
	y := x
	for range 6 {
		y *= 2 - x*y
	}
	return y
}

// flooder makes the packets of a flood.
type flooder struct {
	random
	slot   slot
	bytes  [1024]byte
	damage bool
}

func (f *flooder) psn() packet.PSN { return packet.PSN(f.next() & packet.PSNMask) }

func (f *flooder) send(p *packet.Packet, qpn uint32) {
	p.Opcode, p.DestQP, p.PSN, p.AckReq, p.Payload = packet.Op(packet.RC, packet.SendOnly), qpn&packet.PSNMask, 7, true, f.bytes[:32]
}

func (f *flooder) datagram(p *packet.Packet, from, to uint32) {
	p.Opcode, p.SrcQP, p.DestQP, p.QKey, p.Payload = packet.Op(packet.UD, packet.SendOnly), from&packet.PSNMask, to&packet.PSNMask, 0x1234, f.bytes[:32]
}

func (f *flooder) ipv6(p *packet.Packet, src, dst uint64) {
	p.Encap = packet.RoCEv2IPv6
	p.Src, p.Dst = packet.Addr{Hi: 0xfd00 << 48, Lo: src}, packet.Addr{Hi: 0xfd01 << 48, Lo: dst}
}

// raw makes a datagram to QP 1.
func (f *flooder) raw(p *packet.Packet, class, version, method uint8, attribute uint16) {
	b := f.bytes[:mad.Size]
	clear(b)
	b[0], b[1], b[2], b[3] = 1, class, version, method
	binary.BigEndian.PutUint64(b[8:], f.next())
	binary.BigEndian.PutUint16(b[16:], attribute)
	f.datagram(p, 1, 1)
	p.QKey, p.Payload = 0x80010000, b
}

func (f *flooder) manage(p *packet.Packet, m mad.Message) {
	b := f.bytes[:mad.Size]
	clear(b)
	if err := m.Encode(b); err != nil {
		panic(err) // a mistake above
	}
	f.datagram(p, 1, 1)
	p.QKey, p.Payload = 0x80010000, b
}

// Capture is a capture of n packets of the flood in memory, 10 µs apart: pcap with nanosecond times.
func (f *Flood) Capture(n int) []byte {
	b := header(make([]byte, 0, headerSize+n*160))
	m := flooder{random: 1}
	for i := range m.slot.ends {
		m.slot.ends[i] = end{addr: packet.IPv4Addr([]byte{10, 9, 0, uint8(i)}), mac: [6]byte{2, 0, 0, 9, 0, uint8(i)}, qpn: uint32(0x21 + i)}
	}
	for i := range n {
		p := packet.Packet{
			Encap: packet.RoCEv2IPv4, PKey: 0xFFFF, MigReq: true, Src: m.slot.ends[0].addr, Dst: m.slot.ends[1].addr, SrcPort: 0xC001, IPID: uint16(i),
		}
		f.make(&m, i, &p)
		p.Complete()
		at := len(b)
		b = begin(b, i, pause)
		b = p.AppendEthernet(b, m.slot.ends[0].mac, m.slot.ends[1].mac)
		if m.damage {
			b[len(b)-1] ^= 1
		}
		finish(b, at)
	}
	return b
}

// pause is what passes between two packets of a flood, in nanoseconds.
const pause = 10_000
