package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// TestOtherPSNs: ACKs with a PSN that fits no request, which come as long as a request is retransmitted, are the answers to it of a responder that
// works with another PSN; a single one is not, nor is one that came before.
func TestOtherPSNs(t *testing.T) {
	const scene = `
about: a WRITE
hcas: {a: 10.0.0.1, b: 10.0.0.2}
attributes: {timeout: 12, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
work:
  - {qp: a1, op: write, length: 100}
`
	ack := frames(t, scene)[1]
	changed(&ack, func(p *packet.Packet) { p.PSN, p.MSN = 0x0FFF00, 0 })
	list := frames(t, scene+"errors:\n  - {do: drop, from: a, psn: 0x100000, count: all, where: after}\n")
	answered := func(from, to int) (out []fabricagent.Frame) {
		for n, f := range list {
			out = append(out, f)
			if n >= from && n < to {
				ack.Time = f.Time + 1000
				out = append(out, ack)
			}
		}
		return out
	}
	const told, other = "0x9bc sent an RDMA WRITE of 100 bytes 8 times in", "the capture holds nothing of 10.0.0.2 QP 0xa32 on this connection"
	for name, tt := range map[string]struct {
		list []fabricagent.Frame
		told bool
	}{"each": {answered(0, len(list)), true}, "none": {list, false}, "one": {answered(0, 1), false}} {
		got := happened(t, tt.list, agent.Options{})
		if (strings.Contains(got, told) && strings.Contains(got, "10.0.0.2 QP 0xa32 answered with PSN 0x0fff00, which fits no request.")) != tt.told ||
			strings.Contains(got, other) == tt.told {
			t.Errorf("%s: %s", name, got)
		}
	}
}
