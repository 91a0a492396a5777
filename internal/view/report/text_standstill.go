package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/packet"
	"ibwitness/timing"
)

// For how long, for how many times the mean time between two frames, and with how many connections that were busy the capture has to hold no frame for that to be told.
const (
	standstillTime  = 100 * time.Millisecond
	standstillTimes = 100
	standstillBusy  = 2
	standstillUsual = 2 // a busy connection was silent for as long, or one in so many of it, never before
	standstillOnly  = 4 // any other is shorter than one in so many of it, as it is not where programs pause again and again
)

// standstill is a time in which the capture holds no frame, though connections were busy until then.
type standstill struct {
	agent.Silence
	ended, resumed int                 // busy connections that carried nothing after it, and that did
	closed         int                 // of those that ended, such as CM disconnected with no request that had no answer
	began          int                 // connections between the hosts of those that ended, which began after it
	hosts          map[packet.Addr]int // of the busy ones, and how many of these each has
	gapless        bool                // of those that went on, none lacks a PSN, so that nothing was sent meanwhile that the tap would have missed
	unawaited      bool                // of those that went on, no message and no command took as long, so that nobody waited meanwhile
}

// standstills tells what standstillTold does, and reports whether connections ended with it.
func (t *text) standstills(list []incident.Incident) bool {
	s, ended := t.standstillTold(list)
	if s != "" {
		if len(list) > 0 {
			t.line("")
		}
		t.prose("  ", s)
	}
	return ended
}

// endedSilently reports, of a run without incidents, whether connections ended with a time without any frame.
func (t *text) endedSilently() bool {
	_, ended := t.standstillTold(nil)
	return ended
}

// standstillTold tells of the longest time in which the capture holds no frame of any host, where no incident does: the programs may have paused together, and the tap may have seen nothing. It reports
// whether connections ended with it.
func (t *text) standstillTold(list []incident.Incident) (told string, ended bool) {
	s, next, silent := t.longestSilences()
	mean := (t.res.Last - t.res.First - silent) / int64(max(t.res.Packets, 1))
	length := s.To - s.From
	if length < int64(standstillTime) || length < standstillTimes*mean || next*standstillOnly >= length || explained(list, &s) || t.res.Clock.Count > 0 {
		return "", false
	}
	k := t.standstill(s)
	if k.ended+k.resumed < standstillBusy || k.resumed+k.began == 0 && k.closed == k.ended {
		return "", false // programs ended together
	}
	if k.ended == 0 && k.unawaited && len(k.hosts) == 2 {
		return "", false // two hosts had nothing to do
	}
	return k.told(t), k.ended > 0
}

// longestSilences returns the longest time without a frame, how long the next is, and how long all are.
func (t *text) longestSilences() (longest agent.Silence, next, all int64) {
	for _, s := range t.res.Silences {
		n := s.To - s.From
		if all += n; n > longest.To-longest.From {
			longest, next = s, longest.To-longest.From
		} else {
			next = max(next, n)
		}
	}
	return longest, next, all
}

// explained reports whether an incident was going on for the most of a silence.
func explained(list []incident.Incident, s *agent.Silence) bool {
	for i := range list {
		if 2*(min(list[i].End, s.To)-max(list[i].Begin, s.From)) >= s.To-s.From {
			return true
		}
	}
	return false
}

// standstill says what became of the connections that were busy when a silence began.
func (t *text) standstill(s agent.Silence) standstill {
	k, list := standstill{Silence: s, hosts: map[packet.Addr]int{}, gapless: true, unawaited: true}, t.res.Connections
	for i := range list {
		c := &list[i]
		busy, resumed := busyUntil(c, &s)
		switch {
		case !busy:
			continue
		case resumed:
			k.resumed++
			k.gapless = k.gapless && c.Ends[0].Trouble == nil && c.Ends[1].Trouble == nil
			k.unawaited = k.unawaited && c.Timing != nil && longestWait(c) < time.Duration(s.To-s.From)
		default:
			if k.ended++; c.Closed.At >= s.To && c.Ends[0].Open+c.Ends[1].Open == 0 && (c.Upper == nil || c.Upper.Open == 0) {
				k.closed++
			}
		}
		k.hosts[c.Ends[0].Addr]++
		k.hosts[c.Ends[1].Addr]++
	}
	for i := range list {
		if c := &list[i]; c.First >= s.To && k.hosts[c.Ends[0].Addr] > 0 && k.hosts[c.Ends[1].Addr] > 0 && c.Service.Reliable() {
			k.began++
		}
	}
	return k
}

// busyUntil reports whether a connection was busy until a silence began, and whether it carried anything after it.
func busyUntil(c *agent.Connection, s *agent.Silence) (busy, resumed bool) {
	last, length := max(c.Ends[0].Last, c.Ends[1].Last), s.To-s.From
	if !c.Service.Reliable() || c.Ends[0].Messages+c.Ends[1].Messages < quietMessages || c.First >= s.From || c.Closed.At != 0 && c.Closed.At <= s.From {
		return false, false
	}
	active := last - c.First
	if resumed = last >= s.To; resumed {
		active -= length
	}
	usual := active / int64(c.Ends[0].Packets+c.Ends[1].Packets)
	if c.Timing != nil && silentBefore(c, s) {
		return false, resumed
	}
	return length >= standstillTimes*usual && (resumed || s.From-last < length/standstillTimes+standstillTimes*usual), resumed
}

// longestWait is how long the slowest message of a connection took, or the slowest command of the protocol above.
func longestWait(c *agent.Connection) time.Duration {
	most := c.SlowestMessage()
	if u := c.Upper; u != nil && u.Slowest != nil {
		most = max(most, time.Duration(u.Slowest.Ended-u.Slowest.Since))
	}
	return most
}

// silentBefore reports whether a connection was silent for about as long before a silence: that is usual for it.
func silentBefore(c *agent.Connection, s *agent.Silence) bool {
	both := activityOn(c)
	return slices.ContainsFunc(both.Silences, func(o timing.Silence) bool { return o.To <= s.From && standstillUsual*o.Length() >= s.To-s.From })
}

// told says what the capture shows of a silence.
func (k *standstill) told(t *text) string {
	s := fmt.Sprintf("No frame: the capture holds none of any host for %s from %s on, though %s between %d hosts had carried frames all the time", span(time.Duration(k.To-k.From)), offset(k.From, t.res.First),
		count(k.ended+k.resumed, "connection"), len(k.hosts))
	switch {
	case k.ended == 0:
		s += "; then all went on."
	case k.resumed == 0:
		s += "; none of them carries anything after it"
	default:
		s += fmt.Sprintf("; %d of them went on, and %d carry nothing after it", k.resumed, k.ended)
	}
	if k.ended > 0 {
		if k.began > 0 {
			s += fmt.Sprintf(", and %s between these hosts began", number(uint64(k.began)))
		}
		s += "."
	}
	where := "a link at the tap"
	if hub, ok := k.hub(); ok && len(k.hosts) > 2 {
		s += fmt.Sprintf(" All of them are of %v.", hub)
		where = fmt.Sprintf("the link of %v, or the host itself,", hub)
	}
	if k.ended > 0 {
		together := "; so do programs that ended together"
		if k.resumed > 0 && k.gapless {
			together = ": what went on did with the next PSN"
		}
		return s + " " + strings.ToUpper(where[:1]) + where[1:] + " that was down for longer than retries last looks like that" + together + ". Look at link events at the tap and the hosts at that time, and at what completed in error."
	}
	stopped := ", or a capturing host that stopped"
	if k.gapless {
		stopped = "; no PSN is missing after it, so that it is not the capture that stopped"
	}
	return s + " Programs that pause together look like that, and so does " + where + " that was down" + stopped + ". A clock of the capture that was set ahead looks like that too. Look at link events there at that time, and at counters of the hosts for timeouts."
}

// hub returns the host that all of the busy connections have in common.
func (k *standstill) hub() (packet.Addr, bool) {
	for a, n := range k.hosts {
		if n == k.ended+k.resumed {
			return a, true
		}
	}
	return packet.Addr{}, false
}
