package incident

import (
	"fmt"
	"slices"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
)

// fewestMissed is how many packets that one requester sent in a silence of a host are lost at least that show that all of it was cut off.
const fewestMissed = 4

// missedMany reports whether requests to a host were lost in a silence of it, several of one requester that sent them all that time: a PSN sequence
// NAK after it asks for the first, or a retransmission is answered at once. Had a later one come, the host would have asked sooner. It returns when
// the first was sent.
func (t *teller) missedMany(a packet.Addr, h *hostSilence) (since int64) {
	if h.seen || h.to == 0 || !h.ended {
		return 0
	}
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if c.Timing == nil || !c.Service.Reliable() || h.Length() < cutOffTimes*usualPause(c) {
			continue
		}
		for e := range c.Ends {
			x := &c.Ends[e]
			if x.Trouble == nil || c.Ends[1-e].Addr != a || x.Addr == a {
				continue
			}
			k := x.Trouble.Settled(x.Stalled)
			if k.Sum.Rounds[qp.SequenceAsked] >= manyLosses { // each may have been lost by chance
				continue
			}
			for j := range k.Longest {
				s := &k.Longest[j]
				within := timing.Silence{From: max(s.Since, h.from), To: h.to}
				if h.lose(s) && c.Timing.Ends[e].Active.Sends(&within, 2) && (since == 0 || within.From < since) {
					since = within.From
				}
			}
		}
	}
	return since
}

// lose reports whether stall s is of several requests that were sent in a silence, and were answered as soon as it was over and they were
// retransmitted.
func (h *hostSilence) lose(s *qp.Stall) bool {
	over := max(s.Begun, h.to)
	in := s.Since > h.from-aftermath && s.Since < h.to && s.Begun > h.from && s.Begun <= h.to+aftermath && s.Ended >= h.to && s.Ended <= over+aftermath
	return in && s.NAKs == 0 && s.Packets >= fewestMissed && !s.Late && !s.AnswerLost && !s.Before && !s.Unshown
}

// lostOnlyDown returns how many packets were retransmitted to a host that was down at times, where all of them were lost in these; 0: others were.
func (t *teller) lostOnlyDown(a packet.Addr, downs []hostSilence) (packets uint64) {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for e := range c.Ends {
			x := &c.Ends[e]
			if x.Trouble == nil || c.Ends[1-e].Addr != a {
				continue
			}
			k := x.Trouble.Settled(x.Stalled)
			rounds, n := k.Sum.Total(), uint64(0)
			for j := range k.Longest {
				if s := &k.Longest[j]; s.Total() > 0 && sentWhileDown(s, downs) {
					rounds -= min(rounds, s.Total())
					n += uint64(s.Packets)
				}
			}
			if rounds > 0 {
				return 0
			}
			if in := k.Now.Total() > 0 && sentWhileDown(&k.Now, downs); in || k.Now.Total() == 0 { // else that is another
				n = max(n+uint64(k.Now.Packets), sub(uint64(x.Retransmissions), k.Refused.Packets)) // what was on its way when a round began counts in none
			}
			packets += n
		}
	}
	return packets
}

// sentWhileDown reports whether what was sent in one of the times in which a host was down is retransmitted then, or when it was back: as soon as it
// was, or once, or within what its timers took on average.
func sentWhileDown(s *qp.Stall, downs []hostSilence) bool {
	last, period := max(s.Begun, s.Last), int64(0)
	if n := int64(s.Rounds[qp.TimerExpired]); n > 0 {
		period = (last - s.Since) / n
	}
	for n := range downs {
		d := &downs[n]
		if s.Since > d.from-aftermath && d.to != 0 && s.Since < d.to && (last <= d.to+period+aftermath || s.Total() == 1 && s.Begun == s.Last) {
			return true
		}
	}
	return false
}

// lossesTold has an incident of a host that was down several times tell of what was retransmitted to it after these, where nothing else was, instead
// of losses of a list.
func (t *teller) lossesTold(i *Incident, downs []hostSilence, list []Incident, merged map[*Incident]bool) {
	a := i.Peer.Addr
	packets := t.lostOnlyDown(a, downs)
	if packets == 0 {
		return
	}
	for n := range list {
		o := &list[n]
		if o.Kind != Loss && o.Kind != Retransmitting || o.Peer.Addr != a || !o.common.IsZero() || merged[o] {
			continue
		}
		merged[o] = true
		i.joinDown(o)
	}
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "cost" }) // which is of one queue pair in one of these times
	i.fact("lost then", fmt.Sprintf("%s to %v, all of packets sent in these times or right after", count(packets, "retransmission"), a))
}

// bounds says of several times in which a host was down between which of its packets each was.
func (t *teller) bounds(downs []hostSilence) string {
	said := make([]string, len(downs))
	for n := range downs {
		d := &downs[n]
		said[n] = fmt.Sprintf("since %s", t.offset(d.from))
		if d.to != 0 {
			said[n] = fmt.Sprintf("%s, from %s to %s", span(d.to-d.from), t.offset(d.from), t.offset(d.to))
		}
	}
	return enumerateSeparately(said)
}
