package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	pair "ibwitness/qp"
	"ibwitness/timing"
)

// TestLateAcks: a host is told whose ACKs come late for all others, all the time or since a time; not one of which another sentence tells why, and none where all are as soon.
func TestLateAcks(t *testing.T) {
	const soon, late = 10 * time.Microsecond, 500 * time.Microsecond
	for _, k := range []struct {
		name    string
		since   int
		late    time.Duration
		trouble bool
		want    string
	}{
		{"all the time", 0, late, false, "Late ACKs: 10.0.0.2 acknowledges the SENDs and WRITEs of all 3 hosts that ask it (10.0.0.0, 10.0.0.1 and 10.0.0.3) usually 500µs after their last packet, and every other host within 10µs in the median: " +
			"its receive direction, its adapter or host, or the switch port to it, is slow, unless it is far away, or the others send to it all at once. next on 10.0.0.2: link speed, PCIe width and pause counters"},
		{"since a time", 10, late, false, "Late ACKs: from +0.010000 s on 10.0.0.2 acknowledges the SENDs and WRITEs of all 3 hosts that ask it (10.0.0.0, 10.0.0.1 and 10.0.0.3) usually 500µs after their last packet (before, 10µs), and every other host within 10µs in the median: " +
			"its receive direction, its adapter or host, or the switch port to it, is slow. next on 10.0.0.2: link speed, PCIe width and pause counters"},
		{"as soon", 0, soon, false, ""},
		{"in trouble", 0, late, true, ""},
	} {
		r := &agent.Result{RDMA: 1, Packets: 1, First: 1}
		for from := range byte(4) {
			for to := range byte(4) {
				c := agent.Connection{Service: packet.RC, First: 1, Timing: timing.New(nil)}
				c.Ends[0].Addr, c.Ends[1].Addr = packet.IPv4Addr([]byte{10, 0, 0, from}), packet.IPv4Addr([]byte{10, 0, 0, to})
				if from == to {
					continue
				}
				acks := timing.AckWaits{Every: 1}
				for i := range 20 {
					w := timing.AckWait{At: 1 + int64(i)*int64(time.Millisecond), Took: soon}
					if to == 2 && i >= k.since {
						w.Took = k.late
					}
					acks.List = append(acks.List, w)
				}
				c.Timing.Ends[0].Acks = acks
				if k.trouble && from == 1 && to == 2 {
					c.Ends[0].Trouble = new(pair.Trouble)
				}
				r.Connections = append(r.Connections, c)
			}
		}
		if got := reportOf(t, r); k.want != "" && !strings.Contains(got, k.want) || k.want == "" && strings.Contains(got, "Late ACKs") {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
