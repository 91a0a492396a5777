package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
)

// TestEndedFirst: where a host closes a TCP connection as its queue pairs fall silent, its program that ended comes first, and a path MTU that became
// smaller last; not where the FIN comes long after, or of another host.
func TestEndedFirst(t *testing.T) {
	const scene = `
about: two of three queue pairs that are gone
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 4096, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2, psn: 0x200000}, b2: {hca: b, peer: a2},
  a3: {hca: a, peer: b3}, b3: {hca: b, peer: a3}}
work:
  - {qp: a1, op: write, length: 16384, repeat: 5, every: 1ms}
  - {qp: a2, op: write, length: 16384, repeat: 5, every: 1ms}
  - {qp: a3, op: write, length: 500, repeat: 400, every: 1ms}
  - {qp: a1, op: write, length: 16384, at: 40ms}
  - {qp: a2, op: write, length: 16384, at: 40100us}
taps: [middle]
errors:
  - {do: drop, from: a, psn: 0x100014..0x100020, count: all, where: after}
  - {do: drop, from: a, psn: 0x200014..0x200020, count: all, where: after}
`
	const (
		first = "fits: a program on 10.1.0.2 that ended: it exited, crashed or was killed; " +
			"its kernel closed its TCP connection, and its queue pairs are gone; one path"
		last = "; less likely a path from 10.1.0.1 to 10.1.0.2 whose MTU became smaller then: " +
			"only packets with at most 512 bytes of payload were answered since\n"
		look   = "\nnext: the process that owns 10.1.0.2 QP 0x"
		both   = "answers nothing since then either (within 99.9µs); it went on sending on 1 other between the same hosts, up to +0."
		shrunk = "RDMA packets with more than 512 bytes of payload were answered before, and only smaller ones since."
		mtu    = "fits: a path from 10.1.0.1 to 10.1.0.2 whose MTU became smaller then, by a change of a route"
	)
	for _, k := range []struct {
		name      string
		after     int64 // the last packet of the queue pair, nanoseconds; 0: no FIN
		of        int   // the end that closes
		want, not []string
	}{
		{"no FIN", 0, 1, []string{both, shrunk, mtu}, []string{first, last, look}},
		{"it closes then", 2_300_000, 1, []string{both, first, last, look}, []string{shrunk, mtu, "1 more connection"}},
		{"the requester closes", 2_300_000, 0, []string{both, shrunk, mtu}, []string{first, last}},
		{"it closes later", 700_000_000, 1, []string{both, shrunk, mtu}, []string{first, last}},
	} {
		r := judged(t, frames(t, scene), agent.Options{Timing: true})
		if k.after != 0 {
			ends := &r.Connections[0].Ends
			by := [2]int{0, 1}
			if ends[0].Addr.String() != "10.1.0.1" {
				by = [2]int{1, 0}
			}
			fin := fabricagent.Presence{Host: ends[by[k.of]].Addr, To: ends[by[1-k.of]].Addr, By: fabricagent.ByFIN, Ports: [2]uint16{7, 8}}
			r.Signs = append(r.Signs, agent.Sign{Presence: fin, At: ends[by[1]].Last + k.after, Frame: 9})
		}
		list := incident.Of(r)
		var b strings.Builder
		told(&b, "frames", list)
		for i := range list {
			b.WriteString("fits: " + strings.Join(list[i].FitsWith, "; ") + "\nnext: " + strings.Join(list[i].Next, "; ") + "\n")
		}
		contains(t, k.name, b.String(), k.want, k.not)
	}
}

// TestDeadTogether: of a host of which nothing comes any more, all queue pairs are named that answer nothing from the same time on; not one that was
// idle by then.
func TestDeadTogether(t *testing.T) {
	const scene = `
about: a host that falls silent
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}}
work:
  - {qp: a1, op: write, length: 4096, repeat: 5, every: 1ms}
  - {qp: a2, op: write, length: 4096, repeat: 5, every: 1ms}
  - {qp: a1, op: write, length: 4096, at: 40ms}
SECONDtaps: [middle]
errors:
  - {do: drop, from: b, op: acknowledge, nth: 11, count: all, where: before}
`
	const both = " never answered it. Its QP 0x"
	second := "  - {qp: a2, op: write, length: 4096, at: 40100us}\n"
	contains(t, "both", measured(t, strings.Replace(scene, "SECOND", second, 1)), []string{both, "answers nothing since then either (within 10", "µs).\n"},
		[]string{"went on sending on", "also: "})
	contains(t, "one", measured(t, strings.Replace(scene, "SECOND", "", 1)), []string{"never answered it.\n"}, []string{both})
}

// TestPacketsOfRequests: of an end whose peer sends requests too, the share of retransmissions is of the packets of its requests, without the ACKs.
func TestPacketsOfRequests(t *testing.T) {
	const scene = `
about: WRITEs both ways, of which packets are lost
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
work:
  - {qp: a1, op: write, length: 8192, repeat: 100, every: 1ms}
  - {qp: b1, op: write, length: BACK, repeat: 100, every: 1ms, at: 500us}
errors:
  - {do: drop, from: a, op: write_middle, nth: 100, where: after}
  - {do: drop, from: a, op: write_middle, nth: 200, where: after}
  - {do: drop, from: a, op: write_middle, nth: 300, where: after}
`
	const of = " of 8"
	for back, want := range map[string]string{"100": " packets of requests to 10.1.0.2", "0": " packets to 10.1.0.2"} {
		text := strings.Replace(scene, "BACK", back, 1)
		if back == "0" {
			text = strings.Replace(text, "  - {qp: b1, op: write, length: 0, repeat: 100, every: 1ms, at: 500us}\n", "", 1)
		}
		contains(t, back, happened(t, frames(t, text), agent.Options{Timing: true}), []string{of, want}, nil)
	}
}
