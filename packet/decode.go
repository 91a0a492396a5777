package packet

import "encoding/binary"

// BTHSize and ICRCSize are how long the two are, in bytes.
const (
	BTHSize  = 12
	ICRCSize = 4
)

// HeaderSize is how long the extension headers of an opcode are, in bytes.
func HeaderSize(o Opcode) int { return int(layouts[o].size) }

// Sizes of the headers of table T1, in bytes.
const (
	lrhSize  = 8
	grhSize  = 40
	rwhSize  = 4
	ipv4Size = 20
	ipv6Size = 40
	udpSize  = 8
	bthSize  = BTHSize
	cnpSize  = 16
	icrcSize = ICRCSize
	vcrcSize = 2
)

// extensionOrder is the order in which extension headers follow the BTH, and their sizes (tables T1 and T2).
var extensionOrder = [...]struct {
	has  Has
	size int
}{
	{HasRDETH, 4},
	{HasDETH, 8},
	{HasXRCETH, 4},
	{HasFETH, 4},
	{HasRETH, 16},
	{HasAtomicETH, 28},
	{HasAETH, 4},
	{HasAtomicAckETH, 8},
	{HasImmDt, 4},
	{HasIETH, 4},
}

// layout is what the decoder needs of table T2, small enough to stay in the cache.
type layout struct {
	has   Has
	size  uint8 // bytes of the extension headers
	body  uint8 // bytes that must follow them: the reserved ones of a CNP
	least uint8 // both
	kind  kind
}

// kind singles out the commonest sets of extension headers.
type kind uint8

const (
	kindAETH kind = iota // or none: the decoder does not ask which, since a processor cannot guess it
	kindRETH
	kindSome
)

var layouts = buildLayouts()

func buildLayouts() (t [256]layout) {
	for i := range t {
		t[i].has = infos[i].Headers
		for _, e := range extensionOrder {
			if t[i].has&e.has != 0 {
				t[i].size += uint8(e.size)
			}
		}
		switch t[i].has {
		case 0, HasAETH:
		case HasCNP:
			t[i].body = cnpSize
		case HasRETH:
			t[i].kind = kindRETH
		default:
			t[i].kind = kindSome
		}
		t[i].least = t[i].size + t[i].body
	}
	return t
}

// begin forgets what most packets do not have and what the CRC checks say; the decoders of the network headers and
// transport set every other field. The assignments follow the order of the fields, so that they become wide stores.
func (p *Packet) begin() {
	p.ICRCState, p.Cut, p.Usual, p.Part, p.Syndrome, p.Flaws = 0, false, false, false, 0, 0
	p.MSN, p.RKey, p.DMALen, p.VA, p.Compare, p.OrigData = 0, 0, 0, 0, 0, 0
	p.VL, p.LVer, p.SL, p.LNH, p.LRHRes, p.VCRCState = 0, 0, 0, 0, 0, 0
	p.VCRC, p.PktLen, p.DLID, p.SLID, p.EtherType, p.RWHRes, p.FlowLabel, p.VLAN = 0, 0, 0, 0, 0, 0, 0, 0
	p.DETHRes, p.RDETHRes, p.XRCRes = 0, 0, 0
	p.SwapAdd, p.Imm, p.InvRKey, p.QKey, p.SrcQP, p.XRCSRQ, p.EEC, p.FETH, p.Link = 0, 0, 0, 0, 0, 0, 0, 0, 0
}

// reset forgets everything but what the fabric agent has set.
func (p *Packet) reset() {
	*p = Packet{Time: p.Time, Frame: p.Frame, Tap: p.Tap, Way: p.Way, Station: p.Station}
}

// flagBits is byte 1 of the BTH, taken apart.
type flagBits struct {
	se, migReq   bool
	padCnt, tVer uint8
}

var flagTable = func() (t [256]flagBits) {
	for i := range t {
		t[i] = flagBits{i&0x80 != 0, i&0x40 != 0, uint8(i >> 4 & 3), uint8(i & 0xF)}
	}
	return t
}()

// transport decodes from the BTH on. b is the packet as far as captured, off the offset of the BTH in it, end the
// offset after the ICRC by the headers' lengths, has the headers before the BTH.
func (p *Packet) transport(b []byte, off, end int, has Has) {
	if off+bthSize+icrcSize > end || end > len(b) {
		p.transportRest(b, off, end, has)
		return
	}
	h := (*[bthSize]byte)(b[off:])
	l := &layouts[h[0]]
	at := off + bthSize
	tail := end - icrcSize - int(h[1]>>4&3)
	if at+int(l.least) > tail {
		p.transportRest(b, off, end, has)
		return
	}
	p.bth(h)
	p.Has = has | l.has | HasBTH | HasICRC
	p.BTHOff = off
	p.afterBTH(b[at:end:len(b)], l)
	p.Data = b[:end:len(b)]
}

// bth decodes the BTH.
func (p *Packet) bth(h *[bthSize]byte) {
	w := binary.BigEndian.Uint64(h[:])
	a := binary.BigEndian.Uint32(h[8:])
	p.DestQP = uint32(w) & PSNMask
	p.PSN = PSN(a & PSNMask)
	p.PKey = uint16(w >> 32)
	p.Opcode = Opcode(h[0])
	f := &flagTable[h[1]]
	p.SE, p.MigReq, p.PadCnt, p.TVer = f.se, f.migReq, f.padCnt, f.tVer
	if h[4] == 0 {
		p.FECN, p.BECN, p.Resv8a = false, false, 0
	} else {
		p.resv8a(h[4])
	}
	p.Resv7 = h[8] & 0x7F
	p.AckReq = a>>31 != 0
}

// afterBTH decodes what follows the BTH, to the ICRC at the end of b. The caller has seen that there is room.
func (p *Packet) afterBTH(b []byte, l *layout) {
	w := binary.BigEndian.Uint32(b) & -uint32(l.has/HasAETH&1)
	p.Syndrome, p.MSN = Syndrome(w>>24), w&PSNMask
	if l.kind == kindRETH {
		p.reth((*[16]byte)(b))
	} else if l.kind == kindSome {
		p.extensions(b, l.has)
	}
	start := int(l.size)
	trail := len(b) - icrcSize
	tail := trail - int(p.PadCnt)
	p.PayloadLen = tail - start
	p.ICRC = binary.LittleEndian.Uint32(b[trail:])
	p.Payload = b[start:tail:tail]
	p.Pad = b[tail:trail:trail]
}

// resv8a takes apart byte 4 of the BTH.
func (p *Packet) resv8a(v uint8) {
	p.FECN, p.BECN, p.Resv8a = v&0x80 != 0, v&0x40 != 0, v&0x3F
}

// transportRest is transport for a packet that is cut off or whose lengths leave too little room.
func (p *Packet) transportRest(b []byte, off, end int, has Has) {
	have := min(len(b), end)
	p.clearTransport()
	p.Has = has
	p.Cut = end > len(b)
	p.BTHOff = off
	p.Data = b[:have:len(b)]
	if off+bthSize+icrcSize > end {
		p.Flaws |= FlawShort
	}
	if off+bthSize > have {
		return
	}
	p.bth((*[bthSize]byte)(b[off:]))
	l := &layouts[p.Opcode]
	p.Has |= HasBTH
	at := off + bthSize
	if at+icrcSize > end {
		return
	}
	trail := end - icrcSize
	for _, e := range extensionOrder {
		if l.has&e.has == 0 {
			continue
		}
		if at+e.size > min(have, trail) {
			break
		}
		p.extensions(b[at:at+e.size], e.has)
		p.Has |= e.has
		at += e.size
	}
	// The extension headers are l.size bytes long even where the snap length hides them.
	start := off + bthSize + int(l.size)
	in, least := p.Info(), int(l.body)
	if room := trail - start - least; room < 0 || room < int(p.PadCnt) && (in.Payload || !in.Defined) { // else PadCnt lies: BTH-007
		p.Flaws |= FlawShort
		start, least = at, 0
	}
	tail := max(start+least, trail-int(p.PadCnt))
	p.PayloadLen = tail - start
	p.Payload = captured(b, start, tail)
	p.Pad = captured(b, tail, trail)
	if l.body != 0 && p.PayloadLen >= int(l.body) {
		p.Has |= HasCNP
	}
	if end <= len(b) {
		p.Has |= HasICRC
		p.ICRC = binary.LittleEndian.Uint32(b[trail:end])
	}
}

// clearTransport forgets what transport sets for a whole packet.
func (p *Packet) clearTransport() {
	p.ICRC = 0
	p.DestQP, p.PSN, p.PKey, p.Opcode = 0, 0, 0, 0
	p.SE, p.MigReq, p.PadCnt, p.TVer = false, false, 0, 0
	p.FECN, p.BECN, p.Resv8a, p.Resv7, p.AckReq = false, false, 0, 0, false
	p.PayloadLen, p.Payload, p.Pad = 0, nil, nil
}

// captured is what there is of b[from:to].
func captured(b []byte, from, to int) []byte {
	to = min(to, len(b))
	if from >= to {
		return nil
	}
	return b[from:to:to]
}

func (p *Packet) aeth(h *[4]byte) {
	w := binary.BigEndian.Uint32(h[:])
	p.Syndrome, p.MSN = Syndrome(w>>24), w&PSNMask
}

func (p *Packet) reth(h *[16]byte) {
	p.VA = binary.BigEndian.Uint64(h[:])
	w := binary.BigEndian.Uint64(h[8:16])
	p.RKey, p.DMALen = uint32(w>>32), uint32(w)
}

func (p *Packet) deth(h []byte) {
	w := binary.BigEndian.Uint64(h)
	p.QKey, p.DETHRes, p.SrcQP = uint32(w>>32), uint8(w>>24), uint32(w)&PSNMask
	p.MAC = [6]byte{}
}

// extensions decodes the extension headers of a set, which are all in h.
func (p *Packet) extensions(h []byte, has Has) {
	if has&HasRDETH != 0 {
		w := binary.BigEndian.Uint32(h)
		p.RDETHRes, p.EEC = uint8(w>>24), w&PSNMask
		h = h[4:]
	}
	if has&HasDETH != 0 {
		p.deth(h)
		h = h[8:]
	}
	if has&HasXRCETH != 0 {
		w := binary.BigEndian.Uint32(h)
		p.XRCRes, p.XRCSRQ = uint8(w>>24), w&PSNMask
		h = h[4:]
	}
	if has&HasFETH != 0 {
		p.FETH = binary.BigEndian.Uint32(h)
		h = h[4:]
	}
	if has&HasRETH != 0 {
		p.reth((*[16]byte)(h))
		h = h[16:]
	}
	if has&HasAtomicETH != 0 {
		p.VA = binary.BigEndian.Uint64(h)
		p.RKey = binary.BigEndian.Uint32(h[8:])
		p.SwapAdd = binary.BigEndian.Uint64(h[12:])
		p.Compare = binary.BigEndian.Uint64(h[20:])
		h = h[28:]
	}
	if has&HasAETH != 0 {
		p.aeth((*[4]byte)(h))
		h = h[4:]
	}
	if has&HasAtomicAckETH != 0 {
		p.OrigData = binary.BigEndian.Uint64(h)
		h = h[8:]
	}
	if has&HasImmDt != 0 {
		p.Imm = binary.BigEndian.Uint32(h)
		h = h[4:]
	}
	if has&HasIETH != 0 {
		p.InvRKey = binary.BigEndian.Uint32(h)
	}
}
