package incident_test

import "testing"

// TestEpisodesOfCongestion: of congestion with long breaks between it is told when each episode was, and a link is said to be full only where as much went nearly all of the time that something did; not where the breaks are short,
// and where what is sent falls far between marks, it is said that the link was full at times.
func TestEpisodesOfCongestion(t *testing.T) {
	const (
		episodes = "episodes: 2, with breaks between: +0.000 s for 5.06ms, +0.461 s for 5.12ms"
		what     = ", in 2 episodes of 10.2ms in all"
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
