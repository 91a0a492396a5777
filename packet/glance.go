package packet

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// glance is what Glance needs of an opcode.
type glance struct {
	known bool  // it reads all that the opcode has
	size  uint8 // bytes of the extension headers
	has   Has
	// Where the fields of the extension headers are, 0 for those that the opcode does not have, and masks of those that it has: a processor cannot guess branches on them.
	vaAt, compareAt, origAt uint8
	aeth, dma               uint32
	va, compare, orig       uint64
}

// glanceAt is where extension headers begin.
const glanceAt = ipv4Size + udpSize + bthSize

// glances is by opcode.
var glances = func() (t [256]glance) {
	for i := range t {
		g, l := &t[i], &layouts[i]
		if in := Opcode(i).Info(); !in.Defined || in.Opcode.Service() != RC {
			continue
		}
		*g = glance{known: true, size: l.size, has: l.has | HasIPv4 | HasUDP | HasBTH | HasICRC}
		switch l.has &^ (HasImmDt | HasIETH) { // which come last
		case 0:
		case HasAETH:
			g.aeth = math.MaxUint32
		case HasAETH | HasAtomicAckETH:
			g.aeth, g.orig, g.origAt = math.MaxUint32, math.MaxUint64, glanceAt+4
		case HasRETH:
			g.va, g.dma, g.vaAt = math.MaxUint64, math.MaxUint32, glanceAt
		case HasAtomicETH:
			g.va, g.compare, g.vaAt, g.compareAt = math.MaxUint64, math.MaxUint64, glanceAt, glanceAt+20
		default:
			g.known = false
		}
	}
	return t
}()

// Glance decodes a part of the Usual packet of RC that b begins with: the fields up to OrigData, but for those that the fabric agent sets. These are enough to find the
// connection of the packet and to take the fast paths of the verifiers. All other fields are left as they were; Rest sets them, from the same bytes. The result is false, and p
// undefined, where the packet is not Usual or not of RC: Decode decodes it. Data is a view on b.
func Glance(p *Packet, b []byte) bool {
	const bth, at = ipv4Size + udpSize, glanceAt
	if len(b) < at+icrcSize {
		return false
	}
	h := (*[at + icrcSize]byte)(b)
	w, x, y := binary.BigEndian.Uint64(h[:]), binary.BigEndian.Uint64(h[8:]), binary.BigEndian.Uint32(h[16:])
	udp, q, a := binary.BigEndian.Uint64(h[ipv4Size:]), binary.BigEndian.Uint64(h[bth:]), binary.BigEndian.Uint32(h[bth+8:])
	g, end, pad := &glances[h[bth]], int(w>>32&0xFFFF), int(q>>52&3)
	payload := end - icrcSize - pad - at - int(g.size)
	if !g.known || payload < 0 || end > len(b) ||
		(w>>56^0x45)|w&0x3FFF|(x>>48&0xFF^protoUDP)|(udp>>32&0xFFFF^UDPPort)|uint64(int(udp>>16&0xFFFF)^(end-ipv4Size)) != 0 ||
		uint16(x>>32) != 0 && !summed(w, x, uint64(y)) || x>>56 == 0 {
		return false
	}
	p.Has = g.has
	p.Data = b[:end:len(b)]
	p.BTHOff = bth
	p.Src, p.Dst = Addr{0, 0xFFFF<<32 | x&0xFFFFFFFF}, Addr{0, 0xFFFF<<32 | uint64(y)}
	p.PayloadLen = payload
	p.Opcode, p.Encap, p.ICRCState, p.Cut = Opcode(h[bth]), RoCEv2IPv4, CRCNotJudged, false
	p.PadCnt, p.AckReq, p.MigReq = uint8(pad), a>>31 != 0, q>>54&1 != 0
	p.Usual, p.Part = true, true
	p.Flaws, p.IPID, p.SrcPort = 0, uint16(w>>16), uint16(udp>>48)
	p.DestQP, p.PSN = uint32(q)&PSNMask, PSN(a&PSNMask)
	p.ICRC = binary.LittleEndian.Uint32(b[end-icrcSize:])
	g.extensions(p, b)
	return true
}

// extensions sets what Glance reads of the extension headers, which b has in full. For those that the opcode does not have, other bytes are read, for nothing.
func (g *glance) extensions(p *Packet, b []byte) {
	s := binary.BigEndian.Uint32(b[glanceAt:]) & g.aeth
	p.Syndrome, p.MSN = Syndrome(s>>24), s&PSNMask
	p.VA = word(b, g.vaAt) & g.va
	k := word(b, g.vaAt+8)
	p.RKey, p.DMALen = uint32(k>>32)&uint32(g.va), uint32(k)&g.dma
	p.Compare = word(b, g.compareAt) & g.compare
	p.OrigData = word(b, g.origAt) & g.orig
}

// word reads the eight bytes of b at an offset. Glance has found that b has them: what an opcode lacks is read from the start.
func word(b []byte, at uint8) uint64 {
	return binary.BigEndian.Uint64((*[8]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), at))[:])
}

// Body is the payload of a packet that is Usual, before and after Rest.
func (p *Packet) Body() []byte {
	n := len(p.Data) - icrcSize - int(p.PadCnt)
	return p.Data[n-p.PayloadLen : n : n]
}

// BTH is the first eight bytes of the BTH of a packet that is Usual, as a number: opcode, flags, P_Key and DestQP, with what is reserved between them.
func (p *Packet) BTH() uint64 { return binary.BigEndian.Uint64(p.Data[ipv4Size+udpSize:]) }

// Rest sets what Glance has left.
func (p *Packet) Rest() {
	if p.Part {
		p.rest()
	}
}

func (p *Packet) rest() {
	state, b := p.ICRCState, p.Data[:cap(p.Data)]
	DecodeIP(p, b, len(b))
	p.ICRCState = state
}
