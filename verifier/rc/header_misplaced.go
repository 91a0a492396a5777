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

// coverMisplaced returns the rules on misplaced headers that a request exercises.
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

// misplacedHeader judges that a packet of message w has no header that its opcode has not. It reports whether there is one.
func (v *Verifier) misplacedHeader(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) bool {
	var d rule.Verdict
	found := false
	switch fn := p.Opcode.Fn(); fn {
	case packet.WriteMiddle:
		d, found = rethInMiddle(p, w, int(c.PMTU))
	case packet.WriteOnlyImm:
		d, found = immediateFirst(p)
	case packet.SendFirst, packet.SendMiddle:
		d, found = iethBeforeLast(p, &c.Ends[from].SQ, int(c.PMTU))
	}
	if found {
		d.Class, d.Role = rule.Violation, rule.Requester
		v.Report(c, from, p, d)
	}
	return found
}

// rethInMiddle finds the RETH of WRITE w in a Middle packet of it (rule RC-LEN-006).
func rethInMiddle(p *packet.Packet, w *wqe.SendWQE, mtu int) (d rule.Verdict, found bool) {
	const size = 16
	if mtu == 0 || p.PayloadLen != mtu+size || !w.Has(wqe.Whole) || len(p.Payload) < size {
		return d, false
	}
	rkey, length := binary.BigEndian.Uint32(p.Payload[8:]), binary.BigEndian.Uint32(p.Payload[12:])
	d.Rule, d.Expected, d.Actual = rule.RCLEN006, "no RETH in a Middle packet", fmt.Sprintf("one with R_Key 0x%x and DMALen %d of this WRITE", rkey, length)
	return d, rkey == w.RKey && length == w.Length
}

// immediateFirst finds immediate data before the RETH: where each of the two is to be, the other is (rule RC-LEN-007).
func immediateFirst(p *packet.Packet) (d rule.Verdict, found bool) {
	if p.PayloadLen == 0 || int(p.DMALen) == p.PayloadLen || int(p.Imm) != p.PayloadLen {
		return d, false
	}
	d.Rule, d.Expected = rule.RCLEN007, "immediate data after the RETH"
	d.Actual = fmt.Sprintf("the DMALen %d of the RETH there, for %d bytes of payload", p.Imm, p.PayloadLen)
	return d, true
}

// iethBeforeLast finds the key to invalidate before the last packet of a SEND (rule RC-LEN-008).
func iethBeforeLast(p *packet.Packet, q *qp.SendQueue, mtu int) (d rule.Verdict, found bool) {
	const size = 4
	if mtu == 0 || p.PayloadLen != mtu+size || len(p.Payload) < size {
		return d, false
	}
	rkey := binary.BigEndian.Uint32(p.Payload)
	d.Rule, d.Expected, d.Actual = rule.RCLEN008, "an IETH only in the last packet of a SEND with Invalidate", fmt.Sprintf("one with R_Key 0x%x, which this QP has used", rkey)
	return d, rkey != 0 && uses(q, rkey)
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
