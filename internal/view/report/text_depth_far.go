package report

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/timing"
)

const (
	steadyReads = timing.MostAsks      // that tell it: as many as are kept
	steadyPart  = 20                   // part of the time after which each follows, one in so many, by which nine of ten differ at most
	steadyMost  = 5 * time.Millisecond // that this is at most: what waits for a timer of its program comes as regularly
)

// steadiness is by how much the times differ at most after which nine of ten READs of an end follow the answer to the one before, as a tap at the
// responder sees them.
type steadiness time.Duration

// steadyAfter finds it where each follows after about as long, but is not sent at regular times, as by a timer: it is sent as soon as the answer has come
// to its requester then.
func steadyAfter(asks []timing.Sent, d *depth) *steadiness {
	if !d.apart || d.one == 0 || d.After > steadyMost || len(asks) < steadyReads {
		return nil
	}
	var after, loop []time.Duration
	for i := 1; i < len(asks) && asks[i-1].End != 0; i++ {
		after = append(after, time.Duration(asks[i].Begin-asks[i-1].End))
		loop = append(loop, time.Duration(asks[i].Begin-asks[i-1].Begin))
	}
	s := steadiness(differ(after))
	if steadyPart*time.Duration(s) > d.After || differ(loop) <= time.Duration(s) {
		return nil
	}
	return &s
}

// differOut is how many times are left out at each end, one in so many.
const differOut = 20

// differ is by how much nine of ten times differ at most.
func differ(list []time.Duration) time.Duration {
	slices.Sort(list)
	out := len(list) / differOut
	return list[len(list)-1-out] - list[out]
}

// said says what that shows.
func (s *steadiness) said(d *depth) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf(" Nine of ten follow within %s of one another, and not at regular times: it is the way from the tap to %v and back that takes so long, or the same work there each time, not %v, "+
		"which answers within %s (median).", span(max(time.Duration(*s), time.Nanosecond)), d.end.Addr, d.peer.Addr, span(d.Took))
}
