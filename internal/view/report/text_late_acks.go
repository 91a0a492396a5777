package report

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
)

// lateAcks tells of a host whose ACKs come late on all connections, while those of every other come soon. "": there is none, or what kept its answers from coming is told.
func (t *text) lateAcks() string {
	var hosts hostNumbers
	list := t.asked(&hosts)
	l, ok := timing.LateAcksOf(len(hosts.list), list)
	if !ok || t.inTrouble(hosts.list[l.Host]) {
		return ""
	}
	by := make([]packet.Addr, 0, len(l.By))
	for _, h := range l.By {
		by = append(by, hosts.list[h])
	}
	all := fmt.Sprintf("all %s that ask it", count(len(by), "host"))
	when, before, or := "", "", ", unless it is far away, or the others send to it all at once"
	if l.Since != 0 {
		when, before, or = " from "+offset(l.Since, t.res.First)+" on", fmt.Sprintf(" (before, %s)", span(l.Before)), ""
	}
	return fmt.Sprintf("Late ACKs:%s %v acknowledges the SENDs and WRITEs of %s (%s) usually %s after their last packet%s, and every other host within %s in the median: its receive direction, its adapter or host, or the switch port to it, is slow%s. Next: on %v: link speed, PCIe width and pause counters.",
		when, hosts.list[l.Host], all, someHosts(by), span(l.Usual), before, span(l.Others), or, hosts.list[l.Host])
}

// asked lists how long SENDs and WRITEs of hosts waited for their ACKs.
func (t *text) asked(hosts *hostNumbers) (list []timing.Asked) {
	for _, c := range t.measured() {
		if c.Service != packet.RC {
			continue
		}
		for k := range c.Ends {
			if w := &c.Timing.Ends[k].Acks; len(w.List) > 0 {
				list = append(list, timing.Asked{From: hosts.of(c.Ends[k].Addr), To: hosts.of(c.Ends[1-k].Addr), AckWaits: w})
			}
		}
	}
	return list
}

// slowHosts tells of the hosts that answer late or send slowly.
func (t *text) slowHosts() []string {
	return slices.DeleteFunc([]string{t.lateAcks(), t.slowSender()}, func(s string) bool { return s == "" })
}

// inTrouble reports whether something kept requests on a connection of a host from being answered, or slowed it down: incidents tell of that.
func (t *text) inTrouble(host packet.Addr) bool {
	return slices.ContainsFunc(t.res.Connections, func(c agent.Connection) bool {
		return (c.Ends[0].Addr == host || c.Ends[1].Addr == host) && (c.Ends[0].Trouble != nil || c.Ends[1].Trouble != nil)
	})
}
