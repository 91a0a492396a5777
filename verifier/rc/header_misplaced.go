package rc

import (
	"encoding/binary"
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// A header where its opcode has none counts as payload: it makes the packet too long by its length, and its bytes give it away.

// acknowledges reports whether a payload begins with the AETH of an ACK with an MSN.
func acknowledges(payload []byte, msn uint32) bool {
	if len(payload) < 4 {
		return false
	}
	h := binary.BigEndian.Uint32(payload)
	return packet.Syndrome(h>>24).Type() == packet.ACK && !packet.Syndrome(h>>24).Reserved() && h&packet.PSNMask == msn
}

// coverMisplaced counts the rules on misplaced headers that a request exercises.
func coverMisplaced(in *packet.Info) []rule.ID {
	switch fn := in.Opcode.Fn(); {
	case fn == packet.SendFirst, fn == packet.SendMiddle:
		return []rule.ID{rule.RCLEN008}
	case fn == packet.WriteMiddle:
		return []rule.ID{rule.RCLEN006}
	case fn == packet.WriteOnlyImm:
		return []rule.ID{rule.RCLEN007}
	}
	return nil
}

// misplaced finds the header that a packet of message w has, and that its opcode has not: a RETH in the middle of a WRITE, immediate data before
// the RETH, the key to invalidate before the last packet of a SEND (rules RC-LEN-006, -007, -008). It reports whether there is one.
func (v *Verifier) misplacedHeader(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) bool {
	const rethSize, iethSize = 16, 4
	d := rule.Verdict{Class: rule.Violation, Role: rule.Requester}
	in, mtu := p.Info(), int(c.PMTU)
	switch fn := in.Opcode.Fn(); {
	case fn == packet.WriteMiddle && mtu != 0 && p.PayloadLen == mtu+rethSize && w.Has(wqe.Whole) && len(p.Payload) >= rethSize:
		rkey, length := binary.BigEndian.Uint32(p.Payload[8:]), binary.BigEndian.Uint32(p.Payload[12:])
		if rkey != w.RKey || length != w.Length {
			return false
		}
		d.Rule, d.Expected, d.Actual = rule.RCLEN006, "no RETH in a Middle packet", fmt.Sprintf("one with R_Key 0x%x and DMALen %d of this WRITE", rkey, length)
	case fn == packet.WriteOnlyImm && p.PayloadLen > 0 && int(p.DMALen) != p.PayloadLen && int(p.Imm) == p.PayloadLen:
		d.Rule, d.Expected = rule.RCLEN007, "immediate data after the RETH"
		d.Actual = fmt.Sprintf("the DMALen %d of the RETH there, for %d bytes of payload", p.Imm, p.PayloadLen)
	case (fn == packet.SendFirst || fn == packet.SendMiddle) && mtu != 0 && p.PayloadLen == mtu+iethSize && len(p.Payload) >= iethSize:
		rkey := binary.BigEndian.Uint32(p.Payload)
		if rkey == 0 || !uses(&c.Ends[from].SQ, rkey) {
			return false
		}
		d.Rule, d.Expected, d.Actual = rule.RCLEN008, "an IETH only in the last packet of a SEND with Invalidate", fmt.Sprintf("one with R_Key 0x%x, which this QP has used", rkey)
	default:
		return false
	}
	v.Report(c, from, p, d)
	return true
}

// uses reports whether a request that is kept named an R_Key.
func uses(q *qp.SendQueue, rkey uint32) bool {
	for i := range q.Messages.Len() {
		if w := q.Messages.At(i); w.RKey == rkey && w.Op != wqe.Send {
			return true
		}
	}
	return false
}
