package incident_test

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/timing"
)

// burstScene is what hosts 10.0.0.1 and on send to others, in windows of timing.BusyWidth from second(1) on.
type burstScene struct {
	r agent.Result
}

// window is what a host sent in one of them: kilobytes, and whether its packets are marked.
type window struct {
	at, kb int64
	marked float64
}

// sends adds a connection on which a host sends to another, and gets CNPs.
func (s *burstScene) sends(from, to byte, cnps int, list []window) {
	c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: second(1), FirstFrame: uint64(len(s.r.Connections) + 1), Timing: &timing.Connection{}}
	x := &c.Timing.Ends[0]
	bytes, marked := uint64(0), uint64(0)
	for _, w := range list {
		n := w.kb / 4
		x.Busy.Windows = append(x.Busy.Windows, timing.Window{At: second(1)/timing.BusyWidth + w.at, Bytes: uint32(4096 * n), Packets: uint16(n), Marked: uint16(w.marked * float64(n))})
		bytes, marked = bytes+uint64(4096*n), marked+uint64(w.marked*float64(n))
	}
	x.Series = timing.Series{Start: second(1), Width: second(1), Slots: []timing.Slot{{Bytes: bytes}}}
	x.Marked = marked
	c.Ends[0] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, from}), QPN: 16, QPNKnown: true, Packets: bytes / 4096, Bytes: bytes, Last: second(2)}
	c.Ends[1] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, to}), QPN: uint32(from), QPNKnown: true, Packets: 99, Last: second(2)}
	if cnps > 0 {
		c.Ends[0].Trouble = &qp.Trouble{Notified: &qp.Notified{Count: uint64(cnps), First: second(1) + int64(time.Millisecond), Last: second(2), Until: bytes}}
	}
	for k := range max(cnps, 1) {
		f := rule.Finding{
			Rule: rule.EvCE, Class: rule.Event, Time: second(1) + int64(k)*int64(time.Second)/int64(max(cnps, 1)), Frame: 1000*uint64(from) + uint64(k), Accused: rule.Endpoint{Addr: c.Ends[0].Addr},
			Peer: rule.Endpoint{Addr: c.Ends[1].Addr},
		}
		if marked > 0 {
			s.r.Findings = append(s.r.Findings, f)
		}
		if f.Rule, f.Accused, f.Peer = rule.EvCNP, f.Peer, f.Accused; cnps > 0 {
			s.r.Findings = append(s.r.Findings, f)
		}
	}
	s.r.Connections = append(s.r.Connections, c)
}

// told is what is told of it.
func (s *burstScene) told() string {
	s.r.First, s.r.Last, s.r.RDMA = second(1), second(2), 1
	var b strings.Builder
	b.WriteString(toldOf(&s.r))
	for _, i := range incident.Of(&s.r) {
		b.WriteString("fits: " + strings.Join(i.FitsWith, "; ") + "\nnext: " + strings.Join(i.Next, "; ") + "\n")
	}
	return b.String()
}

// inBursts repeats what a host sends, every 100 ms.
func inBursts(n int, kb func(k int64) int64, length int64, marked float64) (list []window) {
	for b := range int64(n) {
		for k := range length {
			if kb(k) > 0 {
				list = append(list, window{400*b + k, kb(k), marked})
			}
		}
	}
	return list
}

// TestKeepsOn: a sender that goes on in its bursts at several times the rate of the others, though as many CNPs come to it, is told first, and no shares are called fair: not where it slows down as
// others do, where it gets few CNPs, where fewer of its packets are marked, where CNPs of another go to fewer queue pairs, or where there is but one burst.
func TestKeepsOn(t *testing.T) {
	const (
		what = "10.0.0.1 seems not to slow down though CNPs come to it: in bursts it goes on at 25.6 Gbit/s, and 3 others at 256 Mbit/s. The network marked "
		fact = "reaction: none of 10.0.0.1 that its rate shows, beside 10.0.0.2, 10.0.0.3 and 10.0.0.4: in 8 bursts, from 1ms after the beginning of each on; 90 % of its packets are marked, and 39 % of those of the others, though 80 CNPs came to it, and 90 to each of them"
		fits = "fits: congestion control of 10.0.0.1 (reaction point) that is off for this priority"
	)
	fast := func(int64) int64 { return 800 }
	slows := func(k int64) int64 { // to less than is kept, and up again
		switch {
		case k < 4:
			return 200
		case k < 16:
			return 8
		}
		return 200
	}
	for _, k := range []struct {
		name   string
		kb     func(int64) int64
		marked float64
		cnps   int
		pairs  int
		bursts int
		want   bool
	}{
		{"goes on", fast, 0.9, 80, 1, 8, true},
		{"slows down too", slows, 0.9, 80, 1, 8, false},
		{"slows down within each", func(k int64) int64 { return 800 - 50*k }, 0.9, 80, 1, 8, false},
		{"few CNPs", fast, 0.9, 30, 1, 8, false},
		{"marked as others are", fast, 0.5, 80, 1, 8, false},
		{"CNPs to two queue pairs", fast, 0.9, 80, 2, 8, false},
		{"one burst", fast, 0.9, 80, 1, 1, false},
	} {
		s := &burstScene{}
		for n := range k.pairs {
			list := inBursts(k.bursts, k.kb, 14, k.marked)
			for w := range list {
				list[w].kb /= int64(k.pairs)
			}
			s.sends(1, 9, k.cnps/k.pairs, list)
			s.r.Connections[n].Ends[0].QPN += uint32(n)
		}
		for n := byte(2); n <= 4; n++ {
			s.sends(n, 9, 90, inBursts(k.bursts, slows, 40, 0.4))
		}
		got := s.told()
		if strings.Contains(got, "seems not to slow down") != k.want || k.want && (!strings.Contains(got, what) || !strings.Contains(got, fact) || !strings.Contains(got, fits)) || strings.Contains(got, "nothing to repair") {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}

// TestKeepsOnShort: a sender whose bursts end within a millisecond is told likewise, where it sends no less after the first half of that than before, while the others, whose packets are in the same queue, do: not where it
// sends less, as one whose program has less to send in a burst, nor where the others slow down only later.
func TestKeepsOnShort(t *testing.T) {
	const (
		what = "10.0.0.1 seems not to slow down though CNPs come to it: in bursts it goes on at 19.2 Gbit/s, and 3 others at 256 Mbit/s. The network marked "
		fact = "reaction: none of 10.0.0.1 that its rate shows, beside 10.0.0.2, 10.0.0.3 and 10.0.0.4: in 10 bursts, from 512µs after the beginning of each on; 90 % of its packets are marked, "
	)
	early, late := []int64{200, 200, 8}, []int64{200, 200, 200, 200}
	at := func(list []int64) func(int64) int64 {
		return func(k int64) int64 { return list[min(int(k), len(list)-1)] }
	}
	for _, k := range []struct {
		name   string
		kb     []int64 // in each window of a burst
		others []int64
		want   bool
	}{
		{"goes on", []int64{320, 400, 600, 600}, early, true},
		{"slows down within each", []int64{800, 700, 500, 500}, early, false},
		{"others do not slow down", []int64{320, 400, 600, 600}, late, false},
	} {
		s := &burstScene{}
		s.sends(1, 9, 80, inBursts(12, at(k.kb), int64(len(k.kb)), 0.9))
		for n := byte(2); n <= 4; n++ {
			s.sends(n, 9, 90, inBursts(12, at(k.others), 20, 0.4))
		}
		got := s.told()
		if strings.Contains(got, "seems not to slow down") != k.want || k.want && (!strings.Contains(got, what) || !strings.Contains(got, fact)) {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}

// TestIdleMostly: where hosts send only in bursts, rates and shares are those of the bursts, and a link is full where it is in the windows with marks, several of them sending.
func TestIdleMostly(t *testing.T) {
	told := func(a, b int64) string {
		s := &burstScene{}
		s.sends(1, 9, 40, inBursts(8, func(int64) int64 { return a }, 14, 0.4))
		s.sends(2, 9, 40, inBursts(8, func(int64) int64 { return b }, 14, 0.4))
		return s.told()
	}
	for _, want := range []string{
		"senders: 10.0.0.1 (2,240 marked, 40 CNPs, 6.4 Gbit/s)", "; rates of payload while each sent", "2 hosts share one link, which they fill",
		"rate: in all 12.8 Gbit/s of payload went to 10.0.0.9 meanwhile (median of 112 times 256µs in which packets were marked)",
	} {
		if got := told(200, 200); !strings.Contains(got, want) {
			t.Errorf("want %q: %s", want, got)
		}
	}
	if got := told(20, 800); strings.Contains(got, "which they fill") || strings.Contains(got, "nothing to repair") {
		t.Errorf("one only: %s", got)
	}
}

// TestSlowPort: that never more than so much goes to a host, even from a single sender, while the same sender sends much more to another one without marks, is told first, and incast is not: not where
// it sends as fast to the other as to this one, where its packets to that are marked too, or where what goes to this one comes near the most only now and then.
func TestSlowPort(t *testing.T) {
	const (
		what = "The link of 10.0.0.9 seems to be slow: never more than 10.2 Gbit/s went to it, and 25.6 Gbit/s to 10.0.0.8. The network marked "
		fact = "speed: never more than 10.2 Gbit/s of payload went to 10.0.0.9 in 256µs, and as much when only one host sent; 10.0.0.1 sent up to 25.6 Gbit/s to 10.0.0.8 so, of which nothing was marked"
		fits = "fits: a port of 10.0.0.9 that runs at a lower speed than that of 10.0.0.8"
	)
	steady := func(kb int64) func(int64) int64 { return func(int64) int64 { return kb } }
	for _, k := range []struct {
		name  string
		here  func(int64) int64
		there func(int64) int64
		marks float64
		want  bool
	}{
		{"slow", steady(320), steady(800), 0, true},
		{"as fast there", steady(320), steady(320), 0, false},
		{"marked there", steady(320), steady(800), 0.3, false},
		{"no ceiling", func(k int64) int64 { return 160 + k%8*20 }, steady(800), 0, false},
	} {
		s := &burstScene{}
		s.sends(1, 9, 40, inBursts(6, k.here, 8, 0.3))
		s.sends(2, 9, 40, inBursts(6, func(n int64) int64 { return max(n-20, 0) * 50 }, 24, 0.3))
		s.sends(1, 8, 0, inBursts(6, k.there, 8, k.marks))
		got := s.told()
		if strings.Contains(got, "seems to be slow") != k.want || strings.Contains(got, "incast") == k.want || k.want && (!strings.Contains(got, what) || !strings.Contains(got, fact) || !strings.Contains(got, fits)) {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
