package incident

import (
	"cmp"
	"fmt"
	"time"

	"ibwitness/agent"
	"ibwitness/upper"
)

// starved tells of a client that may send no command, as its server has granted it no credits with the messages that it sent since the last
// grant, and both are silent. That a server has none left after its answer is normal, where each command grants one.
func (t *teller) starved(c *agent.Connection) {
	u := c.Upper
	k := u.Credits
	if k == nil || u.Slowest == nil || u.Oldest != nil || !transported(c) || !t.timed() || t.lossy() {
		return
	}
	from := u.Slowest.From
	used, granted, server := k.Used[from], k.Granted[from], k.Used[1-from]
	end, since := cmp.Or(c.Closed.At, t.run.Last), max(used.Time, server.Time)
	if k.Left[from] > reservedCredits || used.Frame == 0 || granted.Frame == 0 || server.Frame <= granted.Frame || end-since < int64(upper.SlowAfter) {
		return
	}
	i := t.between(Waiting, c, from)
	i.Begin, i.End, i.Ongoing, i.Lost = since, end, c.Closed.At == 0, time.Duration(end-since)
	until, left := "", "no send credit"
	if c.Closed.At != 0 {
		until = fmt.Sprintf(", until %v disconnected", c.Closed.By)
		i.show(c.Closed.Frame)
	}
	if k.Left[from] > 0 {
		left = "one send credit, for a message that grants credits itself,"
	}
	i.show(granted.Frame, used.Frame, server.Frame)
	i.What = fmt.Sprintf("%v has %s of %s left: %v granted it the last %d in frame %d, and none with what it sent after that. "+
		"Both were silent for %s then%s.",
		&i.Local, left, u.Protocol, &i.Peer, granted.Count, granted.Frame, span(end-since), until)
	messages, _, _ := k.Ungranted(from)
	i.fact("credits", fmt.Sprintf("%v sent %s since frame %d, the last in frame %d; the last message of %v, in frame %d, granted none either",
		i.Local.Addr, count(uint64(messages), "message"), granted.Frame, used.Frame, i.Peer.Addr, server.Frame))
	i.fact("commands", fmt.Sprintf("all %s that came to the tap were answered, and acknowledged: it is not the network", number(u.Answers)))
	i.FitsWith = []string{fmt.Sprintf("a program of %v that counts send credits wrong, or posts no receives any more, so that what %v has to "+
		"send waits", i.Peer.Addr, i.Local.Addr)}
	i.Next = []string{
		fmt.Sprintf("on %v: how its SMB server counts and grants send credits (its version, known errors, its log)", i.Peer.Addr),
		fmt.Sprintf("on %v: what waits for credits (dmesg, /proc/fs/cifs/DebugData)", i.Local.Addr),
	}
	t.tell(i, "")
}
