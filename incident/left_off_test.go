package incident_test

import (
	"slices"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// TestLeftOff: of a requester that stopped in the midst of a WRITE, it is told that it stopped, and not that its peer owes an answer; with the requests of its peer that it does not answer any more, where there are. Of
// a message that is whole nothing is told.
func TestLeftOff(t *testing.T) {
	const scene = `
about: a requester that stops in the midst of a WRITE
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024, timeout: 12, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, b2: {hca: b, peer: a2}, a2: {hca: a, peer: b2}}
taps: [middle]
work:
  - {qp: a1, op: write, length: 200, repeat: 5, every: 1ms}
  - {qp: a1, op: write, length: 65536, at: 30ms}
  - {qp: b2, op: write, length: 300, repeat: 40, every: 100ms, at: 10ms}
  - {qp: a2, op: write, length: 300, repeat: 40, every: 100ms, at: 10ms}
`
	const (
		back    = "  - {qp: b1, op: write, length: 100, at: 100ms}\nerrors:\n  - {do: drop, from: b, to: a, psn: 0x200000, count: all, where: after}\n"
		stopped = "10.1.0.1 QP 0x9bc stopped in the midst of an RDMA WRITE of 65,536 bytes"
		leftOff = "left off: 10.1.0.1 QP 0x9bc, in the midst of an RDMA WRITE of its own of 65,536 bytes"
		waits   = "has retransmitted nothing"
	)
	// stops has a1 send nothing more from the 20th packet of its WRITE on, the middle before which asks for an acknowledgment or not.
	stops := func(text string, asks bool) []fabricagent.Frame {
		all := frames(t, scene+text)
		first := slices.IndexFunc(all, func(f fabricagent.Frame) bool { return decoded(&f).Opcode.Fn() == packet.WriteFirst })
		src, to, n, at := decoded(&all[0]).Src, decoded(&all[first]).DestQP, 0, int64(0)
		ofB := decoded(&all[1]).DestQP
		return slices.DeleteFunc(all, func(f fabricagent.Frame) bool {
			p := decoded(&f)
			switch {
			case at != 0 && p.DestQP == ofB && p.Src != src:
				return p.Opcode.Fn() == packet.Acknowledge
			case p.DestQP != to || p.Src != src:
				return false
			case p.Opcode.Fn() == packet.WriteFirst, p.Opcode.Fn() == packet.WriteMiddle:
				if n++; n == 19 {
					at = f.Time
					if asks {
						changed(&f, func(p *packet.Packet) { p.AckReq = true })
					}
				}
			}
			return at != 0 && f.Time > at
		})
	}
	contains(t, "nothing else", happened(t, stops("", false), agent.Options{}), []string{stopped, "others: 10.1.0.1 went on sending on other connections"}, []string{waits})
	contains(t, "a middle asked", happened(t, stops("", true), agent.Options{}), []string{stopped}, []string{waits})
	contains(t, "its peer asks", happened(t, stops(back, true), agent.Options{}), []string{"10.1.0.2 QP 0xa32 sent", leftOff, "went on sending on other connections"}, []string{waits, stopped})
	contains(t, "whole", happened(t, frames(t, scene+back), agent.Options{}), nil, []string{waits, stopped, leftOff})
}
