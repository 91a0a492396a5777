package message

import (
	"bytes"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"ibwitness/packet"
)

// TestJoin: the CRC of two pieces of data is that of both together.
func TestJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SliceOf(rapid.Byte()).Draw(t, "a"), rapid.SliceOf(rapid.Byte()).Draw(t, "b")
		if got, want := join(sum(a), sum(b), uint64(len(b))), sum(append(a, b...)); got != want {
			t.Fatalf("%#x, want %#x", got, want)
		}
		if got := apart(sum(a), sum(append(a, b...)), uint64(len(b))); got != sum(b) {
			t.Fatalf("second only: %#x, want %#x", got, sum(b))
		}
	})
}

// TestJoined: the CRC of pieces, some of which follow the one before, is that of all together.
func TestJoined(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all, run []byte
		j := joined{}
		for i, p := range rapid.SliceOf(rapid.SliceOf(rapid.Byte())).Draw(t, "pieces") {
			follows := i > 0 && rapid.Bool().Draw(t, "follows")
			if !follows {
				run = nil
			}
			all, run = append(all, p...), append(run, p...)
			j.add(sum(run), uint32(len(p)), follows)
		}
		if got, want := j.sum(), sum(all); got != want {
			t.Fatalf("%#x, want %#x", got, want)
		}
	})
}

// TestCarried: the CRC of a payload that follows from the ICRC of its packet is that of its bytes.
func TestCarried(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c carried
		n := rapid.IntRange(0, 1100).Draw(t, "words") * 4
		seed := rapid.Uint64().Draw(t, "seed")
		r := rand.New(rand.NewPCG(seed, 1))
		before := uint32(0)
		for i := range 2*enoughSame + 2 {
			payload := make([]byte, n)
			for k := range payload {
				payload[k] = byte(r.Uint32())
			}
			p := packet.Packet{
				Encap: packet.RoCEv2IPv4, Opcode: rapid.SampledFrom(carriers).Draw(t, "opcode"), DestQP: 17, PSN: packet.PSN(i), PKey: 0xFFFF, HopLmt: 64, Payload: payload,
				Src: packet.IPv4Addr([]byte{10, 0, 0, 1}), Dst: packet.IPv4Addr([]byte{10, 0, 0, 2}),
			}
			p.Complete()
			b := p.Append(nil)
			var q packet.Packet
			if !packet.DecodeIP(&q, b, len(b)) {
				t.Fatal("not decoded")
			}
			if q.CheckICRC(); q.ICRCState != packet.CRCGood || !bytes.Equal(q.Payload, payload) {
				t.Fatalf("decoded as %+v", q)
			}
			got, want := c.sum(before, &q, q.Payload), crc32.Update(before, crc32.IEEETable, payload)
			if got != want {
				t.Fatalf("packet %d of %d bytes: %#x, want %#x", i, n, got, want)
			}
			before = want
		}
		if (n >= leastCarried) != (c.over(n) != nil) {
			t.Fatalf("a table for %d bytes: %v", n, c.over(n) != nil)
		}
	})
}

var carriers = []packet.Opcode{
	packet.Op(packet.RC, packet.SendMiddle), packet.Op(packet.RC, packet.WriteFirst), packet.Op(packet.RC, packet.SendLastImm), packet.Op(packet.RC, packet.ReadRespLast),
	packet.Op(packet.UC, packet.WriteMiddle),
}
