package expect

import "ibwitness/packet"

// number says which fields of a packet hold a number of at most 64 bits, and where: one of the pointers is set.
type number struct {
	u8    *uint8
	u16   *uint16
	u32   *uint32
	u64   *uint64
	flag  *bool
	shift int // of a part of the field
	bits  int // 0: all of it
}

// in is where a packet holds a field; ok is false for addresses, payload, pad bytes and CRCs. Fields are numbered in the order of the wire, so a range of them is a header.
func (id ID) in(p *packet.Packet) (n number, ok bool) {
	switch {
	case id < IPVer:
		n, ok = id.inLRH(p)
	case id < SrcPort:
		n, ok = id.inNetwork(p)
	case id < Opcode:
		n, ok = id.inUDP(p)
	case id < RDETHRes:
		n, ok = id.inBTH(p)
	case id < FETHRes:
		n, ok = id.inService(p)
	default:
		n, ok = id.inOperation(p)
	}
	return n, ok
}

func (id ID) inLRH(p *packet.Packet) (n number, ok bool) {
	switch id {
	case VL:
		n.u8 = &p.VL
	case LVer:
		n.u8 = &p.LVer
	case SL:
		n.u8 = &p.SL
	case LRHRes:
		n = number{u8: &p.LRHRes, shift: 5, bits: 2}
	case LNH:
		n.u8 = &p.LNH
	case DLID:
		n.u16 = &p.DLID
	case LRHRes5:
		n = number{u8: &p.LRHRes, bits: 5}
	case PktLen:
		n.u16 = &p.PktLen
	case SLID:
		n.u16 = &p.SLID
	default:
		return n, false
	}
	return n, true
}

// inNetwork is in for the fields of GRH, IPv6 and IPv4 headers.
func (id ID) inNetwork(p *packet.Packet) (n number, ok bool) {
	switch id {
	case IPVer:
		n.u8 = &p.IPVer
	case IHL:
		n.u8 = &p.IHL
	case DSCP:
		n = number{u8: &p.TClass, shift: 2, bits: 6}
	case ECN:
		n = number{u8: &p.TClass, bits: 2}
	case FlowLabel:
		n.u32 = &p.FlowLabel
	case PayLen:
		n.u16 = &p.PayLen
	case IPID:
		n.u16 = &p.IPID
	case IPFlags:
		n = number{u16: &p.IPFrag, shift: 13, bits: 3}
	case FragmentOffset:
		n = number{u16: &p.IPFrag, bits: 13}
	case NxtHdr:
		n.u8 = &p.NxtHdr
	case HopLmt:
		n.u8 = &p.HopLmt
	case IPSum:
		n.u16 = &p.IPSum
	default:
		return n, false
	}
	return n, true
}

// inUDP is in for the fields of the UDP header, and of the RWH of a raw packet.
func (id ID) inUDP(p *packet.Packet) (n number, ok bool) {
	switch id {
	case SrcPort:
		n.u16 = &p.SrcPort
	case DstPort:
		n.u16 = &p.DstPort
	case UDPLen:
		n.u16 = &p.UDPLen
	case UDPSum:
		n.u16 = &p.UDPSum
	case RWHRes:
		n.u16 = &p.RWHRes
	case EtherType:
		n.u16 = &p.EtherType
	default:
		return n, false
	}
	return n, true
}

func (id ID) inBTH(p *packet.Packet) (n number, ok bool) {
	switch id {
	case Opcode:
		n.u8 = (*uint8)(&p.Opcode)
	case SE:
		n.flag = &p.SE
	case MigReq:
		n.flag = &p.MigReq
	case PadCnt:
		n.u8 = &p.PadCnt
	case TVer:
		n.u8 = &p.TVer
	case PKey:
		n.u16 = &p.PKey
	case FECN:
		n.flag = &p.FECN
	case BECN:
		n.flag = &p.BECN
	case Resv8a:
		n.u8 = &p.Resv8a
	case DestQP:
		n.u32 = &p.DestQP
	case AckReq:
		n.flag = &p.AckReq
	case Resv7:
		n.u8 = &p.Resv7
	case PSN:
		n.u32 = (*uint32)(&p.PSN)
	default:
		return n, false
	}
	return n, true
}

// inService is in for the extension headers of a service: RDETH, DETH and XRCETH.
func (id ID) inService(p *packet.Packet) (n number, ok bool) {
	switch id {
	case RDETHRes:
		n.u8 = &p.RDETHRes
	case EEC:
		n.u32 = &p.EEC
	case QKey:
		n.u32 = &p.QKey
	case DETHRes:
		n.u8 = &p.DETHRes
	case SrcQP:
		n.u32 = &p.SrcQP
	case XRCRes:
		n.u8 = &p.XRCRes
	case XRCSRQ:
		n.u32 = &p.XRCSRQ
	default:
		return n, false
	}
	return n, true
}

// inOperation is in for the extension headers of an operation, and of the response to it.
func (id ID) inOperation(p *packet.Packet) (n number, ok bool) {
	switch id {
	case FETHRes:
		n = number{u32: &p.FETH, shift: 6, bits: 26}
	case Selectivity:
		n = number{u32: &p.FETH, shift: 4, bits: 2}
	case Placement:
		n = number{u32: &p.FETH, bits: 4}
	case VA:
		n.u64 = &p.VA
	case RKey:
		n.u32 = &p.RKey
	case DMALen:
		n.u32 = &p.DMALen
	case SwapAdd:
		n.u64 = &p.SwapAdd
	case Compare:
		n.u64 = &p.Compare
	case Syndrome:
		n.u8 = (*uint8)(&p.Syndrome)
	case MSN:
		n.u32 = &p.MSN
	case OrigData:
		n.u64 = &p.OrigData
	case Imm:
		n.u32 = &p.Imm
	case InvRKey:
		n.u32 = &p.InvRKey
	default:
		return n, false
	}
	return n, true
}

// Value is the number that a packet has in a field, in host byte order; 0 for addresses, payload, pad bytes and CRCs.
func (id ID) Value(p *packet.Packet) uint64 {
	n, ok := id.in(p)
	if !ok {
		return 0
	}
	v := n.whole()
	if n.bits != 0 {
		v = v >> n.shift & (1<<n.bits - 1)
	}
	return v
}

// Set puts a number into the field of a packet that has its header, in host byte order; of a value wider than the field only the lower bits reach the wire. It does
// nothing to addresses, payload, pad bytes and CRCs. It changes neither lengths nor checksums.
func (id ID) Set(p *packet.Packet, v uint64) { id.set(p, v) }

// Bits is how many bits the field has, in its widest form.
func (id ID) Bits() int { return specs[id].bits }

// set puts a number into the field of a packet.
func (id ID) set(p *packet.Packet, v uint64) {
	n, ok := id.in(p)
	if !ok {
		return
	}
	if n.bits != 0 {
		mask := uint64(1<<n.bits-1) << n.shift
		v = n.whole()&^mask | v<<n.shift&mask
	}
	switch {
	case n.u8 != nil:
		*n.u8 = uint8(v)
	case n.u16 != nil:
		*n.u16 = uint16(v)
	case n.u32 != nil:
		*n.u32 = uint32(v)
	case n.u64 != nil:
		*n.u64 = v
	default:
		*n.flag = v != 0
	}
}

func (n *number) whole() uint64 {
	switch {
	case n.u8 != nil:
		return uint64(*n.u8)
	case n.u16 != nil:
		return uint64(*n.u16)
	case n.u32 != nil:
		return uint64(*n.u32)
	case n.u64 != nil:
		return *n.u64
	case *n.flag:
		return 1
	}
	return 0
}
