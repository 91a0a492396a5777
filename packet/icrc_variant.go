package packet

import "encoding/binary"

// ICRCVariant says what a sender took for the format of a packet whose ICRC is wrong.
type ICRCVariant uint8

// What it may be.
const (
	NoVariant        ICRCVariant = iota // the packet may be damaged
	SealedCongestion                    // the ICRC covers FECN, BECN and the bits beside them
	SealedVCRC                          // RoCE: two bytes that the lengths count follow the ICRC, as a VCRC does
	SealedGRH                           // RoCEv2: a global route header is between UDP and BTH
)

// ICRCVariant tells of a packet with a wrong ICRC whether it is right for another format than that of table T1. It is slow.
func (p *Packet) ICRCVariant() ICRCVariant {
	off := p.icrcOff()
	if p.ICRCState != CRCBad || p.Has&HasBTH == 0 || p.Cut || off < p.BTHOff+bthSize {
		return NoVariant
	}
	if p.Has&HasUDP != 0 && p.hidesGRH(off) {
		return SealedGRH
	}
	const fecnBecn = 0xC0
	if b := p.Data[p.BTHOff+4]; b != 0 {
		for _, was := range [...]byte{b, b &^ fecnBecn} { // the network may have set FECN since
			if p.unmasked(off, was) == p.ICRC {
				return SealedCongestion
			}
		}
	}
	if p.Encap != Native && off-vcrcSize >= p.BTHOff+bthSize {
		var c Checker
		if at := off - vcrcSize; c.compute(p, p.Data, at) == binary.LittleEndian.Uint32(p.Data[at:]) {
			return SealedVCRC
		}
	}
	return NoVariant
}

// unmasked is the ICRC of the packet where byte 4 of the BTH, which holds FECN and BECN, is not masked.
func (p *Packet) unmasked(off int, b byte) uint32 {
	data, bth, state := p.Data, p.BTHOff, uint32(afterOnes)
	if p.Has&HasLRH != 0 {
		if p.Has&HasGRH == 0 {
			state = 0xFFFFFFFF
		} else {
			data, off, bth = data[lrhSize:], off-lrhSize, bth-lrhSize
		}
	}
	m := append([]byte(nil), data[:off]...)
	p.mask(m, bth)
	m[bth+4] = b
	return ^crcOver(state, m)
}

// hidesGRH reports whether a global route header is where the BTH should be, and counts what is after it.
func (p *Packet) hidesGRH(off int) bool {
	const version, nextHeader = 6, 0x1B
	h := p.Data[p.BTHOff:off]
	return len(h) >= grhSize+bthSize && h[0]>>4 == version && h[6] == nextHeader && int(binary.BigEndian.Uint16(h[4:])) == len(h)-grhSize+icrcSize
}
