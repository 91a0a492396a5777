package report

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/incident"
	"ibwitness/packet"
	"ibwitness/timing"
)

// lateOnce tells of a host for which others waited once: all of them sent one another nothing for long, and it went on first. "": there was none, or several went on by themselves, one is told to have been slow, or
// an incident of one of them was going on meanwhile.
func (t *text) lateOnce() string {
	if len(t.longTurns(longestTurn)) > 0 {
		return "" // that is told
	}
	var hosts hostNumbers
	var connections [][]timing.HostMessage
	for _, c := range t.measured() {
		if c.Service == packet.UD {
			continue
		}
		var list []timing.HostMessage
		for k := range c.Ends {
			for _, s := range c.Timing.Ends[k].Sent {
				list = append(list, timing.HostMessage{Sent: s, From: hosts.of(c.Ends[k].Addr), To: hosts.of(c.Ends[1-k].Addr)})
			}
		}
		connections = append(connections, list)
	}
	p, ok := timing.PauseOf(connections)
	if !ok {
		return ""
	}
	others := make([]packet.Addr, 0, len(p.Hosts))
	for _, h := range p.Hosts {
		others = append(others, hosts.list[h])
	}
	if t.troubled(append(others, hosts.list[p.By]), p.From, p.To) {
		return ""
	}
	return fmt.Sprintf("Waits: %v and %s (%s) sent one another nothing on %d connections for %s, from %s to %s, which are busy before and after that. Then %v went on first, and each of the others only when a message had come to it: its program was late (it computed, or was stopped), or had nothing to send.",
		hosts.list[p.By], count(len(others), "other host"), someHosts(others), p.On, span(time.Duration(p.To-p.From)), offset(p.From, t.res.First), offset(p.To, t.res.First), hosts.list[p.By])
}

// troubled reports whether an incident of one of some hosts was going on between two times.
func (t *text) troubled(hosts []packet.Addr, from, to int64) bool {
	if t.run == nil {
		return false
	}
	list := t.run.Incidents()
	return slices.ContainsFunc(list, func(i incident.Incident) bool {
		return i.Begin < to && i.End > from && (slices.Contains(hosts, i.Local.Addr) || slices.Contains(hosts, i.Peer.Addr))
	})
}
