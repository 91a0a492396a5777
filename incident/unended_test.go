package incident_test

import (
	"slices"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// TestUnended: a message of which a part came, and nothing more, is told of; not one whose end came, or of which the capture ends soon after.
func TestUnended(t *testing.T) {
	const scene = `
about: a WRITE of which the rest is lost before the tap
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 4096, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, b2: {hca: b, peer: a2}, a2: {hca: a, peer: b2}}
taps: [b]
work:
  - {qp: b1, op: receive, length: 65536, repeat: 4}
  - {qp: a1, op: write, length: 200, repeat: 5, every: 1ms}
  - {qp: a1, op: write, length: 65536, at: 30ms}
  - {qp: b2, op: write, length: 300, repeat: 40, every: 100ms, at: 10ms}
`
	all := frames(t, scene)
	at := slices.IndexFunc(all, func(f fabricagent.Frame) bool { return decoded(&f).Opcode.Fn() == packet.WriteFirst })
	ends := [2]uint32{decoded(&all[0]).DestQP, decoded(&all[1]).DestQP} // of the connection: a request, and its answer
	cut := slices.DeleteFunc(slices.Clone(all), func(f fabricagent.Frame) bool {
		return f.Time > all[at].Time && slices.Contains(ends[:], decoded(&f).DestQP)
	})
	const told = "unanswered (likely): 10.1.0.1 QP 0x9bc stopped in the midst of an RDMA WRITE of 65,536 bytes, after 4,096 of it: the capture holds no further packet of it for 3.88s."
	contains(t, "the rest is lost", happened(t, cut, agent.Options{}), []string{told, "others: 10.1.0.1 went on sending on other connections: last 3.88s after that packet"}, nil)
	gone := slices.DeleteFunc(slices.Clone(cut), func(f fabricagent.Frame) bool {
		return f.Time > all[at].Time && decoded(&f).Src == decoded(&all[0]).Src
	})
	contains(t, "the host is gone", happened(t, gone, agent.Options{}), []string{"stopped in the midst", "others: nothing of 10.1.0.1 on any connection is in the capture since"}, nil)
	soon := slices.DeleteFunc(slices.Clone(cut), func(f fabricagent.Frame) bool { return f.Time > all[at].Time+int64(800*time.Millisecond) })
	contains(t, "the capture ends", happened(t, soon, agent.Options{}), nil, []string{"stopped in the midst"})
	contains(t, "whole", happened(t, all, agent.Options{}), []string{"frames: 0"}, nil)
	two := judged(t, cut, agent.Options{})
	two.Taps = append(two.Taps, fabricagent.Tap{File: "another"})
	contains(t, "the tap goes on", toldOf(two), []string{told}, nil)
	for k := range two.Connections {
		if d := &two.Connections[k]; d.Midway == nil {
			d.FirstTap = 1
		}
	}
	contains(t, "the tap ended", toldOf(two), nil, []string{"stopped in the midst"})
	last := slices.IndexFunc(all, func(f fabricagent.Frame) bool { return decoded(&f).Opcode.Fn() == packet.WriteLast })
	lost := slices.Delete(slices.Clone(all), last, last+1) // its ACK is there
	contains(t, "the capture has lost the end", happened(t, lost, agent.Options{}), nil, []string{"stopped in the midst"})
	damaged := slices.Clone(all)
	damaged[last].Data = slices.Clone(damaged[last].Data)
	damaged[last].Data[len(damaged[last].Data)-1] ^= 1
	contains(t, "the end is damaged", happened(t, damaged, agent.Options{}), nil, []string{"stopped in the midst"})
}
