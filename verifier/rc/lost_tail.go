package rc

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// lostTail notes when NAK p, which asks for what the tap shows, has come after the end of that message, where others follow it and nothing of it was retransmitted.
func lostTail(q *qp.SendQueue, p *packet.Packet) {
	w, _ := q.Messages.Find(p.PSN)
	if w == nil || w.Op.Responded() || w.Asked == 0 || !w.Has(wqe.Ended) || p.PSN.After(w.Last) || !q.High.After(w.Last.Add(1)) {
		return
	}
	q.LostTail(int(w.Last.Add(1).Diff(p.PSN)), int64(verifier.Stamp(p.Time)-w.Asked)*verifier.Tick)
}
