package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// allSmall says how large the packets were that end from of c has sent to the host of its peer, on all connections, where all are less than half the path MTU, which is known: larger ones, if it has sent any,
// have not come to the tap. "": some have, or it is not known.
func (t *teller) allSmall(c *agent.Connection, from int) string {
	p := t.passageOf(c, from, false)
	if p == nil || c.PMTU == 0 || p.Count == 0 || p.unsure || p.larger || 2*max(p.Most, p.mean, fitsAny/2) > c.PMTU {
		return ""
	}
	s := fmt.Sprintf("what came from %v to %v carried up to %s in a packet", c.Ends[from].Addr, c.Ends[1-from].Addr, count(uint64(p.Most), "byte"))
	if p.connections > 1 {
		s += fmt.Sprintf(", on %d connections", p.connections)
	}
	return s + fmt.Sprintf("; the path MTU of the queue pair is %s", count(uint64(c.PMTU), "byte"))
}

// largeWrite is a request whose packets may be as large as any.
var largeWrite = qp.StalledRequest{Op: wqe.Write}

// vanishBefore is what fits where larger packets of a host do not come to the tap.
func vanishBefore(sender string) string {
	return "a path from " + sender + " to the tap whose MTU is smaller than the path MTU of the queue pair: larger packets vanish, smaller ones arrive"
}

// bySizeUnshown tells of stall k of end from of c, whose peer asks for packets that the capture does not hold, that they may be lost by their size: none as large has come that way.
func (t *teller) bySizeUnshown(i *Incident, c *agent.Connection, from int, k *qp.Stall) {
	small := t.allSmall(c, from)
	if small == "" || 2*k.Request.Payload > c.PMTU {
		return
	}
	sender, receiver := i.Local.Addr.String(), i.Peer.Addr.String()
	if !i.sized { // else onlyEnds has told that
		i.fact("size", small+", and how large what is missing was is not known")
		i.FitsWith = append([]string{vanishBefore(sender)}, i.FitsWith...)
	}
	most := t.passageOf(c, from, false).Most
	i.vanishes(hole{
		way: way{c.Ends[from].Addr, c.Ends[1-from].Addr}, most: most, pmtu: c.PMTU, check: checkMTU(c.Encap, &k.Request, c.PMTU, sender, receiver),
		said: fmt.Sprintf(" From %s to %s, no packet with more than %s of payload came, though the path MTU is %s.", sender, receiver, count(uint64(most), "byte"), count(uint64(c.PMTU), "byte")),
	})
}

// failedBySize adds, of a request of end from of c that nothing answers, that the queue pair of its peer may be in the error state since that has sent packets which vanished before the tap by their size: it
// has sent requests before, and none of large packets.
func (t *teller) failedBySize(i *Incident, c *agent.Connection, from int, k *qp.Stall) {
	peer := &c.Ends[1-from]
	if i.sized || i.Kind != Unanswered || peer.Messages == 0 || peer.Stalled || peer.Last > k.Begun || k.Part > 0 || k.Asked {
		return
	}
	small := t.allSmall(c, 1-from)
	if small == "" {
		return
	}
	sender, receiver := i.Peer.Addr.String(), i.Local.Addr.String()
	i.fact("size", small)
	i.FitsWith = append(i.FitsWith, "a queue pair of "+sender+" in the error state since larger packets of its own vanished: "+vanishBefore(sender))
	i.Next = append(i.Next, checkMTU(c.Encap, &largeWrite, c.PMTU, sender, receiver))
}

// heldBySize adds, of a command that waits for an answer of end by of c, that this may have vanished before the tap by its size.
func (t *teller) heldBySize(i *Incident, c *agent.Connection, by int) {
	small := t.allSmall(c, by)
	if small == "" || c.Ends[by].Messages == 0 {
		return
	}
	sender, receiver := c.Ends[by].Addr.String(), c.Ends[1-by].Addr.String()
	i.fact("size", small)
	i.FitsWith = append(i.FitsWith, "an answer whose packets are larger, and vanish: "+vanishBefore(sender))
	i.Next = append(i.Next, checkMTU(c.Encap, &largeWrite, c.PMTU, sender, receiver))
}
