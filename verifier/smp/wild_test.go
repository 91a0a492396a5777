package smp

import (
	"math/rand/v2"
	"testing"

	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/tally"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestWild feeds datagrams of few nodes, classes, methods and attributes, and wild data: nothing breaks, and most rules are exercised.
func TestWild(t *testing.T) {
	sample.Skip(t, tally.Whole)
	r := rand.New(rand.NewPCG(1, 2))
	var rec rule.Recorder
	v := New(&rec, func(packet.Addr) bool { return true })
	one := func(list ...int) int { return list[r.IntN(len(list))] }
	p := packet.Packet{Encap: packet.Native, Opcode: sendOnly, Has: packet.HasLRH | packet.HasBTH | packet.HasDETH, VL: 15, PayloadLen: mad.Size, Time: 1}
	var asked []byte
	for range 100_000 {
		b := make([]byte, mad.Size)
		b[0], b[1], b[2], b[3], b[15], b[17] = 1, byte(one(1, 0x81)), 1, byte(one(1, 1, 2, 2, 5, 7)), byte(r.IntN(50)), byte(one(2, 0x10, 0x11, 0x11, 0x12, 0x14, 0x15, 0x15,
			0x16, 0x17, 0x18, 0x19, 0x1A, 0x1B, 0x20, 0x30, 0x31))
		b[23], b[22], b[21], b[20], b[31] = byte(one(0, 0, 1, 2, 5, 255)), byte(one(0, 0, 0, 1)), byte(one(0, 0, 0, 1)), byte(one(0, 0, 0, 0x10)), byte(one(0, 0, 5))
		if b[1] == 0x81 {
			b[6], b[7], b[129], b[130] = byte(one(0, 1, 1, 1, 2, 70)), byte(one(1, 2, 2, 63, 255)), 2, byte(one(3, 4))
			b[32], b[33], b[34], b[35] = 0xFF, 0xFF, 0xFF, 0xFF
		}
		for i := 64; i < 128; i++ {
			b[i] = byte(one(0, 0, 1, 2, r.IntN(256)))
		}
		if r.IntN(2) == 0 { // what a node may well say, and what a manager sets
			switch b[17] {
			case 0x11:
				b[64], b[65], b[66], b[67], b[92], b[100] = 1, 1, byte(1+r.IntN(2)), byte(1+r.IntN(8)), 0, 1
			case 0x15:
				b[80], b[81], b[96], b[98], b[100], b[101], b[107] = 0, byte(1+r.IntN(4)), byte(1+r.IntN(4)), byte(r.IntN(3)<<6), 4, 0x30, 0x30
			case 0x16:
				b[64], b[65] = 0x7F, 0xFF
			}
		}
		p.SLID, p.DLID = uint16(1+r.IntN(4)), uint16(one(1, 2, 3, 4, 0xFFFF))
		if asked != nil && r.IntN(2) == 0 {
			copy(b, asked[:64])
			b[3] = 0x81
			if b[1] == 0x81 {
				b[4] |= 0x80
				copy(b[128:], asked[128:])
				b[193], b[194] = 6, byte(one(1, 2))
			}
			p.SLID, p.DLID = p.DLID, p.SLID
		} else {
			asked = b
		}
		p.Payload = b
		p.Src, p.Dst = packet.LIDAddr(p.SLID), packet.LIDAddr(p.DLID)
		p.Frame++
		p.Time += int64(one(1e3, 1e6, 1e9))
		v.Packet(&p, true)
		v.Data(&p)
	}
	var y tally.Tally
	y.Add(&rec)
	y.Check(t, "testdata/wild.txt")
	if len(v.order) > 100_000 || len(v.open) > 100 {
		t.Errorf("%d exchanges are kept, of %d TIDs", len(v.order), len(v.open))
	}
	few := 0
	for _, id := range rule.Rules() {
		if row := id.Row(); len(row.Where) > 13 && row.Where[:13] == "verifier/smp/" && rec.Cover[id].Exercised == 0 {
			few++
			t.Logf("%s was not exercised", id)
		}
	}
	if few > 12 {
		t.Errorf("%d rules were not exercised", few)
	}
}
