package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/qp"
)

// nextRNRRetry says what CM tells of the RNR retry count on the next connection of the hosts of c, where that is the one that end from of c seems to
// have had; "": it does not.
func (t *teller) nextRNRRetry(c *agent.Connection, from int, retries uint8, after int64) string {
	d := t.nextOf(c, after)
	if !t.timed() || d == nil || d.PairedBy != agent.ByCM {
		return ""
	}
	local := c.Ends[from].Addr
	for e := range d.Ends {
		own, peer := &d.Ends[e], &d.Ends[1-e]
		if own.Addr != local {
			continue
		}
		gave, said := [...]string{"REP", "REQ"}[e], [...]string{"REQ", "REP"}[e] // its peer's message, and its own
		switch {
		case own.Knows(qp.KnowsRNRRetry) && own.RNRRetry == retries:
			return fmt.Sprintf(", which the %s of the next connection gives %v", gave, local)
		case peer.Knows(qp.KnowsRNRRetry) && peer.RNRRetry == retries:
			return fmt.Sprintf(", which %v names in its %s of the next connection, there for %v", local, said, peer.Addr)
		}
	}
	return ""
}
