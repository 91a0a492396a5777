package sim

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

var (
	addrA, _ = packet.ParseAddr("10.0.0.1")
	addrB, _ = packet.ParseAddr("10.0.0.2")
	addr6A   = packet.Addr{Hi: 0xfd00 << 48, Lo: 1}
	addr6B   = packet.Addr{Hi: 0xfd00 << 48, Lo: 2}
)

// frame is a whole frame of a SEND Only, or of another operation.
func frame(from, to packet.Addr, op packet.Opcode, qp uint32, psn packet.PSN, payload int) []byte {
	p := packet.Packet{Encap: packet.RoCEv2IPv4, Src: from, Dst: to, Opcode: op, DestQP: qp, PSN: psn, PKey: 0xffff, Payload: bytes.Repeat([]byte{0x5a}, payload)}
	if !from.IsIPv4() {
		p.Encap = packet.RoCEv2IPv6
	}
	p.Complete()
	return p.AppendEthernet(nil, [6]byte{2, 0, 0, 0, 0, 1}, [6]byte{2, 0, 0, 0, 0, 2})
}

// decode takes a frame apart.
func decode(t testing.TB, data []byte) *packet.Packet {
	t.Helper()
	p := new(packet.Packet)
	f := fabricagent.Frame{Link: fabricagent.LinkEthernet, Len: uint32(len(data)), Data: bytes.Clone(data)}
	if !fabricagent.Decode(&f, p).IsRDMA() {
		t.Fatalf("no RDMA packet: % x", data)
	}
	p.CheckICRC()
	return p
}

// arrival is a packet at its destination.
type arrival struct {
	Time int64
	PSN  packet.PSN
	ICRC packet.CRC
}

// bench is a fabric with two ports, of which B notes what arrives.
type bench struct {
	*Clock
	*Fabric
	t    testing.TB
	send func([]byte)
	got  []arrival
	raw  [][]byte
}

func newBench(t testing.TB, opt Options) *bench {
	b := &bench{Clock: NewClock(0), t: t}
	b.Fabric = NewFabric(b.Clock, opt)
	b.send = b.Attach(addrA, func([]byte) { t.Error("A sent, and a frame came back") })
	b.Attach(addrB, func(f []byte) {
		p := decode(t, f)
		b.got = append(b.got, arrival{b.Now(), p.PSN, p.ICRCState})
		b.raw = append(b.raw, bytes.Clone(f))
	})
	return b
}

// burst sends n packets, gap nanoseconds apart, and runs to the end.
func (b *bench) burst(n int, gap int64) {
	for i := range n {
		b.After(int64(i)*gap, func() { b.send(frame(addrA, addrB, packet.Op(packet.RC, packet.SendOnly), 7, packet.PSN(i), 20)) })
	}
	for b.Step() {
	}
}

func (b *bench) psns() (list []packet.PSN) {
	for _, a := range b.got {
		list = append(list, a.PSN)
	}
	return list
}

func (b *bench) want(psns ...packet.PSN) {
	b.t.Helper()
	if d := cmp.Diff(psns, b.psns()); d != "" {
		b.t.Errorf("arrived (-want +got):\n%s", d)
	}
}

func TestDelivery(t *testing.T) {
	b := newBench(t, Options{Delay: 700})
	b.burst(3, 100)
	if d := cmp.Diff([]arrival{{700, 0, packet.CRCGood}, {800, 1, packet.CRCGood}, {900, 2, packet.CRCGood}}, b.got); d != "" {
		t.Error(d)
	}
}

// TestRate: a path carries one frame after the other, each as long as its bits need.
func TestRate(t *testing.T) {
	b := newBench(t, Options{Delay: 1000, Rate: 1e9})
	b.burst(3, 0)
	one := int64(len(b.raw[0])+framing) * 8
	for i, a := range b.got {
		if want := one*int64(i+1) + 1000; a.Time != want {
			t.Errorf("frame %d came at %d, want %d", i, a.Time, want)
		}
	}
}

func TestAstray(t *testing.T) {
	b := newBench(t, Options{})
	b.send(frame(addrA, addr6B, packet.Op(packet.RC, packet.SendOnly), 7, 0, 0))
	b.send([]byte{1, 2, 3})
	b.send(make([]byte, 60))
	b.burst(1, 0)
	b.want(0)
	if b.Astray != 3 {
		t.Errorf("%d astray, want 3", b.Astray)
	}
}

// TestIPv6 also has a third port, whose traffic is another path's.
func TestIPv6(t *testing.T) {
	c := NewClock(0)
	f := NewFabric(c, Options{Delay: -1})
	got := map[packet.Addr]int{}
	f.Attach(addr6A, func([]byte) { got[addr6A]++ })
	f.Attach(addr6B, func([]byte) { got[addr6B]++ })
	send := f.Attach(addrA, func([]byte) { got[addrA]++ })
	f.Path(addrA, addr6A).Before.Add(Error{Kind: Drop})
	for _, to := range []packet.Addr{addr6A, addr6B, addr6B, addrA} {
		p := packet.Packet{Encap: packet.RoCEv2IPv6, Src: addrA, Dst: to, Opcode: packet.Op(packet.UD, packet.SendOnly)}
		p.Complete()
		send(p.AppendEthernet(nil, [6]byte{}, [6]byte{}))
	}
	for c.Step() {
	}
	if got[addr6A] != 0 || got[addr6B] != 2 || got[addrA] != 1 || c.Now() != 0 {
		t.Errorf("%v at %d", got, c.Now())
	}
}

// errors draws errors of all kinds; some only of those that keep the order.
func errors(t *rapid.T, ordered bool) (list []Error) {
	kinds := []Kind{Watch, Drop, Duplicate, Delay, Corrupt, Reorder}
	if ordered {
		kinds = kinds[:5]
	}
	for range rapid.IntRange(0, 4).Draw(t, "errors") {
		e := Error{Kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
		e.Probability = rapid.Float64Range(0, 1).Draw(t, "probability")
		e.From = rapid.Uint64Range(0, 4).Draw(t, "from")
		e.Count = rapid.Uint64Range(0, 4).Draw(t, "count")
		e.OvertakenBy = rapid.IntRange(0, 5).Draw(t, "overtaken by")
		e.Copies = rapid.IntRange(0, 3).Draw(t, "copies")
		e.Flip = rapid.IntRange(0, 2).Draw(t, "flip")
		if e.Kind == Delay || !ordered {
			e.Delay = rapid.Int64Range(0, 3000).Draw(t, "delay")
			e.Jitter = rapid.Int64Range(0, 500).Draw(t, "jitter")
			e.Hold = ordered || rapid.Bool().Draw(t, "hold")
		}
		list = append(list, e)
	}
	return list
}

// mixed runs a burst through errors on both halves and returns what arrived.
func mixed(t testing.TB, seed uint64, before, after []Error, n int, gap int64) *bench {
	b := newBench(t, Options{Seed: seed, Rate: 1e10})
	path := b.Path(addrA, addrB)
	for _, e := range before {
		path.Before.Add(e)
	}
	for _, e := range after {
		path.After.Add(e)
	}
	b.burst(n, gap)
	return b
}

// TestRepeatable: the same seed and the same traffic give the same bytes at the same times.
func TestRepeatable(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		before, after := errors(rt, false), errors(rt, false)
		seed, n := rapid.Uint64().Draw(rt, "seed"), rapid.IntRange(0, 60).Draw(rt, "n")
		gap := rapid.Int64Range(0, 300).Draw(rt, "gap")
		one, two := mixed(t, seed, before, after, n, gap), mixed(t, seed, before, after, n, gap)
		if d := cmp.Diff(one.got, two.got); d != "" {
			rt.Fatal(d)
		}
		if d := cmp.Diff(one.raw, two.raw); d != "" {
			rt.Fatal(d)
		}
	})
}

// TestOrderKept: nothing but reordering, late copies and delays that do not hold change the order of packets.
func TestOrderKept(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		before, after := errors(rt, true), errors(rt, true)
		for i := range before {
			before[i].Flip = 0
		}
		for i := range after {
			after[i].Flip = 0
		}
		b := mixed(t, rapid.Uint64().Draw(rt, "seed"), before, after, rapid.IntRange(0, 60).Draw(rt, "n"), rapid.Int64Range(0, 300).Draw(rt, "gap"))
		if !slices.IsSorted(b.psns()) {
			rt.Fatalf("out of order: %v", b.psns())
		}
	})
}

// TestConserved: every packet arrives once, but for those dropped, and the copies. Bits are flipped in headers too, yet the fabric loses nothing by it.
func TestConserved(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		before, after := errors(rt, false), errors(rt, false)
		n := rapid.IntRange(0, 60).Draw(rt, "n")
		want := n
		count := func(list []Error) {
			for i := range list {
				e := &list[i]
				e.Then = func(PacketEvent) {
					switch e.Kind {
					case Drop:
						want--
					case Duplicate:
						want += max(e.Copies, 1)
					}
				}
			}
		}
		// A copy is made after all errors of its half, so a dropped packet takes along the copies that it was to have.
		before = slices.DeleteFunc(before, func(e Error) bool { return e.Kind == Drop })
		after = slices.DeleteFunc(after, func(e Error) bool { return e.Kind == Duplicate })
		count(before)
		count(after)
		b := mixed(t, rapid.Uint64().Draw(rt, "seed"), before, after, n, 50)
		if len(b.got) != want {
			rt.Fatalf("%d arrived, want %d", len(b.got), want)
		}
	})
}

// BenchmarkFabric is a frame of 100 bytes from one port to the other.
func BenchmarkFabric(b *testing.B) {
	c := NewClock(0)
	f := NewFabric(c, Options{})
	n := 0
	f.Attach(addrB, func([]byte) { n++ })
	send := f.Attach(addrA, func([]byte) {})
	data := frame(addrA, addrB, packet.Op(packet.RC, packet.SendOnly), 7, 0, 38)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		send(data)
		if i%16 == 15 {
			for c.Step() {
			}
		}
	}
}

// TestFlood: a frame to a multicast address goes to every other port, each on a path of its own.
func TestFlood(t *testing.T) {
	clock := NewClock(0)
	f := NewFabric(clock, Options{})
	addrC, _ := packet.ParseAddr("10.0.0.3")
	group, _ := packet.ParseAddr("239.1.1.1")
	got := map[packet.Addr]int{}
	var send func([]byte)
	for _, a := range []packet.Addr{addrA, addrB, addrC} {
		s := f.Attach(a, func([]byte) { got[a]++ })
		if a == addrA {
			send = s
		}
	}
	f.Path(addrA, addrC).Before.Add(Error{Kind: Drop, Filter: Filter{Count: 1}})
	for i := range 2 {
		send(frame(addrA, group, packet.Op(packet.UD, packet.SendOnly), 0xFFFFFF, packet.PSN(i), 8))
		for clock.Step() {
		}
	}
	if got[addrA] != 0 || got[addrB] != 2 || got[addrC] != 1 || f.Astray != 0 {
		t.Errorf("%v, %d astray", got, f.Astray)
	}
}
