package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/qp"
)

// keyed is what an open command of the peer of end from of c had named, before refused request k, at its address with another R_Key; nil: it is not
// known to.
func (t *teller) keyed(c *agent.Connection, from int, k *qp.Refusal) *agent.Keyed {
	if c.Upper == nil || c.Upper.Keyed[from] == nil || t.lossy() {
		return nil
	}
	n, other := c.Upper.Keyed[from], namedBy(c, from)
	if other != nil && !other.Done { // it may be for that, and have a wrong address
		return nil
	}
	if n.Of == nil || n.Of.Tap != k.Tap || n.Of.Frame >= k.Request.Frame {
		return nil
	}
	return n
}

// usedOther tells that a refused request has another R_Key than the command gave whose memory it is for: the owner of that may have registered it
// as it should.
func (t *teller) usedOther(i *Incident, c *agent.Connection, from int, k *qp.Refusal) bool {
	n := t.keyed(c, from, k)
	if n == nil {
		return false
	}
	r, local := &k.Request, i.Local.Addr
	i.What = fmt.Sprintf("%v refused %s of %v, with another R_Key than the open command gave for its address: %s. The connection is over.",
		&i.Peer, article(operation(r)), &i.Local, refusal(k.Code))
	low, high := extent(r)
	within := "the request is for the same bytes"
	switch end := n.Addr + uint64(n.Length); {
	case high > end:
		within = fmt.Sprintf("the request begins within that, and goes %s beyond it", count(high-end, "byte"))
	case low != n.Addr || high != end:
		within = "the request is within that"
	}
	i.fact("R_Key", fmt.Sprintf("%s of %v, in frame %d, gave R_Key 0x%x for %s at 0x%x; %s, with R_Key 0x%x",
		n.Of.Name, i.Peer.Addr, n.Of.Frame, n.RKey, count(uint64(n.Length), "byte"), n.Addr, within, r.RKey))
	i.show(n.Of.Frame)
	i.FitsWith = []string{fmt.Sprintf(
		"a program or adapter of %v that uses another R_Key than it was given: that explains the refusal", local,
	)}
	switch {
	case n.Over != nil:
		i.fact("former", fmt.Sprintf("%s, in frame %d, which is over, had given R_Key 0x%x for this address", n.Over.Name, n.Over.Frame, r.RKey))
		i.show(n.Over.Frame)
		i.FitsWith = append(i.FitsWith, "what it keeps of an earlier command, which is over: its R_Key")
	case n.RKey>>8 == r.RKey>>8:
		i.FitsWith = append(i.FitsWith, "the R_Key of another registration of the same region, as only the last 8 bits differ")
	}
	i.Next = []string{fmt.Sprintf("how the software of %v comes by the R_Key of what it uses for this command, and what it keeps of an earlier one", local)}
	i.cause = "other key"
	return true
}
