package incident_test

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/mad"
)

// connectedBy has CM connect the queue pairs of a scene's first two frames that are a request and its answer, with a path MTU (code as of the REQ), a millisecond before the first frame.
func connectedBy(t *testing.T, list []fabricagent.Frame, pmtu uint8) []fabricagent.Frame {
	t.Helper()
	first, answer := decoded(&list[0]), decoded(&list[1])
	out := asked(t,
		&mad.REQ{Header: mad.CMHeader(mad.AttrREQ, 77), LocalCommID: 0xA0, ServiceID: 0x1061144, LocalQPN: answer.DestQP, PathMTU: pmtu, MaxCMRetries: 15, RemoteCMTimeout: 20, LocalCMTimeout: 20, StartingPSN: first.PSN},
		&mad.REP{Header: mad.CMHeader(mad.AttrREP, 77), LocalCommID: 0xB0, RemoteCommID: 0xA0, LocalQPN: first.DestQP, StartingPSN: 0x200000},
		&mad.RTU{Header: mad.CMHeader(mad.AttrRTU, 77), LocalCommID: 0xA0, RemoteCommID: 0xB0})
	for k := range out {
		out[k].Time = list[0].Time - int64(time.Millisecond)
	}
	return append(out, list...)
}

// measuredFrames is what frames tell where messages are measured, with the sizes, what it fits and what to look at.
func measuredFrames(t *testing.T, list []fabricagent.Frame) string {
	t.Helper()
	all := incident.Of(judged(t, list, agent.Options{Timing: true}))
	var b strings.Builder
	told(&b, "frames", all)
	for i := range all {
		b.WriteString("fits: " + strings.Join(all[i].FitsWith, "; ") + "\nnext: " + strings.Join(all[i].Next, "; ") + "\n")
	}
	return b.String()
}

// TestUnshownBySize: where larger packets of a requester vanish before a tap at its responder, so that the responder asks for what the capture does not hold, or its own requests are not answered any more, it is
// told that all packets which came are smaller than the path MTU of CM; not where a larger one came, or where the path MTU is hardly larger.
func TestUnshownBySize(t *testing.T) {
	const (
		scene = `
about: large packets of a requester that vanish before the tap
hcas: {a: 10.0.0.1, b: 10.0.0.2}
attributes: {pmtu: PMTU, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}}
taps: [b]
work:
  - {qp: a1, op: write, length: LENGTH, repeat: 20, every: 1ms}
  - {qp: a2, op: write, length: 300, repeat: 40, every: 100ms, at: 25ms}
  - {qp: a1, op: write, length: 16384, at: 30ms}
  - {qp: NEXT, op: write, length: 100, at: AT}
errors:
  - {do: drop, from: a, op: [write_first, write_middle, write_last], count: all}
`
		size  = "size: what came from 10.0.0.1 to 10.0.0.2 carried up to 300 bytes in a packet, on 2 connections; the path MTU of the queue pair is 4,096 bytes"
		fits  = "a path from 10.0.0.1 to the tap whose MTU is smaller than the path MTU of the queue pair: larger packets vanish, smaller ones arrive"
		next  = "the MTU of both interfaces and of every switch port from 10.0.0.1 to 10.0.0.2: ping -M do -s 4128 10.0.0.2 on 10.0.0.1"
		asks  = "asked with a PSN sequence NAK for what comes before it, which the capture does not hold"
		never = "10.0.0.1 QP 0x9bc never answered it"
	)
	with := func(pmtu, length, of, at string, code uint8) string {
		return measuredFrames(t, connectedBy(t, frames(t, strings.NewReplacer("PMTU", pmtu, "LENGTH", length, "NEXT", of, "AT", at).Replace(scene)), code))
	}
	contains(t, "asked for", with("4096", "200", "a1", "30.1ms", 5), []string{asks, size + ", and how large what is missing was is not known", "fits: " + fits, "next: " + next}, nil)
	contains(t, "asked for, in the sentence", with("4096", "200", "a1", "30.1ms", 5), []string{"From 10.0.0.1 to 10.0.0.2, no packet with more than 300 bytes of payload came, though the path MTU is 4,096 bytes."}, []string{"in either direction"})
	contains(t, "asked for, beside larger ones", with("4096", "2100", "a1", "30.1ms", 5), []string{asks}, []string{"size: ", "MTU is smaller"})
	contains(t, "asked for, small path MTU", with("512", "200", "a1", "30.1ms", 2), []string{asks}, []string{"size: ", "MTU is smaller"})
	contains(t, "its own", with("4096", "200", "b1", "2s", 5), []string{never, size, "in the error state since larger packets of its own vanished: " + fits, next}, nil)
	contains(t, "its own, beside larger ones", with("4096", "2100", "b1", "2s", 5), []string{never}, []string{"size: ", "MTU is smaller"})
}

// TestUnshownBothWays: where larger packets vanish before the tap one way, and after it the other, that is one path; not where a larger one came one way.
func TestUnshownBothWays(t *testing.T) {
	const scene = `
about: large packets that vanish in both directions
hcas: {a: 10.0.0.1, b: 10.0.0.2}
attributes: {pmtu: 4096, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}}
taps: [middle]
work:
  - {qp: a1, op: write, length: 300, repeat: 20, every: 1ms}
  - {qp: a2, op: read, length: LENGTH, repeat: 40, every: 100ms, at: 25ms}
  - {qp: a1, op: write, length: 16384, at: 30ms}
  - {qp: a1, op: write, length: 100, at: 30.1ms}
  - {qp: a2, op: read, length: 16384, at: 1s}
errors:
  - {do: drop, from: a, op: [write_first, write_middle, write_last], count: all}
  - {do: drop, from: b, op: [read_response_first, read_response_middle, read_response_last], count: all, where: after}
`
	with := func(length string) string {
		return measuredFrames(t, connectedBy(t, frames(t, strings.ReplaceAll(scene, "LENGTH", length)), 5))
	}
	const both = "Between 10.0.0.2 and 10.0.0.1 no packet with more than 300 bytes of payload arrives on 2 connections, in either direction, and smaller ones do, though the path MTU of their queue pairs is 4,096 bytes. 10.0.0.1"
	contains(t, "both", with("200"), []string{both, "other way: ", "which the capture does not hold, and never acknowledged it. From 10.0.0.1 to 10.0.0.2, no packet with more than 300 bytes", "ping -M do -s 4128 10.0.0.2 on 10.0.0.1", "ping -M do -s 4116 10.0.0.1 on 10.0.0.2"}, nil)
	contains(t, "one", with("4096"), []string{"asked with a PSN sequence NAK"}, []string{"in either direction"})
}

// TestUnshownEnds: where only the shorter end of each message comes, the path MTU fits, what came that way is told and what to look at is said, once; where a larger packet came, none of them is.
func TestUnshownEnds(t *testing.T) {
	const scene = `
about: large packets of a requester that vanish before the tap, but not the ends of their messages
hcas: {a: 10.0.0.1, b: 10.0.0.2}
attributes: {pmtu: 4096, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}}
taps: [b]
work:
  - {qp: a1, op: write, length: 300, repeat: 20, every: 1ms}
  - {qp: a2, op: write, length: LENGTH, repeat: 40, every: 100ms, at: 25ms}
  - {qp: a1, op: write, length: 8292, at: 30ms}
errors:
  - {do: drop, from: a, op: [write_first, write_middle], count: all}
`
	for length, want := range map[string]int{"300": 1, "4096": 0} {
		got := measuredFrames(t, connectedBy(t, frames(t, strings.Replace(scene, "LENGTH", length, 1)), 5))
		for _, text := range []string{"MTU is smaller", "size: ", "ping -M do -s 4128 10.0.0.2 on 10.0.0.1", "From 10.0.0.1 to 10.0.0.2, no packet with more than 300 bytes of payload came"} {
			if n := strings.Count(got, text); n != want || !strings.Contains(got, "which the capture does not hold") {
				t.Errorf("%s: %q %d times: %s", length, text, n, got)
			}
		}
	}
}
