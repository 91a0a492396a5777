package packet_test

import (
	"testing"
	"unsafe"

	"ibwitness/packet"
)

func TestTraceIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(packet.Trace{}); n > 16 {
		t.Errorf("a trace takes %d bytes", n)
	}
}

// sentAgain changes a packet, seals it, and decodes what that gives.
func sentAgain(t *testing.T, p packet.Packet, change func(*packet.Packet)) *packet.Packet {
	t.Helper()
	p.Payload = append([]byte(nil), p.Payload...)
	change(&p)
	p.SealIPv4()
	p.SealICRC()
	b := p.Append(nil)
	q := decode(t, p.Encap, b, len(b))
	if q.CheckICRC(); q.ICRCState != packet.CRCGood {
		t.Fatalf("ICRC state %d", q.ICRCState)
	}
	return q
}

func TestSameContent(t *testing.T) {
	for _, e := range encaps {
		for _, n := range []int{0, 5, 1024, 4096} {
			p := filled(e, false, packet.Op(packet.RC, packet.WriteOnlyImm), n)
			earlier := sentAgain(t, p, func(*packet.Packet) {}).Trace()
			if !earlier.Sealed() {
				t.Fatal("trace of a good packet is not sealed")
			}
			for _, c := range []struct {
				name   string
				change func(*packet.Packet)
				same   bool
			}{
				{"nothing", func(*packet.Packet) {}, true},
				{"identification", func(q *packet.Packet) { q.IPID = 1 }, true},
				{"source port", func(q *packet.Packet) { q.SrcPort = 0xC0DE }, true},
				{"AckReq", func(q *packet.Packet) { q.AckReq = false }, true},
				{"MigReq", func(q *packet.Packet) { q.MigReq = false }, true},
				{"masked fields", func(q *packet.Packet) { q.TClass, q.HopLmt, q.FlowLabel, q.VL, q.FECN = 1, 99, 7, 3, false }, true},
				{"all of these", func(q *packet.Packet) {
					q.IPID, q.SrcPort, q.AckReq, q.MigReq, q.FECN, q.HopLmt = 0xFFFF, 0xFFFF, false, false, false, 1
				}, true},
				{"PSN", func(q *packet.Packet) { q.PSN ^= 1 }, false},
				{"VA", func(q *packet.Packet) { q.VA ^= 1 << 63 }, false},
				{"immediate data", func(q *packet.Packet) { q.Imm++ }, false},
				{"SE", func(q *packet.Packet) { q.SE = !q.SE }, false},
				{"opcode", func(q *packet.Packet) { q.Opcode = packet.Op(packet.UC, packet.WriteOnlyImm) }, false},
				{"first byte", func(q *packet.Packet) {
					if n > 0 {
						q.Payload[0] ^= 1
					} else {
						q.RKey++
					}
				}, false},
				{"last byte and AckReq", func(q *packet.Packet) {
					q.AckReq = false
					if n > 0 {
						q.Payload[n-1] ^= 0x80
					} else {
						q.DMALen++
					}
				}, false},
				{"length", func(q *packet.Packet) { q.Payload = append(q.Payload, 1, 2, 3, 4); q.Complete() }, false},
			} {
				q := sentAgain(t, p, c.change)
				if got := packet.SameContent(q, earlier); got != c.same {
					t.Errorf("%v, %d bytes: %s changed: same %v", e, n, c.name, got)
				}
				q.ICRCState = packet.CRCBad
				if !packet.SameContent(q, earlier) || q.Trace().Sealed() {
					t.Errorf("%v: a damaged packet was judged", e)
				}
			}
			if !packet.SameContent(sentAgain(t, p, func(q *packet.Packet) { q.PSN++ }), packet.Trace{}) {
				t.Errorf("%v: an unsealed trace was judged", e)
			}
		}
	}
}
