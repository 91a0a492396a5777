package incident

import (
	"fmt"
	"time"

	"ibwitness/agent"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// leftOff reports whether an end of a connection has sent a part of a message and nothing more of it for long at a time, or until CM disconnected.
func leftOff(c *agent.Connection, now int64) bool {
	if c.Closed.At != 0 {
		now = min(now, c.Closed.At)
	}
	return c.Midway != nil && now-c.Midway.Since >= silence
}

// over reports whether a NAK has ended what an end sent.
func over(e *agent.End) bool { return e.Trouble != nil && e.Trouble.Refusal.Time != 0 }

// onlyMidway reports whether all that waits for an answer of what end from of c sent is a message of which the last packet has not come: its peer need not answer that.
func onlyMidway(c *agent.Connection, from int) bool {
	e := &c.Ends[from]
	return c.Midway != nil && c.Midway.From == from && (e.Open == 0 || e.Open == 1 && e.OpenFrame == c.Midway.Begun)
}

// peerLeftOff says that the peer of end from of c had stopped in the midst of a message of its own before the retransmissions of stall k began, and has sent nothing on the connection since.
func (t *teller) peerLeftOff(i *Incident, c *agent.Connection, from int, k *qp.Stall) {
	m := c.Midway
	if m == nil || m.From != 1-from || !t.timed() || t.lossy() || m.Since > k.Begun || c.Ends[1-from].Last > m.Since || !leftOff(c, t.run.Last) {
		return
	}
	when := t.within(", %s before this request", k.Since-m.Since)
	if m.Since > k.Since {
		when = t.within(", %s after this request", m.Since-k.Since)
	}
	i.show(m.Frame)
	i.fact("left off", fmt.Sprintf("%v, in the midst of %s of its own%s: nothing of it on this connection since frame %d%s", &i.Peer, article(m.Op.String()), partOf(m), m.Frame, when))
}

// unended tells of a message of c of which the rest has not come: its requester stopped in the midst of it, or the rest is lost before the tap.
func (t *teller) unended(c *agent.Connection) {
	if !t.timed() || !leftOff(c, t.run.Last) {
		return
	}
	from := c.Midway.From
	e, peer := &c.Ends[from], &c.Ends[1-from]
	if e.Stalled || peer.Stalled || waits(e, t.run.Last) && !onlyMidway(c, from) || t.oneSided(c, from) || over(e) || over(peer) {
		return // else why is told
	}
	if e.Trouble != nil && e.Trouble.Missing.Acked > 0 || !t.tapGoesOn(c, c.Midway.Since+silence) {
		return // the capture does not hold all that was sent
	}
	m, until := c.Midway, t.run.Last
	if c.Closed.At != 0 {
		until = c.Closed.At
	}
	i := t.between(Unanswered, c, from)
	i.Certainty = Likely // nothing shows that it was not sent
	if t.lossy() {
		i.Certainty, i.inHole = Possible, true
	}
	i.Begin, i.End, i.Ongoing, i.Lost = m.Since, until, c.Closed.At == 0, time.Duration(until-m.Since)
	i.show(m.Frame)
	local := i.Local.Addr.String()
	i.What = fmt.Sprintf("%v stopped in the midst of %s%s: the capture holds no further packet of it%s.", &i.Local, article(m.Op.String()), partOf(m), t.within(" for %s", until-m.Since))
	i.leftOff = fmt.Sprintf("%v in the midst of %s%s, in frame %d", &i.Local, article(m.Op.String()), partOf(m), m.Frame)
	i.fact("request", fmt.Sprintf("PSN %v; its newest packet is frame %d", m.PSN, m.Frame))
	if c.Closed.At != 0 {
		i.show(c.Closed.Frame)
		i.fact("then", fmt.Sprintf("%v disconnected, in frame %d", c.Closed.By, c.Closed.Frame))
	}
	t.command(i, c)
	t.unendedReasons(i, e, m)
	i.FitsWith = append(i.FitsWith, "a capture that lost the rest of it, with its answer")
	i.Next = []string{"the queue pair's state on " + local + " (rdma resource show qp), its dmesg and port counters (retransmission timeouts, pause frames received)", captureAt(local) + "whether it sent the rest"}
	t.tell(i, "unended")
}

// tapGoesOn reports whether the tap that saw the first packet of c recorded anything at a time or later: of several, one may have ended before.
func (t *teller) tapGoesOn(c *agent.Connection, at int64) bool {
	if len(t.run.Taps) < 2 {
		return true
	}
	if t.tapsLast == nil {
		t.tapsLast = map[uint16]int64{}
		for k := range t.run.Connections {
			d := &t.run.Connections[k]
			t.tapsLast[d.FirstTap] = max(t.tapsLast[d.FirstTap], d.Ends[0].Last, d.Ends[1].Last)
		}
	}
	return t.tapsLast[c.FirstTap] >= at
}

// unendedReasons says what would look like it that end e stopped in the midst of message m.
func (t *teller) unendedReasons(i *Incident, e *agent.End, m *agent.Midway) {
	local := i.Local.Addr.String()
	path := "a path from " + local + " to the tap that drops all that it sends on this connection, and what it retransmits"
	switch newest := t.hosts[i.Local.Addr].last; {
	case newest > m.Since && newest > e.Last:
		i.fact("others", fmt.Sprintf("%s went on sending on other connections: last %s after that packet", local, span(newest-m.Since)))
		i.FitsWith = []string{"a requester that stopped: its program ended or was killed, or its queue pair is in the error state", path + ": one of several, which this queue pair takes (by its UDP source port)"}
	case e.Last > m.Since:
		i.fact("its end", fmt.Sprintf("sent other packets on this connection since, the last %s after that one", span(e.Last-m.Since)))
		i.FitsWith = []string{"an adapter that sends responses, and no requests: it has to pause, or its send queue hangs", "a path that drops these packets, and not its responses"}
	default:
		i.fact("others", fmt.Sprintf("nothing of %s on any connection is in the capture since", local))
		i.FitsWith = []string{"a host, adapter or link of " + local + " that went down or stopped, or that a pause frame (PFC) keeps from sending", path}
	}
}

// partOf says how much of a message that was sent in part has come.
func partOf(m *agent.Midway) string {
	if m.Op == wqe.Write && m.Length > m.Sent {
		return fmt.Sprintf(" of %s, after %s of it", count(uint64(m.Length), "byte"), number(uint64(m.Sent)))
	}
	return fmt.Sprintf(", after %s of it", count(uint64(m.Sent), "byte"))
}
