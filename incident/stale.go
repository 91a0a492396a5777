package incident

import (
	"fmt"
	"time"

	"ibwitness/agent"
	"ibwitness/rule"
)

// lateStale is how a packet of the connection before is called where it may be why something else happened.
const lateStale = "packets of the connection before, which came on this one and were taken for new ones: see there"

// stale tells of packets of connections that are over, which came on those that the same queue pairs made after them.
func (t *teller) stale() {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		k := c.Stale
		if k == nil {
			continue
		}
		i := t.between(Reordered, c, k.From)
		i.Certainty = Likely // each is like one of before in all that counts
		i.Begin, i.End, i.Tap = k.First, k.Last, k.Tap
		i.show(k.Original, k.Frame, k.Newest)
		i.What = fmt.Sprintf("%s that %v had sent to %v on the connection before came late%s: the same queue pairs were connected again meanwhile.",
			count(k.Packets, "packet"), &i.Local, &i.Peer, t.within(", %s after that was over", k.First-k.Closed))
		i.fact("first", fmt.Sprintf("frame %d is frame %d once more, with the same PSN, headers and payload", k.Frame, k.Original))
		if k.Taken > 0 {
			i.fact("taken", fmt.Sprintf("%s had the PSN that %v expected next: it takes them for new packets, writes data of the connection before, and takes the new packets with these PSNs for duplicates", number(k.Taken), &i.Peer))
		} else {
			i.fact("taken", "none had the PSN that "+i.Peer.String()+" expected next: it takes them for duplicates, or drops them")
		}
		if t.timed() {
			i.fact("reused", fmt.Sprintf("the queue pairs were connected again %s after they were disconnected%s", span(k.Begun-k.Closed), t.timeWait(k)))
		}
		i.FitsWith = []string{"a path that held packets back for that long: a queue that was paused, a route that changed"}
		i.Next = []string{"how long " + i.Local.Addr.String() + " and " + i.Peer.Addr.String() + " keep a queue pair in TimeWait before its QPN is used once more", "starting PSNs that are far from the last ones of the connection before"}
		t.tell(i, "stale")
	}
}

// timeWait says that queue pairs were connected again sooner than CM allows, where that was found.
func (t *teller) timeWait(k *agent.Stale) string {
	for n := range t.run.Findings {
		if f := &t.run.Findings[n]; f.Rule == rule.CMSM012 && f.Time >= k.Closed && f.Time <= k.Begun+int64(time.Millisecond) {
			return ", sooner than their TimeWait is over (CM-SM-012): that is what TimeWait is for"
		}
	}
	return ""
}
