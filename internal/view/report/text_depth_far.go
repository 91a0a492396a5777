package report

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/timing"
)

const (
	steadyPart = 20                   // part of the time after which each READ follows, one in so many, by which nine of ten differ at most
	steadyMost = 5 * time.Millisecond // that this is at most: what waits for a timer of its program comes as regularly
)

// steadiness is within what times nearly all READs of an end follow the answer to the one before, as a tap at the responder sees them.
type steadiness struct{ least, most time.Duration }

// steadyAfter finds it where each follows after about as long, but is not sent at regular times, as by a timer: it is sent as soon as the answer has come
// to its requester then.
func steadyAfter(asks []timing.Sent, d *depth) *steadiness {
	if !d.apart || d.one == 0 || d.After > steadyMost || len(asks) < singleMessages {
		return nil
	}
	var after, loop []time.Duration
	for i := 1; i < len(asks) && asks[i-1].End != 0; i++ {
		after = append(after, time.Duration(asks[i].Begin-asks[i-1].End))
		loop = append(loop, time.Duration(asks[i].Begin-asks[i-1].Begin))
	}
	if len(after)+1 < singleMessages {
		return nil
	}
	s := steadiness{}
	s.least, s.most = mostOf(after)
	if least, most := mostOf(loop); steadyPart*(s.most-s.least) > d.After || most-least <= s.most-s.least {
		return nil
	}
	return &s
}

// mostOf is within what times nine of ten are.
func mostOf(list []time.Duration) (least, most time.Duration) {
	slices.Sort(list)
	return list[len(list)/steadyPart], list[len(list)-1-len(list)/steadyPart]
}

// said says what that shows.
func (s *steadiness) said(d *depth) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf(" Nine of ten follow within %s of one another, and not at regular times: it is the way from the tap to %v and back that takes so long, or the same work there each time, not %v, "+
		"which answers within %s (median).", span(max(s.most-s.least, time.Nanosecond)), d.end.Addr, d.peer.Addr, span(d.Took))
}
