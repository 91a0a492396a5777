package report

import (
	"fmt"
	"time"

	"ibwitness/packet"
	"ibwitness/timing"
)

// lastOfRounds tells of a host that begins late in many rounds: all others have sent something by then, and have nothing left to send. "": there is none.
func (t *text) lastOfRounds(hosts []packet.Addr, list []timing.Link) string {
	l, ok := timing.LastOf(len(hosts), list)
	if !ok {
		return ""
	}
	by := hosts[l.Host]
	since, then := "", ""
	if l.Since {
		then = " since then"
		since = fmt.Sprintf(", first at %s: before, it began with the others", offset(l.From, t.res.First))
	}
	how := fromTo(l.Least, l.Most)
	until := ""
	if 4*(t.res.Last-l.To) > t.res.Last-t.res.First {
		until = fmt.Sprintf(" up to %s", offset(l.To, t.res.First))
	}
	share := fmt.Sprintf("In %d of %s", l.Count, count(uint64(l.Rounds), "round"))
	if l.Count == l.Rounds {
		share = "In each of " + count(uint64(l.Rounds), "round")
	}
	opened := ""
	if o := &l.Opened; o.Count > 0 {
		opened = fmt.Sprintf(" It was first to send after the %d longest pauses between rounds%s, too (%s): whether others waited for it in these the capture does not tell.", o.Count, then, fromTo(o.Least, o.Most))
	}
	return fmt.Sprintf("Waits: all wait for %v. %s%s the %s had sent something, and then no host sent a message for %s (%s in all, %s of the time) until %v did%s. Its adapter usually acknowledges within %s, so its program or host is late (it computes, loads data, or is slowed down): look there.%s",
		by, share, until, count(l.Others, "other host"), how, span(l.Sum), inPercent(float64(l.Sum)/float64(max(l.Of, 1))), by, since, span(t.acknowledgedBy(by)), opened)
}

// fromTo says between what times some are, or, where they look the same, that.
func fromTo(least, most time.Duration) string {
	if a, b := span(least), span(most); a != b {
		return a + " to " + b
	}
	return span(least)
}
