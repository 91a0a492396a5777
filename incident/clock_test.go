package incident_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
)

// many are WRITEs that are answered one by one.
const many = `
about: WRITEs
link: {delay: 5us}
hcas: {a: 10.0.0.1, b: 10.0.0.2}
attributes: {pmtu: 1024, timeout: 14}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: write, length: 2000, repeat: 60, every: 100us}
taps: [middle]
`

// flushed has the frames from one on stamped a second later, so many of them each 300 ns after the one before it.
func flushed(list []fabricagent.Frame, at, n int) []fabricagent.Frame {
	list = slices.Clone(list)
	first := list[at].Time + int64(time.Second)
	for i := at; i < len(list); i++ {
		if i < at+n {
			list[i].Time = first + int64(i-at)*300
		} else {
			list[i].Time += int64(time.Second)
		}
	}
	return list
}

// TestFlushed tells frames that had queued before a tap which stopped from those that came after a silence.
func TestFlushed(t *testing.T) {
	list := frames(t, many)
	for _, tt := range []struct {
		name string
		list []fabricagent.Frame
		want bool
	}{
		{"queued", flushed(list, 90, 30), true},
		{"one exchange", flushed(list, 90, 3), false},
		{"nothing queued", silent(list, 90, 0), false},
		{"as fast as all", flushed(list, 0, len(list)), false},
		{"too few before and after", flushed(list[:24], 6, 18), false},
	} {
		got := happened(t, tt.list, agent.Options{})
		if told := strings.Contains(got, "the capture stamped no frame, and then 30 frames within 8.7µs"); told != tt.want || told && strings.Contains(got, "interrupted") {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}

// TestClockSet tells a clock that was set back by little from disorder, and no request that waits where one was set.
func TestClockSet(t *testing.T) {
	list := frames(t, many)
	back := func(by time.Duration, at, n int) []fabricagent.Frame {
		list := slices.Clone(list)
		for i := at; i < min(at+n, len(list)); i++ {
			list[i].Time -= int64(by)
		}
		return list
	}
	twice := back(2*time.Millisecond, 90, 2)
	for i := 110; i < len(twice); i++ {
		twice[i].Time -= int64(2 * time.Millisecond)
	}
	for _, tt := range []struct {
		name string
		list []fabricagent.Frame
		want string
	}{
		{"by 2 ms", back(2*time.Millisecond, 90, 1000), "A clock of the capture was set back by 1.9"},
		{"by 2 s", back(2*time.Second, 90, 1000), "A clock of the capture was set back by 2s, in frame 91"},
		{"by less than a millisecond", back(900*time.Microsecond, 90, 1000), ""},
		{"some frames are late", back(2*time.Millisecond, 90, 8), ""},
		{"some frames were late before", twice, ""},
		{"in order", list, ""},
	} {
		r := stamped(t, tt.list, agent.Options{})
		got := toldOf(r)
		if !strings.Contains(got, tt.want) || tt.want == "" && strings.Contains(got, "A clock") || strings.Contains(got, "unanswered") {
			t.Errorf("%s: %s", tt.name, got)
		}
		if tt.want != "" && !r.Open.Unclocked {
			t.Errorf("%s: how long requests waited is told", tt.name)
		}
	}
}
