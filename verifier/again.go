package verifier

import (
	"encoding/binary"
	"math/bits"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// Where the headers of RoCEv2 on IPv4 without options begin, and how long a packet is at least, with its ICRC.
const (
	udpAt    = 20
	bthAt    = 28
	leastLen = bthAt + 12 + 4
)

// Usual verifies at once a packet of RC that is nothing but usual, and reports whether it did: its connection is known to be one, and its headers
// are, bit by bit, as those of one of its flow for which plain holds, but for what differs between packets.
//
//go:noinline
func (v *Verifier) Usual(c *qp.Pair, from int, p *packet.Packet) bool {
	end := &c.Ends[from&1]
	if !c.Paired || !c.Sealed[from&1] || c.Service != packet.RC || p.Opcode.Service() != packet.RC || c.Stranger != nil || p.ICRCState != packet.CRCGood ||
		!again(&end.Flow, p) {
		return false
	}
	v.headers[packet.RoCEv2IPv4][p.Opcode]++
	v.broken = false
	v.Rec.Cover[rule.ROCV2019].Exercised++
	end.Sums.Add(p)
	v.RC(c, from, p)
	return true
}

// again reports whether Header and Flow have nothing to say of a packet, since they had nothing to say of another one of the flow. plain asks no
// more of what it compares here, and its addresses and QPs are those of the flow.
func again(f *qp.Flow, p *packet.Packet) bool {
	b := p.Data
	if f.State != qp.FlowPlain || !p.Usual || len(b) < leastLen {
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
