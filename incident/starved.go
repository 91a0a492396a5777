package incident

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
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
	after := "after that"
	if at := firstSentAfter(c, 1-from, granted.Time); at != 0 {
		i.Begin = min(at, since)
		after = fmt.Sprintf("from %s on", t.offset(at))
	}
	i.What = fmt.Sprintf("%v has %s of %s left: %v granted it the last %d in frame %d, and none with what it sent %s. "+
		"Both were silent for %s then%s.",
		&i.Local, left, u.Protocol, &i.Peer, granted.Count, granted.Frame, after, span(end-since), until)
	messages, _, _ := k.Ungranted(from)
	i.fact("credits", fmt.Sprintf("%v sent %s since frame %d, the last in frame %d; the last message of %v, in frame %d, granted none either",
		i.Local.Addr, count(uint64(messages), "message"), granted.Frame, used.Frame, i.Peer.Addr, server.Frame))
	i.fact("commands", fmt.Sprintf("all %s that came to the tap were answered, and acknowledged: it is not the network", number(u.Answers)))
	t.grantsOthers(i, c, from, since)
	i.FitsWith = []string{fmt.Sprintf("a program of %v that counts send credits wrong, or posts no receives any more, so that what %v has to "+
		"send waits", i.Peer.Addr, i.Local.Addr)}
	i.Next = []string{
		fmt.Sprintf("on %v: how its SMB server counts and grants send credits (its version, known errors, its log)", i.Peer.Addr),
		fmt.Sprintf("on %v: what waits for credits (dmesg, /proc/fs/cifs/DebugData)", i.Local.Addr),
	}
	t.tell(i, "")
}

// firstSentAfter is when an end of a connection began the first message after a time; 0: it is not kept.
func firstSentAfter(c *agent.Connection, end int, at int64) int64 {
	if c.Timing == nil {
		return 0
	}
	first, newest, n := c.Timing.Ends[end].AllSent()
	for k, list := range [][]timing.Sent{first, newest} {
		if k > 0 && n > len(first)+len(newest) && len(newest) > 0 && newest[0].Begin > at { // it may be one that is not kept
			return 0
		}
		for _, m := range list {
			if m.Begin > at {
				return m.Begin
			}
		}
	}
	return 0
}

// grantsOthers says to which other clients a server that grants one no credits granted some after that one and it were silent.
func (t *teller) grantsOthers(i *Incident, c *agent.Connection, from int, since int64) {
	var clients []packet.Addr
	newest := upper.Grant{}
	if len(t.run.Connections) > mostOthers {
		return
	}
	for n := range t.run.Connections {
		d := &t.run.Connections[n]
		if d == c || d.Upper == nil || d.Upper.Protocol != c.Upper.Protocol || d.Upper.Slowest == nil {
			continue
		}
		client, k := d.Upper.Slowest.From, cmp.Or(d.Upper.Credits, d.Upper.Grants)
		if k == nil || d.Ends[1-client].Addr != c.Ends[1-from].Addr || d.FirstTap != c.FirstTap || k.Granted[client].Time <= since {
			continue
		}
		if a := d.Ends[client].Addr; !slices.Contains(clients, a) {
			clients = append(clients, a)
		}
		if k.Granted[client].Time > newest.Time {
			newest = k.Granted[client]
		}
	}
	if len(clients) > 0 {
		i.fact("others", fmt.Sprintf("%v went on granting credits to %s, the last in frame %d, at %s",
			i.Peer.Addr, sorted(clients), newest.Frame, t.offset(newest.Time)))
		i.show(newest.Frame)
	}
}
