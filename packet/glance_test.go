package packet_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibwitness/internal/testkit/sample"
	"ibwitness/packet"
)

// TestGlance: what Glance sets is what DecodeIP does, and Rest completes it, also of packets with bytes that are wrong and after another packet.
func TestGlance(t *testing.T) {
	sample.Skip(t, "nothing runs beside it")
	r := rand.New(rand.NewPCG(1, 2))
	var p packet.Packet
	glanced := map[packet.Opcode]int{}
	for range 20_000 {
		op := packet.Opcode(r.IntN(40))
		b := sealed(packet.RoCEv2IPv4, op, r.IntN(64))
		for range r.IntN(3) {
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		}
		b = append(b, make([]byte, r.IntN(8))...)
		if r.IntN(4) == 0 {
			b = b[:r.IntN(len(b)+1)]
		}
		b = b[:len(b):len(b)]
		var want packet.Packet
		ok := packet.DecodeIP(&want, b, len(b))
		if !packet.Glance(&p, b) {
			continue
		}
		if !ok || !want.Usual {
			t.Fatalf("a glance is enough for a packet that is not usual: % x", b)
		}
		glanced[p.Opcode]++
		part := glancedOf(&p)
		if p.Rest(); p.Part {
			t.Fatal("there is still something left")
		}
		if diff := cmp.Diff(want, p); diff != "" {
			t.Fatalf("after Rest (-DecodeIP +Glance):\n%s", diff)
		}
		if diff := cmp.Diff(glancedOf(&want), part); diff != "" {
			t.Fatalf("-DecodeIP +Glance:\n%s", diff)
		}
	}
	for o := packet.SendFirst; o <= packet.FetchAdd; o++ {
		if glanced[packet.Op(packet.RC, o)] < 100 {
			t.Errorf("%v: a glance was enough for %d only", packet.Op(packet.RC, o), glanced[packet.Op(packet.RC, o)])
		}
	}
}

// glancedOf is what Glance sets of a packet.
func glancedOf(p *packet.Packet) packet.Packet {
	return packet.Packet{
		Has: p.Has, Data: p.Data, BTHOff: p.BTHOff, Src: p.Src, Dst: p.Dst, PayloadLen: p.PayloadLen, Opcode: p.Opcode, Encap: p.Encap, ICRCState: p.ICRCState, Cut: p.Cut,
		PadCnt: p.PadCnt, AckReq: p.AckReq, MigReq: p.MigReq, Usual: p.Usual, Syndrome: p.Syndrome, Flaws: p.Flaws, IPID: p.IPID, SrcPort: p.SrcPort, DestQP: p.DestQP,
		PSN: p.PSN, ICRC: p.ICRC, MSN: p.MSN, RKey: p.RKey, DMALen: p.DMALen, VA: p.VA, Compare: p.Compare, OrigData: p.OrigData,
	}
}
