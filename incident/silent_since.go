package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
)

// sinceTimes is how many times as long as the longest pause of a connection before it nothing comes on it that is taken to be over.
const sinceTimes = 10

// silentSince says which connections of the peer of an incident had been busy before a time in which it was down, and carry nothing after it: where
// its own requests are lost with its link, the tap sees no retries.
func (t *teller) silentSince(i *Incident, downs []hostSilence) {
	peer := i.Peer.Addr
	var said []string
	all := 0
	for n := range downs {
		list := t.overSince(peer, downs, n)
		if all += len(list); len(list) == 0 {
			continue
		}
		s := "with " + t.namesOf(peer, list)
		if len(list) <= lostNamed {
			s = t.sinceWhen(peer, list)
		}
		if len(downs) > 1 {
			s = fmt.Sprintf("since the %s time, ", ordinal(n+1)) + s
		}
		said = append(said, s)
	}
	if all > 0 {
		i.fact("silent", fmt.Sprintf("%s of %v, busy before, not seen after that until the end of the capture: %s; likely given up at %v, "+
			"whose retries did not reach the tap then", count(uint64(all), "more connection"), peer, enumerateSeparately(said), peer))
	}
}

// sinceWhen names connections of a host by their other ends, with when each carried its last packet.
func (t *teller) sinceWhen(a packet.Addr, list []*agent.Connection) string {
	said := make([]string, len(list))
	for n, c := range list {
		far, _ := farEnd(c, a)
		who := party(endOf(c, far))
		said[n] = fmt.Sprintf("with %v since %s", &who, t.offset(max(c.Ends[0].Last, c.Ends[1].Last)))
	}
	return enumerate(said)
}

// overSince returns the connections on which a host had sent requests until it was down, one of several times, and which carry
// nothing since, though it is back for as long as it was down at least, and went on on others. Those on which its peer waits are told as lost.
func (t *teller) overSince(a packet.Addr, downs []hostSilence, of int) (list []*agent.Connection) {
	d := &downs[of]
	if again, _ := t.countsOn(a, d); again != "" || d.to == 0 || !d.ended || t.run.Last-d.to < d.to-d.from {
		return nil
	}
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		far, with := farEnd(c, a)
		e, peer := endOf(c, a), endOf(c, far)
		if !with || e == nil || !c.Service.Reliable() || c.Timing == nil || c.Closed.At != 0 {
			continue
		}
		pause, last := usualPause(c), max(e.Last, peer.Last)
		asks := e.Messages > 0 && peer.Packets > 0 && !peer.Stalled
		busy := e.Messages+peer.Messages >= blackoutMessages && d.length() >= cutOffTimes*pause
		with = c.First < d.from && last < d.to && last >= d.from-max(cutOffSoon, cutOffTimes*pause)
		if asks && busy && with && t.run.Last-d.to >= sinceTimes*max(pause, longestPause(c, downs)) {
			list = append(list, c)
		}
	}
	return list
}

// longestPause is for how long an end of a connection has sent nothing, but for times in which its host was down.
func longestPause(c *agent.Connection, downs []hostSilence) (most int64) {
	for e := range c.Timing.Ends {
		for _, s := range c.Timing.Ends[e].Active.Silences {
			if !inDown(&s, downs) {
				most = max(most, s.Length())
			}
		}
	}
	return most
}

// inDown reports whether a silence falls into a time in which its host was down.
func inDown(s *timing.Silence, downs []hostSilence) bool {
	for n := range downs {
		if d := &downs[n]; s.From < d.to && s.To > d.from {
			return true
		}
	}
	return false
}
