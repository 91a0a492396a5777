package rc

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier/stream"
	"ibwitness/wqe"
)

var sequence = stream.SequenceRules{Send: rule.RCSEQ001, Write: rule.RCSEQ002, None: rule.RCSEQ003, Between: rule.RCSEQ004, Role: rule.Requester}

// length judges the payload of a new request against the path MTU and against the length that its RETH gives (families RC-LEN and RC-ATM,
// rule RC-SEQ-005).
func (v *Verifier) length(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	for _, id := range coverMisplaced(p.Info()) {
		v.Covered(id)
	}
	if p.Info().Payload && (p.PayloadLen+int(p.PadCnt))&3 != 0 {
		w.Flags |= wqe.Blamed // by BTH-006: how much of it is payload nobody knows
	}
	if v.misplacedHeader(c, from, p, w) {
		w.Flags |= wqe.Blamed
		c.RQ(1 - from).MSN.Lose()
		c.Ends[from].SQ.Break()
		return
	}
	if p.Info().Payload && c.Ends[from].SQ.Sequence.Odd == wqe.None && !v.Payload(c, from, p, w, rule.Requester, rule.RCLEN001, rule.RCLEN002, rule.RCLEN003) {
		w.Flags |= wqe.Blamed
		c.RQ(1 - from).MSN.Lose()
		c.Ends[from].SQ.Break()
		stream.MayEnd(&c.Ends[from].SQ, p)
	}
	if p.Has&p.Info().Headers != p.Info().Headers {
		return
	}
	switch w.Op {
	case wqe.Write:
		if p.Has&packet.HasRETH != 0 && p.DMALen > 1<<31 {
			w.Flags |= wqe.Blamed
		}
		v.writeLength(c, from, p, w)
	case wqe.Read:
		v.dmaLen(c, from, p)
		v.Covered(rule.RCPSN003)
	case wqe.CmpSwap, wqe.FetchAdd:
		v.atomic(c, from, p, w)
	case wqe.Flush, wqe.AtomicWrite:
		v.flush(c, from, p)
	}
}

// dmaLen judges that a message is at most 2^31 bytes long (rule RC-LEN-004).
func (v *Verifier) dmaLen(c *qp.Pair, from int, p *packet.Packet) {
	v.Covered(rule.RCLEN004)
	if p.DMALen > 1<<31 {
		v.Report(c, from, p, rule.Verdict{
			Rule: rule.RCLEN004, Class: rule.Violation, Role: rule.Requester, Basis: rule.OnPacket,
			Expected: "DMALen at most 2147483648", Actual: fmt.Sprintf("DMALen %d", p.DMALen),
		})
	}
}

// writeLength holds the packets of an RDMA WRITE against its DMALen (rules RC-LEN-005, RC-SEQ-005).
func (v *Verifier) writeLength(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	in := p.Info()
	if in.First || in.Only {
		v.dmaLen(c, from, p)
	}
	if in.First {
		v.Covered(rule.RCSEQ005)
		if int(p.DMALen) <= p.PayloadLen && c.PMTU != 0 && p.DMALen <= c.PMTU {
			w.Flags |= wqe.Blamed
			v.Report(c, from, p, rule.Verdict{
				Rule: rule.RCSEQ005, Class: rule.Violation, Role: rule.Requester,
				Expected: "RDMA WRITE Only: the message fits the path MTU", Actual: fmt.Sprintf("%v with DMALen %d", p.Opcode, p.DMALen),
			})
		}
	}
	if !w.Has(wqe.Whole) || w.Has(wqe.Blamed) {
		return
	}
	v.Covered(rule.RCLEN005)
	v.WriteSum(c, from, p, w, rule.RCLEN005, rule.Requester)
}
