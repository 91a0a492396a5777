package timing

import (
	"testing"
	"time"

	"ibwitness/packet"
)

// TestSentPackets: when a message was sent is kept with its bytes and its packets.
func TestSentPackets(t *testing.T) {
	s := begin(t, nil)
	s.request(0, packet.SendFirst, 1, 1024)
	s.request(5, packet.SendMiddle, 2, 1024)
	s.request(9, packet.SendLast, 3, 100)
	if got, want := s.c.Ends[0].Sent, (Sent{at(0), at(9), 2148, 3}); len(got) != 1 || got[0] != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// senders are messages of a ring of hosts, of 9 packets each: of each host at a pace, the time between two packets, one after the other, and how long they wait for ACKs.
func senders(n int, pace func(host, i int) time.Duration, acks func(host int) time.Duration) (list []Link, asked []Asked) {
	for h := range len(ringPaces) {
		l, w := Link{Hosts: [2]int{h, (h + 1) % len(ringPaces)}}, &AckWaits{Every: 1}
		for i := range n {
			begin := int64(i)*int64(time.Millisecond) + int64(h)
			end := begin + 8*int64(pace(h, i))
			l.Sent[0] = append(l.Sent[0], Sent{begin, end, 9 * 4096, 9})
			w.List = append(w.List, AckWait{At: end, Took: acks(h)})
		}
		list, asked = append(list, l), append(asked, Asked{l.Hosts[0], l.Hosts[1], w})
	}
	return list, asked
}

// ringPaces are the usual times between two packets of four hosts, of which the third is slow.
var ringPaces = [4]time.Duration{500, 520, 2000, 490}

// TestSlowSender: the host is told that sends the packets within a message at half the rate of every other or less; not where others differ as well, where its messages differ, where it sends others meanwhile, or others to
// the same receiver, where its ACKs come late, where READs are answered, and of few hosts or messages.
func TestSlowSender(t *testing.T) {
	const n = 20
	usual := func(h, _ int) time.Duration { return ringPaces[h] }
	soon := func(int) time.Duration { return 5 * time.Microsecond }
	with := func(link Link, each int, took int64, s Sent) func(list []Link, _ []bool) []Link {
		return func(list []Link, _ []bool) []Link {
			for i := range n * each {
				s.Begin = int64(i/each)*int64(time.Millisecond) + 100 + 200*int64(i%each)
				s.End = s.Begin + took
				link.Sent[0] = append(link.Sent[0], s)
			}
			return append(list, link)
		}
	}
	beside := func(link Link) func(list []Link, _ []bool) []Link {
		return with(link, 1, 1000, Sent{Bytes: 8192, Packets: 2})
	}
	ackOf := Sent{Bytes: 64, Packets: 1}
	for name, k := range map[string]struct {
		pace   func(h, i int) time.Duration
		acks   func(h int) time.Duration
		n      int
		change func(list []Link, reads []bool) []Link
		told   bool
	}{
		"slow":       {told: true},
		"even":       {pace: func(int, int) time.Duration { return 500 }},
		"little":     {pace: func(h, _ int) time.Duration { return min(ringPaces[h], 900) }},
		"others too": {pace: func(h, _ int) time.Duration { return ringPaces[h] * time.Duration(1+h%2) }},
		"two": {pace: func(h, _ int) time.Duration {
			return 500 * time.Duration(1+3*(h%2))
		}},
		"now and then":      {pace: func(h, i int) time.Duration { return ringPaces[h] / time.Duration(1+i%2*(h/2)*3) }},
		"late ACKs":         {acks: func(h int) time.Duration { return []time.Duration{5, 5, 50, 5}[h] * time.Microsecond }},
		"few":               {n: 10},
		"sends others":      {change: beside(Link{Hosts: [2]int{2, 0}})},
		"others to it":      {change: beside(Link{Hosts: [2]int{0, 3}})},
		"elsewhere":         {change: beside(Link{Hosts: [2]int{4, 5}}), told: true},
		"sends a small one": {change: with(Link{Hosts: [2]int{2, 1}}, 1, 0, ackOf), told: true},
		"a small one to it": {change: with(Link{Hosts: [2]int{0, 3}}, 1, 0, ackOf), told: true},
		"sends small ones":  {change: with(Link{Hosts: [2]int{2, 1}}, 4, 0, ackOf)},
		"sends a packet":    {change: with(Link{Hosts: [2]int{2, 1}}, 1, 0, Sent{Bytes: 4096, Packets: 1})},
		"answers READs":     {change: func(list []Link, reads []bool) []Link { reads[2] = true; return list }},
		"two hosts":         {change: func(list []Link, _ []bool) []Link { return list[1:3] }},
		"small messages":    {change: func(list []Link, _ []bool) []Link { return smaller(list) }},
		"fast and in time":  {pace: func(h, _ int) time.Duration { return ringPaces[h] / 20 }},
	} {
		if k.pace == nil {
			k.pace = usual
		}
		if k.acks == nil {
			k.acks = soon
		}
		if k.n == 0 {
			k.n = n
		}
		list, asked := senders(k.n, k.pace, k.acks)
		reads := make([]bool, 6)
		if k.change != nil {
			list = k.change(list, reads)
		}
		s, ok := SlowSenderOf(6, list, asked, reads)
		if ok != k.told {
			t.Errorf("%s: %+v, %v", name, s, ok)
		}
		if ok && (s.Bytes != 9*4096 || s.Took != 16*time.Microsecond || s.Usual != 4*time.Microsecond || !s.Always || s.Next.Count != 0) {
			t.Errorf("%s: %+v", name, s)
		}
		if ok && (s.Host != 2 || s.Messages != n || s.Others != 3 || int(s.Rate/1e6) != 16384 || int(s.Most/1e6) != 66873 || int(s.Least/1e6) != 63015) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// smaller has the messages be of few packets.
func smaller(list []Link) []Link {
	for i := range list {
		for j := range list[i].Sent[0] {
			list[i].Sent[0][j].Packets = 7
		}
	}
	return list
}

// TestSlowSenderNext: the host goes on soon after each message of a slow one that has gone to it; not if it went on before, or long after.
func TestSlowSenderNext(t *testing.T) {
	for name, k := range map[string]struct {
		after time.Duration // from the end of a message to the next one
		count int
	}{"after": {3 * time.Microsecond, 20}, "before": {-time.Microsecond, 0}, "later": {8 * time.Microsecond, 0}} {
		list, asked := senders(20, func(h, _ int) time.Duration { return ringPaces[h] }, func(int) time.Duration { return time.Microsecond })
		for i := range list[3].Sent[0] {
			s := &list[3].Sent[0][i]
			took := s.End - s.Begin
			s.Begin = list[2].Sent[0][i].End + int64(k.after)
			s.End = s.Begin + took
		}
		s, ok := SlowSenderOf(6, list, asked, make([]bool, 6))
		if want := (Follows{Host: 3, Count: k.count, Of: 20}); !ok || s.Next.Host != want.Host || s.Next.Count != want.Count || s.Next.Of != want.Of || k.count > 0 && s.Next.After != k.after {
			t.Errorf("%s: %+v, %v", name, s, ok)
		}
	}
}
