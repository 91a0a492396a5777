package incident_test

import (
	"strings"
	"testing"
	"time"

	"ibwitness/rule"
	"ibwitness/timing"
)

// TestKeepsRate: a sender whose bursts are over within a millisecond, and that sends at full rate to the end of each though CNPs come to it, is
// told first beside others that slow down meanwhile and stay slow after it, with the rates from the first packet of each burst to the last: not
// where it slows down itself, where the others are as fast once it ends, where few CNPs came to it, or where the times of bursts are not known.
func TestKeepsRate(t *testing.T) {
	const (
		what = "10.0.0.1 did not slow down after 80 CNPs (the first: frame 1000): it sent at 25.6 Gbit/s in 9 bursts of 640µs, no slower in the second half of each, " +
			"while 10.0.0.2 fell from 10.9 Gbit/s to 256 Mbit/s and 10.0.0.3 fell from 10.9 Gbit/s to 256 Mbit/s; " +
			"so its reaction point (congestion control) is off or set otherwise, or its CNPs were lost after the tap. " +
			"The network marked "
		fact = "reaction: none of 10.0.0.1 that its rate shows: 80 CNPs came to it, and 60 to each of the others, " +
			"which slowed down while it sent; "
		fits = "fits: congestion control of 10.0.0.1 (reaction point) that is off for this priority, or set otherwise than that of the others; " +
			"CNPs that are lost after the tap on the way to it"
		rate = "rates of payload from the first packet of each burst to the last"
	)
	fell := []int64{400, 100, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8}
	for _, k := range []struct {
		name    string
		kb      []int64 // in each window of a burst, of which it sends in the first half of the last
		others  []int64
		cnps    int
		unknown bool
		want    bool
	}{
		{"keeps its rate", []int64{800, 800, 400}, fell, 80, false, true},
		{"slows down too", []int64{800, 400, 100}, fell, 80, false, false},
		{"others are as fast once it ends", []int64{800, 800, 400}, []int64{400, 100, 8, 400, 400, 400, 400, 400}, 80, false, false},
		{"others do not slow down", []int64{800, 800, 400}, []int64{400, 400, 400, 400, 400, 400, 400, 400}, 80, false, false},
		{"few CNPs", []int64{800, 800, 400}, fell, 20, false, false},
		{"times not known", []int64{800, 800, 400}, fell, 80, true, false},
	} {
		s := &burstScene{}
		at := func(list []int64) func(int64) int64 { return func(k int64) int64 { return list[k] } }
		s.sends(1, 9, k.cnps, inBursts(9, at(k.kb), int64(len(k.kb)), 0.5))
		s.sends(2, 9, 60, inBursts(9, at(k.others), int64(len(k.others)), 0.1))
		s.sends(3, 9, 60, inBursts(9, at(k.others), int64(len(k.others)), 0.1))
		for n := range s.r.Connections {
			length := int64(len(k.others)) * timing.BusyWidth
			if n == 0 {
				length = 640 * int64(time.Microsecond)
			}
			if !k.unknown {
				s.r.Connections[n].Timing.Ends[0].Active = activeInBursts(9, length)
			}
		}
		got := s.told()
		if strings.Contains(got, "did not slow down after") != k.want ||
			k.want && (!strings.Contains(got, what) || !strings.Contains(got, fact) || !strings.Contains(got, fits)) {
			t.Errorf("%s: %s", k.name, got)
		}
		if strings.Contains(got, rate) == k.unknown {
			t.Errorf("%s: rates: %s", k.name, got)
		}
	}
}

// activeInBursts is when a host sends in the bursts of inBursts, each so long.
func activeInBursts(n int, length int64) (a timing.Activity) {
	begin := second(1) / timing.BusyWidth * timing.BusyWidth
	a.First, a.Last = begin, begin+int64(n-1)*400*timing.BusyWidth+length
	for k := range int64(n - 1) {
		a.Silences = append(a.Silences, timing.Silence{From: begin + k*400*timing.BusyWidth + length, To: begin + (k+1)*400*timing.BusyWidth})
	}
	return a
}

// TestKeepsRateToTheEnd: the last burst of such a sender is one of them though no packet of the others is marked after it, and CNPs that each break
// rule CNG-CNP-003 may be why it does not slow down: not where some do not.
func TestKeepsRateToTheEnd(t *testing.T) {
	fell := []int64{400, 100, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8}
	for _, k := range []struct {
		name   string
		breaks uint64
		becn   string
		want   []string
		not    string
	}{
		{"CNPs as they should be", 0, "", []string{"in 4 bursts of 640µs", "or its CNPs were lost after the tap. "}, "CNG-CNP-003"},
		{"malformed CNPs", 200, "BECN 0, ", []string{
			"in 4 bursts of 640µs", "or its CNPs, each of which breaks rule CNG-CNP-003, were dropped there or lost after the tap. ",
			"CNPs: each breaks rule CNG-CNP-003 (frame 77: MigReq 1, BECN 0 too, which adapters set): an adapter may drop them",
			"; CNPs that 10.0.0.1 does not take, as each breaks rule CNG-CNP-003 (frame 77: MigReq 1, BECN 0 too, which adapters set), though the others slow down after such ones; ",
		}, "or its CNPs were lost"},
		{"malformed CNPs with BECN 1", 200, "", []string{"CNPs: each breaks rule CNG-CNP-003 (frame 77: MigReq 1): an adapter may drop them"}, "BECN"},
		{"some malformed CNPs", 120, "BECN 0, ", []string{"in 4 bursts of 640µs"}, "CNG-CNP-003"},
	} {
		s := &burstScene{}
		at := func(list []int64) func(int64) int64 { return func(k int64) int64 { return list[k] } }
		s.sends(1, 9, 80, inBursts(4, at([]int64{800, 800, 400}), 3, 0.5))
		s.sends(2, 9, 60, inBursts(4, at(fell), int64(len(fell)), 0.1))
		s.sends(3, 9, 60, inBursts(4, at(fell), int64(len(fell)), 0.1))
		begin := activeInBursts(4, 640*int64(time.Microsecond))
		for n := range s.r.Connections {
			s.r.Connections[n].Timing.Ends[0].Active = activeInBursts(4, int64(len(fell))*timing.BusyWidth)
		}
		s.r.Connections[0].Timing.Ends[0].Active = begin
		for n := range s.r.Findings { // the last of them in the last burst
			f := &s.r.Findings[n]
			if f.Time = begin.First + (f.Time-second(1))/1000*(begin.Last-begin.First)/int64(time.Millisecond); f.Frame == 1079 {
				f.Time = begin.Last
			}
		}
		if s.r.Cover[rule.EvCNP].Exercised = 200; k.breaks > 0 {
			s.r.Cover[rule.CNGCNP003].Violated = k.breaks
			s.r.Findings = append(s.r.Findings, rule.Finding{
				Rule: rule.CNGCNP003, Class: rule.Violation, Time: begin.First, Frame: 77, Accused: s.r.Findings[len(s.r.Findings)-1].Accused,
				Actual: "SE false, M true, PadCnt 0, AckReq false, PSN 0x000000, " + k.becn + "16 reserved bytes 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
			})
		}
		got := s.told()
		for _, want := range k.want {
			if !strings.Contains(got, want) || strings.Contains(got, k.not) {
				t.Errorf("%s: want %q, not %q: %s", k.name, want, k.not, got)
			}
		}
	}
}

// TestRatesInBursts: rates of senders in bursts are from the first packet of each to the last, and of all of them together where bursts of several
// come at once, though the times of one that sends little are not known: of that, no rate is told.
func TestRatesInBursts(t *testing.T) {
	const (
		want  = "10.0.0.1 (2,556 marked, 40 CNPs, 30.7 Gbit/s) and 10.0.0.2 (2,556 marked, 40 CNPs, 30.7 Gbit/s); rates of payload from the first packet of each burst to the last"
		inAll = "; 49.2 Gbit/s in all on average where bursts of several came at once (9 times)"
	)
	for _, k := range []struct {
		name    string
		little  int64 // kilobytes a burst
		apart   int64 // windows from a burst of the first to that of the second
		later   int64 // part of a burst, one in so many, after which that of the second begins
		want    bool
		overlap bool
	}{
		{"at once", 4, 0, 4, true, true},
		{"at once for a third", 4, 0, 2, true, false},
		{"one after the other", 4, 40, 1, true, false},
		{"a third of unknown times", 400, 0, 4, false, false},
	} {
		s := &burstScene{}
		const length = 320 * int64(time.Microsecond)
		for n := range int64(2) {
			list := inBursts(9, func(int64) int64 { return 600 }, 2, 0.95)
			a := activeInBursts(9, length)
			shift := n * k.apart * timing.BusyWidth
			for w := range list {
				list[w].at += n * k.apart
			}
			if shift == 0 {
				shift = n * length / k.later
			}
			a.First, a.Last = a.First+shift, a.Last+shift
			for x := range a.Silences {
				a.Silences[x].From, a.Silences[x].To = a.Silences[x].From+shift, a.Silences[x].To+shift
			}
			s.sends(byte(n+1), 9, 40, list)
			s.r.Connections[n].Timing.Ends[0].Active = a
		}
		s.sends(3, 9, 1, inBursts(9, func(int64) int64 { return k.little }, 1, 1))
		got := s.told()
		const few, most = "; 10.0.0.3 (9 marked, 1 CNP): next to none of the marks, so little of what fills the queue", " from 3 hosts, nearly all from 2 of them, to 10.0.0.9"
		if strings.Contains(got, few) != k.want || strings.Contains(got, most) != k.want {
			t.Errorf("%s: %s", k.name, got)
		}
		if strings.Contains(got, want) != k.want || strings.Contains(got, inAll) != k.overlap || k.want && !k.overlap && strings.Contains(got, "where bursts of several") {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}

// TestRatesInWindows: of senders that few whole windows tell of no rates are told, which idle time would make too low, but what came in all at most in a window
// within a burst; nothing where bursts have no such window; and where what comes at once is less on average than at most, both.
func TestRatesInWindows(t *testing.T) {
	const most, both = "CNPs); up to 38.4 Gbit/s of payload came in all, for 256µs", " in all on average, and up to 38.4 Gbit/s for 256µs, where bursts of several came at once (9 times)"
	for _, k := range []struct {
		name      string
		kb        []int64
		known     bool
		want, not []string
	}{
		{"short", []int64{300, 600, 300}, false, []string{most}, []string{"rates of payload", "Gbit/s)", "fair"}},
		{"shorter", []int64{300, 300}, false, []string{"80 CNPs) and"}, []string{"came in all, for", "rates of payload", "Gbit/s)"}},
		{"uneven", []int64{400, 600, 400, 400}, true, []string{both, "rates of payload from the first packet"}, []string{most}},
		{"even", []int64{600, 600, 600, 600}, true, []string{" in all on average where bursts"}, []string{most, both}},
	} {
		s := &burstScene{}
		for n := range 2 {
			bursts := 8
			if k.known {
				bursts = 9
			}
			s.sends(byte(n+1), 9, 80, inBursts(bursts, func(x int64) int64 { return k.kb[x] }, int64(len(k.kb)), 0.95))
			if k.known {
				s.r.Connections[n].Timing.Ends[0].Active = activeInBursts(9, int64(len(k.kb))*timing.BusyWidth)
			}
		}
		contains(t, k.name, s.told(), k.want, k.not)
	}
}
