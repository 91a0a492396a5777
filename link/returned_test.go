package link

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ibwitness/packet"
)

// TestReturned: who sends requests right after a pause that a frame ended, and in which nothing came; not after short ones, or others that ran out,
// nor who sends responses, another priority, or later.
func TestReturned(t *testing.T) {
	const us = int64(1000)
	port, a, b := [6]byte{2, 0, 0, 0, 0, 7}, packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	type comes struct {
		at       int64 // µs
		qpn      uint32
		priority uint8
		fn       packet.Fn
	}
	back := func(qpn uint32, n uint64, least, most int64) Returned {
		return Returned{From: a, To: b, QPN: qpn, Pauses: n, Least: least * us, Most: most * us}
	}
	for _, tt := range []struct {
		name   string
		pauses [][2]int64 // when one begins, and is ended by a frame; 0: by none
		comes  []comes
		calm   uint64
		back   []Returned
	}{
		{"at once", [][2]int64{{100, 5100}}, []comes{{99, 5, 3, packet.SendOnly}, {105, 5, 3, packet.SendOnly}, {5103, 5, 3, packet.SendOnly}, {5104, 5, 3, packet.SendOnly}, {5110, 6, 3, packet.WriteOnly}}, 1, []Returned{back(5, 1, 3, 3), back(6, 1, 10, 10)}},
		{"twice", [][2]int64{{100, 5100}, {9000, 11000}}, []comes{{5103, 5, 3, packet.SendOnly}, {11001, 5, 3, packet.SendOnly}}, 2, []Returned{back(5, 2, 1, 3)}},
		{"it went on", [][2]int64{{100, 5100}}, []comes{{200, 5, 3, packet.SendOnly}, {5103, 5, 3, packet.SendOnly}}, 0, nil},
		{"another priority", [][2]int64{{100, 5100}}, []comes{{200, 5, 0, packet.SendOnly}, {5103, 5, 0, packet.SendOnly}}, 1, nil},
		{"later", [][2]int64{{100, 5100}}, []comes{{5201, 5, 3, packet.SendOnly}}, 1, nil},
		{"responses", [][2]int64{{100, 5100}}, []comes{{5103, 5, 3, packet.Acknowledge}}, 1, nil},
		{"short", [][2]int64{{100, 600}}, []comes{{603, 5, 3, packet.SendOnly}}, 0, nil},
		{"no frame ends it", [][2]int64{{100, 0}}, []comes{{5103, 5, 3, packet.SendOnly}}, 0, nil},
	} {
		var p Pauses
		frame := func(at int64, quanta uint16) {
			p.Take(&Pause{Time: at * us, From: port, Classes: 8, Quanta: [8]uint16{3: quanta}}, 0)
		}
		n := 0
		until := func(at int64) {
			for ; n < len(tt.comes) && tt.comes[n].at < at; n++ {
				c := &tt.comes[n]
				if m := (Sent{Packet: &packet.Packet{Time: c.at * us, Opcode: packet.Op(packet.RC, c.fn), Src: a, Dst: b, DestQP: c.qpn}, To: port, Priority: c.priority, Tagged: true}); p.Looking(m.Time) && p.Asked(m.To, m.Tap) {
					p.Came(&m)
				}
			}
		}
		for _, one := range tt.pauses {
			until(one[0])
			frame(one[0], 0xFFFF)
			if one[1] != 0 {
				until(one[1])
				frame(one[1], 0)
			}
		}
		until(1e9)
		got := p.List(1e12)[0]
		if d := cmp.Diff(tt.back, got.Back, cmpopts.IgnoreUnexported(Returned{}), cmp.AllowUnexported(packet.Addr{})); d != "" || got.Calm != tt.calm {
			t.Errorf("%s: %d, %s", tt.name, got.Calm, d)
		}
	}
}
