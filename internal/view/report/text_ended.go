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
	mostEnded     = 64          // connections between two hosts that are looked at for it
	fewestAlive   = 2           // Keep Alives that were answered
	aliveApart    = time.Second // from when on after the newest of them its absence is told
)

// ended tells of hosts that disconnected all connections which another had with them, which then connected once more: it had not wanted them to end.
func (t *text) ended() {
	between, order := map[[2]packet.Addr][]*agent.Connection{}, [][2]packet.Addr(nil) // by pair of hosts, the lower address first
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		pair := [2]packet.Addr{c.Ends[0].Addr, c.Ends[1].Addr}
		if pair[0] == pair[1] || !c.Service.Reliable() {
			continue
		}
		if pair[1].Compare(pair[0]) < 0 {
			pair[0], pair[1] = pair[1], pair[0]
		}
		if between[pair] == nil {
			order = append(order, pair)
		}
		between[pair] = append(between[pair], c)
	}
	for _, pair := range order {
		t.endedBetween(between[pair])
	}
}

// endedBetween tells of the connections of two hosts, once for each of these.
func (t *text) endedBetween(list []*agent.Connection) {
	told, tried := map[packet.Addr]bool{}, 0
	for _, c := range list {
		peer, ok := closedBy(c)
		if !ok || told[c.Closed.By] {
			continue
		}
		if tried++; tried > mostEnded {
			return // hosts that connect again and again
		}
		if s := t.endedAll(list, c, peer); s != "" {
			told[c.Closed.By] = true
			t.prose("  ", s)
		}
	}
}

// closedBy returns the peer of the end that disconnected a connection.
func closedBy(c *agent.Connection) (peer packet.Addr, ok bool) {
	switch by := c.Closed.By; {
	case c.Closed.At == 0:
	case by == c.Ends[0].Addr:
		return c.Ends[1].Addr, true
	case by == c.Ends[1].Addr:
		return c.Ends[0].Addr, true
	}
	return peer, false
}

// endedAll tells of connection c, which an end disconnected, and the others of a list between the same hosts; "": some of them went on, or the peer did not connect once more.
func (t *text) endedAll(list []*agent.Connection, c *agent.Connection, peer packet.Addr) string {
	by, first := c.Closed.By, c.Closed
	n, newest, keeps := 0, int64(0), agent.Class{}
	var next *agent.Connection
	for _, d := range list {
		switch {
		case d.First > c.Closed.At:
			if d.PairedBy == agent.ByCM && d.Ends[0].Addr == peer && (next == nil || d.First < next.First) {
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
