package incident

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/agent"
	"ibwitness/packet"
)

// wereDown has the incidents in which hosts lost another, or waited for it, be one where it was down, or cut off: with all times in which it was,
// and with what came after, until it served them again.
func (t *teller) wereDown(list []Incident) []Incident {
	merged, done, seen := map[*Incident]bool{}, map[packet.Addr]bool{}, map[packet.Addr]bool{}
	for n := range list {
		if i := &list[n]; i.lostPeer() && !merged[i] && !done[i.Peer.Addr] {
			if done[i.Peer.Addr] = t.wasDown(i, list, merged); !done[i.Peer.Addr] && !seen[i.Peer.Addr] {
				t.silentBefore(i)
			}
			seen[i.Peer.Addr] = true
		}
	}
	return without(list, merged)
}

// lostPeer reports whether an incident is of a peer that sent nothing, for a time or any more.
func (i *Incident) lostPeer() bool {
	return i.Certainty == Proven && i.common.IsZero() && (i.Kind == Unanswered && i.gone == goneQuiet && !i.disconnected || i.Kind == Interrupted && i.gone == goneFor && i.within == 0)
}

// waitedOnce reports whether an incident is of a connection that waited for one request, which may have been lost by chance.
func (i *Incident) waitedOnce() bool {
	return i.Kind == Interrupted && i.Certainty == Proven && i.common.IsZero()
}

// in reports whether an incident, or one that is told with it, fell into a time in which its peer was down.
func (i *Incident) in(d *hostSilence) bool {
	if i.Kind == Unanswered {
		return i.beganIn(d, i.Begin) || slices.ContainsFunc(i.lostAt, func(at int64) bool { return i.beganIn(d, at) })
	}
	return i.Begin >= d.from-interruption && i.Begin < d.to && i.End >= d.to
}

// beganIn reports whether an incident that began at a time fell into one in which its peer was down.
func (i *Incident) beganIn(d *hostSilence, at int64) bool {
	return at >= d.from-interruption && (at < d.to || d.to == 0)
}

// wasDown tells of the times in which the peer of an incident was down, where it was, with incident i, and has it tell of those of a list that
// fell into them. It reports whether there are such times.
func (t *teller) wasDown(i *Incident, list []Incident, merged map[*Incident]bool) bool {
	downs, of, own := t.downsIn(i, list)
	if own < 0 {
		return false
	}
	d := &downs[own]
	once := i.Kind == Unanswered && !i.outlasted && d.to != 0
	again, _ := t.countsOn(i.Peer.Addr, d)
	survived := slices.ContainsFunc(downs, func(d hostSilence) bool { return d.survived })
	switch {
	case once && (again != "" || len(downs) == 1 || !survived):
		t.wasGone(i, d)
	case len(downs) > 1 && survived:
		for _, o := range of {
			merged[o] = true
			i.joinDown(o)
		}
		t.flaps(i, downs, own)
		i.wentOnAfter(downs, list, merged)
		t.lossesTold(i, downs, list, merged)
	default:
		if i.outlasted {
			t.silentSince(i, downs)
			t.askedWhileDown(i, downs, list, merged)
		}
		return true
	}
	t.lostWhileDown(i, downs)
	if again != "" {
		t.restartedBeside(i)
	}
	t.askedWhileDown(i, downs, list, merged)
	t.silentSince(i, downs)
	for n := range list {
		list[n].lostInDown(i.Peer.Addr, downs)
	}
	if i.Kind == Unanswered && d.to != 0 {
		t.servesAgain(i, d, list, merged)
		t.beforeRestart(i, d, list, merged)
	}
	return true
}

// downsIn returns the times in which the peer of an incident was down into which incidents of a list fell, the others of these, and the number of
// the time of incident i; -1: it fell into none.
func (t *teller) downsIn(i *Incident, list []Incident) (downs []hostSilence, of []*Incident, own int) {
	own = -1
	for _, d := range t.downs(i.Peer.Addr) {
		told := false
		for n := range list {
			o := &list[n]
			switch {
			case !o.lostPeer() && !(d.lone && o.waitedOnce()) || o.Peer.Addr != i.Peer.Addr || !o.in(&d):
				continue
			case o != i && !slices.Contains(of, o):
				of = append(of, o)
			case o == i && (own < 0 || i.Kind == Unanswered && i.beganIn(&d, i.own)):
				own = len(downs)
			}
			told = true
		}
		if told || d.lone {
			downs = append(downs, d)
		}
	}
	return downs, of, own
}

// joinDown has an incident tell of another in which hosts lost the same peer, or waited for it.
func (i *Incident) joinDown(o *Incident) {
	for _, a := range append([]packet.Addr{o.Local.Addr}, o.Also...) {
		if a != i.Local.Addr && !slices.Contains(i.Also, a) {
			i.Also = append(i.Also, a)
		}
	}
	if o.Tap == i.Tap {
		i.show(o.Frames...)
	}
	i.foundToo(o.Found)
	i.Connections = max(i.Connections, o.Connections)
	i.Begin, i.End, i.Ongoing = min(i.Begin, o.Begin), max(i.End, o.End), i.Ongoing || o.Ongoing
}

// lostInDown has losses of a host while it was down, or when it was back, fit that.
func (i *Incident) lostInDown(a packet.Addr, downs []hostSilence) {
	if i.Kind != Loss && i.Kind != Retransmitting || i.Peer.Addr != a && i.Local.Addr != a {
		return
	}
	in := func(d hostSilence) bool { return i.End >= d.owed && (i.Begin <= d.to+aftermath || d.to == 0) }
	if slices.ContainsFunc(downs, in) {
		fits := fmt.Sprintf("that %v was down or cut off, see there: what was sent to it then, or on its way, is retransmitted", a)
		i.FitsWith = slices.Insert(i.FitsWith, 0, fits)
	}
}

// flaps tells that the peer of an incident was down several times, one of which, by its number in the list, is that of the incident.
func (t *teller) flaps(i *Incident, downs []hostSilence, own int) {
	peer := i.Peer.Addr
	said, went := make([]string, len(downs)), downs[own].went
	for n := range downs {
		d := &downs[n]
		said[n] = t.timeOf(d)
		if len(t.run.Taps) == 1 {
			i.show(d.before, d.after)
		}
	}
	i.Begin = min(i.Begin, downs[0].owed)
	i.What = fmt.Sprintf("%v was down or cut off %s, while %s went on: %s. The %s time: %s", peer, times(uint64(len(downs))), someOf(went), enumerate(said), ordinal(own+1), i.What)
	if len(t.run.Taps) == 1 {
		i.fact("times", fmt.Sprintf("they count from the first request that waited; between its packets: %s", t.bounds(downs)))
	}
	i.fact("pings", t.pingsLost(peer, downs))
	i.fact("ARP", t.asksWhenBack(i, peer, downs))
	i.fact("before", fmt.Sprintf("queue pairs of %v went on after it was silent: it had not restarted then", peer))
	i.notGone()
	i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("a link of %v or on the way to it, or its switch port, that fails and comes back again and again", peer))
	i.Next = slices.Insert(i.Next, 0, fmt.Sprintf("link events of %v and of the switch ports on the way to it at these times, and the errors that they count", peer))
}

// pingsLost says how many pings to a host got no answer in the times in which it was down, where it answered others.
func (t *teller) pingsLost(a packet.Addr, downs []hostSilence) string {
	k := slices.IndexFunc(t.run.Echoes, func(e agent.Echo) bool { return e.Addr == a })
	if k < 0 || len(t.run.Taps) > 1 {
		return ""
	}
	lost := uint64(0)
	for n := range t.run.Pings {
		p := &t.run.Pings[n]
		if p.To == a && slices.ContainsFunc(downs, func(d hostSilence) bool { return p.At > d.from && d.to != 0 && p.At < d.to }) {
			lost++
		}
	}
	if lost == 0 {
		return ""
	}
	return fmt.Sprintf("%s to it in these times got no answer then, and it answered %s at others", count(lost, "ping"), number(t.run.Echoes[k].Replies))
}

// notGone takes back what fits of a host that is gone for good, or restarted.
func (i *Incident) notGone() {
	stopped := thatStopped(i.Peer.Addr)
	i.FitsWith = slices.DeleteFunc(i.FitsWith, func(f string) bool {
		return f == restarts || f == wentDown(i.Peer.Addr) || f == linkFailed || f == hostStopped || strings.HasPrefix(f, stopped)
	})
	i.FitsWith = append(i.FitsWith, "the adapter or all of "+i.Peer.Addr.String()+", that stops again and again for that long")
}

// ordinal writes a number as "1st", "2nd".
func ordinal(n int) string {
	if n > 3 {
		return fmt.Sprintf("%dth", n)
	}
	return [...]string{"", "1st", "2nd", "3rd"}[n]
}

// wasGone tells that the peer of an incident was down once, and whether it shows to have restarted.
func (t *teller) wasGone(i *Incident, d *hostSilence) {
	peer, restarted := i.Peer.Addr, ", and was back"
	again, on := t.countsOn(peer, d)
	if again != "" {
		restarted = ", and had likely restarted when it was back"
		i.fact("restart", again)
		i.notGone()
		i.FitsWith = slices.DeleteFunc(i.FitsWith, func(f string) bool { return f == pathFails })
		i.FitsWith[len(i.FitsWith)-1] = startedAgain(peer)
		i.Next = slices.DeleteFunc(i.Next, func(s string) bool {
			return s == linkOf(peer.String()) || strings.HasPrefix(s, captureAt(peer.String()))
		})
		i.Next = slices.Insert(i.Next, 0, whyStopped(peer))
	} else if on != "" {
		i.fact("restart", on)
		i.FitsWith = slices.DeleteFunc(i.FitsWith, func(f string) bool { return f == restarts || f == wentDown(peer) })
		i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("a link of %v or its switch port, that was down for that long, or the host itself, that stopped", peer))
	} else {
		t.unservedWhenBack(i, d)
	}
	lasted := span(d.to - d.from)
	if least := d.atLeast(); again == "" && least > 0 {
		lasted = fmt.Sprintf("%s to %s", span(least), lasted)
	}
	i.What = fmt.Sprintf("%v was down or cut off for %s, from %s on%s, at %s%s, while %s went on. %s",
		peer, lasted, t.offset(d.from), restarted, t.offset(d.to), nothingOf, someOf(d.went), capitalized(i.What))
	if again != "" && t.closedNone(peer, d) {
		i.fact("DREQ", fmt.Sprintf("%v sent none before: it did not close its connections", peer))
	}
	if len(t.run.Taps) == 1 {
		i.show(d.before, d.after)
	}
}

// nothingOf is what shows that a host was down, in the sentence that says since when.
const nothingOf = ": the capture holds no RDMA packet, ARP or LLDP of it meanwhile"

// closedNone reports whether a host that was down had asked to close none of the connections that it lost then, as one that is shut down in order may.
func (t *teller) closedNone(a packet.Addr, d *hostSilence) bool {
	list := t.lostIn(a, d)
	return len(list) > 0 && !slices.ContainsFunc(t.run.Connections, func(c agent.Connection) bool {
		return c.Closed.At != 0 && c.Closed.By == a && c.Closed.At <= d.owed && c.Closed.At >= d.from-interruption
	})
}

// capitalized begins with a capital letter.
func capitalized(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
