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
)

// SlowSenderOf finds it among some hosts, where there is one, whose ACKs come as soon as those of the others. Of hosts that also answer READs it is not known.
func SlowSenderOf(hosts int, links []Link, asked []Asked, reads []bool) (s SlowSender, ok bool) {
	rates := ratesOf(hosts, links, reads)
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
	return s, s.Least >= senderTimes*s.Rate && s.Most <= senderSpread*s.Least && acknowledgedSoon(hosts, asked, s.Host)
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

// ratesOf lists at which rates each host sends the packets within a message while it sends no other, and while nothing else goes to the receiver.
func ratesOf(hosts int, links []Link, reads []bool) [][]float64 {
	all := MessagesOf(links)
	shared := make([]bool, len(all))
	overlaps(hosts, all, shared, func(m *HostMessage) int { return m.From })
	overlaps(hosts, all, shared, func(m *HostMessage) int { return m.To })
	rates := make([][]float64, hosts)
	for i := range all {
		m := &all[i]
		if d := m.End - m.Begin; !shared[i] && !reads[m.From] && !reads[m.To] && m.Packets >= SenderPackets && d >= int64(senderTime) {
			between := float64(m.Packets-1) / float64(m.Packets) // of its bytes: one packet is before or after that time
			rates[m.From] = append(rates[m.From], 8*float64(m.Bytes)*between/time.Duration(d).Seconds())
		}
	}
	return rates
}

// overlaps marks the messages, in the order in which they begin, that were sent while another of the same host was.
func overlaps(hosts int, all []HostMessage, shared []bool, of func(*HostMessage) int) {
	last := make([]int, hosts) // place, from 1 on, of the message that ends last
	for i := range all {
		h := of(&all[i])
		n := last[h] - 1
		if n >= 0 && all[i].Begin < all[n].End {
			shared[i], shared[n] = true, true
		}
		if n < 0 || all[i].End >= all[n].End {
			last[h] = i + 1
		}
	}
}
