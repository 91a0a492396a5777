package incident

import (
	"fmt"
	"strings"

	"ibwitness/agent"
	"ibwitness/qp"
	"ibwitness/rule"
)

// keyed is what a command of the peer of end from of c, which was open then, had named, before refused request k, at its address with another R_Key;
// nil: it is not known to.
func (t *teller) keyed(c *agent.Connection, from int, k *qp.Refusal) *agent.Keyed {
	if c.Upper == nil || c.Upper.Keyed[from] == nil || t.lossy() {
		return nil
	}
	n, other := c.Upper.Keyed[from], namedBy(c, from)
	if other != nil && (!other.Done || other.Answer > k.Request.Frame) { // it may be for that, and have a wrong address
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
	if n == nil || t.renewed(c, from, k) != nil {
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
	i.fact("R_Key", fmt.Sprintf("%s of %v, in frame %d%s, gave R_Key 0x%x for %s at 0x%x; %s, with R_Key 0x%x",
		n.Of.Name, i.Peer.Addr, n.Of.Frame, t.within(", %s before the NAK", k.Time-n.Of.Since), n.RKey,
		count(uint64(n.Length), "byte"), n.Addr, within, r.RKey))
	i.show(n.Of.Frame)
	i.FitsWith = []string{fmt.Sprintf(
		"a program or adapter of %v that uses another R_Key than it was given: that explains the refusal", local,
	)}
	i.Next = []string{fmt.Sprintf(
		"how the software of %v comes by the R_Key of what it uses for this command, and what it keeps of an earlier one", local,
	)}
	i.cause = "other key"
	switch {
	case t.usedFormerKey(i, c, from, k, n):
	case n.RKey>>8 == r.RKey>>8:
		i.FitsWith = append(i.FitsWith, "the R_Key of another registration of the same region, as only the last 8 bits differ")
	}
	return true
}

// usedFormerKey tells of a request for memory n that has the R_Key of a command which was over, or one that its requester had invalidated, and
// reports whether it has.
func (t *teller) usedFormerKey(i *Incident, c *agent.Connection, from int, k *qp.Refusal, n *agent.Keyed) bool {
	of, where := n.Over, "this address"
	if x := namedBy(c, from); of == nil && x != nil && x.Of.Tap == k.Tap && x.Of.Frame < k.Request.Frame {
		of, where = x.Of, fmt.Sprintf("%s at 0x%x", count(uint64(x.Length), "byte"), x.Addr)
	}
	at := k.Invalidated
	gone := at != nil && (t.invalidated(c, from, k) || stillInvalidated(c, k)) && (of == nil || of.Frame < at.Frame)
	var said []string
	if of != nil {
		said = append(said, fmt.Sprintf("%s, in frame %d, which is over, had given R_Key 0x%x for %s", of.Name, of.Frame, k.Request.RKey, where))
		i.show(of.Frame)
	}
	if gone {
		said = append(said, t.within("%s before the NAK, ", k.Time-at.Time)+fmt.Sprintf(
			"a SEND with Invalidate of this queue pair named it in frame %d: it is not valid any more (%v)", at.Frame, rule.RCINV001))
		i.show(at.Frame)
		i.What = fmt.Sprintf("%v sent %s with an R_Key that it had itself invalidated, and not the one that the open command gave for its address: "+
			"%v refused it (%s). The connection is over.", &i.Local, article(operation(&k.Request)), &i.Peer, refusal(k.Code))
		i.Next = []string{nextOn(i.Local.Addr, i.Peer.Addr, fmt.Sprintf("how its software reads and keeps the R_Key that %s gives%s, "+
			"and what it keeps of an earlier command", n.Of.Name, inDescriptor(n.Of)))}
	}
	i.fact("former", strings.Join(said, "; "))
	switch {
	case of != nil && gone:
		i.FitsWith = []string{fmt.Sprintf("%v, which mixed up the R_Keys of two commands, as with a stale request context; %v was right to refuse it",
			i.Local.Addr, i.Peer.Addr)}
	case of != nil:
		i.FitsWith = append(i.FitsWith, "what it keeps of an earlier command, which is over: its R_Key")
	case gone:
		i.FitsWith = append(i.FitsWith, "what it keeps of something earlier, which is over: its R_Key")
	}
	return of != nil || gone
}

// inDescriptor says where a command names memory; "": it is not said.
func inDescriptor(o *agent.Operation) string {
	if strings.HasPrefix(o.Name, "NVMe") {
		return " (its keyed SGL)"
	}
	return ""
}
