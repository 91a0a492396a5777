package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/link"
	"ibwitness/packet"
	pair "ibwitness/qp"
	"ibwitness/timing"
)

// TestOtherFrames: what else a capture holds is told by kind, before all else where nothing failed and there are kinds that not everybody knows,
// else where it is said what the capture holds; nothing where
// there is nothing else. Requests that were answered elsewhere are among it, and those that were retransmitted are not.
func TestOtherFrames(t *testing.T) {
	layer2 := []agent.OtherFrames{
		{Kind: fabricagent.Unnamed, Count: 3, Frame: 2},
		{Kind: fabricagent.PTP, Count: 40, Frame: 1, From: []uint64{0x248a075c1102}},
		{Kind: fabricagent.STP, Count: 1000, Frame: 18, From: []uint64{0x248a075c1102}},
		{Kind: fabricagent.ARP, Count: 6, Frame: 7, From: []uint64{9}},
	}
	refused := &pair.Trouble{Refusal: pair.Refusal{Code: packet.NAKRemoteAccess, Time: 2, Frame: 2}}
	const first, told = "Also    40 PTP and 1,000 STP of 24:8a:07:5c:11:02; 6 ARP; no errors\n\nWhat happened", "no drops reported\nAlso    40 PTP and 1,000 STP of 24:8a:07:5c:11:02; 6 ARP\n"
	const elsewhere = "Also    9 requests of 10.0.0.1 to 10.0.0.2 (RoCEv1), flooded or answered elsewhere; no errors\n"
	for _, k := range []struct {
		name      string
		set       func(r *agent.Result)
		want, not string
	}{
		{"nothing failed", func(r *agent.Result) { r.OtherFrames = layer2 }, first, told},
		{"a connection failed", func(r *agent.Result) {
			r.OtherFrames, r.Connections[0].Ends[0].Trouble = layer2, refused
		}, told, "no errors"},
		{"usual ones", func(r *agent.Result) { r.OtherFrames = layer2[3:] }, "no drops reported\nAlso    6 ARP\n", "no errors"},
		{"pauses", func(r *agent.Result) {
			r.Paused = []link.Paused{{From: [6]byte{1, 2, 3, 4, 5, 6}, Frame: 4, Frames: 8}}
		}, "no drops reported\nAlso    8 pause frames of 01:02:03:04:05:06\n", ""},
		{"nothing else", func(*agent.Result) {}, "no drops reported\n", "Also    "},
		{"nothing that has a name", func(r *agent.Result) { r.OtherFrames = layer2[:1] }, "no drops reported\n", "Also    "},
		{"answered elsewhere", func(r *agent.Result) { r.Connections = append(r.Connections, flooded()) }, elsewhere, ""},
		{"WRITEs of no data", func(r *agent.Result) {
			r.Connections[0].Timing = &timing.Connection{Ends: [2]timing.End{{Empty: 3}}}
		}, "Also    3 RDMA WRITEs of no data of 10.0.0.1 (keep-alives); no errors\n", ""},
		{"which the end of the capture cut off", func(r *agent.Result) {
			r.Connections[0].Timing = &timing.Connection{Ends: [2]timing.End{{Empty: 3}}}
			r.Open = agent.Open{Requests: 1, Connections: 1, Frame: 4, Again: true, Waited: time.Second}
		}, "Also    3 RDMA WRITEs of no data of 10.0.0.1 (keep-alives)\n", "no errors"},
		{"retransmitted", func(r *agent.Result) {
			c := flooded()
			c.Ends[0].Retransmissions = 1
			r.Connections = append(r.Connections, c)
		}, "no drops reported\n", "Also    "},
		{"for a moment", func(r *agent.Result) {
			c := flooded()
			c.Ends[0].Last = int64(time.Second)
			r.Connections = append(r.Connections, c)
		}, "no drops reported\n", "Also    "},
	} {
		r := &agent.Result{RDMA: 4, Packets: 4, First: 1, Last: int64(20 * time.Second), Connections: []agent.Connection{{Service: packet.RC, First: 1, FirstFrame: 1}}}
		for e := range r.Connections[0].Ends {
			r.Connections[0].Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), Packets: 2, Last: 2}
		}
		k.set(r)
		var out bytes.Buffer
		if err := (&text{Options: Options{Width: 160}}).Report(&out, &Run{Result: r}); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); !strings.Contains(got, k.want) || k.not != "" && strings.Contains(got, k.not) {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}

// flooded is a connection of which only requests come to the tap, for long.
func flooded() agent.Connection {
	c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv1, First: 1, FirstFrame: 3}
	c.Ends[0] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, 1}), Packets: 9, Messages: 9, Open: 9, OpenSince: int64(18 * time.Second), Last: int64(19 * time.Second)}
	c.Ends[1] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, 2}), QPN: 0x4a, QPNKnown: true}
	return c
}
