package sim

import (
	"testing"

	"ibwitness/packet"
)

// TestMark: the network marks what is ECN-capable, and only in a queue where that is asked for; the checksums stay right.
func TestMark(t *testing.T) {
	six, _ := packet.ParseAddr("fd00::1")
	six2, _ := packet.ParseAddr("fd00::2")
	for _, ends := range [][2]packet.Addr{{addrA, addrB}, {six, six2}} {
		for _, queue := range []int64{0, 500} {
			clock := NewClock(0)
			f := NewFabric(clock, Options{Rate: 1e10})
			var got []*packet.Packet
			f.Attach(ends[1], func(b []byte) { got = append(got, decode(t, b)) })
			send := f.Attach(ends[0], func([]byte) {})
			f.Path(ends[0], ends[1]).Before.Add(Error{Kind: Mark, Queue: queue})
			for i := range 8 {
				p := packet.Packet{Encap: packet.RoCEv2IPv4, Src: ends[0], Dst: ends[1], Opcode: packet.Op(packet.RC, packet.SendOnly), PSN: packet.PSN(i), PKey: 0xffff, TClass: 0x60 | uint8(i&3), Payload: make([]byte, 256+i)}
				if !ends[0].IsIPv4() {
					p.Encap = packet.RoCEv2IPv6
				}
				p.Complete()
				send(p.AppendEthernet(nil, [6]byte{2, 0, 0, 0, 0, 1}, [6]byte{2, 0, 0, 0, 0, 2}))
			}
			for clock.Step() {
			}
			if len(got) != 8 {
				t.Fatalf("%d arrived", len(got))
			}
			marked := 0
			for i, p := range got {
				ecn := uint8(i & 3)
				if p.TClass&3 == 3 && ecn != 3 {
					marked++
				}
				if p.TClass>>2 != 0x18 || p.TClass&3 != ecn && (p.TClass&3 != 3 || ecn == 0) || p.Flaws != 0 {
					t.Errorf("packet %d: traffic class %#x, flaws %v", i, p.TClass, p.Flaws)
				}
				sum := p.IPSum
				if p.SealIPv4(); p.IPSum != sum {
					t.Errorf("packet %d: checksum %#x, want %#x", i, sum, p.IPSum)
				}
				if p.CheckICRC(); p.ICRCState != packet.CRCGood {
					t.Errorf("packet %d: ICRC %v", i, p.ICRCState)
				}
			}
			if want := map[int64]int{0: 4, 500: 3}[queue]; marked != want {
				t.Errorf("queue of %d ns: %d marked, want %d", queue, marked, want)
			}
		}
	}
}
