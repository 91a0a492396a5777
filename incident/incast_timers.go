package incident

import (
	"fmt"
	"math"
	"slices"
	"time"

	"ibwitness/packet"
	"ibwitness/rule"
)

const (
	mostTimer    = int64(8 * time.Millisecond) // up to which one runs out while others still send what was lost with it
	timersOf     = 4                           // three in so many run out at once with others, at least
	timersApart  = 2                           // timers at most from a burst of losses to one of what was retransmitted for it
	timersSpread = 2                           // times as long at most is the longest of those after which each queue pair retransmitted first
)

// shortTimers says that short ACK timers of several hosts ran out at the same times, so that what they had retransmitted
// to the host of a sum was sent at once, too, and what to look at; "": that is not so.
func (t *teller) shortTimers(s *lossSum) (said, next string) {
	least, most := t.shortestTimerOf(s), int64(0)
	if least == 0 || least > mostTimer || !s.mostlyTimers() || s.side() != afterTap {
		return "", ""
	}
	on := 0
	for n := range t.run.Connections {
		for from := range t.run.Connections[n].Ends {
			if e := &t.run.Connections[n].Ends[from]; s.ends[party(e)] && e.Timer > 0 {
				on, most = on+1, max(most, e.Timer)
			}
		}
	}
	if most > timersSpread*least {
		return "", "" // they differ, or some wait for something else
	}
	var list []lostOf
	for k := range t.run.Findings {
		f := &t.run.Findings[k]
		if f.Rule == rule.EvTimeout && s.receives(f.Peer.Addr) && slices.Contains(s.others, f.Accused.Addr) {
			list = append(list, lostOf{f.Time, f.Accused.Addr})
		}
	}
	together := 0
	for at := range togetherWithin(list, least/timersOf) {
		if hostsOf(at) >= fewestTogether {
			together += len(at)
		}
	}
	if len(list) < tellingRounds || timersOf*together < 3*len(list) {
		return "", ""
	}
	code := uint8(max(math.Round(math.Log2(float64(least)/float64(packet.Timeout(0)))), 0))
	said = fmt.Sprintf("short: they run out after %s on %s (ACK timeout code %d is %s), and %d of %d times on %d hosts or more at once: "+
		"so what they retransmit is sent at once, too",
		fromTo(least, most), count(uint64(on), "queue pair"), code, span(int64(packet.Timeout(code))), together, len(list), fewestTogether)
	return said, fmt.Sprintf("a longer ACK timeout (timeout) of these queue pairs to %v, and fewer of them that send at once", s.host)
}

// fromTo writes a range of times.
func fromTo(least, most int64) string {
	if least == most {
		return span(least)
	}
	return span(least) + " to " + span(most)
}

// inPhases says in how many phases bursts of losses lie, where short timers had some of them follow others; "": that is not so.
func (t *teller) inPhases(s *lossSum, bursts [][2]int64) string {
	timer := t.shortestTimerOf(s)
	if timer == 0 || timer > mostTimer || s.side() != afterTap {
		return ""
	}
	if n := phasesOf(bursts, timer); n > 1 && n < len(bursts) {
		return fmt.Sprintf(" in %d phases (a burst that begins within two timers of another is of its phase)", n)
	}
	return ""
}

// phasesOf is how many times bursts of losses began that do not follow another within the time in which a timer has its packets retransmitted.
func phasesOf(bursts [][2]int64, timer int64) (n int) {
	for k := range bursts {
		if k == 0 || bursts[k][0]-bursts[k-1][1] > timersApart*timer {
			n++
		}
	}
	return n
}
