package incident_test

import (
	"slices"
	"testing"
	"time"

	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/timing"
)

// TestEpisodesOfCongestion: of congestion with long breaks between it is told when each episode was, and a link is said to be full only where as much went nearly all of the time that something did; not where the breaks are short,
// and where what is sent falls far between marks, it is said that the link was full at times.
func TestEpisodesOfCongestion(t *testing.T) {
	const (
		episodes = "episodes: 2, with breaks between: +0.000 s for 5.06ms, +0.461 s for 5.12ms (by whole 256µs: each may be shorter)"
		what     = ", in 2 episodes of 10.2ms in all at most"
		full     = "which they fill."
		free     = "nothing to repair: the link is full"
		times    = "which they fill at times."
		mean     = "from the first of these to the last, it was "
	)
	told := func(apart, low int64) string {
		s := &burstScene{}
		for from := byte(1); from <= 2; from++ {
			var list []window
			for b := range int64(2) {
				for k := range int64(20) {
					w := window{b*apart + k, 200, 0.4}
					if k%2 == 1 && k < 19 {
						w.kb, w.marked = low, 0
					}
					list = append(list, w)
				}
			}
			s.sends(from, 9, 40, list)
		}
		return s.told()
	}
	for _, k := range []struct {
		name       string
		apart, low int64
		want, not  []string
	}{
		{"two, full", 1800, 192, []string{episodes, what, full, free}, []string{times, mean}},
		{"two, free at times", 1800, 40, []string{episodes, what, times, mean, "which at times fill its link", "fair: ", "how far the senders slow down"}, []string{full, free}},
		{"short breaks", 300, 192, []string{full}, []string{"episodes"}},
	} {
		contains(t, k.name, told(k.apart, k.low), k.want, k.not)
	}
}

// TestEpisodesByMarks: episodes last from the first marked packet of each to its last one where all marks are kept, and else by whole windows.
func TestEpisodesByMarks(t *testing.T) {
	const (
		exact = "episodes: 2, with breaks between: +0.000 s for 576µs, +0.461 s for 576µs, from the first marked packet of each to its last"
		most  = "for 768µs (by whole 256µs: each may be shorter)"
	)
	for _, k := range []struct {
		name      string
		without   int
		want, not []string
	}{
		{"all kept", 0, []string{exact, ", in 2 episodes of 1.15ms in all, "}, []string{most, "at most"}},
		{"not all kept", 1, []string{most, " in all at most, "}, []string{"576µs"}},
	} {
		s := &burstScene{}
		var list []window
		for b := range int64(2) {
			for w := range int64(3) {
				list = append(list, window{b*1800 + w, 400, 1})
			}
		}
		s.sends(1, 9, 40, list)
		s.r.Findings = slices.DeleteFunc(s.r.Findings, func(f rule.Finding) bool { return f.Rule == rule.EvCE })
		begin := second(1) / timing.BusyWidth * timing.BusyWidth
		for n := range 600 - k.without {
			at := begin + int64(n/300)*1800*timing.BusyWidth + int64(100*time.Microsecond) + int64(n%300)*int64(576*time.Microsecond)/299
			s.r.Findings = append(s.r.Findings, rule.Finding{
				Rule: rule.EvCE, Class: rule.Event, Time: at, Frame: uint64(5000 + n),
				Accused: rule.Endpoint{Addr: packet.IPv4Addr([]byte{10, 0, 0, 1})}, Peer: rule.Endpoint{Addr: packet.IPv4Addr([]byte{10, 0, 0, 9})},
			})
		}
		contains(t, k.name, s.told(), k.want, k.not)
	}
}
