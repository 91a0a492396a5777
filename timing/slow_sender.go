package timing

import (
	"cmp"
	"slices"
	"time"
)

// SlowSender is a host that sends the packets within a message at half the rate of every other host or less.
type SlowSender struct {
	Host     int
	Messages int     // of it, on which that rests
	Rate     float64 // payload in bits a second, in the median
	Others   int     // hosts
	Least    float64 // rates of those
	Most     float64
	// Bytes is how long all those messages are, its and those of the others, and Took and Usual how long they take from the first packet to the last, in the
	// median; 0: not all are as long.
	Bytes       uint32
	Took, Usual time.Duration
	Always      bool    // its first message was no faster
	Next        Follows // who goes on after its messages
}

// Follows is a host that sends its own next message soon after most messages of another have come to it.
type Follows struct {
	Host  int
	Count int           // messages after which it does, of Of; 0: that is not shown
	Of    int           // that came to it
	After time.Duration // median
}

// SenderPackets is how many packets a message has at least of which the rate counts.
const SenderPackets = 8

const (
	senderTime     = 2 * time.Microsecond
	senderMessages = 16
	senderHosts    = 3
	senderTimes    = 2   // as fast as it is every other
	senderSpread   = 1.2 // by so much others differ at most, and messages of a host but for the fastest and the slowest of ten
	senderAcks     = 2   // times as long as those of every other, ACKs to it may take
	senderSmall    = 16  // the part in so many of a message that ones of a packet may have in all that are sent meanwhile
	senderFew      = 4   // and of its packets that these are
	senderSoon     = 4   // the part in so many of the time that a message took in which a host sends its next one soon after it
	senderFollows  = 0.5 // part of the messages after which it does
)

// SlowSenderOf finds it among some hosts, where there is one, whose ACKs come as soon as those of the others. Of hosts that also answer READs it is not known.
func SlowSenderOf(hosts int, links []Link, asked []Asked, reads []bool) (s SlowSender, ok bool) {
	all := MessagesOf(links)
	alone := aloneOf(hosts, all, reads)
	rates := ratesOf(hosts, alone)
	list := make([]SlowSender, 0, hosts)
	for h, r := range rates {
		if len(r) < senderMessages {
			continue
		}
		slices.Sort(r)
		if r[len(r)-1-len(r)/10] > senderSpread*r[len(r)/10] {
			return s, false
		}
		list = append(list, SlowSender{Host: h, Messages: len(r), Rate: r[len(r)/2]})
	}
	if len(list) < senderHosts {
		return s, false
	}
	slices.SortFunc(list, func(a, b SlowSender) int { return cmp.Compare(a.Rate, b.Rate) })
	s = list[0]
	s.Others, s.Least, s.Most = len(list)-1, list[1].Rate, list[len(list)-1].Rate
	if s.Least < senderTimes*s.Rate || s.Most > senderSpread*s.Least || !acknowledgedSoon(hosts, asked, s.Host) {
		return s, false
	}
	s.compare(alone)
	s.follows(all)
	return s, true
}

// compare sets how long the messages take that are all as long, and whether the first of its was no faster.
func (s *SlowSender) compare(alone []HostMessage) {
	var took, usual []time.Duration
	s.Bytes = alone[0].Bytes
	for i := range alone {
		m := &alone[i]
		if m.Bytes != s.Bytes {
			s.Bytes = 0
		}
		switch d := time.Duration(m.End - m.Begin); {
		case m.From != s.Host:
			usual = append(usual, d)
		default:
			s.Always = s.Always || len(took) == 0 && m.rate() <= senderSpread*s.Rate
			took = append(took, d)
		}
	}
	if s.Bytes != 0 {
		s.Took, s.Usual = median(took), median(usual)
	}
}

// follows finds the host to which its messages go, if it sends its own next one soon after most of them.
func (s *SlowSender) follows(all []HostMessage) {
	var after []time.Duration
	for i := range all {
		m := &all[i]
		if m.From != s.Host || m.Packets < SenderPackets {
			continue
		}
		if s.Next.Of > 0 && m.To != s.Next.Host {
			s.Next = Follows{}
			return
		}
		s.Next.Host = m.To
		s.Next.Of++
		for j := i + 1; j < len(all) && all[j].Begin <= m.End+(m.End-m.Begin)/senderSoon; j++ {
			o := &all[j]
			if o.From != m.To || o.Packets < SenderPackets || o.To == s.Host || o.End < m.End {
				continue
			}
			if o.Begin >= m.End {
				after = append(after, time.Duration(o.Begin-m.End))
			}
			break // else it was sending before
		}
	}
	if s.Next.Count = len(after); float64(len(after)) < senderFollows*float64(s.Next.Of) {
		s.Next.Count = 0
		return
	}
	s.Next.After = median(after)
}

// acknowledgedSoon reports whether the ACKs for a host come as soon as those for others, so that no receiver holds it up.
func acknowledgedSoon(hosts int, asked []Asked, host int) bool {
	by := make([][]time.Duration, hosts)
	for _, a := range asked {
		for _, w := range a.List {
			by[a.From] = append(by[a.From], w.Took)
		}
	}
	most := time.Duration(0)
	for h, list := range by {
		if h != host && len(list) > 0 {
			most = max(most, median(list))
		}
	}
	return len(by[host]) >= senderMessages && median(by[host]) <= senderAcks*most
}

// aloneOf lists the messages that tell at which rate a host sends the packets within one: while it sends no other, and while nothing else goes to the receiver, but for a few of one packet.
func aloneOf(hosts int, all []HostMessage, reads []bool) (alone []HostMessage) {
	shared := make([]bool, len(all))
	overlaps(hosts, all, shared, func(m *HostMessage) int { return m.From })
	overlaps(hosts, all, shared, func(m *HostMessage) int { return m.To })
	for i := range all {
		m := &all[i]
		if !shared[i] && !reads[m.From] && !reads[m.To] && m.Packets >= SenderPackets && m.End-m.Begin >= int64(senderTime) {
			alone = append(alone, *m)
		}
	}
	return alone
}

// rate is that of the packets within a message, in bits a second.
func (m *HostMessage) rate() float64 {
	between := float64(m.Packets-1) / float64(m.Packets) // of its bytes: one packet is before or after that time
	return 8 * float64(m.Bytes) * between / time.Duration(m.End-m.Begin).Seconds()
}

// ratesOf lists the rates of messages by the host that sent them.
func ratesOf(hosts int, alone []HostMessage) [][]float64 {
	rates := make([][]float64, hosts)
	for i := range alone {
		rates[alone[i].From] = append(rates[alone[i].From], alone[i].rate())
	}
	return rates
}

// overlaps marks the messages, in the order in which they begin, that were sent while another of the same host was, or more than a few of one packet.
func overlaps(hosts int, all []HostMessage, shared []bool, of func(*HostMessage) int) {
	last := make([]int, hosts) // place, from 1 on, of the message that ends last
	small := make([]struct{ packets, bytes uint32 }, hosts)
	for i := range all {
		m := &all[i]
		h := of(m)
		n := last[h] - 1
		if n >= 0 && m.Begin < all[n].End {
			if m.Packets == 1 && m.End <= all[n].End {
				x := &small[h]
				x.packets, x.bytes = x.packets+1, x.bytes+m.Bytes
				shared[n] = shared[n] || x.packets*senderFew > all[n].Packets || x.bytes > all[n].Bytes/senderSmall
				continue
			}
			shared[i], shared[n] = true, true
		}
		if n < 0 || m.End >= all[n].End {
			last[h] = i + 1
			small[h] = struct{ packets, bytes uint32 }{}
		}
	}
}
