package rc

import (
	"ibwitness/packet"
	"ibwitness/qp"
)

// outOfOrder reports whether what response p seems to break is no more than what follows where packets come out of order, as is shown of this connection at that time: a request that comes late to its responder
// is a duplicate to it, and an answer that comes late to the tap answers what came before. A tap near the responder shows what it got, and in which order.
func outOfOrder(c *qp.Pair, from int, p *packet.Packet) bool {
	return !c.Sees(from) && c.Ends[1-from].SQ.OutOfOrder(p.Time, takenForLost)
}

// cameLate notes where response p, after which a PSN is expected, shows that its responder has taken what its newest PSN sequence NAK had asked for, though the tap has not seen it retransmitted.
func cameLate(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet, expected packet.PSN) {
	if r.State == qp.SequenceNAKed && expected.After(r.NAK.PSN) && !q.HasCrossed() && !q.DamagedAt(r.NAK.PSN) {
		q.CameLate(p.Time)
	}
}
