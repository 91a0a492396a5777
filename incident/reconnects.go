package incident

import (
	"fmt"
	"time"

	"ibwitness/agent"
)

// From how many times on, after how long without a packet, and how soon a requester that disconnects and connects once more seems to have failed at something that the tap does not see.
const (
	fewestReconnects = 2
	silentBefore     = int64(400 * time.Millisecond)
	connectsAtOnce   = 2 * int64(time.Second)
)

// reconnects tells of requesters that disconnect after a silence and connect once more at once, time and again, where all that came of them carried much less than the path MTU: larger packets may vanish
// before the tap.
func (t *teller) reconnects() {
	if !t.timed() {
		return
	}
	cycles, order := map[way][]*agent.Connection{}, []way(nil)
	for k := range t.run.Connections {
		c := &t.run.Connections[k]
		for from := range c.Ends {
			if w := (way{c.Ends[from].Addr, c.Ends[1-from].Addr}); t.reconnected(c, from) {
				if cycles[w] == nil {
					order = append(order, w)
				}
				cycles[w] = append(cycles[w], c)
			}
		}
	}
	for _, w := range order {
		if list := cycles[w]; len(list) >= fewestReconnects {
			t.reconnecting(w, list)
		}
	}
}

// reconnected reports whether end from of c disconnected it after a silence, with nothing open, and connected once more at once, and nothing large has come of its host.
func (t *teller) reconnected(c *agent.Connection, from int) bool {
	e, peer := &c.Ends[from], &c.Ends[1-from]
	switch {
	case c.PairedBy != agent.ByCM || c.Closed.At == 0 || c.Closed.By != e.Addr || e.Addr == peer.Addr:
		return false
	case e.Messages == 0 || e.Open+peer.Open > 0 || e.Trouble != nil || peer.Trouble != nil || c.Closed.At-max(e.Last, peer.Last) < silentBefore:
		return false
	}
	next := t.nextOf(c, c.Closed.At)
	return next != nil && next.PairedBy == agent.ByCM && next.Ends[0].Addr == c.Ends[0].Addr && next.First-c.Closed.At <= connectsAtOnce && t.allSmall(c, from) != ""
}

// reconnecting tells of a requester that does so, on some connections.
func (t *teller) reconnecting(w way, list []*agent.Connection) {
	c := list[0]
	from := 0
	if c.Ends[0].Addr != w.from {
		from = 1
	}
	silent := int64(0)
	for _, d := range list {
		silent += d.Closed.At - max(d.Ends[0].Last, d.Ends[1].Last)
	}
	i := t.between(Unanswered, c, from)
	last := list[len(list)-1]
	i.Certainty, i.Connections, i.Begin, i.End, i.Lost = Possible, len(list), max(c.Ends[0].Last, c.Ends[1].Last), last.Closed.At, time.Duration(silent)
	i.show(c.Closed.Frame, last.Closed.Frame)
	sender, receiver := w.from.String(), w.to.String()
	i.What = fmt.Sprintf("%s disconnected %s %s, each time after nothing had come of the connection for %s on average, and connected once more at once: requests of larger packets may not come to the tap.", sender, receiver, times(uint64(len(list))), span(silent/int64(len(list))))
	i.fact("size", t.allSmall(c, from))
	i.fact("DREQ", fmt.Sprintf("the first in frame %d, the last in frame %d", c.Closed.Frame, last.Closed.Frame))
	i.FitsWith = []string{vanishBefore(sender) + ", until the retries are used up", "a program on " + sender + " that is idle for that long, and connects for its next requests: nothing is lost then"}
	i.Next = []string{
		"the log of the program on " + sender + ": whether its requests completed in error (transport retry counter exceeded) before it disconnected",
		checkMTU(c.Encap, &largeWrite, c.PMTU, sender, receiver),
	}
	t.tell(i, "reconnects")
}
