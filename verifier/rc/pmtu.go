package rc

import (
	"fmt"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// readSize learns from a response how many PSNs a READ takes, while the path MTU is not known: from the payload of a First or Middle,
// from the PSN of a Last or Only, or from the PSN that a responder after it expects.
func (v *Verifier) readSize(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[1-from].SQ
	i := q.Messages.UpTo(p.PSN)
	if i < 0 {
		return
	}
	w := q.Messages.At(i)
	n := p.PSN.Diff(w.First) + 1
	if n == 1 && i > 0 && goesOnAt(q.Messages.At(i-1), p, c.OddPayloadLen()) {
		v.LearnPMTU(c, p, c.OddPayloadLen())
		return
	}
	if w.Op == wqe.Read && n == 1 && p.Opcode.Fn() == packet.ReadRespOnly {
		c.ShowPayload(min(uint32(p.PayloadLen), w.Length)) // a longer one is wrong, and shows nothing
	}
	if !w.Has(wqe.Unsized) {
		return
	}
	n = v.shownPSNs(c, from, p, w, n)
	switch {
	case n == 0:
	case c.OddPayloadLen() != 0 && wqe.Packets(w.Length, c.OddPayloadLen()) == n:
		v.LearnPMTU(c, p, c.OddPayloadLen())
	case someMTUFits(c, w.Length, n):
		v.Sized(c, 1-from, p, i, n)
	}
}

// shownPSNs is how many PSNs READ w takes as response n to it shows, or the PSN after that: its last one, or a NAK. 0: it does not, or has shown the path MTU.
func (v *Verifier) shownPSNs(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, n int) int {
	switch fn := p.Opcode.Fn(); {
	case fn == packet.ReadRespFirst || fn == packet.ReadRespMiddle:
		v.readShows(c, from, p, w, n)
		return 0
	case fn == packet.ReadRespLast && n > 1:
		if v.readEnd(c, from, p, w, n) {
			return 0
		}
		if !c.Sees(1 - from) {
			w.Flags |= wqe.Guessed // it may end another READ, which the tap has missed
		}
	case fn == packet.ReadRespOnly && n > 1 && c.OddPayloadLen() != 0:
		v.LearnPMTU(c, p, c.OddPayloadLen())
		return 0
	case fn == packet.ReadRespOnly && n == 1 && p.PayloadLen >= int(w.Length):
	case isSequenceNak(p) || isRNRNak(p):
		n--
	default:
		return 0
	}
	return n
}

// goesOnAt reports whether p, at the PSN of the request after READ w, is the second response to w: by the path MTU that its First shows, opcode and length
// fit, so that the PSN of the request is too early.
func goesOnAt(w *wqe.SendWQE, p *packet.Packet, pmtu uint32) bool {
	if in := p.Info(); pmtu == 0 || !w.Has(wqe.Unsized) || p.PSN != w.First.Add(1) || w.RespNext() != p.PSN || !in.Middle && !in.Last {
		return false
	}
	n := wqe.Packets(w.Length, pmtu)
	return n > 1 && p.Opcode == readOpcode(p, w.First, w.First.Add(n-1)) && uint32(p.PayloadLen) == min(w.Length-pmtu, pmtu)
}

// readShows learns the path MTU from response n to READ w, a First or Middle. The first of a connection may have a wrong length, by which
// all that the requester does would be wrong: a second packet has to agree.
func (v *Verifier) readShows(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, n int) {
	pmtu, room := uint32(p.PayloadLen), w.Last.Diff(w.First)+1 // up to the request after the READ, if it was seen
	fit := wqe.ValidMTU(p.PayloadLen) && n < wqe.Packets(w.Length, pmtu)
	switch {
	case n == 1 && p.Info().First && c.OddPayloadLen() != pmtu:
		if wqe.ValidMTU(p.PayloadLen) {
			c.OddPayload(pmtu)
		}
	case fit && (c.OddPayloadLen() == pmtu || c.OddPayloadLen() == 0):
		v.LearnPMTU(c, p, pmtu)
	case c.OddPayloadLen() == 0:
	case !fit || room == wqe.Packets(w.Length, c.OddPayloadLen()):
		v.LearnPMTU(c, p, c.OddPayloadLen())
	case room == wqe.Packets(w.Length, pmtu):
		v.firstOdd(c, from, p, w, pmtu)
	default:
		v.readOdd(c, from, p, w, rule.Want(expect.Payload, uint64(c.OddPayloadLen())), fmt.Sprintf("%d bytes of payload, as in the packet before it", c.OddPayloadLen()))
		w.Flags |= wqe.Blamed
		c.OddPayload(pmtu)
	}
}

// readEnd learns the path MTU from a Last that is response n to READ w: by no other does the READ take as many.
func (v *Verifier) readEnd(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, n int) bool {
	pmtu := uint32(256)
	for pmtu < 4096 && wqe.Packets(w.Length, pmtu) > n {
		pmtu *= 2
	}
	switch ends := wqe.Packets(w.Length, pmtu) == n && int(w.Length)-(n-1)*int(pmtu) == p.PayloadLen; {
	case ends && c.OddPayloadLen() != 0 && c.OddPayloadLen() != pmtu:
		v.firstOdd(c, from, p, w, pmtu)
	case ends:
		v.LearnPMTU(c, p, pmtu)
	case c.OddPayloadLen() != 0:
		v.LearnPMTU(c, p, c.OddPayloadLen())
	default:
		return false
	}
	return true
}

// firstOdd learns the path MTU, by which the First before p has a wrong length.
func (v *Verifier) firstOdd(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, pmtu uint32) {
	if q, d := &c.Ends[1-from].SQ, c.Ends[1-from].SQ.ReadDispute(); d != nil && d.Next == p.PSN {
		q.CloseReadDispute() // it is not the READ
		w.Flags &^= wqe.Blamed
	}
	if r := c.RQ(from); p.PSN == w.First.Add(1) && w.RespFrame == r.Last.Frame && w.RespFrame != 0 && !w.Has(wqe.Blamed) {
		first := packet.Packet{
			Time: r.Last.Time, Tap: p.Tap, Frame: packet.FrameNear(p.Frame, r.Last.Frame), Opcode: packet.Op(c.Service, packet.ReadRespFirst), PSN: w.First,
			PayloadLen: int(c.OddPayloadLen()), Has: packet.HasBTH,
		}
		v.readOdd(c, from, &first, w, rule.Want(expect.Payload, uint64(pmtu)), fmt.Sprintf("%d bytes of payload", pmtu))
	}
	v.LearnPMTU(c, p, pmtu)
}

// oneShows takes, at the end, the path MTU that a single response has shown. What follows from it is not proven.
func (v *Verifier) oneShows(c *qp.Pair) {
	n := len(v.Rec.Findings)
	v.LearnPMTU(c, nil, c.OddPayloadLen())
	for i := range v.Rec.Findings[n:] {
		v.Rec.Doubt(n+i, "only one response shows the path MTU, and its length may be wrong")
	}
}
