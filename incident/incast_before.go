package incident

import (
	"cmp"
	"fmt"
	"slices"

	"ibwitness/packet"
	"ibwitness/rule"
)

// lostAlike is how many times as often packets of one host are lost at most as those of another, for that to be alike.
const lostAlike = 4

// incastBefore says that what was lost before the tap, on the way of a sum to a host, was lost of many hosts alike, at the same times: a queue that all of it passes was full. The link of each of them is
// not why; "": nothing shows that.
func (t *teller) incastBefore(s *lossSum) string {
	if !s.to || s.side() != beforeTap || len(s.others) < fewestAtOnce || t.run.RDMA == 0 || !t.timed() || !t.lostAlike(s) {
		return ""
	}
	naks := slices.DeleteFunc(t.sequenceNAKs()[s.host], func(l lostOf) bool { return !slices.Contains(s.others, l.from) })
	if 2*len(naks) < int(s.naks) {
		return "" // not each was kept
	}
	bursts, within, most := burstsOfNAKs(naks)
	lasted := int64(0)
	for _, b := range bursts {
		lasted += b[1] - b[0]
	}
	if len(bursts) < fewestBursts || 4*within < 3*int(s.naks) || most < fewestAtOnce || togetherOf*lasted > s.end-s.begin {
		return ""
	}
	said := fmt.Sprintf("%d bursts in which NAKs asked for what up to %d hosts had sent at once, of each host about as often; they last %s in all, and %s of %s PSN sequence NAKs came in them", len(bursts), most, span(lasted), number(uint64(within)), number(uint64(s.naks)))
	if n := t.waitedAfter(s, bursts); n > 0 {
		said += fmt.Sprintf("; after %d of them, at least, something waited for a timer, as it was lost again, or nothing came after it", n)
	}
	return said
}

// burstsOfNAKs lists when NAKs, in the order of time, asked within a millisecond of one another for what several hosts had sent, first and last, how many of them did, and for what of how many hosts at most.
func burstsOfNAKs(naks []lostOf) (bursts [][2]int64, within, most int) {
	for len(naks) > 0 {
		n := 1
		for n < len(naks) && naks[n].time-naks[n-1].time <= askedWithin {
			n++
		}
		if hosts := hostsOf(naks[:n]); hosts >= fewestTogether {
			bursts = append(bursts, [2]int64{naks[0].time, naks[n-1].time})
			within, most = within+n, max(most, hosts)
		}
		naks = naks[n:]
	}
	return bursts, within, most
}

// waitedAfter is after how many bursts of NAKs, in the order of time, something was retransmitted only when a timer ran out, at least: what the NAKs ask for comes sooner.
func (t *teller) waitedAfter(s *lossSum, bursts [][2]int64) (n int) {
	timer := t.shortestTimerOf(s)
	if timer == 0 {
		return 0
	}
	waited := map[int]bool{}
	for k := range t.run.Findings {
		f := &t.run.Findings[k]
		if f.Rule != rule.EvRetransmission || f.Peer.Addr != s.host {
			continue
		}
		at, _ := slices.BinarySearchFunc(bursts, f.Time, func(b [2]int64, time int64) int { return cmp.Compare(b[0], time) })
		if at > 0 && f.Time-bursts[at-1][1] >= timer/2 && f.Time-bursts[at-1][1] <= 2*timer {
			waited[at-1] = true
		}
	}
	return len(waited)
}

// shortestTimerOf is after what time a requester of a sum retransmitted at the earliest what nothing had asked for, nanoseconds; 0: none did.
func (t *teller) shortestTimerOf(s *lossSum) (least int64) {
	for n := range t.run.Connections {
		for from := range t.run.Connections[n].Ends {
			e := &t.run.Connections[n].Ends[from]
			if s.ends[party(e)] && e.Timer > 0 && (least == 0 || e.Timer < least) {
				least = e.Timer
			}
		}
	}
	return least
}

// hostsOf is of how many hosts packets were lost.
func hostsOf(list []lostOf) int {
	hosts := map[packet.Addr]bool{}
	for _, l := range list {
		hosts[l.from] = true
	}
	return len(hosts)
}

// lostAlike reports whether about as many packets of each host of a sum were lost, by what it sent.
func (t *teller) lostAlike(s *lossSum) bool {
	least, most := 0.0, 0.0
	for _, l := range t.lossesBySide(s.host) {
		if !slices.Contains(s.others, l.host) || l.packets == 0 {
			continue
		}
		part := float64(l.far) / float64(l.packets)
		if most == 0 {
			least = part
		}
		least, most = min(least, part), max(most, part)
	}
	return most > 0 && most <= lostAlike*least
}

// ofIncast has an incident of losses before the tap fit a queue that overflows, said being why.
func (i *Incident) ofIncast(s *lossSum, said string) {
	i.Facts = slices.Insert(i.Facts, 0, Fact{"incast", said})
	i.FitsWith = []string{
		fmt.Sprintf("incast: a queue before the tap, as that of the switch port to %v, which overflows when many send to it at once, as no flow control holds them back", s.host),
		"a link before the tap that all of this takes, and that loses packets",
	}
	i.Next = []string{
		fmt.Sprintf("what the switch port to %v, and those on the way to it, discard for lack of buffer (ethtool -S)", s.host),
		"priority flow control (PFC) and ECN of these ports for this traffic", "whether fewer hosts can send at once, or one after the other",
	}
}
