package timing

import (
	"time"
)

// Last is a host that sends its first data of a round late, or its first message where it has sent none: all others of its group have sent some by then, and nothing has been sent for long.
type Last struct {
	Host        int
	Others      int           // hosts of the group that had sent by then
	Count       int           // of rounds in which that was so
	Rounds      int           // of the group
	Least, Most time.Duration // for which nothing was sent then
	Sum         time.Duration
	From        int64 // when that first was so, nanoseconds since the Unix epoch
	Since       bool  // there were rounds before, at the beginning, in which it was not
}

const (
	lastHosts = 3  // of a group
	lastLeast = 8  // rounds
	lastShare = 10 // of the time of the group, one in so many
	lastOther = 8  // one such round in so many may be of another host
)

// LastOf finds it, where there is one, among hosts of which each sends.
func LastOf(hosts int, list []Link) (best Last, ok bool) {
	group := groups(hosts, list)
	for first := range hosts {
		var of []Link
		for i := range list {
			if group[list[i].Hosts[0]] == first {
				of = append(of, list[i])
			}
		}
		if l, found := lastOf(hosts, roundsOf(of)); found && l.Sum > best.Sum {
			best, ok = l, true
		}
	}
	return best, ok
}

// groups numbers hosts by the first of those that connections join.
func groups(hosts int, list []Link) []int {
	group := make([]int, hosts)
	for h := range group {
		group[h] = h
	}
	for i := range list {
		a, b := group[list[i].Hosts[0]], group[list[i].Hosts[1]]
		for h := range group {
			if group[h] == max(a, b) {
				group[h] = min(a, b)
			}
		}
	}
	return group
}

// roundMessage is a message, and whether it is of data: not one of those, much smaller, by which the receiver of data answers it.
type roundMessage struct {
	Sent
	from int
	data bool
}

func roundsOf(list []Link) (all []roundMessage) {
	for i := range list {
		l := &list[i]
		for k := range l.Sent {
			for _, s := range l.Sent[k] {
				all = append(all, roundMessage{s, l.Hosts[k], l.Bytes[k]*linkData > l.Bytes[1-k]})
			}
		}
	}
	inOrder(all, func(m *roundMessage) int64 { return m.Begin })
	return all
}

func lastOf(hosts int, all []roundMessage) (l Last, ok bool) {
	every, sends := newHostSet(hosts), newHostSet(hosts) // of anything, and of data
	for i := range all {
		if every.add(all[i].from); all[i].data {
			sends.add(all[i].from)
		}
	}
	others := sends.n - 1
	if others < lastHosts-1 {
		return l, false
	}
	of := make([]Last, hosts)
	data, some := newHostSet(hosts), newHostSet(hosts) // since the newest silence
	l.Rounds = 1
	for at, until := 0, int64(0); at < len(all); at++ {
		m := &all[at]
		if silence := m.Begin - until; at > 0 && silence >= LongSilence {
			if m.data && data.butOne(m.from, others) || some.butOne(m.from, every.n-1) {
				of[m.from].waited(time.Duration(silence), until, l.Rounds > 1)
			} else {
				l.Rounds++
			}
			data.clear()
			some.clear()
		}
		until = max(until, m.End)
		if some.add(m.from); m.data {
			data.add(m.from)
		}
	}
	rounds, count := l.Rounds, 0
	for h := range of {
		if of[h].Host = h; of[h].Count > l.Count {
			l = of[h]
		}
		count += of[h].Count
	}
	l.Others, l.Rounds = others, rounds
	elapsed := time.Duration(all[len(all)-1].End - all[0].Begin)
	return l, l.Count >= lastLeast && (count-l.Count)*lastOther <= l.Count && l.Sum*lastShare >= elapsed
}

// hostSet is which hosts have sent something.
type hostSet struct {
	sent []bool
	n    int
}

func newHostSet(hosts int) hostSet { return hostSet{sent: make([]bool, hosts)} }

func (s *hostSet) add(host int) {
	if !s.sent[host] {
		s.sent[host] = true
		s.n++
	}
}

func (s *hostSet) clear() {
	clear(s.sent)
	s.n = 0
}

// butOne reports whether so many others have sent something, and a host has not.
func (s *hostSet) butOne(host, others int) bool { return s.n == others && !s.sent[host] }

// waited takes that all waited for the host. before says that there was a round before in which they did not.
func (l *Last) waited(silence time.Duration, at int64, before bool) {
	if l.Count == 0 {
		l.Least, l.From, l.Since = silence, at, before
	}
	l.Count++
	l.Least, l.Most, l.Sum = min(l.Least, silence), max(l.Most, silence), l.Sum+silence
}
