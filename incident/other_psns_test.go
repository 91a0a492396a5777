package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// neverArrives is a WRITE that begins with PSN 0x34ab12, and of which nothing arrives.
const neverArrives = `
about: a WRITE
hcas: {a: 10.0.0.1, b: 10.0.0.2}
attributes: {timeout: 12, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1, psn: 0x34ab12}, b1: {hca: b, peer: a1}}
taps: [middle]
work:
  - {qp: a1, op: write, length: 100}
`

// answeredBy adds an answer to the frames of a list from one up to another, a microsecond after each.
func answeredBy(list []fabricagent.Frame, answer fabricagent.Frame, from, to int) (out []fabricagent.Frame) {
	for n, f := range list {
		out = append(out, f)
		if n >= from && n < to {
			answer.Time = f.Time + 1000
			out = append(out, answer)
		}
	}
	return out
}

// TestOtherPSNs: ACKs with a PSN that fits no request, which come as long as a request is retransmitted, are the answers to it of a responder
// that works with another PSN; a single one is not, nor is one that came before.
func TestOtherPSNs(t *testing.T) {
	ack := frames(t, neverArrives)[1]
	changed(&ack, func(p *packet.Packet) { p.PSN, p.MSN, p.SrcPort = 0x0FFF00, 0, 0xC001 })
	list := frames(t, neverArrives+"errors:\n  - {do: drop, from: a, count: all, where: after}\n")
	const told, other = "0x9bc sent an RDMA WRITE of 100 bytes 8 times in", "the capture holds nothing of 10.0.0.2 QP 0xa32 on this connection"
	for name, tt := range map[string]struct {
		list []fabricagent.Frame
		told bool
	}{"each": {answeredBy(list, ack, 0, len(list)), true}, "none": {list, false}, "one": {answeredBy(list, ack, 0, 1), false}} {
		got := happened(t, tt.list, agent.Options{})
		if (strings.Contains(got, told) && strings.Contains(got, "10.0.0.2 QP 0xa32 answered with PSN 0x0fff00, which fits no request.")) != tt.told ||
			strings.Contains(got, other) == tt.told {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestSwappedPSN: a single NAK, or ACKs, by which a responder expects the bytes of the starting PSN in reverse order, are told as its answers,
// by the UDP source port or by their time; not where the PSN is near the requests, as that of what came before the capture, or where the
// responses may be to another requester.
func TestSwappedPSN(t *testing.T) {
	const (
		swaps  = "from PSN 0x34ab12 on; 10.0.0.2 QP 0xa32 answers, but expects PSN 0x12ab34: the same bytes in reverse order."
		in32   = "answers, but expects PSN 0xab3400: what 24 bits hold of the first with its 4 bytes in reverse order."
		far    = "answers, but expects PSN 0x5a5a5a."
		silent = "of 10.0.0.2 QP 0xa32 on this connection"
	)
	list := frames(t, neverArrives+"errors:\n  - {do: drop, from: a, count: all, where: after}\n")
	port := uint16(0)
	changed(&list[0], func(p *packet.Packet) { port = p.SrcPort })
	for name, k := range map[string]struct {
		psn      packet.PSN
		syndrome packet.Syndrome
		port     uint16
		from, to int
		want     string // empty: nothing of other PSNs
	}{
		"a NAK":                    {0x12AB34, packet.NAKSequence, port, 0, 1, swaps},
		"a late NAK":               {0x12AB34, packet.NAKSequence, port, 4, 5, swaps},
		"a NAK from another port":  {0x12AB34, packet.NAKSequence, 7, 0, 1, swaps},
		"a late one of these":      {0x12AB34, packet.NAKSequence, 7, 4, 5, ""},
		"an ACK":                   {0x12AB33, 0x1F, port, 0, 1, swaps},
		"ACKs":                     {0x12AB33, 0x1F, port, 0, 8, swaps},
		"4 bytes":                  {0xAB3400, packet.NAKSequence, port, 0, 1, in32},
		"far":                      {0x5A5A5A, packet.NAKSequence, port, 0, 1, far},
		"near":                     {0x34AB00, packet.NAKSequence, port, 0, 1, ""},
		"an ACK of what is before": {0x34AB11, 0x1F, port, 0, 1, ""},
		"another NAK":              {0x12AB34, packet.NAKInvalidRequest, port, 0, 1, ""},
	} {
		answer := frames(t, neverArrives)[1]
		changed(&answer, func(p *packet.Packet) { p.PSN, p.MSN, p.Syndrome, p.SrcPort = k.psn, 0, k.syndrome, k.port })
		got := happened(t, answeredBy(list, answer, k.from, k.to), agent.Options{})
		if k.want == "" {
			contains(t, name, got, nil, []string{"answers, but expects", "fits no request"})
		} else {
			contains(t, name, got, []string{"(likely): 10.0.0.1 QP 0x9bc sent an RDMA WRITE", k.want}, []string{silent, "wrong destination QPN"})
		}
	}
}
