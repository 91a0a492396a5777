package packet_test

import (
	"bytes"
	"testing"

	"ibwitness/packet"
)

// fuzz checks a decoder for what must be so of any input.
func fuzz(f *testing.F, e packet.Encap, seeds ...packet.Encap) {
	for _, s := range append(seeds, e) {
		for _, op := range []packet.Opcode{0x04, 0x0B, 0x0C, 0x11, 0x12, 0x13, 0x17, 0x1C, 0x64, 0x44, 0xAB, 0x81, 0xFF} {
			p := filled(s, op&1 != 0, op, 21)
			b := p.Append(nil)
			f.Add(b, uint16(len(b)))
			f.Add(b[:len(b)-3], uint16(len(b)))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, wire uint16) {
		var p packet.Packet
		before := bytes.Clone(b)
		if !decodeInto(&p, e, b, int(wire)) {
			return
		}
		q := decode(t, e, b, int(wire)) // no field depends on what was in the struct
		if len(p.Payload) > p.PayloadLen || p.PayloadLen < 0 || len(p.Data) > len(b) || p.BTHOff < 0 {
			t.Fatalf("%d of %d bytes of payload, data %d of %d, BTH at %d", len(p.Payload), p.PayloadLen, len(p.Data), len(b), p.BTHOff)
		}
		if p.Has&packet.HasBTH != 0 && p.BTHOff+12 > len(p.Data) || p.Has&packet.HasICRC != 0 && p.Cut {
			t.Fatalf("has %b, BTH at %d of %d, cut %v", p.Has, p.BTHOff, len(p.Data), p.Cut)
		}
		if !p.Cut && p.Flaws == 0 {
			if again := p.Append(nil); !bytes.Equal(again, p.Data) {
				t.Fatalf("appended\n%x, was\n%x", again, p.Data)
			}
			if p.PayloadLen != len(p.Payload) {
				t.Fatalf("%d of %d bytes of payload", len(p.Payload), p.PayloadLen)
			}
		}
		q.CheckICRC()
		q.CheckVCRC()
		if q.Has&packet.HasICRC != 0 && q.Flaws&packet.FlawUDPLength == 0 {
			if good := referenceOf(q) == q.ICRC; good != (q.ICRCState == packet.CRCGood) {
				t.Fatalf("ICRC state %d, reference %v", q.ICRCState, good)
			}
		}
		packet.SameContent(q, p.Trace())
		packet.SameContent(q, q.Trace())
		p.SealIPv4()
		p.SealICRC()
		p.Complete()
		if !bytes.Equal(b, before) {
			t.Fatal("the frame was modified")
		}
	})
}

// referenceOf is referenceICRC for a packet of any lengths.
func referenceOf(p *packet.Packet) uint32 {
	b := bytes.Clone(p.Data)
	if p.Has&packet.HasVCRC != 0 {
		b = b[:len(b)-2]
	}
	return referenceMasked(p.Encap, b, p.BTHOff, p.Has&packet.HasGRH != 0)
}

func FuzzDecodeIP(f *testing.F)  { fuzz(f, packet.RoCEv2IPv4, packet.RoCEv2IPv6) }
func FuzzDecodeGRH(f *testing.F) { fuzz(f, packet.RoCEv1) }
func FuzzDecodeInfiniBand(f *testing.F) {
	f.Add([]byte{0x70, 0x20, 0, 5, 0, 5, 0, 6, 0, 9, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9}, uint16(22))
	f.Add(append([]byte{0, 1, 0, 5, 0, 12, 0, 6, 0x60}, make([]byte, 40)...), uint16(50))
	fuzz(f, packet.Native)
}
