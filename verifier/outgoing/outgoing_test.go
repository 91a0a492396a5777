package outgoing_test

import (
	"math/rand/v2"
	"testing"

	"ibwitness/cq"
	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier/outgoing"
	"ibwitness/wqe"
)

// drawn is a send request, drawn at random, that a queue pair of the type may have.
func drawn(r *rand.Rand, typ qp.Type) *cq.Posted {
	ops := []wqe.SendOp{wqe.OpSend, wqe.OpSendImm, wqe.OpSendInv, wqe.OpWrite, wqe.OpWriteImm, wqe.OpRead, wqe.OpCmpSwap, wqe.OpFetchAdd, wqe.OpFlush, wqe.OpAtomicWrite}
	switch typ {
	case qp.TypeUC:
		ops = []wqe.SendOp{wqe.OpSend, wqe.OpSendImm, wqe.OpWrite, wqe.OpWriteImm}
	case qp.TypeUD:
		ops = ops[:2]
	}
	x := &cq.Posted{
		Request: &wqe.SendRequest{
			Op: ops[r.IntN(len(ops))], Flags: wqe.SendFlags(r.IntN(16)), Imm: r.Uint32(), InvKey: r.Uint32(), RemoteVA: r.Uint64(), RKey: r.Uint32(),
			Compare: r.Uint64(), SwapAdd: r.Uint64(), Dest: wqe.QP{QPN: r.Uint32() & packet.PSNMask}, QKey: r.Uint32(), XRCSRQ: 1 + r.Uint32N(packet.PSNMask),
			Flush: wqe.FlushRequest{Length: r.Uint32(), Placement: uint8(1 + r.IntN(3)), Whole: r.IntN(2) == 0},
		},
		Type: typ, QP: wqe.QP{Addr: host(1), QPN: r.Uint32() & packet.PSNMask}, PSN: packet.PSN(r.Uint32() & packet.PSNMask), PMTU: 256,
		Attr: &qp.Attr{
			Known: qp.KnowsDestQPN | qp.KnowsQKey | qp.KnowsDestAddr, DestQPN: r.Uint32() & packet.PSNMask, QKey: r.Uint32(), PKey: uint16(r.Uint32() | 1),
			DestAddr: host(2),
		},
		Length: r.Uint32N(1000),
	}
	switch x.Request.Op {
	case wqe.OpCmpSwap, wqe.OpFetchAdd, wqe.OpAtomicWrite, wqe.OpFlush:
		x.Length = 8
	}
	if x.Packets = wqe.Packets(x.Length, x.PMTU); typ == qp.TypeUD {
		x.Packets, x.Vector, x.Near = 1, &wqe.AddressVector{Dest: host(2), TClass: 8, HopLimit: 9}, true
		x.Request.AH = 1
	}
	for range x.Length {
		x.Data = append(x.Data, byte(r.Uint32()))
	}
	return x
}

// sent is packet i of a request as the builder makes it of nothing, sealed and decoded.
func sent(t *testing.T, x *cq.Posted, i int) *packet.Packet {
	p := &packet.Packet{Encap: packet.RoCEv2IPv4, Opcode: outgoing.Opcode(x, i), PKey: 0xFFFF, Src: x.QP.Addr, Dst: host(2)}
	p.Complete()
	e := expect.Like(p)
	outgoing.Expect(e, x, i)
	data, _ := e.Beside().Expected()
	out := new(packet.Packet)
	if !packet.DecodeIP(out, data, len(data)) {
		t.Fatalf("%v: not decoded: %x", p.Opcode, data)
	}
	return out
}

// TestDeparts: of the packets that the builder makes of requests none departs, and where a field is changed, that and only that field differs; the fast check and
// the comparison agree on each.
func TestDeparts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var f outgoing.Fields
	broken := map[expect.ID]int{}
	for n := range 20000 {
		x := drawn(r, []qp.Type{qp.TypeRC, qp.TypeUC, qp.TypeUD, qp.TypeXRCInitiator}[n%4])
		i := r.IntN(x.Packets)
		p := sent(t, x, i)
		if id, departs := f.Departs(x, i, p); departs || outgoing.Compare(p, x, i) != nil {
			t.Fatalf("%v, packet %d of %d, departs in %v: %+v", p.Opcode, i, x.Packets, id, outgoing.Compare(p, x, i))
		}
		id, changed := spoil(r, p)
		got, departs := f.Departs(x, i, p)
		c := outgoing.Compare(p, x, i)
		if departs != (c != nil) {
			t.Fatalf("%v, %v changed: the fast check says %v, %v, and the comparison %+v", p.Opcode, id, departs, got, c)
		}
		if !departs || !changed {
			continue
		}
		broken[id]++
		if list := c.Differ(); len(list) != 1 || list[0].ID != id || got != id {
			t.Fatalf("%v, %v changed: the fast check says %v, and the comparison %+v", p.Opcode, id, got, list)
		}
	}
	for _, id := range []expect.ID{
		expect.PSN, expect.SE, expect.PKey, expect.DestQP, expect.AckReq, expect.QKey, expect.SrcQP, expect.XRCSRQ, expect.VA, expect.RKey, expect.DMALen, expect.SwapAdd, expect.Compare,
		expect.Imm, expect.InvRKey, expect.Payload, expect.Placement, expect.Selectivity, expect.DSCP, expect.HopLmt, expect.Dst,
	} {
		if broken[id] == 0 {
			t.Errorf("%v was never broken", id)
		}
	}
}

// spoil changes a field of a packet at random.
func spoil(r *rand.Rand, p *packet.Packet) (expect.ID, bool) {
	bit := uint32(1) << r.IntN(24)
	switch r.IntN(21) {
	case 0:
		p.PSN ^= packet.PSN(bit)
		return expect.PSN, true
	case 1:
		p.SE = !p.SE
		return expect.SE, true
	case 2:
		p.PKey ^= uint16(1) << r.IntN(16)
		return expect.PKey, true
	case 3:
		p.DestQP ^= bit
		return expect.DestQP, true
	case 4:
		p.AckReq = !p.AckReq
		return expect.AckReq, true
	case 5:
		p.QKey ^= bit
		return expect.QKey, p.Has&packet.HasDETH != 0
	case 6:
		p.SrcQP ^= bit
		return expect.SrcQP, p.Has&packet.HasDETH != 0
	case 7:
		p.XRCSRQ ^= bit
		return expect.XRCSRQ, p.Has&packet.HasXRCETH != 0
	case 8:
		p.VA ^= uint64(bit) << 16
		return expect.VA, true
	case 9:
		p.RKey ^= bit << 4
		return expect.RKey, true
	case 10:
		p.DMALen ^= bit
		return expect.DMALen, true
	case 11:
		p.SwapAdd ^= uint64(bit) << 16
		return expect.SwapAdd, true
	case 12:
		p.Compare ^= uint64(bit) << 16
		return expect.Compare, true
	case 13:
		p.Imm ^= bit
		return expect.Imm, true
	case 14:
		p.InvRKey ^= bit
		return expect.InvRKey, true
	case 15:
		if n := len(p.Payload); n > 0 {
			p.Payload[r.IntN(n)] ^= byte(1 << r.IntN(8))
		}
		return expect.Payload, true
	case 16:
		p.FETH ^= 1
		return expect.Placement, true
	case 17:
		p.FETH ^= 0x10
		return expect.Selectivity, true
	case 18:
		p.TClass ^= 4
		return expect.DSCP, true
	case 19:
		p.HopLmt ^= 2
		return expect.HopLmt, true
	}
	if p.Has&packet.HasDETH != 0 { // where a connected queue pair sends to is known by its flow
		p.Dst = host(3)
	}
	return expect.Dst, true
}

func host(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }

// TestDepartsAllocates: nothing is allocated for a packet, whether it departs or not.
func TestDepartsAllocates(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var f outgoing.Fields
	for n := range 200 {
		x := drawn(r, []qp.Type{qp.TypeRC, qp.TypeUC, qp.TypeUD, qp.TypeXRCInitiator}[n%4])
		p := sent(t, x, 0)
		if n%2 == 0 {
			spoil(r, p)
		}
		if k := testing.AllocsPerRun(10, func() { f.Departs(x, 0, p) }); k != 0 {
			t.Fatalf("%v: %v allocations", p.Opcode, k)
		}
	}
}
