package incident

import (
	"fmt"
	"math/bits"

	"ibwitness/agent"
	"ibwitness/qp"
	"ibwitness/rule"
)

// sameBits is from how many last bits on that the IDs of two commands share it is told: by chance that is rare.
const sameBits = 8

// invalidatedFor is the command whose answer has invalidated the R_Key of a request of end from of c which its peer refuses, and whether it is the one that had named the
// R_Key, n; nil: it is not known.
func (t *teller) invalidatedFor(c *agent.Connection, from int, n *agent.Named) (by *agent.Operation, own bool) {
	if c.Upper == nil || c.Upper.InvalidatedBy[from] == nil || t.lossy() {
		return nil, false
	}
	by = c.Upper.InvalidatedBy[from]
	return by, n != nil && by.Tap == n.Of.Tap && by.Frame == n.Of.Frame
}

// invalidatedForOther tells of a request for command n, which is open, that its peer refuses as the requester had invalidated the R_Key of that with its
// answer to another command, by.
func (t *teller) invalidatedForOther(i *Incident, k *qp.Refusal, n *agent.Named, by *agent.Operation) {
	local, peer, at := i.Local.Addr, i.Peer.Addr, k.Invalidated
	i.What = fmt.Sprintf("%v invalidated the R_Key of an open command with its answer to another one, and then sent %s with that R_Key: %v refused it (%s)%s. The connection is over.",
		&i.Local, article(operation(&k.Request)), &i.Peer, refusal(k.Code), t.within(", %s after the invalidation", k.Time-at.Time))
	within := ""
	if low, high := extent(&k.Request); low >= n.Addr && high <= n.Addr+uint64(n.Length) {
		within = fmt.Sprintf("; the %v is within the memory that it had named", k.Request.Op)
	}
	i.fact("R_Key", fmt.Sprintf("%s of %v, in frame %d, had named memory with R_Key 0x%x, and was open%s; the SEND with Invalidate in frame %d%s, which answers %s, in frame %d, named that R_Key: it is not valid any more (%v)",
		n.Of.Name, peer, n.Of.Frame, k.Request.RKey, within, at.Frame, t.within(", %s after it", at.Time-n.Of.Since), by.Name, by.Frame, rule.RCINV001))
	i.show(n.Of.Frame, by.Frame, at.Frame)
	found := ""
	if same := bits.TrailingZeros64(n.Of.ID ^ by.ID); same >= sameBits && same < bits.Len64(min(n.Of.ID, by.ID)) {
		i.fact("IDs", fmt.Sprintf("those of the two commands, 0x%x and 0x%x, have the same last %d bits", n.Of.ID, by.ID, same))
		found = ", as where it finds a command by the last bits of its ID"
	}
	i.FitsWith = []string{fmt.Sprintf("a program on %v that invalidates the R_Key of another command than the one that it answers%s; %v was right to refuse the request", local, found, peer)}
	i.Next = []string{nextOn(local, peer, fmt.Sprintf("how its software chooses the R_Key that it invalidates with an answer, as in frame %d", at.Frame))}
	i.cause = "another's key"
}
