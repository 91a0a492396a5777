package incident

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
)

// fellSilentWith returns the connections of a host, but one, that had been busy, fell silent with it, and went on after that, and how long each
// was silent.
func (t *teller) fellSilentWith(a packet.Addr, but *agent.Connection, s *timing.Silence) (list []*agent.Connection, lasted []int64) {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if c == but || c.Timing == nil || c.Service == packet.UD || endOf(c, a) == nil || c.First >= s.From || s.Length() < cutOffTimes*usualPause(c) {
			continue
		}
		e := 0
		if c.Ends[1].Addr == a {
			e = 1
		}
		if k := &c.Timing.Ends[e].Active; fellSilent(k, s) {
			list, lasted = append(list, c), append(lasted, k.Silent(s.From, s.To).Length())
		}
	}
	return list, lasted
}

// silentWith says which connections of a host fell silent with it, and for how long, where the retries of another were used up meanwhile.
func (t *teller) silentWith(i *Incident, c *agent.Connection, s *timing.Silence) {
	list, lasted := t.fellSilentWith(i.Peer.Addr, c, s)
	var said []string
	for n, d := range list {
		far := &d.Ends[0]
		if far.Addr == i.Peer.Addr {
			far = &d.Ends[1]
		}
		who := party(far)
		if wait := waitIn(far, s); wait > 0 {
			i.outlasting = append(i.outlasting, far.Addr)
			said = append(said, fmt.Sprintf("with %v (its request was answered after %s)", &who, span(wait)))
			continue
		}
		said = append(said, fmt.Sprintf("with %v after %s", &who, span(lasted[n])))
	}
	if len(said) > 0 {
		i.fact("outlasted", fmt.Sprintf("%s of %v, which had been busy, fell silent with it and went on later: %s", count(uint64(len(said)), "connection"),
			i.Peer.Addr, enumerate(said)))
	}
}

// waitIn is how long a request of an end waited, whose peer was silent meanwhile and answered it only after that; 0: none did.
func waitIn(e *agent.End, s *timing.Silence) (most int64) {
	if e.Trouble == nil {
		return 0
	}
	settled := e.Trouble.Settled(e.Stalled)
	for n := range settled.Longest {
		k := &settled.Longest[n]
		if interrupts(k) && k.Total() > 0 && !k.AnswerLost && k.Since >= s.From-interruption && k.Since < s.To && k.Ended >= s.To {
			most = max(most, k.Lost())
		}
	}
	return most
}

// stillSilent is how many connections of a host had been silent since a first time in which it was, until after a second one.
func (t *teller) stillSilent(a packet.Addr, first, second *timing.Silence) (n int) {
	for k := range t.run.Connections {
		c := &t.run.Connections[k]
		if c.Timing == nil || endOf(c, a) == nil {
			continue
		}
		for e := range c.Ends {
			if c.Ends[e].Addr == a && c.Timing.Ends[e].Active.Silent(min(first.From, second.From), max(first.To, second.To)) != nil {
				n++
			}
		}
	}
	return n
}

// farLonger is how many times as long as the next one a silence is at least that is told.
const farLonger = 3

// silentAgain says when a host was silent on all connections at other times too, far longer than else, while others went on: a busy connection fell
// silent with it, and another did, or had been silent since the first time.
func (t *teller) silentAgain(i *Incident, s *timing.Silence) {
	a, shortest := i.Peer.Addr, t.outstanding(i.Peer.Addr, s)
	var said []string
	for _, h := range t.silencesOf(a) {
		k := h.Silence
		if !h.ended || k == *s || k.Length() < shortest {
			continue
		}
		with, _ := t.fellSilentWith(a, nil, &k)
		went := t.wentOnBeside(a, packet.Addr{}, &k)
		if len(with) == 0 || len(with)+t.stillSilent(a, s, &k) < askedOn || len(went) == 0 || h.seen || t.mayAnswerPings(a, &k) {
			return
		}
		when := fmt.Sprintf("%s from %s on (frames %d to %d)", span(k.Length()), t.offset(k.From), k.Frames[0], k.Frames[1])
		said = append(said, when+", while "+someOf(went)+" went on")
		i.show(k.Frames[:]...)
	}
	if len(said) > 0 && len(t.run.Taps) == 1 {
		i.fact("once more", fmt.Sprintf("the capture holds nothing of %v on any connection for %s", a, strings.Join(said, "; and for ")))
	}
}

// outstanding is how long the shortest of the silences of a host is, but for one, that are far longer than all others.
func (t *teller) outstanding(a packet.Addr, but *timing.Silence) (shortest int64) {
	var lengths []int64
	for _, k := range t.activityOf(a).Silences {
		if k != *but {
			lengths = append(lengths, k.Length())
		}
	}
	slices.Sort(lengths)
	slices.Reverse(lengths)
	for n, l := range lengths {
		if l >= interruption && (n+1 == len(lengths) || l >= farLonger*lengths[n+1]) {
			return l
		}
	}
	return math.MaxInt64
}
