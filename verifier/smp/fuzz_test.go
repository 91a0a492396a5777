package smp

import (
	"testing"
	"time"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// FuzzVerifier feeds the verifier datagrams that the fuzzer makes, in a row, each perhaps answered by its own bytes: whatever comes, it goes on.
func FuzzVerifier(f *testing.F) {
	one := make([]byte, mad.Size)
	one[0], one[1], one[2], one[3] = 1, 0x81, 1, 1
	for _, attr := range []byte{0x02, 0x10, 0x11, 0x12, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x1B, 0x20, 0x30, 0x31} {
		one[17] = attr
		get := append([]byte(nil), one...)
		one[3] = 0x81
		f.Add(append(get, one...), uint32(0x00010002))
		one[3] = 1
	}
	f.Fuzz(func(t *testing.T, b []byte, lids uint32) {
		var rec rule.Recorder
		v := New(&rec, func(a packet.Addr) bool { return a == packet.LIDAddr(1) })
		p := packet.Packet{
			Encap: packet.Native, Opcode: sendOnly, Has: packet.HasLRH | packet.HasBTH | packet.HasDETH, VL: 15, SLID: uint16(lids >> 16), DLID: uint16(lids),
			PayloadLen: mad.Size, Time: 1,
		}
		for len(b) >= mad.Size {
			p.Payload, b = b[:mad.Size], b[mad.Size:]
			p.Src, p.Dst = packet.LIDAddr(p.SLID), packet.LIDAddr(p.DLID)
			p.Frame++
			p.Time += int64(time.Millisecond) << (p.Payload[7] % 20)
			if !Is(&p) {
				t.Fatal("not for this verifier")
			}
			before := len(rec.Findings)
			v.Packet(&p, p.Frame%3 != 0)
			if p.Frame%3 == 0 && len(rec.Findings) != before {
				t.Fatal("a packet that another shard reports on is reported on")
			}
			v.Data(&p)
			p.SLID, p.DLID = p.DLID, p.SLID
		}
		for i := range rec.Findings {
			if f := &rec.Findings[i]; f.Expected == "" || f.Actual == "" || f.Accused.Role == rule.NoRole {
				t.Fatalf("%v says nothing: %+v", f.Rule, f)
			}
		}
	})
}
