package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/wqe"
)

// TestOfOneClass: where only the commands of one opcode take long, that is said; not where others do, too, or none was answered meanwhile.
func TestOfOneClass(t *testing.T) {
	const want = "; only NVMe Write takes long, 40ms in the mean of 20: of the other 80 none took longer than 300µs, of which 9 were answered while the slowest waited, while no request"
	for _, k := range []struct {
		name          string
		others        uint64
		mean, longest time.Duration // of the others
		told          bool
	}{
		{"only WRITEs", 9, 200 * time.Microsecond, 300 * time.Microsecond, true},
		{"others, too", 9, 200 * time.Microsecond, 30 * time.Millisecond, false},
		{"none meanwhile", 0, 200 * time.Microsecond, 300 * time.Microsecond, false},
	} {
		c := busy(wqe.Send, 300, 0)
		c.Upper = &agent.Upper{
			Protocol: "NVMe over RDMA", Answers: 100, Took: 20*40*time.Millisecond + 80*k.mean,
			Slowest: &agent.Operation{Name: "NVMe Write", Since: 1, Ended: 1 + int64(50*time.Millisecond), Frame: 5, Answer: 9, Class: 1, Others: k.others},
			Classes: []agent.Class{{Name: "NVMe Read", Answers: 80, Took: 80 * k.mean, Longest: k.longest}, {Name: "NVMe Write", Answers: 20, Took: 20 * 40 * time.Millisecond, Longest: 50 * time.Millisecond}},
		}
		if got := reported(t, c); strings.Contains(got, want) != k.told || !k.told && strings.Contains(got, "only NVMe") {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}

// TestByClass: how long the commands of each of few classes took is told where one took many times as long as another; not where they took about as long, there are few, or there is one class.
func TestByClass(t *testing.T) {
	class := func(name string, n uint64, mean time.Duration) agent.Class {
		return agent.Class{Name: name, Answers: n, Took: time.Duration(n) * mean}
	}
	const ms = time.Millisecond
	for name, k := range map[string]struct {
		list []agent.Class
		want string
	}{
		"lopsided": {[]agent.Class{class("NVMe Read", 383, 4*ms), class("NVMe Write", 133, ms/25)}, "; in the mean, NVMe Read 4ms (383) and NVMe Write 40µs (133)"},
		"alike":    {[]agent.Class{class("NVMe Read", 383, 4*ms), class("NVMe Write", 133, ms)}, ""},
		"few":      {[]agent.Class{class("NVMe Read", 383, 4*ms), class("NVMe Write", 2, ms/25)}, ""},
		"one":      {[]agent.Class{class("NVMe Read", 383, 4*ms)}, ""},
	} {
		if got := byClass(&agent.Upper{Classes: k.list}); got != k.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
