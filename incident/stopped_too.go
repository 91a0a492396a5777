package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// From how many messages on, and for how many times the mean time between two of them, a connection has stopped that was busy.
const (
	busyMessages = 16
	stoppedTimes = 100
)

// stoppedToo says how many connections of other hosts that were busy carry nothing from about then on when a request was sent that is never answered, though none of theirs waits.
func (t *teller) stoppedToo(i *Incident, k *qp.Stall) {
	rest := t.run.Last - k.Since
	if !t.timed() || rest < patience || len(t.run.Connections) > mostOthers {
		return
	}
	n, hosts := 0, map[packet.Addr]bool{}
	for at := range t.run.Connections {
		c := &t.run.Connections[at]
		a, b := c.Ends[0].Addr, c.Ends[1].Addr
		if a == i.Peer.Addr && b == i.Local.Addr || b == i.Peer.Addr && a == i.Local.Addr || !stoppedAt(c, k.Since, t.run.Last) {
			continue
		}
		n++
		hosts[a], hosts[b] = true, true
	}
	if len(hosts) > 2 {
		i.fact("stopped", fmt.Sprintf("%s between %d hosts carry nothing either from about then on, and no request of them waits: as in a job of which each part waits for another", count(uint64(n), "busy connection"), len(hosts)))
	}
}

// stoppedAt reports whether a connection was busy until about a time, and has carried nothing since; until is when the capture ends.
func stoppedAt(c *agent.Connection, at, until int64) bool {
	messages, last := int64(c.Ends[0].Messages+c.Ends[1].Messages), max(c.Ends[0].Last, c.Ends[1].Last)
	if !c.Service.Reliable() || c.Closed.At != 0 || c.Ends[0].Open+c.Ends[1].Open > 0 || c.First >= at || messages < busyMessages {
		return false
	}
	return max(last-at, at-last)*tenth <= until-at && (last-c.First)/messages*stoppedTimes <= until-last
}
