package incident

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/upper"
)

// bootTakes is for how long a host is silent at least that started again.
const bootTakes = int64(5 * time.Second)

// unservedWhenBack has it fit first that the peer of an incident started again, where it was silent for long, had not disconnected, and
// refused when it was back what it had served.
func (t *teller) unservedWhenBack(i *Incident, d *hostSilence) {
	peer := i.Peer.Addr
	if i.Kind != Unanswered || d.to == 0 || d.length() < bootTakes || !t.closedNone(peer, d) {
		return
	}
	f, service := t.refusedServed(peer, d)
	if f == nil {
		return
	}
	next := t.nextAfter(peer, d, nil)
	if next != nil && next.First < f.Time {
		return
	}
	announced := ""
	if d.announced {
		announced = fmt.Sprintf("came back with an ARP announcement (frame %d), and ", d.after)
	}
	i.FitsWith = slices.DeleteFunc(i.FitsWith, func(s string) bool {
		return s == restarts || strings.HasPrefix(s, wentDown(peer)) || s == pathFails
	})
	i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("most likely %s: it %srefused in frame %d what it had served, %s (reason 8), "+
		"which a link or path that fails does not cause", startedAgain(peer), announced, f.Frame, service))
	i.FitsWith = append(i.FitsWith, "less likely a link or path that failed, and a program that ended meanwhile")
	look := fmt.Sprintf("the uptime of %v", peer)
	if next == nil {
		look += fmt.Sprintf(", and its program that listens on %s: start it", service)
	}
	i.Next = append([]string{look, whyStopped(peer)}, i.Next...)
}

// refusedServed returns the first REJ of a host that was down for a service that no program listens for, but had before for the same host, as a
// connection that was lost shows; nil: there is none.
func (t *teller) refusedServed(a packet.Addr, d *hostSilence) (first *rule.Finding, service string) {
	lost := t.lostIn(a, d)
	of, order := t.unserviced()
	for _, l := range order {
		var port uint16
		if _, err := fmt.Sscanf(l.service, "TCP port %d", &port); err != nil || l.host != a || l.service == smbIWARP {
			continue
		}
		p := upper.ByPort(port)
		for _, f := range of[l] {
			served := func(c *agent.Connection) bool {
				far, _ := farEnd(c, a)
				return p != nil && far == f.Peer.Addr && c.Upper != nil && c.Upper.Answers > 0 && c.Upper.Protocol == p.Name()
			}
			if f.Time >= d.to && (first == nil || f.Time < first.Time) && slices.ContainsFunc(lost, served) {
				first, service = f, l.service
			}
		}
	}
	return first, service
}
