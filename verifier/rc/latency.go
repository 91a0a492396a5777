package rc

import (
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// measureAnswer measures how long the message that a response names waited for it, where the fast path did not take that.
func (v *Verifier) measureAnswer(c *qp.Pair, from int, p *packet.Packet) {
	q, fn := &c.Ends[1-from].SQ, p.Opcode.Fn()
	if v.Latencies == nil || !c.Paired || !q.Joined || p.Has&p.Info().Headers != p.Info().Headers || p.Syndrome.Type() != packet.ACK ||
		p.PSN.Before(q.Una) || !p.PSN.Before(packet.Later(q.Next, q.High)) {
		return
	}
	w, _ := q.Messages.Find(p.PSN)
	if w != nil && w.Has(wqe.Ended) && w.Op <= wqe.FetchAdd && w.Answers(fn) && w.Op.Responded() == (fn != packet.Acknowledge) {
		v.Latencies.Answered(w, p)
	}
}

// measureRetransmission measures how long a requester took to retransmit what a NAK asks for.
func (v *Verifier) measureRetransmission(c *qp.Pair, from int, p *packet.Packet) {
	r := c.RQ(1 - from)
	if v.Latencies == nil || r.NAK.Timed || p.PSN.After(r.NAK.PSN) {
		return
	}
	r.MeasureNAK()
	switch took := time.Duration(p.Time - r.NAK.Time); r.State {
	case qp.SequenceNAKed:
		v.Latencies[verifier.NAKToResend].Observe(took)
	case qp.RNRNAKed:
		v.Latencies[verifier.RNRToResend].Observe(took)
	}
}
