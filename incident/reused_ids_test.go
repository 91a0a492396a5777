package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// reusing gives each PSN one IPv4 identification, whenever it is sent.
func reusing(list []fabricagent.Frame) []fabricagent.Frame {
	for k := range list {
		changed(&list[k], func(p *packet.Packet) { p.IPID = uint16(p.PSN) | 0x100 })
	}
	return list
}

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
	if got := happened(t, reusing(frames(t, scene)), agent.Options{}); !strings.Contains(got, "10.1.0.1 QP 0x9bc sent an RDMA WRITE of 100 bytes 8 times in ") {
		t.Error(got)
	}
}

// TestReusedForNAKs: nor is what NAKs ask for, from the second on.
func TestReusedForNAKs(t *testing.T) {
	const scene = `
about: packets that are lost after the tap
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 14, pmtu: 256}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [a]
work:
  - {qp: a1, op: write, length: 4000, repeat: 6, every: 1ms}
errors:
  - {do: drop, from: a, psn: 0x100004}
  - {do: drop, from: a, psn: 0x100024}
  - {do: drop, from: a, psn: 0x100044}
`
	rounds := func(list []fabricagent.Frame) string {
		got := happened(t, list, agent.Options{Near: []packet.Addr{packet.IPv4Addr([]byte{10, 1, 0, 1})}})
		at := strings.Index(got, " retransmitted ")
		return got[at:][:strings.Index(got[at:], ":")]
	}
	if numbered, reused := rounds(frames(t, scene)), rounds(reusing(frames(t, scene))); !strings.HasSuffix(numbered, "in 3 rounds") || !strings.HasSuffix(reused, "in 2 rounds") && !strings.HasSuffix(reused, "in 3 rounds") {
		t.Errorf("%q, and with identifications that are reused %q", numbered, reused)
	}
}
