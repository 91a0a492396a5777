package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/qp"
)

// neverTaken reports whether on connection c, which begins in the capture, as it seems, its peer has taken nothing that end from sends from the first packet on, neither requests nor answers, though what
// that sends arrives and other connections between the same hosts work. A packet carries the QPN that it goes to, and not that of its sender: nothing shows then that what comes from the peer is of the queue
// pair that end from sends to.
func (t *teller) neverTaken(c *agent.Connection, from int) bool {
	e, peer := &c.Ends[from], &c.Ends[1-from]
	if !e.Stalled || e.Trouble == nil || peer.Trouble == nil || peer.Stalled || c.PairedBy == agent.ByCM || c.Closed.At != 0 {
		return false
	}
	k := e.Trouble.Now
	if e.Trouble.Refusal.Time != 0 || k.NAKs > 0 || k.Acked || k.Asked || e.Messages > uint64(e.Open) || peer.NAKs > 0 {
		return false
	}
	own := peer.Trouble.Settled(false)
	if _, none := t.takesNone(c, 1-from, &own); !none || !allAgain(peer, &own) {
		return false
	}
	return t.beginsHere(c, &k) && t.goOn(c, from, k.Since).n > 0
}

// allAgain reports whether an end has retransmitted all that it ever sent in each round, as nearly: it has sent nothing before that was taken, and no answers.
func allAgain(e *agent.End, k *qp.Trouble) bool {
	if e.Packets <= uint64(e.Retransmissions) {
		return false
	}
	once := e.Packets - uint64(e.Retransmissions)
	return once*uint64(k.Sum.Count) <= uint64(e.Retransmissions)+once
}

// beginsHere reports whether a connection seems to begin in the capture with the request of stall k: an older one, on which that was retransmitted before, would have shown sooner.
func (t *teller) beginsHere(c *agent.Connection, k *qp.Stall) bool {
	n := int64(k.Total())
	if n == 0 || !t.timed() {
		return false
	}
	periods := int64(nearPeriods)
	if n == qp.MostRetries {
		periods = 1 // a queue pair has no more retries: this is the first time that it was sent
	}
	return c.First-t.run.First > periods*max((k.Last-k.Since)/n, k.Begun-k.Since)
}

// wrongQPN says what fits where the peer takes nothing that end from of c sends from the first packet on.
func (t *teller) wrongQPN(i *Incident, c *agent.Connection, from int) {
	peer := c.Ends[1-from].Trouble.Settled(false)
	local, other := i.Local.Addr.String(), i.Peer.Addr.String()
	to, back := fmt.Sprintf("0x%x", i.Peer.QPN), fmt.Sprintf("0x%x", i.Local.QPN)
	i.show(peer.Sum.Frames.Last)
	i.fact("its end", fmt.Sprintf("a queue pair of %s sent a request to QP %s, and retransmitted it %s, the last time in frame %d, though each was acknowledged to QP %s: from the first packet on, it takes nothing that %s sends there",
		other, back, times(uint64(peer.Sum.Count)), peer.Sum.Frames.Last, to, local))
	i.fact("QPN", fmt.Sprintf("whether that queue pair has the number %s does not show: packets carry only the QPN that they go to", to))
	i.fact("others", fmt.Sprintf("%s between the same hosts went on, and retransmitted nothing", count(t.goOn(c, from, c.Ends[from].Trouble.Now.Since).n, "other connection")))
	i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("a wrong destination QPN on %s: QP %s of %s is none, or another than the one that sends to QP %s; or a queue pair there that is not in RTR", local, to, other, back))
	i.FitsWith = append(i.FitsWith, "less likely "+onePathFails(local, other, &c.Ends[from])+", or a filter")
	i.Next = slices.Insert(i.Next, 0,
		fmt.Sprintf("the QPNs that both ends exchanged (out of band: TCP store, sockets), and whether ranks or channels were mixed up: the destination QPN of %s QP %s, and the number of the queue pair of %s whose destination it is", local, back, other),
		"rdma resource show qp on "+other+": whether it has a QP "+to+", in which state")
}
