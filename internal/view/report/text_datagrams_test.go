package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/verifier/ud"
	"ibwitness/wqe"
)

// datagramsTo is a connection of UD on which a queue pair sent datagrams to another one, which sent some back.
func datagramsTo(to uint16, n, back uint64) agent.Connection {
	return agent.Connection{Service: packet.UD, Ends: [2]agent.End{
		{Addr: packet.LIDAddr(1), QPN: 0x11, QPNKnown: true, Packets: n, Messages: n}, {Addr: packet.LIDAddr(to), QPN: 0x22, QPNKnown: true, Packets: back, Messages: back},
	}}
}

// saidOf is what is said of a result under What happened, in one line.
func saidOf(t *testing.T, r *agent.Result) string {
	t.Helper()
	var b bytes.Buffer
	sink, err := New("text", Options{Width: 500})
	if err != nil {
		t.Fatal(err)
	}
	r.RDMA, r.Packets, r.Last, r.Taps = 100, 100, int64(time.Second), []fabricagent.Tap{{File: "a.pcap"}}
	if err := sink.Report(&b, &Run{Result: r}); err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(b.String(), "What happened\n  ")
	got, _, _ = strings.Cut(got, "\n\n")
	return strings.ReplaceAll(got, "\n  ", " ")
}

// TestDatagramsMissing: PSNs that are missing among datagrams are told, where they are few, and where none is that is said.
func TestDatagramsMissing(t *testing.T) {
	at := func(lid uint16) wqe.QP { return wqe.QP{Addr: packet.LIDAddr(lid), QPN: 0x22} }
	lossy := ud.Stream{From: wqe.QP{Addr: packet.LIDAddr(1), QPN: 0x11}, To: []wqe.QP{at(2)}, PSNs: 100, Datagrams: 97, Gaps: 2, Longest: 2, Frame: 20, Newest: 70}
	single, one, several := lossy, lossy, lossy
	single.Longest, single.Datagrams = 1, 98
	one.Gaps, one.Longest, one.Datagrams = 1, 1, 99
	several.To, several.Gaps, several.Longest = []wqe.QP{at(2), at(3)}, 0, 0
	whole := ud.Stream{From: wqe.QP{Addr: packet.LIDAddr(4), QPN: 0x44}, To: []wqe.QP{at(2)}, PSNs: 240, Datagrams: 240}
	most, few, restarted := lossy, lossy, whole
	restarted.Restarted = true
	most.PSNs = 200
	few.PSNs, few.Datagrams = 20, 19
	for _, k := range []struct {
		name string
		list []ud.Stream
		lost uint64
		want string
		not  string
	}{
		{"two gaps", []ud.Stream{lossy}, 0, "Missing: 3 of 100 PSNs of lid:1 QP 0x11 (3 %), in 2 gaps of up to 2, before frames 20 to 70, between datagrams to lid:2 QP 0x22. UD counts them up by one for each datagram: these were lost before the tap, or by the capture, or went to where the tap does not see.", "there too"},
		{"one by one", []ud.Stream{single}, 0, "QP 0x11 (2 %), one by one, before frames 20 to 70, between", "gaps"},
		{"one", []ud.Stream{one}, 0, "Missing: 1 of 100 PSNs of lid:1 QP 0x11 (1 %), before frame 20, between", "gap"},
		{"to several", []ud.Stream{several}, 0, "(3 %), between datagrams to 2 queue pairs.", "frame"},
		{"beside one without", []ud.Stream{lossy, whole}, 0, "Of lid:4 QP 0x44, which sends there too, none of 240 is missing.", "no PSN"},
		{"none", []ud.Stream{whole}, 0, "Nothing that packets show: no PSN is missing on UD, which acknowledges nothing: what else is lost shows only in event logs.", "Missing"},
		{"most go elsewhere", []ud.Stream{most}, 0, "Nothing that packets show: UD acknowledges nothing: what is lost shows only in event logs, but for PSNs that are missing.", "Missing"},
		{"begun again", []ud.Stream{restarted}, 0, "but for PSNs that are missing.", "Missing"},
		{"few", []ud.Stream{few}, 0, "but for PSNs that are missing.", "Missing"},
		{"the capture lost packets", []ud.Stream{lossy}, 3, "The capture lost 3 packets", "Missing"},
	} {
		got := saidOf(t, &agent.Result{Connections: []agent.Connection{datagramsTo(2, 97, 0)}, Streams: k.list, Dropped: k.lost})
		if !strings.Contains(got, k.want) || strings.Contains(got, k.not) {
			t.Errorf("%s: %q, want %q", k.name, got, k.want)
		}
	}
}

// TestUnechoed: a queue pair that sends no datagram back is told where others send one for each, and only there.
func TestUnechoed(t *testing.T) {
	alive := agent.Connection{Service: packet.RC}
	for k := range alive.Ends {
		alive.Ends[k] = agent.End{Addr: packet.LIDAddr(uint16(k + 4)), QPN: 0x50, QPNKnown: true, Packets: 9, Messages: 9}
	}
	echo, late, none := datagramsTo(2, 60, 60), datagramsTo(3, 48, 47), datagramsTo(4, 57, 0)
	for _, k := range []struct {
		name string
		list []agent.Connection
		told bool
	}{
		{"two echo", []agent.Connection{echo, late, none, alive}, true},
		{"one echoes", []agent.Connection{echo, none, alive}, false},
		{"others answer now and then", []agent.Connection{echo, late, datagramsTo(6, 60, 20), none, alive}, false},
		{"few datagrams", []agent.Connection{echo, late, datagramsTo(4, 9, 0), alive}, false},
		{"its host sends nothing", []agent.Connection{echo, late, none}, false},
		{"none is without", []agent.Connection{echo, late, alive}, false},
	} {
		got := saidOf(t, &agent.Result{Connections: k.list})
		if strings.Contains(got, "No datagram back: lid:4 QP 0x22 sent none for 57 of lid:1 QP 0x11, where 2 other queue pairs sent one for each (107).") != k.told || strings.Contains(got, "No datagram back") != k.told {
			t.Errorf("%s: %q", k.name, got)
		}
	}
}
