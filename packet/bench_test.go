package packet_test

import (
	"fmt"
	"hash/crc32"
	"testing"

	"ibwitness/packet"
)

// sealed is a RoCEv2 packet of an opcode with n bytes of payload, as bytes.
func sealed(encap packet.Encap, op packet.Opcode, n int) []byte {
	p := packet.Packet{
		Encap: encap, Opcode: op, PKey: 0xFFFF, DestQP: 0x11, PSN: 0x123456,
		SrcPort: 0xC123, Payload: make([]byte, n),
	}
	switch encap {
	case packet.RoCEv2IPv4:
		p.Src, p.Dst = packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	case packet.Native:
		p.Src, p.Dst = packet.LIDAddr(1), packet.LIDAddr(2)
	default:
		p.Src, p.Dst = packet.Addr{Hi: 0xFE80 << 48, Lo: 1}, packet.Addr{Hi: 0xFE80 << 48, Lo: 2}
	}
	for i := range p.Payload {
		p.Payload[i] = byte(i * 7)
	}
	p.Complete()
	return p.Append(nil)
}

var benchOps = []struct {
	op packet.Opcode
	n  int
}{
	{packet.Op(packet.RC, packet.Acknowledge), 0},
	{packet.Op(packet.RC, packet.SendOnly), 43},
	{packet.Op(packet.RC, packet.WriteOnly), 30},
	{packet.Op(packet.RC, packet.SendMiddle), 256},
	{packet.Op(packet.RC, packet.SendMiddle), 1024},
	{packet.Op(packet.RC, packet.SendMiddle), 4096},
}

func BenchmarkDecodeIP(b *testing.B) {
	for _, c := range benchOps[:3] {
		for _, e := range []packet.Encap{packet.RoCEv2IPv4, packet.RoCEv2IPv6} {
			data := sealed(e, c.op, c.n)
			b.Run(fmt.Sprintf("%v/%v", e, c.op), func(b *testing.B) {
				var p packet.Packet
				b.ReportAllocs()
				for b.Loop() {
					if !packet.DecodeIP(&p, data, len(data)) {
						b.Fatal("not RoCEv2")
					}
				}
			})
		}
	}
}

func BenchmarkCheckICRC(b *testing.B) {
	for _, c := range benchOps {
		data := sealed(packet.RoCEv2IPv4, c.op, c.n)
		b.Run(fmt.Sprint(len(data)), func(b *testing.B) {
			var p packet.Packet
			packet.DecodeIP(&p, data, len(data))
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				p.CheckICRC()
			}
			if p.ICRCState != packet.CRCGood {
				b.Fatal("ICRC wrong")
			}
		})
	}
}

// BenchmarkCompleteEthernet builds frames as a sender does.
func BenchmarkCompleteEthernet(b *testing.B) {
	for _, c := range benchOps {
		for _, e := range []packet.Encap{packet.RoCEv2IPv4, packet.RoCEv2IPv6} {
			data := sealed(e, c.op, c.n)
			var p packet.Packet
			packet.DecodeIP(&p, data, len(data))
			room := make([]byte, 0, 8192)
			b.Run(fmt.Sprintf("%v/%v/%d", e, c.op, len(p.Payload)), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					p.CompleteEthernet(room, [6]byte{2}, [6]byte{2, 1})
				}
			})
		}
	}
}

// BenchmarkChecker is CheckICRC without the pool; bare is what hash/crc32 itself takes for as many bytes.
func BenchmarkChecker(b *testing.B) {
	data := sealed(packet.RoCEv2IPv4, sendOnly, 60)
	var p packet.Packet
	packet.DecodeIP(&p, data, len(data))
	b.Run("ICRC", func(b *testing.B) {
		var c packet.Checker
		for b.Loop() {
			c.ICRC(&p)
		}
	})
	b.Run("CheckICRC", func(b *testing.B) {
		for b.Loop() {
			p.CheckICRC()
		}
	})
	b.Run("bare", func(b *testing.B) {
		buf := make([]byte, (len(data)+15)&^15)
		for b.Loop() {
			crc32.ChecksumIEEE(buf)
		}
	})
}

func BenchmarkCheckVCRC(b *testing.B) {
	data := sealed(packet.Native, packet.Op(packet.RC, packet.SendMiddle), 1024)
	var p packet.Packet
	packet.DecodeInfiniBand(&p, data, len(data))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		p.CheckVCRC()
	}
	if p.VCRCState != packet.CRCGood {
		b.Fatal("VCRC wrong")
	}
}

func BenchmarkAppend(b *testing.B) {
	data := sealed(packet.RoCEv2IPv4, packet.Op(packet.RC, packet.WriteOnly), 64)
	var p packet.Packet
	packet.DecodeIP(&p, data, len(data))
	buf := make([]byte, 0, 256)
	b.ReportAllocs()
	for b.Loop() {
		buf = p.Append(buf[:0])
	}
}

func BenchmarkComplete(b *testing.B) {
	data := sealed(packet.RoCEv2IPv4, packet.Op(packet.RC, packet.WriteOnly), 64)
	var p packet.Packet
	packet.DecodeIP(&p, data, len(data))
	b.ReportAllocs()
	for b.Loop() {
		p.Complete()
	}
}

func BenchmarkTrace(b *testing.B) {
	data := sealed(packet.RoCEv2IPv4, packet.Op(packet.RC, packet.WriteOnly), 64)
	var p packet.Packet
	packet.DecodeIP(&p, data, len(data))
	p.CheckICRC()
	var sum uint32
	for b.Loop() {
		sum += p.Trace().ICRC
	}
}
