package passive

import (
	"testing"

	"ibwitness/mad"
	"ibwitness/packet"
)

// FuzzManagement feeds an agent any sequence of management packets: its lists and maps stay consistent and bounded, and a Connected
// always names two QPs. The input is cut into messages: one byte of direction and length, then the message.
func FuzzManagement(f *testing.F) {
	var seed []byte
	for _, m := range []mad.Message{
		req(), rep(), dreq(idA, idB, 0x22), drep(idB, idA), rej(idB, idA),
		&mad.SIDRReq{Header: mad.CMHeader(mad.AttrSIDRReq, 5), RequestID: 9},
		&mad.SIDRRep{Header: mad.CMHeader(mad.AttrSIDRRep, 5), RequestID: 9, QPN: 0x33},
	} {
		b := make([]byte, mad.Size)
		if err := m.Encode(b); err != nil {
			f.Fatal(err)
		}
		seed = append(append(seed, 0xfe), b[:0xfe]...)
		f.Add(append([]byte{0xfe}, b[:0xfe]...))
	}
	f.Add(seed)
	seed[255] |= 1 // the REP in the other direction
	f.Add(seed)
	f.Fuzz(func(t *testing.T, b []byte) {
		a := New(Options{MaxPending: 4, MaxLive: 4, Hold: 20})
		ends := [2]packet.Addr{hostA, hostB}
		for now := int64(0); len(b) > 0; now++ {
			way, n := int(b[0]&1), min(int(b[0]&^1), len(b)-1)
			p := &packet.Packet{
				Time: now, Frame: uint64(now) + 1, Has: packet.HasBTH | packet.HasDETH, Opcode: packet.Op(packet.UD, packet.SendOnly),
				DestQP: 1, Src: ends[way], Dst: ends[1-way], Payload: b[1 : 1+n], PayloadLen: mad.Size,
			}
			b = b[1+n:]
			for _, fact := range a.Management(p) {
				if fact.Kind == Connected && (fact.Ends[0].QPN <= 1 || fact.Ends[1].QPN <= 1 || fact.Asked == 0) {
					t.Fatalf("%+v", fact)
				}
			}
			consistent(t, a)
		}
	})
}

func consistent(t *testing.T, a *Agent) {
	t.Helper()
	total := 0
	for ph := range a.lists {
		l, n, prev := &a.lists[ph], int32(0), int32(-1)
		for i := l.head; i >= 0; i = a.slots[i].next {
			x := &a.slots[i]
			if x.prev != prev || x.phase != phase(ph) || a.byKey[x.key] != i || n > l.n {
				t.Fatalf("list %d at slot %d: %+v", ph, i, x)
			}
			prev = i
			n++
		}
		if n != l.n || l.tail != prev || n > 4 {
			t.Fatalf("list %d has %d exchanges, says %d", ph, n, l.n)
		}
		total += int(n)
	}
	if len(a.byKey) != total {
		t.Fatalf("%d keys for %d exchanges", len(a.byKey), total)
	}
	for qp, ref := range a.byQP {
		if x := &a.slots[ref>>1]; x.phase != live || x.ends[ref&1].QPN != qp.QPN || x.ends[ref&1].Addr != qp.Addr {
			t.Fatalf("QP %+v is answered for by %+v", qp, x)
		}
	}
}
