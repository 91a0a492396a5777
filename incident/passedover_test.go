package incident_test

import (
	"slices"
	"strings"
	"testing"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// TestPassedOver: that a later request is acknowledged does not answer a READ or atomic, whose own response is not in the capture: nothing says that its answer passed the tap, be it that it came at last or
// not. A WRITE that a later one acknowledges was answered.
func TestPassedOver(t *testing.T) {
	const (
		head = `
about: an atomic, the response to which is lost before the tap
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
work:
  - {qp: a1, op: write, length: 64, repeat: 4, every: 1ms}
  - {qp: a1, op: OP, at: 10ms}
  - {qp: a1, op: write, length: 64, at: 10ms}
  - {qp: a1, op: write, length: 64, repeat: 10, every: 1ms, at: 2s}
errors:
  - {do: drop, from: b, op: ack, nth: 5, count: COUNT, where: after}
`
		lost  = "  - {do: drop, from: b, op: [atomic_ack, read_response], count: COUNT}\n"
		later = "acknowledges a request after it: 10.1.0.2 QP 0xa32 had taken this one too, and its own response, which that does not replace, was not sent or was lost before the tap"
		fits  = "fits: responses that are lost on the way from 10.1.0.2 to the tap: by their size, by a filter, or since they are damaged; or a responder that did not send them\n"
	)
	for _, k := range []struct {
		name, op, count, drop string
		want, not             []string
	}{
		{"an atomic, never answered", "fetch_add", "all", lost, []string{"sent a FetchAdd 8 times in", "never answered it", later, fits}, []string{"had answered", "passed the tap"}},
		{"an atomic, answered at last", "fetch_add", "1", lost, []string{
			"interrupted (proven): 10.1.0.1 QP 0x9bc waited 1", " for the response to a FetchAdd, while 10.1.0.2 QP 0xa32 acknowledged a later request; then it came.", later,
		}, []string{"had answered", "passed the tap"}},
		{"a READ, answered at last", "read, length: 64", "1", lost, []string{" for the response to an RDMA READ of 64 bytes, while 10.1.0.2 QP 0xa32 acknowledged a later request", later}, []string{"had answered", "passed the tap"}},
		{"an atomic whose response passed", "fetch_add", "1", strings.Replace(lost, "}\n", ", where: after}\n", 1), []string{"for what 10.1.0.2 QP 0xa32 had answered: the answer passed the tap"}, []string{later}},
		{"a WRITE", "write, length: 64", "2", "", []string{"for what 10.1.0.2 QP 0xa32 had answered: the answer passed the tap"}, []string{later}},
	} {
		contains(t, k.name, reasons(t, strings.NewReplacer("OP", k.op, "COUNT", k.count).Replace(head+k.drop)), k.want, k.not)
	}
	list := slices.DeleteFunc(frames(t, strings.NewReplacer("OP", "read, length: 64", "COUNT", "1").Replace(head+lost)), func(f fabricagent.Frame) bool {
		var p packet.Packet
		return packet.DecodeIP(&p, f.Data[14:], int(f.Len)-14) && p.Opcode.Fn() == packet.ReadRespOnly
	})
	contains(t, "a READ whose response the capture lacks, after which the requester goes on", toldReasons(t, list), []string{
		"while 10.1.0.2 QP 0xa32 acknowledged a later request; then a response came, its own or to a later one.",
	}, []string{"never answered", "; then it came"})
}

// TestPartOfAnswer: a READ of whose answer the capture holds a part, or that was answered before it was retransmitted, is not told to be never answered.
func TestPartOfAnswer(t *testing.T) {
	const head = `
about: a READ of whose answer a part is lost
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
work:
  - {qp: a1, op: write, length: 8}
  - {qp: a1, op: read, length: 3000, at: 1ms}
errors:
`
	const never, part = "never answered it", "and the capture holds only a part of that"
	for _, k := range []struct {
		name, errors string
		want, not    []string
	}{
		{"the last response each time", "  - {do: drop, from: b, op: [read_response_first, read_response_middle], count: all}\n", []string{"answered, " + part + ": no packet of it has more than 952 bytes.", "responses that are lost on the way from 10.1.0.2 to the tap"}, []string{never}},
		{"the last two once", "  - {do: drop, from: b, op: read_response_first}\n  - {do: drop, from: a, op: read, nth: 2, count: all, where: after}\n", []string{"answered it once, " + part}, []string{never}},
		{
			"all of it, once", "  - {do: drop, from: b, op: read_response, count: 3, where: after}\n  - {do: drop, from: a, op: read, nth: 2, count: all, where: after}\n",
			[]string{"had answered it before, and did not any more"},
			[]string{never},
		},
		{"nothing", "  - {do: drop, from: b, op: read_response, count: all}\n", []string{never}, []string{part}},
	} {
		contains(t, k.name, reasons(t, head+k.errors), k.want, k.not)
	}
}
