package incident

import (
	"fmt"
	"strings"

	"ibwitness/agent"
	"ibwitness/qp"
)

// renewed is what the peer of end from of c had named, before refused request k and after the R_Key of that was invalidated, with a newer R_Key of
// the same region; nil: it is not known to.
func (t *teller) renewed(c *agent.Connection, from int, k *qp.Refusal) *agent.Renewed {
	if c.Upper == nil || c.Upper.Renewed[from] == nil || k.Invalidated == nil || t.lossy() {
		return nil
	}
	r := c.Upper.Renewed[from]
	if r.Of == nil || r.Of.Tap != k.Tap || r.Of.Frame <= k.Invalidated.Frame || r.Of.Frame >= k.Request.Frame {
		return nil
	}
	return r
}

// usedFormer tells that a refused request has the R_Key of a region that its peer had named with a newer one, r, by then.
func (i *Incident) usedFormer(k *qp.Refusal, r *agent.Renewed) {
	text := fmt.Sprintf("; %v had named the same region (the first 24 bits of the R_Key) with R_Key 0x%x, at 0x%x, since: %s, in frame %d",
		i.Peer.Addr, r.RKey, r.Addr, r.Of.Name, r.Of.Frame)
	of := "a command"
	if forCommand(k, r) {
		text += fmt.Sprintf("; the SEND with Invalidate after the %v, in frame %d, names that one", k.Request.Op, k.SentAfter.Frame)
		of = r.Of.Name
	}
	whose := "an R_Key that had been invalidated"
	if r.Held {
		text += fmt.Sprintf("; an earlier command, which is over, had named 0x%x with R_Key 0x%x", k.Request.VA, k.Request.RKey)
		whose = "the address and R_Key of an earlier one, which was over"
	}
	i.Facts[len(i.Facts)-1].Text += text
	i.show(r.Of.Frame)
	i.FitsWith = []string{fmt.Sprintf(
		"a stale request context: %v, which served %s with %s", i.Local.Addr, of, whose,
	)}
	i.Next = []string{nextOn(i.Local.Addr, i.Peer.Addr, "how its software fills in the address and R_Key of a command, and what it keeps of an earlier one")}
}

// forCommand reports whether the SEND with Invalidate after refused request k is for the memory of r.
func forCommand(k *qp.Refusal, r *agent.Renewed) bool {
	return k.SentAfter != nil && k.SentAfter.Invalidates && k.SentAfter.InvRKey == r.RKey
}

// waitingThen names the commands that wait on a connection which a refusal ended.
func (t *teller) waitingThen(i *Incident, c *agent.Connection) {
	if !t.openThen(i, c) {
		t.command(i, c)
	}
}

// openThen names the commands that wait on a connection which a refusal ended, and reports whether there are several.
func (t *teller) openThen(i *Incident, c *agent.Connection) bool {
	u := c.Upper
	if u == nil || len(u.Waiting) < 2 || u.Oldest == nil || u.Oldest.Unsure || t.lossy() {
		return false
	}
	names := make([]string, 0, len(u.Waiting))
	for _, o := range u.Waiting {
		name := fmt.Sprintf("%s, in frame %d", o.Name, o.Frame)
		if o.Answer != 0 {
			name += fmt.Sprintf(" (its answer, in frame %d, was not delivered)", o.Answer)
		}
		names = append(names, name)
	}
	more := ""
	if n := u.Open - len(names); n > 0 {
		more = fmt.Sprintf("; and %d more", n)
	}
	i.fact("open", fmt.Sprintf("%s had no answer when the connection was over: %s%s", count(uint64(u.Open), "command"), strings.Join(names, "; "), more))
	return true
}
