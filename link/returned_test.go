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

// TestOwn: the host is known whose packets come from the address of a port while it has others pause; not where several come from it, or a router has passed them on.
func TestOwn(t *testing.T) {
	port, a, b := [6]byte{2, 0, 0, 0, 0, 7}, packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	type sent struct {
		from packet.Addr
		hops uint8
	}
	for _, tt := range []struct {
		name string
		sent []sent
		want Own
	}{
		{"its own", []sent{{a, 64}, {a, 64}}, Own{a, 64}},
		{"none", nil, Own{}},
		{"a router", []sent{{a, 63}, {a, 64}}, Own{}},
		{"and a router", []sent{{a, 64}, {b, 61}}, Own{}},
		{"of two hosts", []sent{{a, 64}, {b, 64}, {a, 64}}, Own{}},
	} {
		var p Pauses
		p.Take(&Pause{Time: 1000, From: port, Classes: 8, Quanta: [8]uint16{3: 0xffff}}, 0)
		for _, s := range tt.sent {
			p.Sends(&Sent{Packet: &packet.Packet{Time: 2000, Src: s.from, Dst: b, HopLmt: s.hops}, From: port})
			p.Sends(&Sent{Packet: &packet.Packet{Time: 2000, Src: b, Dst: a, HopLmt: 1}, From: [6]byte{2, 0, 0, 0, 0, 8}})
		}
		if list := p.List(10_000); len(list) != 1 || list[0].Own != tt.want {
			t.Errorf("%s: %+v", tt.name, list)
		}
	}
}

// TestBunches: pauses that follow one another are one bunch, until none begins for long.
func TestBunches(t *testing.T) {
	var p Pauses
	for _, at := range []int64{0, 1, 2, 20, 21, 40} {
		for k, quanta := range []uint16{0xffff, 0} {
			p.Take(&Pause{Time: 1e9 + at*1e6 + int64(k)*1e5, Classes: 8, Quanta: [8]uint16{3: quanta}}, 0)
		}
	}
	at := func(from, to float64, n uint64) Bunch {
		return Bunch{Lasting{1e9 + int64(from*1e6), 1e9 + int64(to*1e6)}, n}
	}
	want := []Bunch{at(0, 2.1, 3), at(20, 21.1, 2), at(40, 40.1, 1)}
	if diff := cmp.Diff(want, p.List(2e9)[0].Bunches); diff != "" {
		t.Error(diff)
	}
}

// TestBunchesJoined: where there are more bunches than are kept those become one that were least apart, so that the long times without a pause show.
func TestBunchesJoined(t *testing.T) {
	var p Pauses
	for k := range int64(3 * MostBunches) {
		at := k * 6 * 1e6
		if k >= MostBunches {
			at += 700 * 1e6
		}
		for n, quanta := range []uint16{0xffff, 0} {
			p.Take(&Pause{Time: 1e9 + at + int64(n)*1e5, Classes: 8, Quanta: [8]uint16{3: quanta}}, 0)
		}
	}
	list, pauses, long := p.List(5e9)[0].Bunches, uint64(0), 0
	for k, b := range list {
		if pauses += b.Pauses; k > 0 && b.From-list[k-1].To > 500*1e6 {
			long++
		}
	}
	if len(list) != MostBunches || pauses != 3*MostBunches || long != 1 {
		t.Errorf("%d bunches of %d pauses, %d times without one: %v", len(list), pauses, long, list)
	}
}
