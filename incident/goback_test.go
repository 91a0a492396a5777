package incident_test

import (
	"slices"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// TestGoBackUnnumbered: packets that are retransmitted soon after a PSN sequence NAK names them are no copies that a mirror has made, though their sender does not number them; what a mirror copies of both is.
func TestGoBackUnnumbered(t *testing.T) {
	list := frames(t, `
about: WRITEs of four packets each
hcas: {a: 10.0.0.1, b: 10.0.0.2}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [a]
work:
  - {qp: a1, op: write, length: 4096, repeat: 60, every: 1ms}
`)
	var out []fabricagent.Frame
	rounds := uint32(0)
	now, id := list[0].Time, uint16(0)
	put := func(numbered bool, some ...fabricagent.Frame) {
		for _, f := range some {
			changed(&f, func(p *packet.Packet) {
				if id, p.IPID = id+1, 0; numbered {
					p.IPID = id
				}
			})
			now += 5000
			f.Time = now
			out = append(out, f)
		}
	}
	for _, numbered := range []bool{true, false} {
		out, rounds = nil, 0
		for m := range slices.Chunk(list, 5) {
			nak := m[4]
			changed(&nak, func(p *packet.Packet) { p.PSN, p.Syndrome, p.MSN = decoded(&m[3]).PSN, packet.NAKSequence, p.MSN-1 })
			now += 1000000
			put(numbered, m[:4]...)
			for range 2 {
				put(numbered, nak, m[3])
				rounds++
			}
			put(numbered, m[4])
		}
		r := judged(t, out, agent.Options{})
		if e := &r.Connections[0].Ends[0]; e.Retransmissions+2 < rounds || r.Copies.Count > 2 { // of the first it is not known yet which connection they are of
			t.Errorf("numbered %v: %d retransmitted in %d rounds, %d copies", numbered, e.Retransmissions, rounds, r.Copies.Count)
		}
		contains(t, "go back", toldOf(r), []string{"loss (proven): 10.0.0.1 QP 0x9bc retransmitted 1", "times by PSN sequence NAKs"}, []string{"capture ("})
		mirrored := judged(t, copied(out, func(int) bool { return true }), agent.Options{})
		if e := &mirrored.Connections[0].Ends[0]; e.Retransmissions > rounds {
			t.Errorf("mirrored, numbered %v: %d retransmitted in %d rounds", numbered, e.Retransmissions, rounds)
		}
		contains(t, "mirrored", toldOf(mirrored), []string{"Packets between 10.0.0.1 and 10.0.0.2 are in the capture twice", "in 118 rounds"}, nil)
	}
}
