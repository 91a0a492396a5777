package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
)

// attemptsTold is of how many more attempts it is told in which frame they began.
const attemptsTold = 3

// sameQPN says what fits where the next connections, which are never answered either, go to the same QPN.
func (i *Incident) sameQPN() {
	i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("a requester that still uses QPNs of %v which are gone: its process was restarted, and has others", i.Peer.Addr))
	i.Next = slices.Insert(i.Next, 0, fmt.Sprintf("when the process on %v was started, and whether that on %v has its new QPNs", i.Peer.Addr, i.Local.Addr))
}

// moreAttempts are the frames with which connections to the same QPN began after one, up to one that was answered.
func (t *teller) moreAttempts(i *Incident, c *agent.Connection) (began []uint64) {
	for next := t.nextOf(c, c.First); next != nil; next = t.nextOf(next, next.First) {
		switch e := endOf(next, i.Peer.Addr); {
		case e == nil || !e.QPNKnown || e.QPN != i.Peer.QPN:
		case !neverAnswered(next):
			return began
		default:
			began = append(began, next.FirstFrame)
		}
	}
	return began
}

// inFrames names the first of some frames.
func inFrames(list []uint64) string {
	names := make([]string, len(list))
	for k, f := range list {
		names[k] = fmt.Sprint(f)
	}
	return firstOf(names, attemptsTold)
}
