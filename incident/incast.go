package incident

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/timing"
)

// A queue to a host overflows when many send to it at once (incast): what it drops then is lost at the same time, of several hosts, or nothing is lost while few send.
const (
	fewestAtOnce   = 4                            // hosts that send at once, from which on that is many
	drains         = int64(50 * time.Microsecond) // for which a message may wait in a queue after it was sent
	askedWithin    = int64(time.Millisecond)      // after messages that were sent at once, in which a NAK asks for what was lost of them
	fewestBursts   = 4                            // bursts of which the losses were at the same time, from which on that is no chance
	fewBursts      = 2                            // likewise, where each was of fewestAtOnce hosts or more
	fewestTogether = 3                            // hosts that lost packets at the same time
	togetherOf     = 8                            // part of the time from the beginning of a burst to the last NAK, one in so many, in which half of them came then
)

// burst is messages to a host that were sent at once, or one after the other without a pause.
type burst struct {
	begin, end int64
	messages   int
	hosts      int      // that sent at the same time, at most
	asked      []lostOf // what NAKs asked for, in the order in which they came
}

// lostOf is a PSN sequence NAK.
type lostOf struct {
	time int64
	from packet.Addr // whose packet was lost
}

// incast says in the first incident of what was lost on the way to a host that packets are lost when many send to it at once, and has that fit first with each.
func (t *teller) incast(list []Incident) {
	if t.run.RDMA == 0 || t.run.Forgotten.Events > 0 {
		return
	}
	bursts := map[packet.Addr]bool{} // in which several hosts lost packets: no cable does that
	said, naks, senders := map[packet.Addr]string{}, map[packet.Addr][]lostOf(nil), map[packet.Addr][]sendingEnd(nil)
	for n := range list {
		i := &list[n]
		if i.Kind != Loss && i.Kind != Retransmitting || i.explained || i.onePath || i.ofTrimmed || t.damages(i) {
			continue
		}
		to := i.Peer.Addr
		s, known := said[to]
		if !known {
			if naks == nil {
				naks, senders = t.sequenceNAKs(), t.sendersTo()
			}
			s = t.incastTo(to, naks[to], senders[to])
			if s == "" && i.sum != nil && i.sum.host == to && i.sum.side() == afterTap {
				s = t.incastBursts(i.sum)
				bursts[to] = s != ""
			}
			said[to] = s
			if s != "" {
				i.Facts = slices.Insert(i.Facts, 0, Fact{"incast", s})
			}
		}
		if s == "" {
			continue
		}
		if bursts[to] {
			i.FitsWith = slices.DeleteFunc(i.FitsWith, func(s string) bool { return s == badCable })
		}
		if i.sum != nil && i.sum.mostlyTimers() {
			i.noOvertaking()
		}
		if strings.HasSuffix(s, nothingElse) {
			i.onlyInIncasts()
		}
		i.ofQueueTo(to, "many")
	}
}

// ofQueueTo has an incident of losses fit first a queue to a host that overflows when many or several send to it.
func (i *Incident) ofQueueTo(to packet.Addr, many string) {
	i.FitsWith = slices.DeleteFunc(i.FitsWith, func(s string) bool { return s == queueDrops }) // which this is
	i.Next = slices.DeleteFunc(i.Next, func(s string) bool { return s == flowControl })
	i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("incast: a queue to %v that overflows when %s send to it at once, as no flow control holds them back", to, many))
	i.Next = slices.Insert(i.Next, 0, fmt.Sprintf("priority flow control (PFC) and ECN of the switch port to %v for this traffic, and what that port discards for lack of buffer", to))
}

// nothingElse ends what is told where nothing was lost but when many sent at once, of so much that this is no chance.
const nothingElse = ", nothing was"

// onlyInIncasts has losses of which that is told not fit what damages packets at any time, and last what an incast explains better.
func (i *Incident) onlyInIncasts() {
	var last []string
	i.FitsWith = slices.DeleteFunc(i.FitsWith, func(s string) bool {
		if s == tooShort || s == overtaking {
			last = append(last, s)
		}
		return s == badCable || s == tooShort || s == overtaking
	})
	i.FitsWith = append(i.FitsWith, last...)
}

// incastTo says what was lost of what many hosts sent to one at once; empty: nothing shows that this is why. All of it had passed the tap: one after that queue would not show who sent
// at once.
func (t *teller) incastTo(to packet.Addr, naks []lostOf, senders []sendingEnd) string {
	before, after := uint32(0), uint32(0)
	for _, x := range senders {
		if k := x.c.Ends[x.end].Trouble; k != nil {
			before, after = before+k.Asked.Before, after+k.Asked.After
		}
	}
	if before > 0 || after < tellingRounds {
		return ""
	}
	bursts, until := burstsOf(senders, t.run.Last)
	loose := 0
	for _, a := range naks {
		if a.time > until {
			continue
		}
		n, _ := slices.BinarySearchFunc(bursts, a.time+1, func(b burst, at int64) int { return cmp.Compare(b.begin, at) })
		if n == 0 || a.time > bursts[n-1].end+askedWithin {
			loose++
			continue
		}
		b := &bursts[n-1]
		b.asked = append(b.asked, a)
	}
	return tellIncast(to, bursts, loose)
}

// sequenceNAKs lists the PSN sequence NAKs of each host, in the order in which they came.
func (t *teller) sequenceNAKs() map[packet.Addr][]lostOf {
	naks := map[packet.Addr][]lostOf{}
	for k := range t.run.Findings {
		if f := &t.run.Findings[k]; f.Rule == rule.EvSeqNAK {
			naks[f.Accused.Addr] = append(naks[f.Accused.Addr], lostOf{f.Time, f.Peer.Addr})
		}
	}
	return naks
}

// tellIncast says what was lost of bursts of messages to a host. loose is how many NAKs belong to none.
func tellIncast(to packet.Addr, bursts []burst, loose int) string {
	var of, lost, together, ofMany, all, sent, others, most, top int
	least, fewest := 0, 0
	for n := range bursts {
		b := &bursts[n]
		if b.hosts < fewestAtOnce {
			if others += b.messages; len(b.asked) > 0 {
				return ""
			}
			continue
		}
		of, sent = of+1, sent+b.messages
		if k := len(b.asked); k > 0 {
			if lost == 0 {
				least, fewest = b.hosts, k
			}
			lost, all = lost+1, all+k
			least, most, fewest, top = min(least, b.hosts), max(most, b.hosts), min(fewest, k), max(top, k)
			if b.together() {
				together++
				ofMany += min(hostsOf(b.asked)/fewestAtOnce, 1)
			}
		}
	}
	contrast := all*others >= tellingMisses*sent
	chance := together < fewestBursts && (ofMany < fewBursts || ofMany < lost) || 4*together < 3*lost
	if lost < tellingRounds && chance || 10*loose > all || !contrast && chance {
		return ""
	}
	each, packets := "and each time", upTo(fewest, top)+" lost packets"
	if top == 1 {
		packets = "1 lost packet"
	}
	if lost < of {
		each = fmt.Sprintf("and %s of these", times(uint64(lost)))
	}
	s := fmt.Sprintf("%s hosts sent to %v at once, %s, %s NAKs asked for %s; all %s had passed the tap, and were lost after it", upTo(least, most), to, times(uint64(of)), each, packets, number(uint64(all)))
	if contrast {
		s += fmt.Sprintf("; of %s that fewer sent at once"+nothingElse, count(uint64(others), "message"))
	}
	return s
}

// upTo writes a range.
func upTo(least, most int) string {
	if least == most {
		return number(uint64(least))
	}
	return fmt.Sprintf("%s to %s", number(uint64(least)), number(uint64(most)))
}

// together reports whether at least half of what was lost of a burst was asked for at the same time, of several hosts.
func (b *burst) together() bool {
	half := (len(b.asked) + 1) / 2
	if half < fewestTogether {
		return false
	}
	within := (b.asked[len(b.asked)-1].time - b.begin) / togetherOf
	for k := 0; k+half <= len(b.asked); k++ {
		some := b.asked[k : k+half]
		if some[half-1].time-some[0].time > within {
			continue
		}
		var hosts []packet.Addr
		for _, a := range some {
			if !slices.Contains(hosts, a.from) {
				hosts = append(hosts, a.from)
			}
		}
		if len(hosts) >= fewestTogether {
			return true
		}
	}
	return false
}

// sentBy is a message, and who sent it.
type sentBy struct {
	timing.Sent
	from packet.Addr
}

// sendingEnd is an end of a connection.
type sendingEnd struct {
	c   *agent.Connection
	end int
}

// sendersTo lists the ends that send to each host.
func (t *teller) sendersTo() map[packet.Addr][]sendingEnd {
	if t.sending != nil {
		return t.sending
	}
	senders := map[packet.Addr][]sendingEnd{}
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for k := range c.Ends {
			if to := c.Ends[1-k].Addr; to != c.Ends[k].Addr {
				senders[to] = append(senders[to], sendingEnd{c, k})
			}
		}
	}
	t.sending = senders
	return senders
}

// burstsOf lists the bursts of messages of senders to one host, up to when it is known of all of them when they were sent, last at the latest.
func burstsOf(senders []sendingEnd, last int64) (bursts []burst, until int64) {
	var list []sentBy
	until = last
	for _, x := range senders {
		if x.c.Timing == nil {
			continue
		}
		sent := x.c.Timing.Ends[x.end].Sent
		if len(sent) == timing.MostSent {
			until = min(until, sent[len(sent)-1].Begin)
		}
		for _, s := range sent {
			s.End = max(min(s.End, s.Begin+askedWithin), s.Begin) // what of it comes later may have waited for something else
			list = append(list, sentBy{s, x.c.Ends[x.end].Addr})
		}
	}
	list = slices.DeleteFunc(list, func(s sentBy) bool { return s.Begin > until })
	slices.SortFunc(list, func(a, b sentBy) int { return cmp.Compare(a.Begin, b.Begin) })
	ended := slices.Clone(list)
	slices.SortFunc(ended, func(a, b sentBy) int { return cmp.Compare(a.End, b.End) })
	hosts, open := map[packet.Addr]int{}, 0 // by host, and in all: messages that may not have gone through a queue yet
	for _, s := range list {
		for ended[0].End+drains < s.Begin {
			from := ended[0].from
			if hosts[from]--; hosts[from] == 0 {
				delete(hosts, from)
			}
			ended, open = ended[1:], open-1
		}
		if open == 0 {
			bursts = append(bursts, burst{begin: s.Begin})
		}
		hosts[s.from], open = hosts[s.from]+1, open+1
		b := &bursts[len(bursts)-1]
		b.end, b.messages, b.hosts = max(b.end, s.End), b.messages+1, max(b.hosts, len(hosts))
	}
	return bursts, until
}
