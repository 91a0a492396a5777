package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// TestSlowToResume: a requester that takes much longer than a receiver asks it to wait is looked at itself; one that takes about as long, or little in all, is not.
func TestSlowToResume(t *testing.T) {
	for _, k := range []struct {
		name          string
		waits         uint32
		asked, waited time.Duration
		slow          bool
	}{
		{"ticks of a kernel", 32, 320 * time.Microsecond, 249 * time.Millisecond, true},
		{"about as long", 8, 80 * time.Millisecond, 100 * time.Millisecond, false},
		{"little in all", 32, 320 * time.Microsecond, 9 * time.Millisecond, false},
		{"it never resumed", 0, 0, 0, false},
	} {
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), QPN: 16, QPNKnown: true, Packets: 100, Last: int64(time.Second)}
		}
		c.Ends[0].Trouble = &qp.Trouble{RNR: qp.RNRSums{NAKs: 32, Least: 1, Most: 1, Waits: k.waits, Asked: int64(k.asked), Waited: int64(k.waited), First: 5, Last: 9}}
		list := Of(&agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Connections: []agent.Connection{c}})
		if len(list) != 1 || list[0].Kind != NotReady {
			t.Fatalf("%s: %+v", k.name, list)
		}
		i := &list[0]
		told := strings.HasSuffix(i.What, "32 times: it asked to wait for 320µs in all; 10.0.0.1 took 249ms, on average 7.78ms each time.")
		if told != k.slow || strings.HasPrefix(i.FitsWith[0], "a requester whose RNR timer") != k.slow || strings.HasPrefix(i.Next[0], "how finely") != k.slow {
			t.Errorf("%s: %s\n%q\n%q", k.name, i.What, i.FitsWith, i.Next)
		}
		// Where the capture ends while it waits, what was before that is told all the same.
		y := *c.Ends[0].Trouble
		y.NAK.Time, y.Now = int64(time.Second)-1, qp.Stall{Since: 4, Begun: 5, Last: int64(time.Second) - 1, NAKs: 1}
		cut := c
		cut.Ends[0].Trouble, cut.Ends[0].Stalled = &y, true
		if list = Of(&agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Connections: []agent.Connection{cut}}); len(list) != 1 || list[0].Kind != NotReady || !slices.ContainsFunc(list[0].Facts, func(f Fact) bool { return f.Label == "at the end" }) {
			t.Errorf("%s, cut: %+v", k.name, list)
		}
		// So it is where the newest wait is the smaller part, though it was refused more often than once.
		y.Now.NAKs, y.RNR.Waited = 3, int64(2*time.Second)
		if list = Of(&agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Connections: []agent.Connection{cut}}); len(list) != 1 || list[0].Kind != NotReady {
			t.Errorf("%s, cut later: %+v", k.name, list)
		}
		// However often it was refused, where an earlier request was refused more often and was taken: the receiver is slow, and has not stopped.
		for most, kind := range map[uint32]Kind{31: NotReady, 30: Exhausted} {
			y.Now.NAKs, y.RNR.MostForRequest = 30, most
			if list = Of(&agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Connections: []agent.Connection{cut}}); len(list) != 1 || list[0].Kind != kind {
				t.Errorf("%s, cut after 30 of at most %d: %+v", k.name, most, list)
			}
		}
		// Where the retries are used up in the end, the receiver comes first.
		x := c.Ends[0].Trouble
		x.NAK.Time, x.Now.Since, x.Now.Begun, x.Now.Last, x.Now.NAKs, c.Ends[0].Stalled = 9, 4, 5, 9, 4, true
		list = Of(&agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Connections: []agent.Connection{c}})
		if len(list) != 1 || list[0].Kind != Exhausted {
			t.Fatalf("%s: %+v", k.name, list)
		}
		const waited = "249ms in all for the 320µs that it was asked to wait; on average 7.78ms each time"
		i = &list[0]
		if slices.ContainsFunc(i.Facts, func(f Fact) bool { return f.Text == waited }) != k.slow || !strings.HasPrefix(i.FitsWith[0], "a receiver that posts") || (len(i.FitsWith) == 4) != k.slow ||
			!slices.Contains(i.Facts, Fact{"before", "it was not ready 28 times for earlier requests, each of which it took in the end"}) {
			t.Errorf("%s, used up: %q\n%q\n%q", k.name, i.Facts, i.FitsWith, i.Next)
		}
	}
}

// TestExhaustedWrite: a WRITE that is refused since no receive is posted has immediate data, which is said; of a SEND nothing is.
func TestExhaustedWrite(t *testing.T) {
	for op, want := range map[wqe.Op]bool{wqe.Write: true, wqe.Send: false} {
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), QPN: 16, QPNKnown: true, Packets: 100, Last: int64(time.Second)}
		}
		s := qp.Stall{Request: qp.StalledRequest{Op: op, Length: 100}, NAKs: 4, Since: 5, Begun: 5, Last: 9}
		c.Ends[0].Stalled, c.Ends[0].Trouble = true, &qp.Trouble{Now: s, RNR: qp.RNRSums{NAKs: 4, Least: 1, Most: 1, First: 5, Last: 9}}
		c.Ends[0].Trouble.NAK.Time = 9
		list := Of(&agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Connections: []agent.Connection{c}})
		if len(list) != 1 || list[0].Kind != Exhausted || list[0].says("receive") != want {
			t.Errorf("%v: %+v", op, list)
		}
	}
}

// TestLongestRefused: how long the longest wait for a receive took is told, and that all were taken in the end; not where one waits still.
func TestLongestRefused(t *testing.T) {
	for _, stalled := range []bool{false, true} {
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), QPN: 16, QPNKnown: true, Packets: 100, Last: int64(time.Second)}
		}
		x := &qp.Trouble{RNR: qp.RNRSums{NAKs: 4, Least: 1, Most: 1, Waits: 4, Asked: 4e7, Waited: 4e7, First: 5, Last: 9}}
		x.Longest[0] = qp.Stall{Since: 4, Begun: 5, Last: 9e6, Ended: 12e6, NAKs: 3, Frames: qp.StallFrames{Ended: 7}}
		if stalled {
			x.NAK.Time, x.Now = int64(time.Second)-1, qp.Stall{Since: 4, Begun: 5, Last: int64(time.Second) - 1, NAKs: 1}
		}
		c.Ends[0].Trouble, c.Ends[0].Stalled = x, stalled
		list := Of(&agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Connections: []agent.Connection{c}})
		if len(list) != 1 || slices.Contains(list[0].Facts, Fact{"longest", "one request was taken after 12ms, in frame 7; all were in the end"}) == stalled {
			t.Errorf("stalled %v: %+v", stalled, list)
		}
	}
}

// TestGaveRNRRetry: which message gave a requester the RNR retry count that was used up is said, and where to change it; not where CM did not connect, or the count is without end.
func TestGaveRNRRetry(t *testing.T) {
	for _, tt := range []struct {
		by    agent.PairedBy
		retry uint8
		want  string
	}{{agent.ByCM, 0, ", as 10.0.0.2 asked for in its REP)"}, {agent.ByPSN, 0, "(rnr_retry is 0), "}, {agent.ByCM, 7, "(as with an rnr_retry of 0, not 7, which is without end, as 10.0.0.2 asked for in its REP)"}} {
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, PairedBy: tt.by}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), QPN: 16, QPNKnown: true, Packets: 100, Last: int64(time.Second)}
		}
		c.Ends[0].Settings = agent.Settings{Known: qp.KnowsRNRRetry, RNRRetry: tt.retry}
		c.Ends[0].Stalled, c.Ends[0].Trouble = true, &qp.Trouble{Now: qp.Stall{NAKs: 1, Since: 5, Begun: 5, Last: 9}, RNR: qp.RNRSums{NAKs: 1, Least: 1, Most: 1, First: 5, Last: 9}}
		c.Ends[0].Trouble.NAK.Time = 9
		list := Of(&agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Connections: []agent.Connection{c}})
		if len(list) != 1 || !strings.Contains(list[0].What, "it refused it once, after which") {
			t.Fatalf("%+v", list)
		}
		told := slices.ContainsFunc(list[0].Facts, func(f Fact) bool {
			return strings.Contains(f.Text, tt.want) && strings.HasPrefix(f.Text, "1 RNR NAK and")
		})
		if next := strings.HasPrefix(list[0].Next[0], "the rnr_retry_count that the program on 10.0.0.2 gives when it accepts"); !told || next != (tt.by == agent.ByCM && tt.retry == 0) {
			t.Errorf("%v %d: %q %q", tt.by, tt.retry, list[0].Facts, list[0].Next)
		}
	}
}

// TestUsedUp: RNR retries that are known to be used up, or after which the requester disconnected, are over soon after the last RNR NAK, and last until then; else that takes longer to tell.
func TestUsedUp(t *testing.T) {
	for _, tt := range []struct {
		name   string
		retry  uint8
		closed int64
		want   Kind
	}{{"used up", 6, 0, Exhausted}, {"one is left", 7, 0, NotReady}, {"disconnected", 7, int64(30 * time.Millisecond), Exhausted}} {
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, PairedBy: agent.ByCM}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), QPN: 16, QPNKnown: true, Packets: 100, Last: int64(time.Second)}
		}
		if tt.closed != 0 {
			c.Closed = agent.Closed{By: c.Ends[0].Addr, At: tt.closed, Frame: 30}
		}
		c.Ends[0].Settings = agent.Settings{Known: qp.KnowsRNRRetry, RNRRetry: tt.retry}
		const last = int64(20 * time.Millisecond)
		c.Ends[0].Stalled, c.Ends[0].Trouble = true, &qp.Trouble{Now: qp.Stall{NAKs: 7, Since: 5, Begun: 5, Last: last}, RNR: qp.RNRSums{NAKs: 22, Least: 1, Most: 1, First: 5, Last: last, Waited: 3 * last}}
		c.Ends[0].Trouble.NAK.Time = last
		list := Of(&agent.Result{First: 1, Last: last + int64(50*time.Millisecond), RDMA: 1, Connections: []agent.Connection{c}})
		if len(list) != 1 || list[0].Kind != tt.want {
			t.Errorf("%s: %+v", tt.name, list)
		} else if end := max(last, tt.closed); tt.want == Exhausted && (list[0].End != end || list[0].Ongoing || list[0].Lost != time.Duration(end-5)) {
			t.Errorf("%s: until %v for %v", tt.name, list[0].End, list[0].Lost)
		}
	}
}

// TestShareWaited: which share of the time the waits that RNR NAKs asked for took is told, where it is half of it or more; not of few.
func TestShareWaited(t *testing.T) {
	for _, k := range []struct {
		naks, waits  uint32
		last, waited time.Duration
		want         string
	}{
		{48, 47, 31 * time.Second, 30 * time.Second, " (96 %% of the time from the first to the last)"},
		{48, 48, 29 * time.Second, 30 * time.Second, " (100 %% of the time from the first to the last)"},
		{48, 47, time.Minute + time.Second, 30 * time.Second, ""},
		{4, 4, 31 * time.Second, 30 * time.Second, ""},
		{48, 0, 31 * time.Second, 0, ""},
	} {
		r := &qp.RNRSums{NAKs: k.naks, Waits: k.waits, First: 5, Last: 5 + int64(k.last), Waited: int64(k.waited)}
		if got := shareWaited(r); got != k.want {
			t.Errorf("%+v: %q", k, got)
		}
	}
}

// TestOthersReady: that a receiver was ready on another connection is told where that was in use at the time, and not of one that began after the refusals, or had ended before.
func TestOthersReady(t *testing.T) {
	for name, k := range map[string]struct {
		first, last int64
		told        bool
	}{"at the time": {1, 20, true}, "after": {11, 30, false}, "before": {1, 3, false}} {
		var list []agent.Connection
		for n := range uint32(2) {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
			for e := range c.Ends {
				c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), QPN: 16 + n, QPNKnown: true, Packets: 100, Messages: 50, Last: int64(time.Second)}
			}
			list = append(list, c)
		}
		list[0].Ends[0].Trouble = &qp.Trouble{RNR: qp.RNRSums{NAKs: 4, Least: 1, Most: 1, Waits: 4, Asked: 4, Waited: 4, First: 5, Last: 9}}
		list[1].First, list[1].Ends[0].Last, list[1].Ends[1].Last = k.first, k.last, k.last
		got := Of(&agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Connections: list})
		if len(got) != 1 || got[0].says("others") != k.told {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
