package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/timing"
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

// TestCommandsWaitForReads: it is not the program or the disks of a server that commands wait for, where it waits for what it fetches for them by RDMA
// READ, of which it may have one outstanding; it may be, where it hardly reads.
func TestCommandsWaitForReads(t *testing.T) {
	for _, k := range []struct {
		name  string
		share float64 // of the time in which a READ waits
		reads bool
		in    bool // the slowest command waited while it read
		later bool // it waited after the READs that are kept
	}{{"reads all the time", 0.9, true, false, false}, {"hardly reads", 0.05, false, false, false}, {"reads while the slowest command waits", 0.05, true, true, false}, {"reads that are not kept", 0.05, true, false, true}} {
		c := reader(1, 1, 1, time.Millisecond)
		e := &c.Timing.Ends[0]
		e.Reads = 1
		for i := range e.Asks {
			begin := c.First + int64(i)*int64(time.Millisecond)
			e.Asks[i] = timing.Sent{Begin: begin, End: begin + int64(900*time.Microsecond), Bytes: 4096}
		}
		o := e.Ops[wqe.Read]
		o.Latency = timing.Operation{}.Latency
		elapsed := float64(c.Ends[0].Last - e.Asks[0].Begin)
		for range o.Count {
			o.Observe(time.Duration(k.share * elapsed / float64(o.Count)))
		}
		c.Upper = &agent.Upper{
			Protocol: "NVMe over RDMA", Answers: 100, Took: 1400 * time.Millisecond,
			Slowest: &agent.Operation{Name: "NVMe Write", From: 1, Since: 1, Ended: 1 + int64(20*time.Second), Frame: 5, Answer: 9},
		}
		if k.in {
			c.Upper.Slowest.Since, c.Upper.Slowest.Ended = e.Asks[0].Begin, e.Asks[len(e.Asks)-1].End
		}
		want := "most of which it waited for data that it fetches by RDMA READ: see READ depth"
		if k.later {
			c.Upper.Slowest.Since = e.Asks[len(e.Asks)-1].End + 1
			c.Upper.Slowest.Ended = c.Upper.Slowest.Since + int64(20*time.Second)
			want = "in which it waited for data that it fetches by RDMA READ, one at a time: see READ depth"
		}
		got := reported(t, c)
		if first, _, _ := strings.Cut(got, " took "); strings.Contains(first, "READ depth: ") != k.reads || strings.Count(got, "READ depth: ") > 1 {
			t.Errorf("%s: what bounds its READs is to be told once, before the commands where that is why: %s", k.name, got)
		}
		if strings.Contains(got, want) != k.reads || strings.Contains(got, "or at its disks") == k.reads {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
