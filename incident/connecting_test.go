package incident_test

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/verifier/cm"
)

// TestConnecting: REPs that no RTU ends, DREQs that nothing answers and REQs that are answered late are told, and messages that were sent once more and answered are not.
func TestConnecting(t *testing.T) {
	req := &mad.REQ{Header: mad.CMHeader(mad.AttrREQ, 77), LocalCommID: 0xA0, ServiceID: 0x1061144, LocalQPN: 0x11, PathMTU: 3, MaxCMRetries: 15, RemoteCMTimeout: 20, LocalCMTimeout: 20}
	rep := &mad.REP{Header: mad.CMHeader(mad.AttrREP, 77), LocalCommID: 0xB0, RemoteCommID: 0xA0, LocalQPN: 0x22}
	rtu := &mad.RTU{Header: mad.CMHeader(mad.AttrRTU, 77), LocalCommID: 0xA0, RemoteCommID: 0xB0}
	dreq := &mad.DREQ{Header: mad.CMHeader(mad.AttrDREQ, 79), LocalCommID: 0xA0, RemoteCommID: 0xB0, RemoteQPN: 0x22}
	rej := &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, 77), LocalCommID: 0xB0, RemoteCommID: 0xA0, Reason: mad.RejTimeout}
	list := asked(t, req, rep, rtu)
	end := asked(t, req, rej, dreq)
	at := func(frame fabricagent.Frame, s float64) fabricagent.Frame {
		frame.Time += second(1) - second(0) + int64(s*1e9)
		return frame
	}
	REQ, REP, RTU, REJ, DREQ := list[0], list[1], list[2], end[1], end[2]
	const told = "connection-unanswered"
	for _, tt := range []struct {
		name string
		list []fabricagent.Frame
		want string // "": no such incident
	}{
		{"no RTU", []fabricagent.Frame{at(REQ, 0), at(REP, .1), at(REP, 4.4), at(REP, 8.7)}, "10.0.0.2 answered the request of 10.0.0.1 for a connection (REP) 3 times in 8.6s; no RTU of 10.0.0.1 is in the capture."},
		{"a late RTU", []fabricagent.Frame{at(REQ, 0), at(REP, .1), at(REP, 4.4), at(RTU, 4.5)}, ""},
		{"RTUs in vain", []fabricagent.Frame{at(REQ, 0), at(REP, .1), at(RTU, .2), at(REP, 4.4), at(RTU, 4.5), at(REP, 8.7), at(RTU, 8.8)}, "(REP) 3 times in 8.6s, although 10.0.0.1 sent RTUs: they did not reach it."},
		{"a REJ after REPs", []fabricagent.Frame{at(REQ, 0), at(REP, .1), at(REP, 4.4), at(REP, 8.7), at(REJ, 13)}, "before: 10.0.0.2 had answered (REP) 3 times in 8.6s, and no RTU of 10.0.0.1 is in the capture"},
		{"no RTU, and REQs", []fabricagent.Frame{at(REQ, 0), at(REP, .1), at(REQ, 4.3), at(REP, 4.4), at(REQ, 8.6), at(REP, 8.7)}, "REQ: sent 3 times, the last in frame 5: 10.0.0.1 went on asking, as one that has no REP"},
		{"a REJ after REPs, and REQs", []fabricagent.Frame{at(REQ, 0), at(REP, .1), at(REQ, 4.3), at(REP, 4.4), at(REQ, 8.6), at(REP, 8.7), at(REJ, 13)}, "before: 10.0.0.2 had answered (REP) 3 times in 8.6s, and no RTU of 10.0.0.1 is in the capture\n        REQ: sent 3 times, the last in frame 5"},
		{"an RTU after REQs", []fabricagent.Frame{at(REQ, 0), at(REP, .1), at(REQ, 4.3), at(REP, 4.4), at(REQ, 8.6), at(REP, 8.7), at(RTU, 8.8)}, ""},
		{"no DREP", []fabricagent.Frame{at(REQ, 0), at(REP, .1), at(RTU, .2), at(DREQ, 5), at(DREQ, 9.3)}, "10.0.0.1 asked 10.0.0.2 to disconnect (DREQ) twice in 4.3s; nothing answered."},
		{"one DREQ", []fabricagent.Frame{at(REQ, 0), at(REP, .1), at(RTU, .2), at(DREQ, 5)}, ""},
		{"late", []fabricagent.Frame{at(REQ, 0), at(REQ, 4.3), at(REQ, 8.6), at(REP, 9), at(RTU, 9.1)}, "10.0.0.1 asked 10.0.0.2 for a connection (REQ) 3 times in 9s before 10.0.0.2 answered."},
		{"once more", []fabricagent.Frame{at(REQ, 0), at(REQ, 4.3), at(REP, 4.4), at(RTU, 4.5)}, ""},
	} {
		got := happened(t, tt.list, agent.Options{})
		if tt.want == "" && strings.Contains(got, told) || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s\nwant %q", tt.name, got, tt.want)
		}
	}
}

// TestConnectedWithoutRTU: packets of the connection show what an RTU would have.
func TestConnectedWithoutRTU(t *testing.T) {
	q := cm.Unanswered{Waits: cm.ForRTU, QPN: 0x22, Times: 4, First: second(1), Last: second(9), Frame: 3}
	q.From, q.To = packet.IPv4Addr([]byte{10, 0, 0, 2}), packet.IPv4Addr([]byte{10, 0, 0, 1})
	c := agent.Connection{First: second(2)}
	c.Ends[0] = agent.End{Addr: q.To, Packets: 7, Last: second(7)}
	c.Ends[1] = agent.End{Addr: q.From, QPN: 0x22, QPNKnown: true}
	for _, packets := range []uint64{0, 7} {
		c.Ends[0].Packets = packets
		got := toldOf(&agent.Result{Last: second(18), Connections: []agent.Connection{c}, REQs: []cm.Unanswered{q}})
		if strings.Contains(got, "connection-unanswered") == (packets > 0) {
			t.Errorf("%d packets: %s", packets, got)
		}
	}
}

// TestREQEnds: REQs that nothing answers last until the newest of them, or to the end of the capture while that still waits.
func TestREQEnds(t *testing.T) {
	for _, tt := range []struct {
		name    string
		times   uint16
		last    int64 // REQ
		end     int64 // of the capture
		until   int64
		ongoing bool
	}{
		{"given up", 3, 9, 60, 9, false},
		{"still waits", 3, 9, 12, 12, true},
		{"once", 1, 1, 60, 5, false},
	} {
		q := cm.Unanswered{Waits: cm.ForREP, Wait: int64(4 * time.Second), Times: tt.times, First: second(1), Last: second(tt.last), Frame: 3}
		q.From, q.To = packet.IPv4Addr([]byte{10, 0, 0, 2}), packet.IPv4Addr([]byte{10, 0, 0, 1})
		list := incident.Of(&agent.Result{First: 1, Last: second(tt.end), REQs: []cm.Unanswered{q}})
		if len(list) != 1 || list[0].End != second(tt.until) || list[0].Ongoing != tt.ongoing || int64(list[0].Lost) != second(tt.until)-second(1) {
			t.Errorf("%s: %+v", tt.name, list)
		}
	}
}

// TestRejectedByNVMe: the status in the private data of a REJ is told where an NVMe controller refuses, and that it was closed untaken, which has none, is not; without that it may have been.
func TestRejectedByNVMe(t *testing.T) {
	for port, told := range map[mad.ServiceID]string{0x1061144: "reason: NVMe status 6 (no resources)\n", 0x1061145: "reason: NVMe status 6 (no resources) if it is NVMe over RDMA\n", 0x1064853: ""} {
		req := &mad.REQ{Header: mad.CMHeader(mad.AttrREQ, 77), LocalCommID: 0xA0, ServiceID: port, LocalQPN: 0x11, PathMTU: 3, MaxCMRetries: 15, RemoteCMTimeout: 20, LocalCMTimeout: 20}
		rej := &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, 77), RemoteCommID: 0xA0, Reason: mad.RejConsumer, Private: []byte{0, 0, 6, 0}}
		if got := happened(t, asked(t, req, rej), agent.Options{}); !strings.Contains(got, told) || told == "" && strings.Contains(got, "NVMe") || !strings.Contains(got, "service: TCP port ") {
			t.Errorf("%v: %s", port, got)
		}
		if i := incident.Of(judged(t, asked(t, req, rej), agent.Options{}))[0]; strings.Contains(strings.Join(i.FitsWith, ""), "backlog was full") != (told == "") {
			t.Errorf("%v: fits %q", port, i.FitsWith)
		}
	}
}

// TestQueueRefusedByNVMe: where an NVMe controller refuses the queue that was asked for, its number and sizes are told with the status, and what to look
// at next.
func TestQueueRefusedByNVMe(t *testing.T) {
	const sizes, fewer = "hsqsize 63", "fewer I/O queues on 10.0.0.1: nvme connect --nr-io-queues "
	for status, want := range map[byte][2]string{
		3: {"reason: NVMe status 3 (invalid queue ID): queue 0, hrqsize 64, " + sizes, "nvme connect --nr-io-queues"},
		4: {"reason: NVMe status 4 (invalid host send queue size): queue 0, hrqsize 64, " + sizes, "for queue 0, the admin queue, how many entries the NVMe host of 10.0.0.1 asks for"},
		5: {"reason: NVMe status 5 (invalid host receive queue size): queue 0, hrqsize 64, " + sizes, "a shorter queue on 10.0.0.1"},
		6: {"reason: NVMe status 6 (no resources): queue 0, hrqsize 64, " + sizes, "limits of the target on 10.0.0.2"},
		8: {"reason: NVMe status 8 (invalid ORD)\n", "max_qp_rd_atom"},
	} {
		req := &mad.REQ{
			Header: mad.CMHeader(mad.AttrREQ, 77), LocalCommID: 0xA0, ServiceID: 0x1061144, LocalQPN: 0x11, PathMTU: 3, MaxCMRetries: 15, RemoteCMTimeout: 20,
			LocalCMTimeout: 20, Private: append(make([]byte, mad.IPHeaderSize), 0, 0, 0, 0, 64, 0, 63, 0),
		}
		rej := &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, 77), RemoteCommID: 0xA0, Reason: mad.RejConsumer, Private: []byte{0, 0, status, 0}}
		r := judged(t, asked(t, req, rej), agent.Options{})
		got := toldOf(r)
		if next := strings.Join(incident.Of(r)[0].Next, "; "); !strings.Contains(got, want[0]) || !strings.Contains(next, want[1]) || strings.Contains(next, fewer) {
			t.Errorf("%d: %snext: %s", status, got, next)
		}
		req.Private[mad.IPHeaderSize+2] = 5 // an I/O queue
		if next := strings.Join(incident.Of(judged(t, asked(t, req, rej), agent.Options{}))[0].Next, "; "); strings.Contains(next, fewer+"4") != (status == 6) {
			t.Errorf("%d: next: %s", status, next)
		}
	}
}
