package incident_test

import (
	"fmt"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// long are WRITEs over a link on which a packet takes long.
const long = `
about: WRITEs over a slow link
hcas:
  a: 10.0.0.1
  b: 10.0.0.2
link: {delay: 2ms, rate: 100000000}
attributes: {timeout: 14}
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1}
work:
  - {qp: a1, op: write, length: 8000, repeat: 300}
`

// TestStorm: where much of what is sent for long is retransmitted, that is told in place of the loss, and what it cost.
func TestStorm(t *testing.T) {
	tests := []struct {
		name, errors string
		want, not    string
	}{
		{"nothing lost", "", "frames: 0", "("},
		{"one packet lost", "errors:\n  - {do: drop, from: a, op: write, psn: +100}\n", "loss (proven)", "storm"},
		{"every twentieth lost", "errors:\n  - {do: drop, from: a, op: write, probability: 0.05, count: all}\n", "packets on average for a round (go-back-N): it retransmits all that was in flight for one that was lost", "loss (proven)"},
	}
	for _, tt := range tests {
		told := happened(t, frames(t, long+tt.errors), agent.Options{})
		if !strings.Contains(told, tt.want) || strings.Contains(told, tt.not) {
			t.Errorf("%s: told %s\nwant %q, and not %q", tt.name, told, tt.want, tt.not)
		}
	}
}

// TestStormWithinCapture: what was retransmitted of all comes first, from the first time on, and the densest time after it; where that is all of it, it is not told.
func TestStormWithinCapture(t *testing.T) {
	const lossy = "errors:\n  - {do: drop, from: a, op: write, probability: 0.05, count: all}\n"
	const densest = " of the payload in "
	if got := happened(t, frames(t, long+lossy), agent.Options{}); strings.Contains(strings.SplitN(got, "\n", 3)[1], densest) {
		t.Error("all of it:", got)
	}
	const sparse = "errors:\n  - {do: drop, from: a, op: write, probability: 0.05, nth: 1500, count: 400}\n"
	got := happened(t, frames(t, long+sparse), agent.Options{})
	if !strings.Contains(got, "10.0.0.1 QP 0x9bc retransmitted ") || !strings.Contains(got, densest) {
		t.Error("for a while:", got)
	}
}

// TestLossesOfPair: what a host lost on several connections to another is one incident where much was retransmitted on one of them, with all packets of these; of one connection it is not.
func TestLossesOfPair(t *testing.T) {
	const two = `
about: WRITEs on two queue pairs over a slow link
hcas:
  a: 10.0.0.1
  b: 10.0.0.2
link: {delay: 2ms, rate: 100000000}
attributes: {timeout: 14}
taps: [a]
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}}
work:
  - {qp: a1, op: write, length: 8000, repeat: 300}
  - {qp: a2, op: write, length: 8000, repeat: 60, every: 10ms}
errors:
  - {do: drop, from: a, op: write, probability: %s, count: all, where: after}
`
	got := happened(t, frames(t, fmt.Sprintf(two, "0.03")), agent.Options{})
	for _, want := range []string{"frames: 1\n", "Packets from 10.0.0.1 to 10.0.0.2 were lost after the tap", " times on 2 connections; ", " packets that it sent on these were retransmitted ("} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nwant %q", got, want)
		}
	}
	if got := happened(t, frames(t, strings.Split(two, "errors:")[0]), agent.Options{}); strings.Contains(got, "were lost") {
		t.Error(got)
	}
}

// TestNothingAskedFor: where only timers have many packets retransmitted, again and again, and nothing is asked for, it is the answers first of all that come late or are lost; where a receiver asks for some, it is not.
func TestNothingAskedFor(t *testing.T) {
	const scene = `
about: answers that are lost
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024, timeout: 12, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
work: [{qp: a1, op: write, length: 8192, repeat: 60, every: 100ms}]
errors:
  - {do: drop, from: b, to: a, op: ack, probability: 0.5}
`
	const answers = "fits: a responder that answers later than the requester's ACK timeout, or answers that are lost on the way back"
	if got := reasons(t, scene); !strings.Contains(got, answers) {
		t.Error(got)
	}
	if got := reasons(t, scene+"  - {do: drop, from: a, to: b, op: request, probability: 0.05, where: after}\n"); strings.Contains(got, answers) {
		t.Error("it asks for some:", got)
	}
}

// TestAnsweredLater: where a timer is shorter than answers take, or each copy has an answer, that fits first.
func TestAnsweredLater(t *testing.T) {
	const scene = `
about: answers that take longer than the timer
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024, timeout: %d, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
work: [{qp: a1, op: %s, length: %d, repeat: 60, every: 20ms}]
errors:
  - {do: delay, from: b, to: a, op: %s, probability: 0.7, delay: %s}
`
	const short, copies = "a responder that answers later than the requester's ACK timeout, which is as short as ", "copies: about as many packets came back as were sent"
	if got := reasons(t, fmt.Sprintf(scene, 4, "read", 4000, "read_response", "150us")); !strings.Contains(got, short) {
		t.Error("a short timer:", got)
	}
	if got := reasons(t, fmt.Sprintf(scene, 10, "write", 1000, "ack", "8ms")); !strings.Contains(got, copies) && !strings.Contains(got, "the answers came late, and each copy was answered") {
		t.Error("each copy is answered:", got)
	}
	if got := reasons(t, strings.NewReplacer("do: delay", "do: drop", ", delay: 8ms", "").Replace(fmt.Sprintf(scene, 12, "write", 1000, "ack", "8ms"))); strings.Contains(got, short) || strings.Contains(got, copies) {
		t.Error("answers are lost:", got)
	}
}

// TestLossBesideUnanswered: what was retransmitted in vain is told with the request that is not answered, and not with what was lost before.
func TestLossBesideUnanswered(t *testing.T) {
	const scene = `
about: WRITEs one of which is lost, and then all
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 12, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: write, length: 1000, repeat: 26, every: 500ms}
taps: [a]
errors:
  - {do: drop, from: a, psn: 0x100005, where: after}
  - {do: drop, from: a, psn: 0x100019, count: all, where: after}
`
	got := happened(t, frames(t, scene), agent.Options{})
	for _, want := range []string{"10.1.0.1 QP 0x9bc retransmitted 1 of 34 packets", "1,000 bytes of payload retransmitted", "7 packets retransmitted in vain"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nwant %q", got, want)
		}
	}
}

// TestStormCutShort: a round of retransmission that the capture cuts short counts like the others, in what is told of the rounds as in what is told of the host.
func TestStormCutShort(t *testing.T) {
	list := frames(t, long+"errors:\n  - {do: drop, from: a, op: write, probability: 0.05, count: all}\n")
	last := 0
	for k := range list {
		if p := decoded(&list[k]); p.Opcode == packet.Op(packet.RC, packet.Acknowledge) && p.Syndrome == packet.NAKSequence {
			last = k
		}
	}
	for name, tt := range map[string]struct {
		list  []fabricagent.Frame
		rests uint32 // of Sum, rounds that it lacks
	}{
		"whole":     {list, 0},
		"cut short": {list[:last+8], 1},
	} {
		r := judged(t, tt.list, agent.Options{})
		e := &r.Connections[0].Ends[0]
		naks := uint32(0)
		for k := range tt.list {
			if p := decoded(&tt.list[k]); p.Opcode == packet.Op(packet.RC, packet.Acknowledge) && p.Syndrome == packet.NAKSequence {
				naks++
			}
		}
		got := toldOf(r)
		if e.Stalled != (tt.rests > 0) {
			t.Errorf("%s: stalled: %v", name, e.Stalled)
		}
		contains(t, name, got, []string{
			fmt.Sprintf("%d times by PSN sequence NAKs", naks), fmt.Sprintf("retransmitted %d,%03d of ", e.Retransmissions/1000, e.Retransmissions%1000), "packets on average for a round (go-back-N): it retransmits all that was in flight for one that was lost; ",
			" packets that were sent for the first time: one lost for each would be ",
		}, nil)
	}
}

// TestStormOfHosts: what several hosts lost on the way to one, of which much was retransmitted, is one incident with the packets of all, though others carried too little to tell what that is; where nothing was lost, nothing is told.
func TestStormOfHosts(t *testing.T) {
	const hosts = `
about: WRITEs of three hosts to one over slow links
hcas: {a: 10.0.0.1, b: 10.0.0.2, c: 10.0.0.3, d: 10.0.0.4}
link: {delay: 2ms, rate: 100000000}
attributes: {timeout: 14}
taps: [middle]
qps:
  a1: {hca: a, peer: d1}
  d1: {hca: d, peer: a1}
  b1: {hca: b, peer: d2}
  d2: {hca: d, peer: b1}
  c1: {hca: c, peer: d3}
  d3: {hca: d, peer: c1}
  a2: {hca: a, peer: b2}
  b2: {hca: b, peer: a2}
work:
  - {qp: a1, op: write, length: 8000, repeat: 200}
  - {qp: b1, op: write, length: 8000, repeat: 200}
  - {qp: c1, op: write, length: 8000, repeat: 200}
  - {qp: a2, op: write, length: 1000, repeat: 10}
errors:
  - {do: drop, from: a, to: d, op: write, probability: 0.03, count: all, where: after}
  - {do: drop, from: b, to: d, op: write, probability: 0.03, count: all, where: after}
  - {do: drop, from: c, to: d, op: write, probability: 0.03, count: all, where: after}
`
	got := happened(t, frames(t, hosts), agent.Options{})
	for _, want := range []string{"frames: 1\n", "Packets to 10.0.0.4 were lost after the tap", " connections with 3 hosts, and none from it ", " packets that these sent were retransmitted (79 %)", "storm: "} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nwant %q", got, want)
		}
	}
	if got := happened(t, frames(t, strings.Split(hosts, "errors:")[0]), agent.Options{}); strings.Contains(got, "were lost") {
		t.Error(got)
	}
}
