package packet_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibwitness/packet"
)

// filled is a packet with a value of its own in every field that an opcode of the encapsulation can carry.
func filled(e packet.Encap, grh bool, op packet.Opcode, n int) packet.Packet {
	p := packet.Packet{
		Encap: e, Opcode: op,
		SE: true, MigReq: true, AckReq: true, FECN: true, PKey: 0x8001, DestQP: 0xABCDEF, PSN: 0xFFFFFE,
		TClass: 0xB9, HopLmt: 3, Payload: make([]byte, n),
	}
	for i := range p.Payload {
		p.Payload[i] = byte(i) ^ 0xA5
	}
	gid := packet.Addr{Hi: 0xFE80 << 48, Lo: 0x0002C9FFFE123456}
	switch e {
	case packet.Native:
		p.VL, p.SL = 5, 9
		p.Src, p.Dst = packet.LIDAddr(0x1234), packet.LIDAddr(0xC001)
		if grh {
			p.Has = packet.HasGRH
			p.SGID, p.DGID = gid, packet.Addr{Hi: 0xFF12 << 48, Lo: 7}
			p.FlowLabel = 0xFEDCB
		} else {
			p.TClass, p.HopLmt = 0, 0
		}
	case packet.RoCEv1, packet.RoCEv2IPv6:
		p.Src, p.Dst = gid, packet.Addr{Hi: 0xFE80 << 48, Lo: 9}
		p.FlowLabel = 0x12345
	case packet.RoCEv2IPv4:
		p.Src, p.Dst = packet.IPv4Addr([]byte{10, 1, 2, 3}), packet.IPv4Addr([]byte{192, 168, 255, 254})
		p.IPID = 0xBEEF
	}
	if e == packet.RoCEv2IPv4 || e == packet.RoCEv2IPv6 {
		p.SrcPort = 69
	}
	h := op.Info().Headers
	if h&packet.HasRDETH != 0 {
		p.RDETHRes, p.EEC = 0x11, 0x123456
	}
	if h&packet.HasDETH != 0 {
		p.QKey, p.DETHRes, p.SrcQP = 0x80010000, 0x22, 0x654321
	}
	if h&packet.HasXRCETH != 0 {
		p.XRCRes, p.XRCSRQ = 0x33, 0x0F0F0F
	}
	if h&packet.HasFETH != 0 {
		p.FETH = 0x89ABCDE3
	}
	if h&(packet.HasRETH|packet.HasAtomicETH) != 0 {
		p.VA, p.RKey = 0x0123456789ABCDEF, 0xCAFEBABE
	}
	if h&packet.HasRETH != 0 {
		p.DMALen = 0x7FFFFFFF
	}
	if h&packet.HasAtomicETH != 0 {
		p.SwapAdd, p.Compare = 0x1122334455667788, 0x99AABBCCDDEEFF00
	}
	if h&packet.HasAETH != 0 {
		p.Syndrome, p.MSN = packet.NAKRemoteAccess, 0xFEDCBA
	}
	if h&packet.HasAtomicAckETH != 0 {
		p.OrigData = 0xDEADBEEF00000001
	}
	if h&packet.HasImmDt != 0 {
		p.Imm = 0x01020304
	}
	if h&packet.HasIETH != 0 {
		p.InvRKey = 0x0A0B0C0D
	}
	p.Complete()
	return p
}

// bare is a packet without what the fabric agent sets and what only a decoded packet has.
func bare(p packet.Packet) packet.Packet {
	p.Time, p.Frame, p.Tap, p.Way, p.Copy, p.Station, p.Source, p.Usual, p.Data = 0, 0, 0, 0, false, 0, 0, false, nil
	p.Payload, p.Pad = append([]byte{}, p.Payload...), append([]byte{}, p.Pad...)
	return p
}

// TestBothWays: what Append writes of every opcode in every encapsulation, Decode reads as it was.
func TestBothWays(t *testing.T) {
	for _, e := range encaps {
		for _, grh := range []bool{false, true} {
			if grh && e != packet.Native {
				continue
			}
			for op := range 256 {
				for _, n := range []int{0, 1, 2, 3, 17, 1021} {
					p := filled(e, grh, packet.Opcode(op), n)
					if op == int(packet.OpCNP) && n < 16 && n > 0 {
						continue // too short for its reserved bytes
					}
					b := p.Append(nil)
					q := decode(t, e, b, len(b))
					if len(q.Payload) != len(p.Payload) || q.Flaws != 0 || q.Cut {
						t.Fatalf("%v %v: %d bytes of payload, flaws %b", e, p.Opcode, len(q.Payload), q.Flaws)
					}
					if want, got := bare(p), bare(*q); !reflect.DeepEqual(want, got) {
						t.Fatalf("%v %v, %d bytes (-sent +decoded):\n%s", e, p.Opcode, n, cmp.Diff(want, got))
					}
					if again := q.Append(nil); !bytes.Equal(again, b) {
						t.Fatalf("%v %v: appended\n%x, was\n%x", e, p.Opcode, again, b)
					}
					q.CheckICRC()
					q.CheckVCRC()
					if q.ICRCState != packet.CRCGood || (q.VCRCState == packet.CRCGood) != (e == packet.Native) {
						t.Fatalf("%v %v, %d bytes: ICRC state %d, VCRC state %d", e, p.Opcode, n, q.ICRCState, q.VCRCState)
					}
					if want := referenceICRC(e, b, q.BTHOff); q.ICRC != want {
						t.Fatalf("%v %v, %d bytes: ICRC %#x, want %#x", e, p.Opcode, n, q.ICRC, want)
					}
				}
			}
		}
	}
}

func TestAppendEthernet(t *testing.T) {
	for e, want := range map[packet.Encap]string{packet.RoCEv1: "\x89\x15", packet.RoCEv2IPv4: "\x08\x00", packet.RoCEv2IPv6: "\x86\xDD"} {
		p := filled(e, false, sendOnly, 4)
		b := p.AppendEthernet([]byte("before"), [6]byte{1, 2, 3, 4, 5, 6}, [6]byte{7, 8, 9, 10, 11, 12})
		head := "before\x07\x08\x09\x0A\x0B\x0C\x01\x02\x03\x04\x05\x06" + want
		if !bytes.Equal(b, append([]byte(head), p.Append(nil)...)) {
			t.Errorf("%v: %x", e, b)
		}
	}
}

// TestIPv4Sum: the checksum of a header, its checksum included, is zero.
func TestIPv4Sum(t *testing.T) {
	p := filled(packet.RoCEv2IPv4, false, sendOnly, 9)
	b := p.Append(nil)
	sum := 0
	for i := 0; i < 20; i += 2 {
		sum += int(b[i])<<8 | int(b[i+1])
	}
	if sum = sum>>16 + sum&0xFFFF; sum != 0xFFFF {
		t.Errorf("sum %#x", sum)
	}
}

// TestSealedFault: a fault planted after Complete leaves a packet that is not damaged.
func TestSealedFault(t *testing.T) {
	for _, e := range encaps {
		p := filled(e, false, packet.Op(packet.RC, packet.SendMiddle), 64)
		p.PSN = p.PSN.Add(5)
		p.TVer = 3
		p.SealICRC()
		b := p.Append(nil)
		q := decode(t, e, b, len(b))
		q.CheckICRC()
		q.CheckVCRC()
		if q.ICRCState != packet.CRCGood || q.TVer != 3 || e == packet.Native && q.VCRCState != packet.CRCGood {
			t.Errorf("%v: ICRC state %d, VCRC state %d, TVer %d", e, q.ICRCState, q.VCRCState, q.TVer)
		}
	}
}
