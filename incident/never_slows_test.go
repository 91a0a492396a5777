package incident_test

import (
	"strings"
	"testing"
)

// TestNeverSlows: a sender whose rate falls in none of many bursts, though that of others which begin with it and send as much does in most of
// theirs, is told first, as likely; who slowed down in how many bursts is told of all: not where it slows down too, sends less than the others had
// when they did, begins at other times, got few CNPs, or where there are few bursts.
func TestNeverSlows(t *testing.T) {
	const (
		what = "10.0.0.1 likely does not slow down though 80 CNPs came to it: its rate fell in none of its 9 bursts (each over within 1.02ms), " +
			"those of 10.0.0.2 and 10.0.0.3 that began with it, in 18 of 18, before they had sent as much; " +
			"so its reaction point (congestion control) is off or set otherwise, or its CNPs were lost after the tap. The network marked "
		slowed = "10.0.0.2 in 9 of 9 (from 4.16 Gbit/s to 512 Mbit/s; 60 CNPs), 10.0.0.3 in 9 of 9 (from 4.16 Gbit/s to 512 Mbit/s; 60 CNPs) and " +
			"10.0.0.1 in none of 9 (each over within 1.02ms; 80 CNPs)"
		next = "next: congestion control on 10.0.0.1 (RoCE reaction point: ecn/roce_rp/enable)"
	)
	fell := []int64{160, 160, 100, 100, 16, 16, 16, 16, 16, 16}
	full := []int64{160, 160, 160, 160}
	for _, k := range []struct {
		name         string
		kb, others   []int64
		third        []int64 // of 10.0.0.3, where it sends otherwise
		cnps, bursts int
		later        int64 // windows that others begin after it
		want, slowed bool
	}{
		{"never slows", full, fell, nil, 80, 9, 0, true, true},
		{"one other, and one whose bursts are too short to show it", full, fell, []int64{160, 160}, 80, 9, 0, true, true},
		{"two others, one of which never slows either", full, fell, full, 80, 9, 0, false, true},
		{"slows down too", fell, fell, nil, 80, 9, 0, false, true},
		{"sends less", full[:3], fell, nil, 80, 9, 0, false, true},
		{"begins before", full, fell, nil, 80, 9, 2, false, true},
		{"others do not slow down", full, full, nil, 80, 9, 0, false, false},
		{"few CNPs", full, fell, nil, 20, 9, 0, false, true},
		{"few bursts", full, fell, nil, 80, 2, 0, false, true},
	} {
		s := &burstScene{}
		at := func(list []int64, later int64) []window {
			x := inBursts(k.bursts, func(k int64) int64 { return list[k] }, int64(len(list)), 0.5)
			for n := range x {
				x[n].at += later
			}
			return x
		}
		s.sends(1, 9, k.cnps, at(k.kb, 0))
		s.sends(2, 9, 60, at(k.others, k.later))
		third := k.others
		if k.third != nil {
			third = k.third
		}
		s.sends(3, 9, 60, at(third, k.later))
		got := s.told()
		if strings.Contains(got, "likely does not slow down") != k.want ||
			k.want && (!strings.Contains(got, what) && k.third == nil || !strings.Contains(got, slowed) && k.third == nil || !strings.Contains(got, next)) {
			t.Errorf("%s: %s", k.name, got)
		}
		if strings.Contains(got, "slowed: ") != k.slowed {
			t.Errorf("%s: slowed: %s", k.name, got)
		}
	}
}
