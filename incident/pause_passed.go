package incident

import (
	"fmt"
	"net"
	"strings"
	"time"

	"ibwitness/link"
)

// passedWithin is within which time of a pause at one port another has to begin at least where a switch passes it on.
const passedWithin = int64(5 * time.Millisecond)

// alikeShare is by which part of its time, one in so many, the pause of another port may differ that was passed on.
const alikeShare = 20

// passesOn reports whether the pauses of port q are those of p which a switch has passed on: as many, as long, each of them a little later, from a port that no host is known to have.
func passesOn(p, q *link.Paused) bool {
	most, alike := p.Most, p.Most-q.Most
	return p.Tap == q.Tap && p.All == q.All && p.Priority == q.Priority && p.From != q.From && p.Begun == q.Begun && len(q.Hosts) == 0 &&
		q.Time > p.Time && q.Time-p.Time <= passedWithin && max(q.LastTime-p.LastTime, p.LastTime-q.LastTime) <= max(int64(most)/alikeShare, passedWithin) && max(alike, -alike) <= most/alikeShare
}

// pausedBy returns which port the pauses of port q were passed on from, over others or not; nil: they were not.
func (t *teller) pausedBy(q *link.Paused) (first *link.Paused) {
	for k := range t.run.Paused {
		if p := &t.run.Paused[k]; p.Begun > 0 && passesOn(p, q) && (first == nil || p.Time < first.Time) {
			first = p
		}
	}
	if first != nil {
		if before := t.pausedBy(first); before != nil {
			return before
		}
	}
	return first
}

// passesOn tells which ports passed the pauses of port p on.
func (t *teller) passesOn(i *Incident, p *link.Paused) {
	var list []string
	for k := range t.run.Paused {
		if q := &t.run.Paused[k]; q.Begun > 0 && t.pausedBy(q) == p {
			list = append(list, fmt.Sprintf("%v%s", net.HardwareAddr(q.From[:]), t.within(" began %s later", q.Time-p.Time)))
			i.show(q.Frame)
		}
	}
	if len(list) == 0 {
		return
	}
	i.fact("passed on", fmt.Sprintf("to the senders, as often and as long, by the port with Ethernet address %s: no host is known to have it, so that it is likely a switch which cannot send to %v", strings.Join(list, ", "), net.HardwareAddr(p.From[:])))
}
