package report

import (
	"fmt"

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
	since := ""
	if l.Since {
		since = fmt.Sprintf(", first at %s: before, it began with the others", offset(l.From, t.res.First))
	}
	how := span(l.Least)
	if most := span(l.Most); most != how {
		how += " to " + most
	}
	return fmt.Sprintf("Waits: all wait for %v. In %d of %s the %s had sent something, and then no host sent a message for %s (%s in all) until %v did%s. Its adapter usually acknowledges within %s, so its program or host is late (it computes, loads data, or is slowed down): look there.",
		by, l.Count, count(uint64(l.Rounds), "round"), count(l.Others, "other host"), how, span(l.Sum), by, since, span(t.acknowledgedBy(by)))
}
