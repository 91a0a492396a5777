package incident

import (
	"slices"
	"time"

	"ibwitness/link"
)

// pauseTold is a port that did not let go, and the incident that tells of it.
type pauseTold struct {
	*Incident
	*link.Paused
}

// letsGo reports whether a port let go: it did not send frame after frame for long, each before the pause was over.
func letsGo(p *link.Paused) bool {
	return (p.Frames-p.Resumed)/p.Begun < stormFrames || p.Longest < stormTime
}

// blamePauses has a pause come first in whose time others made no progress that it may have stopped, and says so in these.
func (t *teller) blamePauses() {
	if !t.timed() {
		return
	}
	for _, p := range t.storms {
		for _, i := range t.order {
			switch i.Kind {
			case Unanswered, NeverAnswered, Interrupted, Slow, Retransmitting, Loss:
			default:
				continue
			}
			if i.explained || !p.covers(i) {
				continue
			}
			p.foremost = true
			i.FitsWith = append([]string{"the pause of what is sent to " + addresses(p.Hosts) + ", see there: it waits meanwhile, and timers run out"}, i.FitsWith...)
		}
	}
}

// covers reports whether an incident is of a host that waited for the end of the pause, and most of it lies in the time of that, or shortly after: what had waited goes on then.
func (p *pauseTold) covers(i *Incident) bool {
	if !slices.Contains(p.Hosts, i.Local.Addr) && !slices.Contains(p.Hosts, i.Peer.Addr) {
		return false
	}
	if 2*p.Most < time.Duration(p.LastTime-p.Time) {
		return false // several pauses, between which traffic went on
	}
	from, to := p.Time, p.LastTime+aftermath
	return i.Begin <= to && i.End >= from && 10*(min(i.End, to)-max(i.Begin, from)) >= most*(i.End-i.Begin)
}
