package incident_test

import (
	"testing"

	"ibwitness/timing"
)

// TestSlump: senders that CNPs slow down to less than a tenth while their messages are in progress, and that fill their link to less than a half so,
// have not a link that is full: not where they fall less far, where they recover soon, where their messages are over, or where these are not known.
func TestSlump(t *testing.T) {
	const (
		what = "2 hosts share one link, which they fill only until they slow down: " +
			"at most 768 Mbit/s came in the slowest millisecond after that, where 25.6 Gbit/s had come, and 9.63 Gbit/s on average (38 %)."
		fact = "over time: in 8 of 8 bursts whose messages tell, from the first mark on: 25.6 Gbit/s of payload in all until then, at most 768 Mbit/s " +
			"in the slowest millisecond, which began 1.02ms after it, though messages were in progress; half of that was reached again 3.07ms after that mark; " +
			"on average 9.63 Gbit/s (38 %) until the last packet, 5.12ms after the mark (medians)"
		fits = "fits: congestion control (DCQCN) of the senders that slows them down too far at CNPs, and raises their rates too slowly; 2 senders to"
		next = "next: how far the reaction points of the senders slow down (ecn/roce_rp: rpg_gd, dce_tcp_g, rpg_min_rate, rpg_min_dec_fac), " +
			"and how soon they recover (rpg_time_reset, rpg_byte_reset, rpg_ai_rate, rpg_hai_rate); the marking thresholds (ECN: Kmin, Kmax"
		full, free, over = "which they fill.", "nothing to repair: the link is full", "over time"
	)
	deep := []int64{400, 400, 400, 400, 12, 12, 12, 12, 40, 40, 40, 40, 200, 200, 200, 200, 100, 100, 100, 100}
	for _, k := range []struct {
		name      string
		kb        []int64
		length    int64 // of a message, in windows
		want, not []string
	}{
		{"deep", deep, 20, []string{what, fact, fits, next}, []string{full, free}},
		{"not so far", []int64{400, 400, 400, 400, 60, 60, 60, 60, 60, 60, 60, 60, 200, 200, 200, 200}, 16, []string{full, free}, []string{over}},
		{"soon as fast again", []int64{400, 400, 400, 400, 12, 12, 12, 12, 400, 400, 400, 400, 400, 400, 400, 400}, 16, []string{full, free}, []string{over}},
		{"messages over", deep, 4, []string{full, free}, []string{over}},
		{"messages not known", deep, 0, []string{full, free}, []string{over}},
	} {
		s := &burstScene{}
		for from := byte(1); from <= 2; from++ {
			list := inBursts(8, func(n int64) int64 { return k.kb[n] }, int64(len(k.kb)), 0)
			for n := range list {
				if list[n].at%400 < 4 {
					list[n].marked = 0.4
				}
			}
			s.sends(from, 9, 40, list)
			c := &s.r.Connections[len(s.r.Connections)-1]
			c.PMTU = 4096
			for b := int64(0); b < 8 && k.length > 0; b++ {
				begin := (second(1)/timing.BusyWidth + 400*b) * timing.BusyWidth
				c.Timing.Ends[0].Sent = append(c.Timing.Ends[0].Sent, timing.Sent{Begin: begin, End: begin + k.length*timing.BusyWidth - 1000})
			}
		}
		contains(t, k.name, s.told(), k.want, k.not)
	}
}

// TestSlumpOfSome: where bursts of many hosts at once are over soon, and senders slow down far in one, that is told of this one, of the others that
// they did not, and incast fits first; not where they do in each.
func TestSlumpOfSome(t *testing.T) {
	const (
		what = "in 1 of 4 bursts (+0.001 s) at most 1.15 Gbit/s came in the slowest millisecond after that, where 38.4 Gbit/s had come, and " +
			"13.3 Gbit/s on average (35 %); the 3 others were over within 767µs, at 38.5 Gbit/s on average."
		fact = "incast: 3 hosts began to send within 1µs of one another in each of the 4 bursts in which packets were marked; none was in 1 burst of one of them by itself, of about as much"
		fits = "fits: incast: 3 hosts that begin at once to send more to 10.0.0.9 than its link has room for; congestion control (DCQCN)"
		next = "next: whether fewer hosts can send at once, or one after the other; how far the reaction points"
	)
	deep := []int64{400, 400, 400, 400, 12, 12, 12, 12, 40, 40, 40, 40, 100, 100, 100, 100}
	for _, all := range []bool{false, true} {
		s := &burstScene{}
		for from := byte(1); from <= 3; from++ {
			var list []window
			var spans [][2]int64
			for b := range int64(4) {
				length := int64(3)
				if b == 0 || all {
					length = int64(len(deep))
				}
				for k := range length {
					list = append(list, window{4 + 400*b + k, deep[k], 0.4})
				}
				spans = append(spans, [2]int64{4 + 400*b, 4 + 400*b + length})
			}
			if from == 1 {
				for k := range int64(3) {
					list = append(list, window{1604 + k, 400, 0})
				}
				spans = append(spans, [2]int64{1604, 1607})
			}
			s.sends(from, 9, 40, list)
			c := &s.r.Connections[len(s.r.Connections)-1]
			c.PMTU = 4096
			for _, x := range spans {
				begin := (second(1)/timing.BusyWidth + x[0]) * timing.BusyWidth
				c.Timing.Ends[0].Sent = append(c.Timing.Ends[0].Sent, timing.Sent{Begin: begin, End: begin + (x[1]-x[0])*timing.BusyWidth - 1000})
			}
		}
		if got := s.told(); all {
			contains(t, "all", got, []string{"at most ", "fits: congestion control (DCQCN)"}, []string{"incast: 3", "others were"})
		} else {
			contains(t, "one", got, []string{what, fact, fits, next}, []string{"on average meanwhile"})
		}
	}
}
