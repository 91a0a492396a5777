package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// tooManyReads says of a READ or atomic that was refused as invalid that more of them waited for an answer than its responder has resources for, where CM or an HCA agent told how many that is.
func (t *teller) tooManyReads(i *Incident, c *agent.Connection, from int, k *qp.Refusal) {
	peer := &c.Ends[1-from]
	n, most := int(k.Beside.AtOnce), int(peer.ResponderResource)
	if k.Code != packet.NAKInvalidRequest || !k.Request.Op.Responded() || i.says("address") || !peer.Knows(qp.KnowsMaxDestRdAtomic) || n <= most || t.lossy() {
		return
	}
	i.What += fmt.Sprintf(" %v had %d READs and atomics outstanding, where %v has resources for %d.", i.Local.Addr, n, i.Peer.Addr, most)
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "at once" })
	i.fact("at once", fmt.Sprintf("%d READs and atomics, this one among them, waited for an answer when it was sent: %v exceeded the %d (responder resources) that its peer told it of", n, i.Local.Addr, most))
	i.FitsWith = []string{fmt.Sprintf("a queue pair of %v with a max_rd_atomic above %d: it has to be the lesser of its own and what the peer told", i.Local.Addr, most)}
	i.Next = []string{fmt.Sprintf("max_rd_atomic of the queue pair on %v, and where its program takes it from (the initiator depth of the REP, or of rdma_conn_param)", i.Local.Addr)}
}
