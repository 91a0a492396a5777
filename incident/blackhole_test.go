package incident_test

import (
	"fmt"
	"strings"
	"testing"

	"ibwitness/agent"
)

// TestBlackHole: a peer that asks for a packet which the path drops is told to have done so, and not to be gone.
func TestBlackHole(t *testing.T) {
	const scene = `
about: WRITEs whose large packets the path drops
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 4096, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: write, length: 1000, repeat: 10, every: 1ms}
  - {qp: a1, op: write, length: 65536, at: 40ms}
taps: [middle]
errors:
`
	for name, tt := range map[string]struct{ drop, want, not, work string }{
		"all but the last packet": {
			"{do: drop, from: a, op: [write_first, write_middle], count: all, where: after}",
			"asked for it with a PSN sequence NAK, and never acknowledged it", "in the error state", "",
		},
		"all but the last packet, and the NAK": {
			"{do: drop, from: a, op: [write_first, write_middle], count: all, where: after}\n  - {do: drop, from: b, op: nak, count: all, where: after}",
			"asked for it with a PSN sequence NAK, and never acknowledged it", "never answered it", "",
		},
		"all but what comes next, before the tap": {
			"{do: drop, from: a, op: [write_first, write_middle, write_last], count: all}",
			"asked with a PSN sequence NAK for what comes before it, which the capture does not hold, and never acknowledged it", "asked for it", "  - {qp: a1, op: write, length: 100, at: 41ms}\n",
		},
		"all packets of it": {"{do: drop, from: a, op: [write_first, write_middle, write_last], count: all, where: after}", "never answered it", "a PSN sequence NAK", ""},
	} {
		list := judged(t, frames(t, strings.Replace(scene, "taps:", tt.work+"taps:", 1)+"  - "+tt.drop+"\n"), agent.Options{})
		got := toldOf(list)
		if !strings.Contains(got, tt.want) || strings.Contains(got, tt.not) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestBlackHoleBesideSmall: the path MTU is told where another connection has sent packets that are larger than those which were answered, and much smaller than those which vanish; not where it has sent some
// that are as large.
func TestBlackHoleBesideSmall(t *testing.T) {
	const scene = `
about: a WRITE whose large packets the path drops, beside smaller ones on another connection
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 4096, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}}
work:
  - {qp: a1, op: write, length: 180, repeat: 10, every: 1ms}
  - {qp: a2, op: write, length: %s, repeat: 30, every: 1ms}
  - {qp: a1, op: write, length: 65536, at: 40ms}
taps: [middle]
errors:
  - {do: drop, from: a, op: [write_first, write_middle], count: all, where: after}
`
	const (
		size = "size: it carries 4,096 bytes of payload; the largest packet that was answered just before carried 180 bytes"
		fits = "a path whose MTU is smaller than the path MTU of the queue pair: large packets vanish, small ones arrive"
	)
	for length, told := range map[string]bool{"500": true, "4000": false} {
		if got := reasons(t, strings.Replace(scene, "%s", length, 1)); strings.Contains(got, size) != told || strings.Contains(got, fits) != told {
			t.Errorf("beside packets of %s bytes: %s", length, got)
		}
	}
}

// TestBlackHoleOfResponses: a READ whose responses the path drops, where smaller ones were answered, is told to ask for larger packets: as large as other connections of its host have.
func TestBlackHoleOfResponses(t *testing.T) {
	const scene = `
about: READs whose large responses the path drops
hcas: {a: 10.1.0.1, b: 10.1.0.2, c: 10.1.0.3}
attributes: {pmtu: 4096, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: c1}, c1: {hca: c, peer: a2}}
work:
  - {qp: a1, op: read, length: 512, repeat: 10, every: 1ms}
  - {qp: a1, op: read, length: 65536, at: 40ms}
  - {qp: a2, op: write, length: %s, at: 5s}
taps: [middle]
errors:
  - {do: drop, from: b, to: a, op: [read_response_first, read_response_middle, read_response_last], count: all}
`
	const (
		size = "size: it asks for packets with 4,096 bytes of payload if its path MTU is the largest of the connections of 10.1.0.1; the largest READ that was answered just before was of 512 bytes"
		fits = "a path whose MTU is smaller than the path MTU of the queue pair: large packets vanish, small ones arrive"
	)
	if got := reasons(t, strings.Replace(scene, "%s", "65536", 1)); !strings.Contains(got, size) || !strings.Contains(got, fits) {
		t.Error(got)
	}
	if got := reasons(t, strings.Replace(scene, "%s", "64", 1)); strings.Contains(got, "size: ") || strings.Contains(got, fits) {
		t.Error(got)
	}
}

// TestOtherMTU: a request that is refused at its first packet, which is longer than all that were accepted, is told to be so; not where packets as long were accepted.
func TestOtherMTU(t *testing.T) {
	const scene = `
about: WRITEs of packets that are longer than the path MTU of the responder
hcas: {a: 10.1.0.1, b: 10.1.0.2}
qps: {a1: {hca: a, peer: b1, pmtu: 4096}, b1: {hca: b, peer: a1, pmtu: %s}}
work:
  - {qp: a1, op: write, length: LENGTH, repeat: 10, every: 1ms}
  - {qp: a1, op: write, length: 16384, at: 40ms}
taps: [middle]
`
	const (
		size = "size: its first packet carries 4,096 bytes of payload, the path MTU of its queue pair; the largest that was accepted just before carried 200 bytes"
		fits = "fits: a queue pair of 10.1.0.2 whose path MTU is smaller than the 4,096 bytes of that of 10.1.0.1; or "
	)
	with := func(length, more string) string {
		return reasons(t, strings.NewReplacer("%s", "1024", "LENGTH", length).Replace(scene)+more)
	}
	if got := with("200", ""); !strings.Contains(got, "NAK Invalid Request") || !strings.Contains(got, size) || !strings.Contains(got, fits) {
		t.Error(got)
	}
	refused := "errors: [{do: corrupt, from: b, to: a, op: ack, nth: 11, set: {syndrome: 0x61}}]\n"
	got := reasons(t, strings.NewReplacer("%s", "4096", "LENGTH", "8192").Replace(scene)+refused)
	if !strings.Contains(got, "NAK Invalid Request") || strings.Contains(got, "size: ") || strings.Contains(got, "path MTU") {
		t.Error(got)
	}
}

// TestBlackHoleBothWays: large requests that vanish one way and large responses the other are told as one path, which has to be looked at in both directions; two of one kind are of one direction.
func TestBlackHoleBothWays(t *testing.T) {
	const scene = `
about: READs and WRITEs whose large packets the path drops
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 4096, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}, a3: {hca: a, peer: b3}, b3: {hca: b, peer: a3}}
work:
  - {qp: a1, op: %[1]s, length: 1000, repeat: 30, every: 1ms}
  - {qp: a2, op: write, length: 1000, repeat: 30, every: 1ms}
  - {qp: a3, op: write, length: 1000, repeat: 200, every: 5ms}
  - {qp: a3, op: read, length: 1000, repeat: 200, every: 5ms}
  - {qp: a1, op: %[1]s, length: 65536, at: 40ms}
  - {qp: a2, op: write, length: 65536, at: 40ms}
taps: [middle]
errors:
  - {do: drop, from: a, op: [write_first, write_middle, write_last], count: all, where: after}
  - {do: drop, from: b, op: [read_response_first, read_response_middle, read_response_last], count: all}
`
	for op, both := range map[string]bool{"read": true, "write": false} {
		got := measuredFrames(t, frames(t, fmt.Sprintf(scene, op)))
		if strings.Count(got, "unanswered ") != 1 || strings.Count(got, "were answered, and none in larger ones") != 1 ||
			strings.Contains(got, "Between 10.1.0.2 and 10.1.0.1 no packet with more than 1,000 bytes of payload arrives on 2 connections, in either direction, and smaller ones do, though the path MTU of their queue pairs is 4,096 bytes. ") != both ||
			strings.Contains(got, "other way: ") != both || strings.Count(got, "the MTU of both interfaces") != map[bool]int{true: 2, false: 1}[both] {
			t.Errorf("%s: %s", op, got)
		}
	}
}

// TestBlackHolePassedOver: a READ whose large responses the path drops is never answered though responses to later, smaller READs and ACKs of later WRITEs come while it is retransmitted: it is told so, with how often it
// was sent in all, and that larger packets vanish; not where its own response comes at last.
func TestBlackHolePassedOver(t *testing.T) {
	const scene = `
about: a READ of many packets whose responses the path drops, and what comes after it on the same queue pair
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 4096, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}}
work:
  - {qp: a1, op: read, length: 512, repeat: 12, every: 1ms}
  - {qp: a2, op: write, length: 64, at: 2s}
  - {qp: a1, op: read, length: 65536, at: 40ms}
  - {qp: a1, op: read, length: 64, at: 45ms}
  - {qp: a1, op: write, length: 65536, at: 50ms}
taps: [middle]
errors:
  - {do: drop, from: b, to: a, op: [read_response_first, read_response_middle, read_response_last], count: %s}
`
	want := []string{
		"unanswered (proven): 10.1.0.1 QP 0x9bc sent an RDMA READ of 65,536 bytes 8 times in ", "never answered it. From 10.1.0.2 to 10.1.0.1, 12 READs in packets of up to 512 bytes were answered, and none in larger ones.",
		"gave up: no further retransmission in ", "7 retries: it seems that they are used up", "its own response, which that does not replace, was not sent or was lost before the tap",
		"fits: a path from 10.1.0.2 to 10.1.0.1 whose MTU is smaller",
	}
	got := measuredFrames(t, frames(t, fmt.Sprintf(scene, "all")))
	contains(t, "all", got, want, []string{"interrupted", "then it went on", "a response came", "answered: "})
	got = measuredFrames(t, frames(t, fmt.Sprintf(scene, "64")))
	contains(t, "64", got, []string{" for the response to an RDMA READ of 65,536 bytes, while 10.1.0.2 QP 0xa32 acknowledged a later request; then it came.", "sent 5 times", "answered: in frame "}, []string{"never answered", "unanswered", "vanish", "ping"})
}
