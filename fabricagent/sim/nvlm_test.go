package sim

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibwitness/packet"
)

// with is a bench with errors before the middle of A's path.
func with(t testing.TB, errors ...Error) *bench {
	b := newBench(t, Options{})
	for _, e := range errors {
		b.Path(addrA, addrB).Before.Add(e)
	}
	return b
}

func TestDrop(t *testing.T) {
	b := with(t, Error{Kind: Drop, Filter: Filter{From: 3, Count: 2}})
	b.burst(6, 10)
	b.want(0, 1, 4, 5)
	if s := b.Path(addrA, addrB).Before.Sums; s != (Sums{Packets: 6, Dropped: 2}) {
		t.Errorf("%+v", s)
	}
}

func TestDuplicate(t *testing.T) {
	b := with(t, Error{Kind: Duplicate, Copies: 2, Filter: Filter{From: 2, Count: 1}})
	b.burst(3, 10)
	b.want(0, 1, 1, 1, 2)
	if !bytes.Equal(b.raw[1], b.raw[2]) {
		t.Error("a copy differs")
	}
	b = with(t, Error{Kind: Duplicate, Copies: 2, Delay: 14, Filter: Filter{From: 2, Count: 1}})
	b.burst(5, 10)
	b.want(0, 1, 2, 1, 3, 1, 4)
}

func TestReorder(t *testing.T) {
	b := with(t, Error{Kind: Reorder, OvertakenBy: 2, Filter: Filter{From: 2, Count: 1}})
	b.burst(5, 10)
	b.want(0, 2, 3, 1, 4)

	// One that is lost overtakes nobody.
	b = with(t, Error{Kind: Reorder, Filter: Filter{Count: 1}}, Error{Kind: Drop, Filter: Filter{From: 2, Count: 1}})
	b.burst(4, 10)
	b.want(2, 0, 3)

	// Nobody overtakes: the packet goes on by time.
	b = with(t, Error{Kind: Reorder, AtMost: 25, Filter: Filter{From: 2, Count: 1}})
	b.burst(2, 10)
	b.want(0, 1)
	if got := b.got[1].Time; got != 10+25+DefaultDelay {
		t.Errorf("at %d", got)
	}
	b = with(t, Error{Kind: Reorder, Filter: Filter{From: 3}})
	b.burst(3, 10)
	if got := b.got[2].Time; got != 20+DefaultAtMost+DefaultDelay {
		t.Errorf("at %d", got)
	}
}

// TestReorderAll holds every packet back: each waits for one that goes on.
func TestReorderAll(t *testing.T) {
	b := with(t, Error{Kind: Reorder})
	b.burst(4, 10)
	b.want(0, 1, 2, 3)
}

func TestDelay(t *testing.T) {
	late := Error{Kind: Delay, Delay: 25, Filter: Filter{Count: 1}}
	b := with(t, late)
	b.burst(4, 10)
	b.want(1, 2, 0, 3)
	late.Hold = true
	b = with(t, late)
	b.burst(4, 10)
	b.want(0, 1, 2, 3)
	var at []int64
	for _, a := range b.got {
		at = append(at, a.Time-DefaultDelay)
	}
	if d := cmp.Diff([]int64{25, 25, 25, 30}, at); d != "" {
		t.Error(d)
	}
}

func TestCorruptSealed(t *testing.T) {
	b := with(t, Error{Kind: Corrupt, Filter: Filter{From: 2, Count: 1}, Change: func(p *packet.Packet, _ *rand.Rand) {
		p.DestQP, p.SE = 9, true
		p.Payload[0] ^= 1
	}}, Error{Kind: Corrupt, Filter: Filter{From: 3, Count: 1}, Change: func(p *packet.Packet, _ *rand.Rand) {
		p.Payload = append(p.Payload, 1)
		p.Complete()
	}})
	b.burst(3, 10)
	if p := decode(t, b.raw[1]); p.DestQP != 9 || !p.SE || p.Payload[0] != 0x5b || p.ICRCState != packet.CRCGood || p.PSN != 1 {
		t.Errorf("%+v", p)
	}
	if p := decode(t, b.raw[2]); p.DestQP != 7 || p.PayloadLen != 21 || p.PadCnt != 3 || p.ICRCState != packet.CRCGood {
		t.Errorf("%+v", p)
	}
}

func TestCorruptBehindICRC(t *testing.T) {
	b := with(t, Error{Kind: Corrupt, Filter: Filter{From: 2, Count: 1}, Bits: []int{12*8 + 7, 1e9, -1}}, Error{Kind: Corrupt, Filter: Filter{From: 3}, Flip: 1})
	b.burst(100, 10)
	for i, a := range b.got {
		if want := packet.CRCBad; i > 1 && a.ICRC != want || i == 1 && a.ICRC != want || i == 0 && a.ICRC != packet.CRCGood {
			t.Errorf("packet %d: ICRC %v", i, a.ICRC)
		}
	}
	if p := decode(t, b.raw[1]); p.Payload[0] != 0x5b {
		t.Errorf("%+v", p)
	}
}

func TestFilter(t *testing.T) {
	send, ack := packet.Op(packet.RC, packet.SendOnly), packet.Op(packet.RC, packet.Acknowledge)
	type packets struct {
		op  packet.Opcode
		qp  uint32
		psn packet.PSN
	}
	traffic := []packets{{send, 7, 0xfffffe}, {ack, 7, 50}, {send, 7, 0xffffff}, {send, 8, 100}, {send, 7, 0}, {ack, 7, 51}, {send, 7, 1}, {send, 8, 101}}
	for _, c := range []struct {
		name string
		f    Filter
		want []int
	}{
		{"all", Filter{}, []int{0, 1, 2, 3, 4, 5, 6, 7}},
		{"QP", Filter{DestQP: 8}, []int{3, 7}},
		{"opcode", Filter{Opcodes: []packet.Opcode{ack}}, []int{1, 5}},
		{"PSN", Filter{PSN: &PSNs{First: 0xffffff, Last: 0}}, []int{2, 4}},
		{"relative PSN", Filter{PSN: &PSNs{First: 1, Last: 2, Relative: true}}, []int{2, 4, 5, 7}},
		{"relative PSN of responses", Filter{Opcodes: []packet.Opcode{ack}, PSN: &PSNs{First: 1, Last: 1, Relative: true}}, []int{5}},
		{"function", Filter{Match: func(p *packet.Packet) bool { return p.PSN == 101 }}, []int{7}},
		{"n-th match", Filter{DestQP: 7, Opcodes: []packet.Opcode{send}, From: 3, Count: 1}, []int{4}},
		{"never", Filter{DestQP: 7, Probability: 1e-300}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []int
			at := 0
			b := newBench(t, Options{})
			e := b.Path(addrA, addrB).Before.Add(Error{Filter: c.f, Then: func(e PacketEvent) {
				got = append(got, at)
				if e.Path.From() != addrA || e.Path.To() != addrB || e.Packet.PSN != traffic[at].psn {
					t.Errorf("event %+v", e)
				}
			}})
			for at = range traffic {
				b.send(frame(addrA, addrB, traffic[at].op, traffic[at].qp, traffic[at].psn, 0))
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if _, met := e.Matched(); met != uint64(len(c.want)) {
				t.Errorf("met %d", met)
			}
		})
	}
}

// TestProbability: about as many packets are lost as are to be, and another seed loses others.
func TestProbability(t *testing.T) {
	run := func(seed uint64) []packet.PSN {
		b := newBench(t, Options{Seed: seed})
		b.Path(addrA, addrB).After.Add(Error{Kind: Drop, Filter: Filter{Probability: 0.25}})
		b.burst(4000, 10)
		if n := len(b.got); n < 2850 || n > 3150 {
			t.Errorf("%d of 4000 arrived", n)
		}
		return b.psns()
	}
	if cmp.Equal(run(1), run(2)) {
		t.Error("two seeds give the same")
	}
}

func TestStore(t *testing.T) {
	b := with(t, Error{Kind: Drop})
	m := b.Path(addrA, addrB).Before
	m.Store(3)
	b.burst(5, 10)
	var got []arrival
	for _, s := range m.Stored() {
		got = append(got, arrival{s.Time, decode(t, s.Frame).PSN, 0})
	}
	if d := cmp.Diff([]arrival{{20, 2, 0}, {30, 3, 0}, {40, 4, 0}}, got); d != "" {
		t.Error(d)
	}
	m.Clear()
	b.burst(1, 0)
	b.want(0)
}

// TestNotRDMA: what is no RDMA packet passes as it is.
func TestNotRDMA(t *testing.T) {
	c := NewClock(0)
	f := NewFabric(c, Options{})
	got := 0
	f.Attach(addrB, func([]byte) { got++ })
	send := f.Attach(addrA, func([]byte) {})
	f.Path(addrA, addrB).Before.Add(Error{Kind: Drop})
	other := frame(addrA, addrB, packet.Op(packet.RC, packet.SendOnly), 7, 0, 0)
	other[14+20+2] = 0 // another UDP port
	send(other)
	for c.Step() {
	}
	if got != 1 {
		t.Errorf("%d arrived", got)
	}
}
