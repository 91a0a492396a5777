package rc

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// unsureRead is of which READs it is not certain which responses have come.
const unsureRead = wqe.Miscounted | wqe.Blamed | wqe.Unsized | wqe.Guessed

// laterCopy reports whether response p to a READ is a copy that something on the path made, which others came before: one with its PSN has come already, and by its IPv4 identification it left before the newest
// response. One that was sent once more would have left after that.
func laterCopy(c *qp.Pair, from int, p *packet.Packet) bool {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	if p.Opcode.Fn() == packet.Acknowledge || !verifier.Numbered(p) || !r.Last.Positive || !p.PSN.Before(r.Last.PSN) || !verifier.LeftBefore(p, r.Last.ID) || p.Time-r.Last.Time >= verifier.CopyTime {
		return false
	}
	w, _ := q.Messages.Find(p.PSN)
	return w != nil && w.Op == wqe.Read && w.Answers(p.Opcode.Fn()) && w.Flags&unsureRead == 0 && (!w.Has(wqe.Reissued) || q.OnlyCopied(w.First)) && p.PSN.Before(q.Missing(w))
}

// takeLaterCopy takes such a copy, which changes nothing.
func (v *Verifier) takeLaterCopy(c *qp.Pair, from int, p *packet.Packet) {
	v.CountCopy(p, -1)
	v.Copied(c, from, p)
	v.Event(c, from, rule.Responder, p, rule.EvDuplicateResponse, "duplicated by the network")
}
