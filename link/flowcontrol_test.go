package link_test

import (
	"bytes"
	"encoding/hex"
	"testing"

	"ibwitness/link"
)

// bitwise is the CRC of section 7.8.2 as a shift register: polynomial x^16+x^12+x^3+x+1, ones at the beginning, the least significant bit of
// each byte first, complemented at the end. The register holds its first bit lowest.
func bitwise(b []byte) uint16 {
	var reg [16]bool // reg[i] is the coefficient of x^i
	for i := range reg {
		reg[i] = true
	}
	for _, x := range b {
		for i := range 8 {
			feed := reg[15] != (x>>i&1 != 0)
			copy(reg[1:], reg[:15])
			reg[0] = feed
			for _, tap := range []int{1, 3, 12} {
				reg[tap] = reg[tap] != feed
			}
		}
	}
	var c uint16
	for i := range reg {
		if !reg[15-i] {
			c |= 1 << i
		}
	}
	return c
}

func TestFlowControl(t *testing.T) {
	for _, tt := range []struct {
		f     link.FlowControl
		bytes string // without the LPCRC
	}{
		{link.FlowControl{}, "00000000"},
		{link.FlowControl{Op: link.Init, FCCL: 2048}, "10000800"},
		{link.FlowControl{Op: link.Init, VL: 14, FCCL: 0x123}, "1000e123"},
		{link.FlowControl{FCTBS: 0xFFF, VL: 3, FCCL: 0x7FF}, "0fff37ff"},
		{link.FlowControl{Op: 15, FCTBS: 0xABC, VL: 15, FCCL: 0xDEF}, "fabcfdef"},
	} {
		b := tt.f.Append([]byte{9})[1:]
		if got := hex.EncodeToString(b[:4]); got != tt.bytes || len(b) != link.Size {
			t.Errorf("%+v: %x, want %s and an LPCRC", tt.f, b, tt.bytes)
		}
		if crc := bitwise(b[:4]); b[4] != byte(crc) || b[5] != byte(crc>>8) {
			t.Errorf("%+v: LPCRC %x, want %02x%02x", tt.f, b[4:], byte(crc), byte(crc>>8))
		}
		got, ok := link.DecodeFlowControl(b)
		tt.f.LPCRC, tt.f.Good = uint16(b[4])|uint16(b[5])<<8, true
		if !ok || got != tt.f {
			t.Errorf("decoded %+v, want %+v", got, tt.f)
		}
		for i := range 48 {
			b[i/8] ^= 1 << (i % 8)
			if got, _ := link.DecodeFlowControl(b); got.Good {
				t.Errorf("%x is good, bit %d is not", b, i)
			}
			b[i/8] ^= 1 << (i % 8)
		}
	}
	for _, n := range []int{0, 4, 5, 7, 8} {
		if _, ok := link.DecodeFlowControl(make([]byte, n)); ok {
			t.Errorf("%d bytes are a flow control packet", n)
		}
	}
}

func TestBlocks(t *testing.T) {
	for n, want := range map[int]int{1: 1, 26: 1, 64: 1, 65: 2, 128: 2, 4222: 66} {
		if got := link.Blocks(n); got != want {
			t.Errorf("%d bytes are %d blocks, want %d", n, got, want)
		}
	}
}

func TestHeader(t *testing.T) {
	m := link.Mark{Link: 0x1234, Symbol: 4000, Port: 1, Bad: true}
	b := link.AppendHeader(nil, link.Physical, m)
	if want := []byte{'I', 'L', 2, 3, 0x12, 0x34, 0x0F, 0xA0}; !bytes.Equal(b, want) {
		t.Fatalf("% x, want % x", b, want)
	}
	if k, got, ok := link.DecodeHeader(b); !ok || k != link.Physical || got != m {
		t.Errorf("decoded %v %+v %v", k, got, ok)
	}
	m.End = link.Invalid
	if b = link.AppendHeader(nil, link.Data, m); b[3] != 0xF {
		t.Errorf("flags %#x", b[3])
	}
	if _, got, ok := link.DecodeHeader(b); !ok || got != m {
		t.Errorf("decoded %+v %v", got, ok)
	}
	for _, bad := range []string{"", "IL\x00\x00\x00\x00\x00", "IM\x00\x00\x00\x00\x00\x00", "IL\x03\x00\x00\x00\x00\x00"} {
		if _, _, ok := link.DecodeHeader([]byte(bad)); ok {
			t.Errorf("%q is a header", bad)
		}
	}
}

func TestDecodeDoesNotAllocate(t *testing.T) {
	b := link.AppendHeader(nil, link.Packet, link.Mark{})
	b = (&link.FlowControl{FCCL: 7}).Append(b)
	var sum uint16
	if n := testing.AllocsPerRun(100, func() {
		link.DecodeHeader(b)
		f, _ := link.DecodeFlowControl(b[link.HeaderSize:])
		sum += f.FCCL
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzFlowControl(f *testing.F) {
	f.Add((&link.FlowControl{Op: link.Init, FCCL: 5}).Append(nil))
	f.Add((&link.FlowControl{FCTBS: 4095, VL: 3, FCCL: 2047}).Append(nil)[:5])
	f.Fuzz(func(t *testing.T, b []byte) {
		c, ok := link.DecodeFlowControl(b)
		if ok != (len(b) == link.Size) {
			t.Fatalf("%d bytes: %v", len(b), ok)
		}
		if again := c.Append(nil); ok && (!bytes.Equal(again[:4], b[:4]) || c.Good != bytes.Equal(again, b)) {
			t.Fatalf("%x became %x", b, again)
		}
	})
}

func FuzzHeader(f *testing.F) {
	f.Add(link.AppendHeader(nil, link.Data, link.Mark{Link: 3, Symbol: 1000, Port: 1}))
	f.Fuzz(func(t *testing.T, b []byte) {
		k, m, ok := link.DecodeHeader(b)
		if !ok {
			return
		}
		if k2, m2, ok := link.DecodeHeader(link.AppendHeader(nil, k, m)); !ok || k2 != k || m2 != m {
			t.Fatalf("%v %+v became %v %+v", k, m, k2, m2)
		}
	})
}
