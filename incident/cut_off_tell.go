package incident

import (
	"fmt"
	"time"

	"ibwitness/packet"
)

// tellAway begins an incident of a host that was cut off, or restarted, in some silences.
func (t *teller) tellAway(a packet.Addr, list []cutOff) *Incident {
	i := &Incident{Kind: Interrupted, Certainty: Likely, Peer: Party{Addr: a}, Begin: list[0].from, Tap: t.run.Connections[0].FirstTap, listed: true}
	away := cutHost{host: a}
	for n := range list {
		k := &list[n]
		i.End, i.Lost = max(i.End, k.to), i.Lost+time.Duration(k.length())
		i.show(k.before, k.after, k.nak)
		away.in = append(away.in, k.hostSilence)
	}
	i.Local.Addr = t.peerIn(a, &away.in[0])
	t.away = append(t.away, away)
	t.order, t.keys = append(t.order, i), append(t.keys, group{kind: Interrupted, local: i.Local.Addr, peer: a, what: "cut off"})
	return i
}

// tellCutOff tells of silences in which a host was cut off while others went on.
func (t *teller) tellCutOff(a packet.Addr, list []cutOff, went []packet.Addr) {
	i := t.tellAway(a, list)
	said, shown, ended := make([]string, len(list)), 0, ""
	for n := range list {
		k := &list[n]
		said[n] = fmt.Sprintf("%s from %s on", span(k.length()), t.offset(k.from))
		i.Connections = max(i.Connections, k.on, len(k.lost))
		if k.nak != 0 && k.on >= askedOn {
			shown++
			continue
		}
		if k.weak {
			continue
		}
		said[n] = "up to " + said[n] + ", in which it lost its connections"
		closed := &k.lost[0].Closed
		ended = fmt.Sprintf("%s that had been busy: they fell silent at %s for good, and %v disconnected the first in frame %d, at %s; "+
			"the next connection began in frame %d, at %s: %s after the last packet",
			count(uint64(len(k.lost)), "connection"), t.offset(k.from), closed.By, closed.Frame, t.offset(closed.At), k.again.FirstFrame,
			t.offset(k.again.First), span(k.again.First-k.from))
		i.Lost += time.Duration(max(k.again.First-k.to, 0))
		i.End = max(i.End, k.again.First)
	}
	i.What = fmt.Sprintf("%v was cut off %s, while %s went on: %s.", a, times(uint64(len(list))), someOf(went), enumerateSeparately(said))
	after := "after that"
	if len(list) > 1 {
		after = "after each of these times"
		if shown < len(list) {
			after = "after " + ofThese(shown)
		}
	}
	i.fact("lost", fmt.Sprintf("%s two queue pairs or more of %v went on with later PSNs, and PSN sequence NAKs asked at once for those before: "+
		"what it had sent came neither to the tap nor to its peer%s", after, a, likewiseLost(list)))
	t.backWith(i, a, list)
	i.fact("ended", ended)
	i.fact("tap", "the capture holds packets of the others all that time: it is not the tap that stopped")
	i.FitsWith = linksOf(a)
	if len(list) > 1 {
		i.FitsWith[0] = fmt.Sprintf("the link of %v, its cable or optics, its adapter or its switch port, that fails and comes back again and again", a)
	}
	i.Next = []string{linkEventsOf(a, "these times")}
	t.byRouter(i, a, list, went)
	if ended != "" {
		timers := fmt.Sprintf("the timeout and retry_cnt of %v, and its reconnect delay: how long it is to outlast, and how soon to be back", a)
		i.Next = append(i.Next, timers)
	}
}

// linksOf are what fits a host that was cut off, and not down.
func linksOf(a packet.Addr) []string {
	return []string{
		fmt.Sprintf("the link of %v, its cable or optics, its adapter or its switch port, that was down for that long", a),
		fmt.Sprintf("a switch or link between %v and the tap, that the others do not pass", a),
	}
}

// linkEventsOf is what to look at of one.
func linkEventsOf(a packet.Addr, when string) string {
	return fmt.Sprintf("link events of %v and of its switch port at %s (dmesg, the log of the switch), and what they count: "+
		"link_downed, symbol and FEC errors", a, when)
}

// ofThese says how many of several times.
func ofThese(n int) string {
	if n == 1 {
		return "one of these times"
	}
	return number(uint64(n)) + " of these times"
}

// enumerateSeparately lists what may hold commas.
func enumerateSeparately(list []string) (s string) {
	for n, k := range list {
		switch {
		case n > 0 && n == len(list)-1:
			s += "; and "
		case n > 0:
			s += "; "
		}
		s += k
	}
	return s
}

// peerIn is with which host one had connections that it was cut off from: the first.
func (t *teller) peerIn(a packet.Addr, k *hostSilence) packet.Addr {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if far, ok := farEnd(c, a); ok && far != a && c.First < k.from && max(c.Ends[0].Last, c.Ends[1].Last) >= k.from-cutOffTimes*usualPause(c) {
			return far
		}
	}
	return a
}
