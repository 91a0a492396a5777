package packet

import (
	"encoding/binary"
	"hash/crc32"
	"sync"
)

// afterOnes is the state of the CRC after the eight bytes of ones that replace an absent or masked LRH (table T6).
const afterOnes = 0xDEBB20E3

// zeroState makes crc32.Update, which complements what it is given, start from state zero. From there leading zero
// bytes change nothing, so they can fill a packet up to a length that goes through the fast path of hash/crc32 as a whole.
const zeroState = 0xFFFFFFFF

const (
	crcBlock = 16  // hash/crc32 leaves the bytes after the last whole block to a slow path
	crcLeast = 64  // and all of an input shorter than this
	crcWhole = 512 // up to here copying the whole packet is cheaper than a second call
)

// Checker checks ICRCs. It holds the masked copy of a packet that hash/crc32 works on, which calls through a variable and so
// makes its argument escape. The zero value is ready; a Checker serves one goroutine at a time.
type Checker struct {
	b [crcWhole + crcLeast]byte
}

var checkers = sync.Pool{New: func() any { return new(Checker) }}

// CheckICRC computes the ICRC over what was captured, with the fields of table T6 masked, and sets ICRCState. The state stays
// CRCNotJudged where the packet has no ICRC, it was cut off, or there are no bytes since the packet was not decoded. The bytes of the frame are not modified, and
// different packets may be checked at the same time.
//
// Where the ICRC is wrong it is looked for where the UDP length says, and at the end of the frame. If it is right there, the IP length
// (or PktLen, or PayLen) is what is wrong: payload and pad are set again, and FlawIPLength or FlawLRHLength is set.
func (p *Packet) CheckICRC() {
	c := checkers.Get().(*Checker)
	c.ICRC(p)
	checkers.Put(c)
}

// ICRC is p.CheckICRC, a little faster: for loops over many packets.
func (c *Checker) ICRC(p *Packet) {
	if direct && p.Usual && directly(&p.Data[0], len(p.Data)-icrcSize) == p.ICRC {
		p.ICRCState = CRCGood // as of nearly every packet
		return
	}
	p.Rest()
	p.ICRCState = CRCNotJudged
	if off := p.icrcOff(); p.Has&HasICRC != 0 && off >= p.BTHOff+bthSize {
		if c.compute(p, p.Data, off) == p.ICRC {
			p.ICRCState = CRCGood
			return
		}
		if c.inserted(p, off) {
			p.ICRCState = CRCGood
			p.Flaws |= FlawInserted
			return
		}
		p.ICRCState = CRCBad
	}
	if p.ICRCState == CRCBad || p.Flaws&(FlawUDPLength|FlawShort) != 0 {
		c.retry(p)
	}
}

// HeadersCRC is the CRC-32 (IEEE) of all that the ICRC covers before the payload, as the ICRC has it. With it, that of the payload follows from the ICRC. The result is
// false where the ICRC is not known to be right, where something is between it and the payload, or where a processor does not compute it any faster than that of the payload.
func (p *Packet) HeadersCRC() (crc uint32, ok bool) {
	n := len(p.Data) - icrcSize - p.PayloadLen
	if !direct || !p.Usual || p.ICRCState != CRCGood || p.PadCnt != 0 || n < ipv4Size+udpSize+bthSize {
		return 0, false
	}
	return directly(&p.Data[0], n), true
}

// inserted reports whether the ICRC, which is at off, is right for the packet without what is between IP header and UDP.
func (c *Checker) inserted(p *Packet, off int) bool {
	size, length, less := ipv4Size, 2, p.BTHOff-udpSize-ipv4Size
	if p.Has&HasIPv6 != 0 {
		size, length, less = ipv6Size, 4, p.BTHOff-udpSize-ipv6Size
	}
	if p.Has&HasUDP == 0 || less <= 0 || p.Flaws&(FlawFragment|FlawIPLength|FlawUDPLength) != 0 {
		return false
	}
	b := append(append(make([]byte, 0, off-less), p.Data[:size]...), p.Data[size+less:off]...)
	binary.BigEndian.PutUint16(b[length:], p.PayLen-uint16(less))
	if b[0]>>4 == 4 {
		b[0] = 0x45
	} else {
		b[6] = protoUDP
	}
	q := Packet{Has: p.Has, BTHOff: p.BTHOff - less}
	return c.compute(&q, b, len(b)) == p.ICRC
}

// icrcOff is the offset of the ICRC in Data.
func (p *Packet) icrcOff() int {
	n := len(p.Data) - icrcSize
	if p.Has&HasVCRC != 0 {
		n -= vcrcSize
	}
	return n
}

// retry looks for the ICRC where the UDP length says, and where the frame ends.
func (c *Checker) retry(p *Packet) {
	if p.Has&HasBTH == 0 || p.Flaws&FlawFragment != 0 || p.Cut {
		return
	}
	whole := cap(p.Data)
	if p.Encap == Native {
		whole -= vcrcSize
	}
	for _, end := range [...]int{p.BTHOff - udpSize + int(p.UDPLen), whole} {
		if end == p.icrcOff()+icrcSize || end < p.BTHOff+bthSize+icrcSize || end > cap(p.Data) {
			continue
		}
		all := p.Data[:cap(p.Data)]
		if c.compute(p, all, end-icrcSize) != binary.LittleEndian.Uint32(all[end-icrcSize:]) {
			continue
		}
		p.Usual = false
		has, off := p.Has&(HasLRH|HasGRH|HasIPv4|HasIPv6|HasUDP), p.BTHOff
		p.transport(all, off, end, has)
		p.Flaws &^= FlawShort
		if p.Encap == Native {
			p.Flaws |= FlawLRHLength
			p.Has |= HasVCRC
			p.VCRC = binary.LittleEndian.Uint16(all[end:])
			p.Data = all[:end+vcrcSize]
		} else {
			p.Flaws |= FlawIPLength
		}
		p.ICRCState = CRCGood
		return
	}
}

// compute returns the ICRC of data[:off]; data begins with the first header of p. The result compares with the field ICRC.
func (c *Checker) compute(p *Packet, data []byte, off int) uint32 {
	state := uint32(afterOnes)
	bth := p.BTHOff
	if p.Has&HasLRH != 0 {
		if p.Has&HasGRH == 0 {
			state = 0xFFFFFFFF
		} else {
			data, off, bth = data[lrhSize:], off-lrhSize, bth-lrhSize
		}
	}
	data = data[:off]
	if direct && bth == ipv4Size+udpSize && p.Has&HasIPv4 != 0 && len(data) >= bth+bthSize {
		return directly(&data[0], len(data))
	}
	return c.viaTable(p, data, bth, state)
}

// viaTable computes by hash/crc32.
func (c *Checker) viaTable(p *Packet, data []byte, bth int, state uint32) uint32 {
	if len(data) <= crcWhole {
		return c.masked(p, data, bth, state)
	}
	return c.long(p, data, bth, state)
}

// long takes two steps: the masked headers, then the rest in place, a whole number of blocks.
func (c *Checker) long(p *Packet, data []byte, bth int, state uint32) uint32 {
	head := bth + bthSize
	head += (len(data) - head) % crcBlock
	if head > crcWhole { // IPv6 extension headers of half a kilobyte
		all := append([]byte(nil), data...)
		p.mask(all, bth)
		return ^crcOver(state, all)
	}
	return crc32.Update(c.masked(p, data[:head], bth, state), crc32.IEEETable, data[head:])
}

// crcOver carries a CRC in its bare state over b.
func crcOver(state uint32, b []byte) uint32 { return ^crc32.Update(^state, crc32.IEEETable, b) }

// masked returns the CRC, complemented, of the bytes from the first covered one on; the BTH is at bth.
func (c *Checker) masked(p *Packet, data []byte, bth int, state uint32) uint32 {
	n := max((len(data)+crcBlock-1)&^(crcBlock-1), crcLeast)
	lead := n - len(data)
	clear(c.b[:crcLeast-bthSize]) // a packet has a BTH at least
	m := c.b[lead:n]
	if p.Has&HasIPv4 != 0 && bth == ipv4Size+udpSize {
		maskIPv4(m, data, state)
	} else {
		copy(m, data)
		p.mask(m, bth)
		binary.LittleEndian.PutUint32(m, binary.LittleEndian.Uint32(m)^state)
	}
	return crc32.Update(zeroState, crc32.IEEETable, c.b[:n])
}

// maskIPv4 copies data to m, masked, for the commonest headers: IPv4 without options, UDP, BTH. Whole words
// spare the CRC, which loads them at once, the wait for single bytes.
func maskIPv4(m, data []byte, state uint32) {
	const size = ipv4Size + udpSize + bthSize
	h, d := (*[size]byte)(m), (*[size]byte)(data)
	le := binary.LittleEndian
	copy(m[size:], data[size:])
	le.PutUint64(h[0:], (le.Uint64(d[0:])|0xFF00)^uint64(state))
	le.PutUint64(h[8:], le.Uint64(d[8:])|0xFFFF00FF)
	le.PutUint64(h[16:], le.Uint64(d[16:]))
	le.PutUint64(h[24:], le.Uint64(d[24:])|0xFFFF0000)
	le.PutUint64(h[32:], le.Uint64(d[32:])|0xFF)
}

// mask replaces by ones what may change on the way (table T6). m begins with the first covered byte.
func (p *Packet) mask(m []byte, bth int) {
	switch {
	case p.Has&HasIPv4 != 0:
		m[1], m[8], m[10], m[11] = 0xFF, 0xFF, 0xFF, 0xFF
	case p.Has&(HasIPv6|HasGRH) != 0:
		m[0] |= 0x0F
		m[1], m[2], m[3], m[7] = 0xFF, 0xFF, 0xFF, 0xFF
	default:
		m[0] |= 0xF0
	}
	if p.Has&HasUDP != 0 {
		m[bth-2], m[bth-1] = 0xFF, 0xFF
	}
	m[bth+4] = 0xFF
}

// Right is the ICRC that a decoded packet should have, as the other bytes of it are, and where in its Data it belongs. ok is false where it has none, or was cut.
func (c *Checker) Right(p *Packet) (icrc uint32, at int, ok bool) {
	p.Rest()
	at = p.icrcOff()
	if p.Has&HasICRC == 0 || p.Cut || at < p.BTHOff+bthSize {
		return 0, 0, false
	}
	return c.compute(p, p.Data, at), at, true
}
