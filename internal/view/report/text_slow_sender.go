package report

import (
	"fmt"
	"math"

	"ibwitness/timing"
	"ibwitness/wqe"
)

// slowSender tells of a host that sends the packets within a message at half the rate of every other host or less. "": there is none, or it was told to slow down, or had to retransmit.
func (t *text) slowSender() string {
	var hosts hostNumbers
	list, reads := t.allMessages(&hosts)
	asked := t.asked(&hosts)
	s, ok := timing.SlowSenderOf(len(hosts.list), list, asked, reads)
	if !ok || t.inTrouble(hosts.list[s.Host]) {
		return ""
	}
	others := gigabits(s.Least)
	if most := gigabits(s.Most); most != others {
		others += " to " + most
	}
	return fmt.Sprintf("Slow sender: %v sends the packets within a message at %s Gbit/s of payload in the median (%s of %d packets or more, while it sends no other of several), and the %d other hosts that send such messages at %s Gbit/s%s, though ACKs come to it as soon%s: its port, or a link between it and the tap, may be slower or limited (as by a rate limit of its queue pair), or its PCIe. Next: on %v: link speed (ethtool), rate limits and PCIe width (lspci -vv).",
		hosts.list[s.Host], gigabits(s.Rate), count(s.Messages, "message"), timing.SenderPackets, s.Others, others, took(&s), waitsForSlow(&s, &hosts), hosts.list[s.Host])
}

// took says how long messages take from their first packet to their last, where all are as long.
func took(s *timing.SlowSender) string {
	if s.Bytes == 0 {
		return ""
	}
	first := ""
	if s.Always {
		first = ", from its first one on"
	}
	return fmt.Sprintf(" (each of %s takes %s, theirs %s: %.1f times as long%s)", size(uint64(s.Bytes)), span(s.Took), span(s.Usual), float64(s.Took)/float64(s.Usual), first)
}

// waitsForSlow says which host goes on only after what a slow one sends has come.
func waitsForSlow(s *timing.SlowSender, hosts *hostNumbers) string {
	if s.Next.Count == 0 {
		return ""
	}
	return fmt.Sprintf("; %v sends its own next one %s after %d of %d have come to it, and so seems to wait for it", hosts.list[s.Next.Host], span(s.Next.After), s.Next.Count, s.Next.Of)
}

func gigabits(bits float64) string { return fmt.Sprintf("%.3g", bits/1e9) }

// allMessages lists the connections of hosts and their messages, up to when it is known of all of them when they were sent, and which hosts send READs or answer them.
func (t *text) allMessages(hosts *hostNumbers) (list []timing.Link, reads []bool) {
	until := int64(math.MaxInt64)
	for _, c := range t.measured() {
		l := timing.Link{Hosts: [2]int{hosts.of(c.Ends[0].Addr), hosts.of(c.Ends[1].Addr)}}
		for len(reads) < len(hosts.list) {
			reads = append(reads, false)
		}
		for k := range c.Ends {
			e := &c.Timing.Ends[k]
			if l.Sent[k] = e.Sent; len(e.Sent) == timing.MostSent {
				until = min(until, e.Sent[len(e.Sent)-1].Begin)
			}
			if e.Ops[wqe.Read] != nil {
				reads[l.Hosts[0]], reads[l.Hosts[1]] = true, true
			}
		}
		list = append(list, l)
	}
	for i := range list {
		list[i].Until(until)
	}
	return list, reads
}
