package incident

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
)

// heldOn is on how many connections of a host that froze answers came late at least, each long after the last retransmission.
const heldOn = 2

// freeze is a time in which a host sent nothing on any connection, after which it answered what had come meanwhile.
type freeze struct {
	timing.Silence
	waited, held int    // connections on which something waited for it, and those of them on which no retransmission after it brought the answer
	packets      uint64 // retransmitted to it meanwhile
}

// frozen has the interruptions of all connections of a host that froze be one.
func (t *teller) frozen(list []Incident) []Incident {
	if t.copied() || len(t.run.Taps) > 1 {
		return list
	}
	merged, done := map[*Incident]bool{}, map[packet.Addr]bool{}
	for n := range list {
		i := &list[n]
		if a := i.Peer.Addr; i.lostPeer() && i.Kind == Interrupted && !done[a] {
			done[a] = true
			if times := t.freezes(a); len(times) > 0 {
				t.tellFreezes(a, times, list, merged)
			}
		}
	}
	return without(list, merged)
}

// freezes returns the times in which a host froze, in order.
func (t *teller) freezes(a packet.Addr) (list []freeze) {
	for _, s := range t.silencesOf(a) {
		k := freeze{Silence: s.Silence}
		if !s.ended || k.Length() < interruption || s.number.Packets > 0 || s.seen || t.mayAnswerPings(a, &k.Silence) {
			continue // it was idle, or went on where the tap does not see it
		}
		if k.answers(t, a) && k.waited >= heldOn && k.held >= heldOn && 2*k.held >= k.waited {
			list = append(list, k)
		}
	}
	return list
}

// answers counts what waited for the host. It reports whether all of it was answered when the host went on, and nothing was retransmitted then:
// neither what had come to it nor what it had sent was lost.
func (k *freeze) answers(t *teller, a packet.Addr) bool {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if endOf(c, a) == nil || c.Service == packet.UD {
			continue
		}
		waits, held := false, false
		for from := range c.Ends {
			e := &c.Ends[from]
			if e.Trouble == nil {
				continue
			}
			settled, own := e.Trouble.Settled(e.Stalled), e.Addr == a
			if s := &settled.Now; e.Stalled && s.Total() > 0 && s.Since < k.To && !own {
				return false // it was never answered
			}
			for j := range settled.Longest {
				s := &settled.Longest[j]
				over := max(s.Ended, s.Last)
				switch {
				case s.Total() == 0 || over < k.To || s.Since >= k.To:
				case own && s.Begun >= k.To && !s.Acked, !own && (s.Last >= k.To || s.Ended > k.To+aftermath || s.LostAgain || s.NAKs > 0):
					return false
				case !own && s.Begun > k.From:
					waits, held = true, held || s.Late || heldBack(c, from, s)
					k.packets += uint64(s.Packets)
				}
			}
		}
		if waits {
			k.waited++
		}
		if held {
			k.held++
		}
	}
	return true
}

// covers reports whether a stall of a request to the host is of this time.
func (k *freeze) covers(begin, end int64) bool {
	return begin >= k.From-interruption && begin < k.To && end >= k.To-aftermath && end <= k.To+aftermath
}

// tellFreezes tells of the times in which a host froze, with the interruptions of a list that are of them.
func (t *teller) tellFreezes(a packet.Addr, still []freeze, list []Incident, merged map[*Incident]bool) {
	var of []*Incident
	for n := range list {
		i := &list[n]
		own := i.Kind == Interrupted && i.Certainty == Proven && i.Peer.Addr == a && i.within == 0
		if own && !slices.ContainsFunc(i.each, func(s [2]int64) bool {
			return !slices.ContainsFunc(still, func(k freeze) bool { return k.covers(s[0], s[1]) })
		}) {
			of = append(of, i)
		}
	}
	if len(of) == 0 {
		return
	}
	i := slices.MaxFunc(of, func(a, b *Incident) int { return cmp.Or(cmp.Compare(a.Lost, b.Lost), cmp.Compare(b.Begin, a.Begin)) })
	worst := slices.Clone(i.Facts)
	i.Facts, i.Frames, i.Lost, i.listed, i.gone = nil, nil, 0, true, notGone
	on := map[[2]Party]bool{}
	for _, o := range of {
		if o != i {
			merged[o] = true
			i.foundToo(o.Found)
		}
		i.Begin, i.End = min(i.Begin, o.Begin), max(i.End, o.End)
		for k := range o.on {
			on[k] = true
		}
		if o.Local.Addr != i.Local.Addr && !slices.Contains(i.Also, o.Local.Addr) {
			i.Also = append(i.Also, o.Local.Addr)
		}
	}
	slices.SortFunc(i.Also, packet.Addr.Compare)
	i.Connections = len(on)
	t.sayFreezes(i, a, still)
	for _, f := range worst {
		if f.Label == "request" {
			i.fact("longest", "of what waited: "+f.Text)
		}
	}
	for n := range list {
		t.retransmittedFrozen(&list[n], a, still)
	}
}

// sayFreezes says when a host froze, what shows that, and what fits.
func (t *teller) sayFreezes(i *Incident, a packet.Addr, still []freeze) {
	var when []string
	shortest, longest, waited, packets := still[0].Length(), int64(0), 0, uint64(0)
	for n := range still {
		k := &still[n]
		shortest, longest, waited, packets = min(shortest, k.Length()), max(longest, k.Length()), max(waited, k.waited), packets+k.packets
		when = append(when, fmt.Sprintf("%s from %s on (frames %d to %d)", span(k.Length()), t.offset(k.From), k.Frames[0], k.Frames[1]))
		i.Lost += time.Duration(k.Length())
		i.show(k.Frames[:]...)
	}
	lasted := "for " + span(longest)
	if shortest != longest {
		lasted = fmt.Sprintf("for %s to %s", span(shortest), span(longest))
	}
	open := t.openIn(a, &still[0].Silence)
	i.What = fmt.Sprintf("%v froze %s, %s: it sent nothing on any of its %d connections, and then answered what had come meanwhile; "+
		"nothing of that was lost.",
		a, times(uint64(len(still))), lasted, open)
	i.fact("still", enumerateSeparately(when))
	i.fact("answered", fmt.Sprintf("requests on up to %s that waited for it, right after each of these times, without another retransmission: "+
		"they had come to it",
		count(uint64(waited), "connection")))
	i.fact("cost", count(packets, "packet")+" retransmitted by its peers, whose ACK timeouts are shorter")
	if went := t.wentOnBeside(a, packet.Addr{}, &still[0].Silence); len(went) > 0 {
		i.fact("meanwhile", someOf(went)+" went on")
	}
	i.FitsWith = []string{
		fmt.Sprintf("%v itself or its adapter, that stopped: a virtual machine that was paused or had no CPU, a kernel or firmware "+
			"that hung for that long", a),
		"PFC that kept its adapter from sending",
	}
	i.Next = []string{
		fmt.Sprintf("what %v did at these times: steal time and pauses of its virtual machine, its log and dmesg, the firmware and PCIe errors "+
			"of its adapter", a),
		"the pause counters of its port (ethtool -S): whether PFC had it wait",
	}
}

// openIn is how many connections a host had in a time.
func (t *teller) openIn(a packet.Addr, s *timing.Silence) (n int) {
	for k := range t.run.Connections {
		c := &t.run.Connections[k]
		closed := c.Closed.At != 0 && c.Closed.At < s.From
		if endOf(c, a) != nil && c.Service != packet.UD && c.First < s.From && !closed {
			n++
		}
	}
	return n
}

// retransmittedFrozen has what was retransmitted to a host that froze fit that.
func (t *teller) retransmittedFrozen(i *Incident, a packet.Addr, still []freeze) {
	if i.Kind != Loss && i.Kind != Retransmitting || i.Peer.Addr != a {
		return
	}
	if slices.ContainsFunc(still, func(k freeze) bool { return i.Begin < k.To && i.End > k.From }) {
		fits := fmt.Sprintf("that %v froze, see there: what was sent to it then is retransmitted by timer, and was not lost", a)
		if i.FitsWith = slices.Insert(i.FitsWith, 0, fits); t.onlyFrozen(a, still) {
			i.FitsWith, i.Next = i.FitsWith[:1], []string{fmt.Sprintf("what %v did then, see there", a)}
		}
	}
}

// onlyFrozen reports whether each packet that was retransmitted to a host that froze was so by timer, while it was frozen: nothing shows a loss.
func (t *teller) onlyFrozen(a packet.Addr, still []freeze) bool {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for from := range c.Ends {
			e := &c.Ends[from]
			if e.Trouble == nil || c.Ends[1-from].Addr != a {
				continue
			}
			k := e.Trouble.Settled(e.Stalled)
			rounds := k.Sum.Total()
			for j := range k.Longest {
				s := &k.Longest[j]
				if slices.ContainsFunc(still, func(k freeze) bool {
					return s.Begun > k.From && s.Begun < k.To && max(s.Ended, s.Last) <= k.To+aftermath
				}) {
					rounds -= min(rounds, uint64(s.Rounds[qp.TimerExpired]))
				}
			}
			if rounds > 0 {
				return false
			}
		}
	}
	return true
}
