package incident_test

import (
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/cq"
	"ibwitness/incident"
	"ibwitness/link"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/subnet"
	"ibwitness/verifier/cm"
)

// none is that no connection is followed.
var none iter.Seq2[uint64, *agent.Connection] = func(func(uint64, *agent.Connection) bool) {}

// said is what a look has told, a line each.
func said(list []incident.Told) string {
	var b strings.Builder
	for i := range list {
		k := &list[i]
		fmt.Fprintf(&b, "%d %v %v: %s\n", k.Number, k.State, k.Kind, k.What)
	}
	return b.String()
}

// expect compares what was told with what should have been, a prefix each.
func expect(t *testing.T, at string, list []incident.Told, want ...string) {
	t.Helper()
	got := strings.Split(strings.TrimSuffix(said(list), "\n"), "\n")
	if len(list) == 0 {
		got = nil
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %q, not %q", at, got, want)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%s: %q, not %q", at, got[i], want[i])
		}
	}
}

func second(n int64) int64 { return 1e18 + n*int64(time.Second) }

// TestLiveNetwork: damage, trimming and congestion of a run that goes on begin, and end when they were not seen for ten seconds. Another burst is another incident.
func TestLiveNetwork(t *testing.T) {
	a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	frame := uint64(0)
	finding := func(id rule.ID, at int64, from, to packet.Addr) rule.Finding {
		frame++
		return rule.Finding{Rule: id, Class: rule.Event, Time: second(at), Frame: frame, Accused: rule.Endpoint{Addr: from}, Peer: rule.Endpoint{Addr: to}, Actual: "ICRC 0x1", Detail: "88 bytes"}
	}
	var l incident.Live
	l.Found([]rule.Finding{finding(rule.ROCV2019, 1, a, b), finding(rule.EvTrimmed, 2, a, b)})
	for range 16 {
		l.Found([]rule.Finding{finding(rule.EvCE, 2, a, b)})
	}
	expect(t, "at 3 s", l.Look(second(3), none),
		"1 began damage: 1 packet had a wrong ICRC at the tap from 10.0.0.1 to 10.0.0.2",
		"2 began trimmed: 1 packet from 10.0.0.1 to 10.0.0.2 came cut short",
		"3 began congestion: The network marked 16 packets from 10.0.0.1 to 10.0.0.2 as having met congestion, and no notification")
	l.Found([]rule.Finding{finding(rule.ROCV2019, 8, b, a), finding(rule.ROCV2019, 8, b, a), finding(rule.EvCNP, 9, b, a)})
	expect(t, "at 9 s", l.Look(second(9), none))
	expect(t, "at 14 s", l.Look(second(14), none), "2 ended trimmed: 1 packet")
	expect(t, "at 30 s", l.Look(second(30), none), "1 ended damage: 2 packets had a wrong ICRC at the tap from 10.0.0.2 to 10.0.0.1", "3 ended congestion: 10.0.0.2 asked 10.0.0.1 to slow down with 1 CNP")
	l.Found([]rule.Finding{finding(rule.EvTrimmed, 31, a, b)})
	expect(t, "at 32 s", l.Look(second(32), none), "4 began trimmed: 1 packet")
}

// TestLivePause: a pause begins and ends, and the next one is told by itself.
func TestLivePause(t *testing.T) {
	p := link.Paused{From: [6]byte{2, 0, 0, 0, 0, 1}, Priority: 3, Speed: 100e9, Time: second(1), Frame: 5, LastTime: second(2), LastFrame: 9, Frames: 4, Quanta: 400, Begun: 2, Least: 3e6, Most: 3e6, Longest: 2e6}
	var l incident.Live
	look := func(now int64) []incident.Told {
		l.Status(&agent.Status{Now: second(now), Paused: []link.Paused{p}})
		return l.Look(second(now), none)
	}
	expect(t, "at 3 s", look(3), "1 began pause: The port with Ethernet address 02:00:00:00:00:01 had the other end of its link pause twice (priority 3), for 3ms")
	expect(t, "at 8 s", look(8))
	expect(t, "at 20 s", look(20), "1 ended pause")
	expect(t, "at 30 s", look(30))
	p.LastTime, p.LastFrame, p.Frames, p.Begun, p.Least, p.Most = second(31), 40, 6, 3, 5e6, 5e6
	list := look(32)
	expect(t, "at 32 s", list, "2 began pause: The port with Ethernet address 02:00:00:00:00:01 had the other end of its link pause once (priority 3), for 2ms")
	if len(list) == 1 && (list[0].Begin != second(31) || list[0].Frames[0] != 40) {
		t.Errorf("it began at %d, frames %v", list[0].Begin, list[0].Frames)
	}
}

// TestLiveConnecting: a request for a connection that nothing answers is told while it waits.
func TestLiveConnecting(t *testing.T) {
	q := cm.Unanswered{From: packet.IPv4Addr([]byte{10, 0, 0, 1}), To: packet.IPv4Addr([]byte{10, 0, 0, 2}), Times: 1, First: second(1), Last: second(1), Frame: 3}
	var l incident.Live
	look := func(now int64, reqs ...cm.Unanswered) []incident.Told {
		l.Status(&agent.Status{Now: second(now), REQs: reqs})
		return l.Look(second(now), none)
	}
	expect(t, "at 2 s", look(2, q))
	q.Times, q.Last = 2, second(6)
	expect(t, "at 7 s", look(7, q), "1 began connection-unanswered: 10.0.0.1 asked 10.0.0.2 for a connection (REQ) twice in 5s; nothing answered.")
	expect(t, "at 12 s", look(12), "1 ended connection-unanswered")
}

// TestLiveSilent: a request that waits without being retransmitted is told after a second, and ends when it is answered.
func TestLiveSilent(t *testing.T) {
	c := agent.Connection{Service: packet.RC, First: second(1)}
	c.Ends[0].Addr, c.Ends[1].Addr = packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	c.Ends[0].Packets, c.Ends[1].Packets = 9, 8
	var l incident.Live
	look := func(now int64) []incident.Told {
		return l.Look(second(now), func(yield func(uint64, *agent.Connection) bool) { yield(1, &c) })
	}
	c.Ends[0].Open, c.Ends[0].OpenSince, c.Ends[0].OpenFrame = 1, second(5), 77
	expect(t, "at 5 s", look(5))
	expect(t, "at 10 s", look(10), "1 began unanswered: 10.0.0.1 waits for 10.0.0.2 to answer 1 request, and has retransmitted nothing for 5s.")
	c.Ends[0].Open = 0
	expect(t, "at 15 s", look(15), "1 ended unanswered")
}

// TestCompletionMissing: a completion that is proven to be missing is told, of either end, live too; one that only may be is, but not live.
func TestCompletionMissing(t *testing.T) {
	a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	finding := rule.Finding{
		Rule: rule.CPLSTS016, Class: rule.Violation, Time: second(1), Frame: 7, Log: "a.jsonl", Line: 3, Expected: "a completion of request 1: it has a response",
		Accused: rule.Endpoint{Role: rule.Requester, Addr: a, QPN: 17, QPNKnown: true}, Peer: rule.Endpoint{Addr: b},
	}
	doubted := finding
	doubted.Class = rule.Unproven
	of := func(f rule.Finding) []incident.Incident {
		return incident.Of(&agent.Result{RDMA: 9, Findings: []rule.Finding{f}})
	}
	const want = "On 10.0.0.1 QP 0x11 request 1 was answered, and its consumer, which polls on, finds no completion: a program that waits for it hangs."
	if list := of(finding); len(list) != 1 || list[0].Kind != incident.Uncompleted || list[0].What != want || list[0].Facts[1].Text != "line 3 of a.jsonl" {
		t.Errorf("%+v", list)
	}
	later, idle := finding, doubted
	later.Rule, later.Frame, later.Expected = rule.CPLSIG003, 0, "a completion of request 1"
	idle.Detail = cq.NotPolled
	for want, f := range map[string]rule.Finding{
		"likely On 10.0.0.1 QP 0x11 request 1 was answered, as far as the tap shows, and its consumer, which polls on, finds":               doubted,
		"possible On 10.0.0.1 QP 0x11 request 1 was answered, and its completion is not in the log, which shows no poll":                    idle,
		"proven On 10.0.0.1 QP 0x11 request 1 never completed, though later ones of its queue pair did: a program that waits for it hangs.": later,
	} {
		if list := of(f); len(list) != 1 || !strings.HasPrefix(list[0].Certainty.String()+" "+list[0].What, want) {
			t.Errorf("%+v, want %s", list, want)
		}
	}
	later.Class = rule.Unproven
	if list := of(later); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	finding.Accused.Role = rule.Responder
	var l incident.Live
	expect(t, "of a responder", l.Found([]rule.Finding{doubted, finding}), "1 ended completion-missing: On 10.0.0.1 QP 0x11 the message of request 1 was acknowledged, and its consumer")
}

// TestLiveFlood: damage that makes a way of its own of every packet is told, and takes no more memory or time for each.
func TestLiveFlood(t *testing.T) {
	var l incident.Live
	list := make([]rule.Finding, 1000)
	for n := range 300 {
		for i := range list {
			k := n*len(list) + i
			list[i] = rule.Finding{Rule: rule.ROCV2019, Class: rule.Unproven, Time: second(1), Frame: uint64(k + 1), Accused: rule.Endpoint{Addr: packet.IPv4Addr([]byte{10, byte(k >> 16), byte(k >> 8), byte(k)})}}
		}
		l.Found(list)
	}
	if a := testing.AllocsPerRun(1, func() { l.Found(list) }); a > 0 {
		t.Errorf("%v allocations for findings of ways that are not followed", a)
	}
	expect(t, "at 2 s", l.Look(second(2), none), "1 began damage: at least 1,024 packets had a wrong ICRC at the tap")
}

// TestLiveManagement: management requests that nothing answers are told while whoever sent them may still wait.
func TestLiveManagement(t *testing.T) {
	u := subnet.Unanswered{
		From: packet.IPv4Addr([]byte{10, 0, 0, 1}), To: packet.IPv4Addr([]byte{10, 0, 0, 2}), Class: mad.ClassSubnetAdmin, Asked: 5, Requests: 1, Again: 2,
		First: second(1), Last: second(3), Frame: 3, Newest: 5, Names: []subnet.AttributeCount{{Name: "PathRecord", Count: 1}},
	}
	var l incident.Live
	look := func(now int64, list ...subnet.Unanswered) []incident.Told {
		l.Status(&agent.Status{Now: second(now), MADs: func() []subnet.Unanswered { return list }})
		return l.Look(second(now), none)
	}
	expect(t, "at 2 s", look(2))
	expect(t, "at 7 s", look(7, u), "1 began mad-unanswered: 10.0.0.2 answered none of 5 SA requests of 10.0.0.1; 4 of them have not waited long.")
	expect(t, "at 12 s", look(12, u))
	expect(t, "at 64 s", look(64, u), "1 ended mad-unanswered")
	expect(t, "at 70 s", look(70, u))
}

// TestLiveDrops: that the capture loses packets begins, goes on and ends, and begins again.
func TestLiveDrops(t *testing.T) {
	var l incident.Live
	look := func(now int64, lost uint64) []incident.Told {
		l.Status(&agent.Status{Now: second(now), Dropped: lost})
		return l.Look(second(now), none)
	}
	expect(t, "at 2 s", look(2, 0))
	expect(t, "at 7 s", look(7, 30), "1 began capture: The capture lost 30 packets: what is missing in it may have been sent.")
	expect(t, "at 12 s", look(12, 40))
	expect(t, "at 20 s", look(20, 40))
	expect(t, "at 25 s", look(25, 40), "1 ended capture: The capture lost 40 packets")
	expect(t, "at 40 s", look(40, 45), "2 began capture: The capture lost 5 packets")
}
