package incident

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/agent"
	"ibwitness/qp"
)

// named tells of a request which its peer refuses for access that a command of that peer has named memory with its R_Key, and what of the request is outside that: it is wrong itself then.
func (t *teller) named(i *Incident, c *agent.Connection, from int, k *qp.Refusal) {
	if c.Upper == nil || c.Upper.Named[from] == nil {
		return
	}
	n, local, peer := c.Upper.Named[from], i.Local.Addr, i.Peer.Addr
	low, high := extent(&k.Request)
	end := n.Addr + uint64(n.Length)
	s := fmt.Sprintf("%s of %v, in frame %d, names %s at 0x%x with this R_Key", n.Of.Name, peer, n.Of.Frame, count(uint64(n.Length), "byte"), n.Addr)
	next := fmt.Sprintf("how the software of %v comes by the address and length of what it uses for this command", local)
	if n.Parts > 1 {
		s += fmt.Sprintf(", one of %d parts", n.Parts)
		next += fmt.Sprintf(", and whether it takes all %d parts for one", n.Parts)
	}
	if n.Of.Tap == k.Tap {
		i.show(n.Of.Frame)
	}
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Text == namedMemory(n) }) // the memory that follows names it
	switch {
	case low >= n.Addr && high <= end:
		i.fact("memory", s+": the request is within that")
		i.FitsWith = []string{fmt.Sprintf("memory that %v told %v of, and that is not registered so, or not any more", peer, local)}
		t.cancelled(i, c, n)
		return
	case low >= n.Addr && low < end:
		beyond := count(high-end, "byte") + " beyond"
		if open := !n.Done || n.Answer > k.Request.Frame; open && !t.lossy() {
			i.What = strings.Replace(i.What, ": NAK ", ", which goes "+beyond+" the memory that the open command gave: NAK ", 1)
		} else {
			s += ": the request goes " + beyond + " that"
		}
		i.fact("memory", s)
		i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "address" }) // of less
		i.FitsWith = []string{"a requester that uses more memory than it was told of: that explains the refusal"}
	default:
		i.fact("memory", s+": the request begins outside that")
		i.FitsWith = slices.Insert(i.FitsWith, 0, "a requester that uses other memory than it was told of")
		i.Next = append(i.Next, next)
		return
	}
	i.Next = []string{next}
}
