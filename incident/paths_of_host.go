package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// hardlyChance is how likely it is at most, where packets were lost at random of all that queue pairs send, that so many of them lost none, for that to speak against what all of them pass.
const hardlyChance = 1e-3

// onWayOf is the queue pairs between a host and others, by what became of the packets in one direction.
type onWayOf struct {
	fates
	losses uint32 // separate ones
	hosts  []packet.Addr
	lossy  map[*agent.Connection]int // and the end that had to retransmit
}

// pathOf says, in an incident of losses, of the queue pairs between host x and several others that most of them lost nothing in the direction in which some did, by far too many for chance: what all
// of them pass, as the link of x, is not what loses packets.
func (t *teller) pathOf(i *Incident, x packet.Addr) bool {
	to, from := t.waysOf(x, true).whole(), t.waysOf(x, false).whole()
	direction, w, back := "to", to, from
	if !to.tells() || from.tells() && from.rounds > to.rounds {
		direction, w, back = "from", from, to
	}
	if !w.tells() {
		return false
	}
	said := fmt.Sprintf("%d of %d queue pairs of %d hosts %s %v had to retransmit%s, in %s; the other %d, which sent about %s, nothing%s: it may be one path of several, and is not what all of them pass",
		w.fates.lossy, w.fates.lossy+w.steady, len(w.hosts), direction, x, w.onPorts(withPorts(w.ports, w.back)), count(uint64(w.rounds), "round"),
		w.steady, count(w.sentSteady, "packet"), onPorts(w.clean)) + w.faintSaid()
	if n := w.answersOf(&back); n > 0 {
		said += fmt.Sprintf("; in the other direction only timers had anything retransmitted, on %d of these %d, which answers that were lost on that path fit", n, w.fates.lossy)
	}
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "paths" })
	i.fact("paths", said)
	i.ofPath(len(w.ports)+len(w.timed)+len(w.back) > 0)
	s := t.sumOfLosses(x, direction == "to", func(a packet.Addr) bool { return slices.Contains(w.hosts, a) })
	s.onePath = true
	t.lead(i, s, ", and on the others never: it may be one path of several")
	return true
}

// ofPath has one path of several fit first, and what is to be looked at for it come first. ported says that UDP source ports of it are known.
func (i *Incident) ofPath(ported bool) {
	i.onePath = true
	if i.FitsWith[0] != overtaking { // which is shown then: else packets of one path stay in order
		i.noOvertaking()
	}
	i.FitsWith = slices.Insert(slices.DeleteFunc(i.FitsWith, func(s string) bool { return s == onePath }), 0, onePath)
	if ported {
		i.Next = slices.Insert(slices.DeleteFunc(i.Next, func(s string) bool { return s == hashedTo }), 0, hashedTo)
	}
}

// hashedTo is where to look for a path that some UDP source ports take.
const hashedTo = "the links that these UDP source ports are hashed to (members of a LAG, next hops of ECMP): their CRC and FEC errors and discards"

// waysOf adds up what became of what queue pairs between host x and others sent to it, or from it, with each host with which some of them lost packets.
func (t *teller) waysOf(x packet.Addr, to bool) onWayOf {
	by := map[packet.Addr]*onWayOf{}
	w := onWayOf{lossy: map[*agent.Connection]int{}}
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		far, ok := farEnd(c, x)
		if !ok || !c.Service.Reliable() || far == x {
			continue
		}
		if by[far] == nil {
			by[far] = &onWayOf{}
			w.hosts = append(w.hosts, far)
		}
		for at := range c.Ends {
			e := &c.Ends[at]
			if _, known := w.lossy[c]; known || (t.dataFrom(c, e) == x) == to {
				continue
			}
			by[far].add(t, c, e)
			if n := lost(e); n > 0 {
				by[far].losses += min(n, e.Trouble.Settled(false).Sum.Count)
				w.lossy[c] = at
			}
		}
	}
	w.hosts = slices.DeleteFunc(w.hosts, func(a packet.Addr) bool { return by[a].fates.lossy == 0 && by[a].faint == nil })
	for _, a := range w.hosts {
		w.merge(&by[a].fates)
		w.losses += by[a].losses
	}
	return w
}

// dataFrom is the host whose packets are lost where end e of a connection has to retransmit: itself, or its peer, where that sends what READs of this end ask for.
func (t *teller) dataFrom(c *agent.Connection, e *agent.End) packet.Addr {
	peer := peerOf(c, e)
	if lost(e) > 0 {
		return t.lossyEnd(c, e).Addr
	}
	if peer.Messages == 0 && peer.Bytes > 0 && e.Bytes == 0 {
		return peer.Addr
	}
	return e.Addr
}

// tells reports whether most of the queue pairs lost nothing, and that is no chance. Any of as many could have been those that did.
func (w *onWayOf) tells() bool {
	lossy, n := w.fates.lossy, w.fates.lossy+w.steady
	if w.unlike() || len(w.hosts) < fewestHosts || lossy > n/2 || w.sentLossy == 0 {
		return false
	}
	return w.rareByChance(w.losses)
}

// whole is what it tells with the queue pairs that sent few, or where those hide that most others lost none, without them.
func (w onWayOf) whole() onWayOf {
	all := w
	all.takeFaint()
	if all.tells() || w.faint == nil || !w.tells() {
		return all
	}
	return w
}

// answersOf is on how many of the queue pairs that lost packets those of the other direction, back, did, all by timer: answers were lost that take the same way; 0: on others too, or for another reason.
func (w *onWayOf) answersOf(back *onWayOf) int {
	for c, e := range back.lossy {
		if _, same := w.lossy[c]; !same || !onlyTimers(c, e) {
			return 0
		}
	}
	return len(back.lossy)
}

// onlyTimers reports whether nothing but its timer had end e of a connection retransmit, and that did.
func onlyTimers(c *agent.Connection, e int) bool {
	n := lost(&c.Ends[e])
	return n > 0 && c.Ends[e].Trouble.Settled(false).Sum.Rounds[qp.TimerExpired] == n
}

// answersPath is what is said of the path of the answers to end from of a connection, which only its timer had retransmit: that of the requests of its peer on the same connection, where that is told
// to lose packets; empty: it is not so.
func (t *teller) answersPath(c *agent.Connection, from int) lossyPath {
	if x := t.paths(c, 1-from); x.one && onlyTimers(c, from) && lost(&c.Ends[1-from]) > 0 {
		x.said += "; the answers that this one waited for take the way of one of them"
		x.answers = true
		return x
	}
	return lossyPath{}
}
