package verifier

import (
	"encoding/binary"
	"math/bits"

	"ibwitness/packet"
	"ibwitness/qp"
)

// Where the headers of RoCEv2 on IPv4 without options begin, and how long a packet is at least, with its ICRC.
const (
	udpAt    = 20
	bthAt    = 28
	leastLen = bthAt + 12 + 4
)

// Again judges at once what Header and Flow would, and reports whether it did: where the headers of a packet are, bit by bit, as those of
// one of its flow for which plain holds, but for what differs between packets. plain asks no more of what it compares here, and
// its addresses and QPs are those of the flow.
func (v *Verifier) Again(c *qp.Pair, from int, p *packet.Packet) bool {
	f := &c.Ends[from&1].Flow
	if f.State != qp.FlowPlain || !again(f, p) {
		return false
	}
	v.headers[packet.RoCEv2IPv4][p.Opcode]++
	v.broken = false
	return true
}

func again(f *qp.Flow, p *packet.Packet) bool {
	b := p.Data
	if p.Encap != packet.RoCEv2IPv4 || p.BTHOff != bthAt || len(b) < leastLen || p.Cut {
		return false
	}
	const (
		version, dscp, ce, flags = 0xFF, 0xFC << 8, 1 << 8, 0xFFFF << 48
		srcPort, sum             = 0xFFFF, 0xFFFF << 48
		migReq, pkey             = 0x40 << 8, 0xFFFF << 16
	)
	odd := &odds[p.Opcode]
	ip, udp, bth := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[udpAt:]), binary.LittleEndian.Uint64(b[bthAt:])
	differs := ip&(version|dscp|flags) ^ (0x45 | uint64(f.TClass)<<10 | 0x40<<48)
	differs |= ip & (ip >> 1) & ce
	differs |= udp&(srcPort|sum) ^ uint64(bits.ReverseBytes16(f.SrcPort))
	differs |= bth&(odd.bth|migReq|pkey) ^ (uint64(bit(f.MigReq))<<14 | uint64(bits.ReverseBytes16(f.PKey))<<16)
	differs |= uint64(b[bthAt+8])&odd.last | uint64(p.PayloadLen)&odd.payload | uint64(p.PayloadLen+int(p.PadCnt))&3 | uint64(p.Flaws)
	// The pad ends the word before the ICRC; see plain.
	differs |= uint64(binary.LittleEndian.Uint32(b[len(b)-8:])) >> ((32 - 8*(p.PadCnt&3)) & 63)
	return differs == 0 && !oddSyndrome[p.Syndrome]
}
