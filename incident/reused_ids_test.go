package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/packet"
)

// TestReusedIdentifications: what a timer retransmits is no copy that the network made, though its sender gives each PSN one IPv4 identification: a copy does not come 10 ms after the newest request.
func TestReusedIdentifications(t *testing.T) {
	const scene = `
about: a request that nothing answers
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
work:
  - {qp: a1, op: write, length: 100, repeat: 4, every: 5ms}
errors:
  - {do: drop, from: a, psn: 0x100003, count: all, where: after}
`
	list := frames(t, scene)
	for k := range list {
		changed(&list[k], func(p *packet.Packet) { p.IPID = uint16(p.PSN) | 0x100 })
	}
	if got := happened(t, list, agent.Options{}); !strings.Contains(got, "10.1.0.1 QP 0x9bc sent an RDMA WRITE of 100 bytes 8 times in ") {
		t.Error(got)
	}
}
