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
	k := cmp.Or(u.Credits, u.Grants)
	if k == nil || u.Slowest == nil || u.Oldest != nil || !t.transported(c) || !t.timed() || t.lossy() {
		return
	}
	from := u.Slowest.From
	used, granted, server := k.Used[from], k.Granted[from], k.Used[1-from]
	end, since := cmp.Or(c.Closed.At, t.run.Last), max(used.Time, server.Time)
	if used.Frame == 0 || granted.Frame == 0 || server.Frame <= granted.Frame || end-since < int64(upper.SlowAfter) {
		return
	}
	left := t.creditsLeft(c, from, end-since)
	if left == "" {
		return
	}
	i := t.between(Waiting, c, from)
	clients, newest := t.grantsOthers(c, from, since)
	switch {
	case counted(u, from):
	case len(clients) > 0:
		i.Certainty = Likely
	default:
		i.Certainty = Possible // nothing shows that the server would have granted some
	}
	i.Begin, i.End, i.Ongoing, i.Lost = since, end, c.Closed.At == 0, time.Duration(end-since)
	until := ""
	if c.Closed.At != 0 {
		until = fmt.Sprintf(", until %v disconnected", c.Closed.By)
		i.show(c.Closed.Frame)
	}
	i.show(granted.Frame, used.Frame, server.Frame)
	after := "after that"
	if at := firstSentAfter(c, 1-from, granted.Time); at != 0 {
		i.Begin = min(at, since)
		after = fmt.Sprintf("from %s on", t.offset(at))
	}
	i.What = fmt.Sprintf("%v %s: %v granted it the last in frame %d, at %s, and none with what it sent %s. Both were silent from %s on, for %s%s.",
		&i.Local, fmt.Sprintf(left, u.Protocol), &i.Peer, granted.Frame, t.offset(granted.Time), after, t.offset(since), span(end-since), until)
	messages, before, _ := k.Ungranted(from)
	asked := ""
	if n := k.Asked(from); n > 0 {
		asked = fmt.Sprintf(", each of which asked for %d or more", n)
	}
	i.fact("credits", fmt.Sprintf("%v sent %s after frame %d, the last in frame %d%s; the last message of %v, in frame %d, granted none either",
		i.Local.Addr, count(uint64(messages), "message"), granted.Frame, used.Frame, asked, i.Peer.Addr, server.Frame))
	if !counted(u, from) {
		i.fact("before", fmt.Sprintf("it was granted some after %s at most; how many it had then is not known, as the capture lacks the negotiation",
			count(uint64(before), "message")))
	}
	i.fact("commands", fmt.Sprintf("all %s that came to the tap were answered, and acknowledged%s: it is not the network", number(u.Answers), clean(c)))
	if len(clients) > 0 {
		i.fact("others", fmt.Sprintf("%v went on granting credits to %s, the last in frame %d, at %s",
			i.Peer.Addr, sorted(clients), newest.Frame, t.offset(newest.Time)))
		i.show(newest.Frame)
	}
	i.FitsWith = []string{fmt.Sprintf("a program of %v that counts send credits wrong, or posts no receives any more, so that what %v has to "+
		"send waits; what waits there is on no wire: that it has more to send is suspected as it fell silent just then", i.Peer.Addr, i.Local.Addr)}
	i.Next = []string{
		fmt.Sprintf("on %v: how its SMB server posts receives and grants send credits on this connection (its version, known errors, its log)",
			i.Peer.Addr),
		fmt.Sprintf("on %v: what waits for credits (Linux: dmesg, /proc/fs/cifs/DebugData; Windows: the counter SMB Direct Connection, "+
			"Stalls (Send Credit)/sec)", i.Local.Addr),
	}
	t.tell(i, "")
}

// creditsLeft says which credits a client that is silent for a time has left, where these let it send no command; "": it may send some, or
// that is not known.
func (t *teller) creditsLeft(c *agent.Connection, from int, silent int64) string {
	switch u := c.Upper; {
	case !counted(u, from):
		k := cmp.Or(u.Credits, u.Grants)
		if u.Credits != nil || c.Timing == nil || !seemsStarved(k, from) || silent < sinceTimes*longestPause(c, nil) {
			return ""
		}
		return "seems to have no send credit of %s left"
	case u.Credits.Left[from] > reservedCredits:
		return ""
	case u.Credits.Left[from] > 0:
		return "has one send credit of %s left, which it has to keep for a message that grants credits itself"
	}
	return "has no send credit of %s left"
}

// clean says that nothing of a connection was retransmitted or refused; "": something was.
func clean(c *agent.Connection) string {
	for k := range c.Ends {
		if e := &c.Ends[k]; e.Retransmissions > 0 || e.NAKs > 0 || e.RNRNAKs > 0 {
			return ""
		}
	}
	return ", without a retransmission or a NAK"
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

// grantsOthers returns to which other clients a server that grants one no credits granted some after that one and it were silent, and the newest.
func (t *teller) grantsOthers(c *agent.Connection, from int, since int64) (clients []packet.Addr, newest upper.Grant) {
	if len(t.run.Connections) > mostOthers {
		return nil, newest
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
	return clients, newest
}
