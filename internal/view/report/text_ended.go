package report

import (
	"fmt"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
)

const (
	endedTogether = int64(time.Second) // within which a host disconnects several connections at once
	fewestEnded   = 2
	fewestAlive   = 2           // Keep Alives that were answered
	aliveApart    = time.Second // from when on after the newest of them its absence is told
)

// ended tells of hosts that disconnected all connections which another had with them, which then connected once more: it had not wanted them to end.
func (t *text) ended() {
	told := map[[2]packet.Addr]bool{}
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		peer, ok := closedBy(c)
		if pair := [2]packet.Addr{c.Closed.By, peer}; ok && !told[pair] {
			if s := t.endedAll(c, peer); s != "" {
				told[pair] = true
				t.prose("  ", s)
			}
		}
	}
}

// closedBy returns the peer of the end that disconnected a connection.
func closedBy(c *agent.Connection) (peer packet.Addr, ok bool) {
	switch by := c.Closed.By; {
	case c.Closed.At == 0 || !c.Service.Reliable() || c.Ends[0].Addr == c.Ends[1].Addr:
	case by == c.Ends[0].Addr:
		return c.Ends[1].Addr, true
	case by == c.Ends[1].Addr:
		return c.Ends[0].Addr, true
	}
	return peer, false
}

// endedAll tells of connection c, the first that its end disconnected, and the others with the same peer; "": some of them went on, or the peer did not connect once more.
func (t *text) endedAll(c *agent.Connection, peer packet.Addr) string {
	by, first := c.Closed.By, c.Closed
	n, newest, keeps := 0, int64(0), agent.Class{}
	var next *agent.Connection
	for i := range t.res.Connections {
		d := &t.res.Connections[i]
		a, b := d.Ends[0].Addr, d.Ends[1].Addr
		if a != by && a != peer || b != by && b != peer || a == b || !d.Service.Reliable() {
			continue
		}
		switch {
		case d.First > c.Closed.At:
			if d.PairedBy == agent.ByCM && a == peer && (next == nil || d.First < next.First) {
				next = d
			}
			continue
		case d.Closed.At != 0 && c.Closed.At-d.Closed.At > endedTogether:
			continue // it was over
		case d.Closed.By != by || d.Closed.At-c.Closed.At > endedTogether:
			return ""
		}
		if n++; d.Closed.At < first.At {
			first = d.Closed
		}
		if d.Upper == nil {
			continue
		}
		for _, k := range d.Upper.Classes {
			if strings.Contains(k.Name, "Keep Alive") {
				keeps = k
			} else {
				newest = max(newest, k.Newest)
			}
		}
	}
	if n < fewestEnded || next == nil || next.First-c.Closed.At < endedTogether {
		return ""
	}
	s := fmt.Sprintf("Ended: %v disconnected all %s with %v at %s (frame %d), though nothing of the transport had failed; %v connected once more %s later, in frame %d.",
		by, count(n, "connection"), peer, offset(first.At, t.res.First), first.Frame, peer, span(time.Duration(next.First-first.At)), next.FirstFrame)
	if quiet := time.Duration(first.At - keeps.Newest); keeps.Answers >= fewestAlive && quiet >= aliveApart && newest > keeps.Newest {
		s += fmt.Sprintf(" The newest %s of %v had come %s before, after %s on the connection; other commands went on until %s before: a target ends the connections of a host whose Keep Alives stay away for the timeout that the host gave when it connected. Look at what sends them on %v.",
			keeps.Name, peer, span(quiet), count(keeps.Answers-1, "other"), span(time.Duration(first.At-newest)), peer)
	}
	return s
}
