package report

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
)

// besideRounds is what goes on besides connections on which hosts send in rounds, while all wait for one of them there.
type besideRounds struct {
	hosts  []packet.Addr // that go in rounds
	rounds int           // connections on which they do
	others int           // connections of these hosts on which messages were sent meanwhile
	own    int           // of them, those on which the late host sent some, or answered READs
}

func (t *text) besideRounds(hosts []packet.Addr, list []timing.Link, l *timing.Last) (b besideRounds) {
	group := timing.Groups(len(hosts), list)
	for h := range hosts {
		if group[h] == group[l.Host] {
			b.hosts = append(b.hosts, hosts[h])
		}
	}
	for i := range list {
		if group[list[i].Hosts[0]] == group[l.Host] {
			b.rounds++
		}
	}
	_, _, of := t.exchanged()
	meanwhile := func(s timing.Sent) bool {
		return slices.ContainsFunc(l.Times, func(x timing.LateStart) bool { return s.Begin > x.At-int64(l.Least) && s.End < x.At })
	}
	for _, c := range t.measured() {
		if slices.Contains(of, c) {
			continue
		}
		sent, own := false, false
		for k := range c.Ends {
			e := &c.Timing.Ends[k]
			asks := slices.ContainsFunc(e.Asks, meanwhile)
			if !asks && !slices.ContainsFunc(e.Sent, meanwhile) || !slices.Contains(b.hosts, c.Ends[k].Addr) {
				continue
			}
			sent = true
			own = own || c.Ends[k].Addr == hosts[l.Host] || asks && c.Ends[1-k].Addr == hosts[l.Host]
		}
		if sent {
			b.others++
		}
		if own {
			b.own++
		}
	}
	return b
}

// where says on which connections no host sent, where some did on others.
func (b *besideRounds) where() string {
	if b.others == 0 {
		return ""
	}
	return fmt.Sprintf(" on the %s of these rounds", count(b.rounds, "connection"))
}

// said says on how many others messages went on, and what that shows of the host that is late.
func (b *besideRounds) said(late packet.Addr) string {
	if b.others == 0 {
		return ""
	}
	s := fmt.Sprintf(" Meanwhile messages went on on %s of these hosts", count(b.others, "other connection"))
	switch {
	case b.own == 0:
		return s + "."
	case b.own == b.others && b.own == 1:
		return s + fmt.Sprintf(", which is one of %v: its host and adapter are up.", late)
	case b.own == b.others:
		return s + fmt.Sprintf(", all of %v: its host and adapter are up.", late)
	default:
		return s + fmt.Sprintf(", %d of them of %v: its host and adapter are up.", b.own, late)
	}
}

// inRounds reports whether both ends of a connection are of hosts that go in rounds, which wait for one of them most of the time: that says why they
// send late.
func (t *text) inRounds(c *agent.Connection) bool {
	return slices.Contains(t.rounded, c.Ends[0].Addr) && slices.Contains(t.rounded, c.Ends[1].Addr)
}
