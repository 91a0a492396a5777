package incident

import (
	"fmt"
	"strings"

	"ibwitness/agent"
	"ibwitness/packet"
)

// sentNone tells that the peer of command o of c had sent no answer to it up to its newest answer to another, where that came in the latter
// half of the wait, and reports whether that is so: what the peer sends is in sequence, and none of it was missing at the client.
func (t *teller) sentNone(i *Incident, c *agent.Connection, o *agent.Operation, end int64) bool {
	u, by, client := c.Upper, &c.Ends[1-o.From], &c.Ends[o.From]
	if c.Service != packet.RC || o.Later == 0 || u.Newest <= o.Frame || len(u.Recent) == 0 || o.Tap != c.FirstTap {
		return false
	}
	last := u.Recent[len(u.Recent)-1]
	if 2*(last-o.Since) < end-o.Since || client.SequenceNAKs > 0 || by.Retransmissions > 0 || by.Trouble != nil || by.Open > 0 {
		return false
	}
	told := t.allSmall(c, 1-o.From) != ""
	for k, fit := range i.FitsWith {
		if strings.HasPrefix(fit, "a server that has lost ") {
			i.FitsWith[k], told = "a server whose program has lost this command", true
		}
	}
	if told { // else nothing is ruled out by that
		i.fact("answer", fmt.Sprintf("not sent before frame %d%s: what %v sent up to there on this connection is in sequence, "+
			"was acknowledged, and holds none",
			u.Newest, t.within(", %s after the command", last-o.Since), i.Peer.Addr))
		i.show(u.Newest)
	}
	return true
}
