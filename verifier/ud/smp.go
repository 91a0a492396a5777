package ud

import (
	"encoding/binary"
	"fmt"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// Offsets of the fields of a subnet management packet (tables T10, T12), and the values of interest.
const (
	smpMethod, smpTID, smpAttribute, smpData = 3, 8, 16, 64

	smpSet, smpGetResp = 0x02, 0x81
	smpPKeyTable       = 0x16
)

// malformedSMP is a malformed subnet management packet: its receiver drops it, and answers nothing.
type malformedSMP struct {
	dst       packet.Addr
	frame     uint64
	tap       uint16
	attribute uint16
}

// mostMalformed is how many of them are kept.
const mostMalformed = 1 << 10

// smp judges a packet to QP 0 (rules UD-QP0-002, PKY-007).
func (v *Verifier) smp(c *qp.Pair, from int, p *packet.Packet) {
	b := p.Payload
	if len(b) < smpData || p.Cut || p.Has&packet.HasLRH == 0 || !mad.Class(b[1]).Subnet() {
		return
	}
	v.malformed(c, from, p)
	if binary.BigEndian.Uint16(b[smpAttribute:]) == smpPKeyTable && len(b) == 256 && (b[smpMethod] == smpSet || b[smpMethod] == smpGetResp) {
		v.pkeyTable(c, from, p, b[smpData:smpData+64])
	}
}

// malformed keeps a request that does not have 256 bytes on VL15, and judges that nobody responds to it (rule UD-QP0-002).
func (v *Verifier) malformed(c *qp.Pair, from int, p *packet.Packet) {
	b := p.Payload
	tid, attribute := binary.BigEndian.Uint64(b[smpTID:]), binary.BigEndian.Uint16(b[smpAttribute:])
	if b[smpMethod]&0x80 != 0 {
		v.Covered(rule.UDQP0002)
		if d, ok := v.malformedSMPs[tid]; ok && d.attribute == attribute && d.dst == p.Src && d.tap == p.Tap {
			delete(v.malformedSMPs, tid)
			v.Report(c, from, p, rule.Verdict{
				Rule: rule.UDQP0002, Class: rule.Proven(c.Complete()), Role: rule.Receiver,
				Expected: "no response: the request did not have 256 bytes on VL15", Actual: "a response", Evidence: []uint64{d.frame},
			})
		}
		return
	}
	if p.PayloadLen == 256 && (p.VL == 15 || p.VCRCState != packet.CRCGood && !v.Untouched(p)) { // the ICRC does not cover the VL
		delete(v.malformedSMPs, tid) // it was retransmitted as it should be
		return
	}
	if v.malformedSMPs == nil || len(v.malformedSMPs) == mostMalformed {
		v.malformedSMPs = map[uint64]malformedSMP{}
	}
	v.malformedSMPs[tid] = malformedSMP{p.Dst, p.Frame, p.Tap, attribute}
}

// pkeyTable judges a block of the P_Key table of a port: no partition is in it as full and as limited member (rule PKY-007).
func (v *Verifier) pkeyTable(c *qp.Pair, from int, p *packet.Packet, block []byte) {
	v.Covered(rule.PKY007)
	for i := 0; i < len(block); i += 2 {
		for j := range i / 2 {
			a, b := binary.BigEndian.Uint16(block[2*j:]), binary.BigEndian.Uint16(block[i:])
			if a^b != 0x8000 || a&0x7FFF == 0 {
				continue
			}
			v.Report(c, from, p, rule.Verdict{
				Rule: rule.PKY007, Class: rule.Violation, Role: rule.Sender,
				Expected: "each partition once in the P_Key table", Actual: fmt.Sprintf("0x%04x as entry %d and 0x%04x as entry %d of the block", a, j, b, i/2),
			})
			return
		}
	}
}
