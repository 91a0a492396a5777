package verifier

import (
	"encoding/binary"
	"math"
	"testing"

	"ibwitness/packet"
)

// write is the headers of a WRITE of MRC and so many bytes of data: METH, perhaps TSETH, RETH with a DMALen, perhaps ImmDt.
func write(timestamp bool, va uint64, length uint32, immediate bool, data int) []byte {
	b := []byte{0, 0, 0, 7}
	if timestamp {
		b = append(b, 0x12, 0x34, 0, 1)
	}
	b = binary.BigEndian.AppendUint64(b, va)
	b = binary.BigEndian.AppendUint32(b, 0x8000_1234)
	b = binary.BigEndian.AppendUint32(b, length)
	if immediate {
		b = append(b, 1, 2, 3, 4)
	}
	return append(b, make([]byte, data)...)
}

// TestMultipath: an opcode of MRC counts as MRC where the headers fit.
func TestMultipath(t *testing.T) {
	const va = 0x7F12_3456_7000
	at := func(n int, change ...int) []byte {
		b := make([]byte, n)
		for _, i := range change {
			b[i] = 1
		}
		return b
	}
	tests := []struct {
		name   string
		opcode packet.Opcode
		resv7  uint8
		qp     uint32
		b      []byte
		want   Skip
		sure   bool
	}{
		{"First", 0xC6, 0, 5, write(false, va, 9000, false, 4096), SkipMRCWrite, true},
		{"First with a time stamp, retransmitted", 0xC6, 0x30, 5, write(true, va, 9000, false, 4096), SkipMRCWrite, true},
		{"Middle", 0xC7, 0, 5, write(false, va, 4096, false, 4096), SkipMRCWrite, true},
		{"Last", 0xC8, 0, 5, write(false, va, 9000, false, 808), SkipMRCWrite, true},
		{"Last with Immediate", 0xC9, 0, 5, write(false, va, 9000, true, 808), SkipMRCWrite, true},
		{"Only", 0xCA, 0, 5, write(false, math.MaxUint64-0xFFF, 100, false, 100), SkipMRCWrite, true},
		{"Only with Immediate, without data", 0xCB, 0x10, 5, write(true, 0, 0, true, 0), SkipMRCWrite, true},
		{"ACK", 0xD1, 0, 5, []byte{0, 0, 0, 9}, SkipMRCAck, false},
		{"NAK", 0xD1, 0, 5, []byte{0x62, 0, 0, 9}, SkipMRCAck, false},
		{"endpoint request", 0xD8, 0, 2, at(16, 1, 7, 12), SkipMRCEndpoint, true},
		{"endpoint response", 0xD9, 0, 2, at(36, 1, 28), SkipMRCEndpoint, true},
		{"SACK", 0xDC, 0, 5, at(36, 4, 15, 20), SkipMRCSACK, true},
		{"NACK", 0xDD, 0, 5, at(20, 2, 15), SkipMRCNACK, true},
		{"probe", 0xDE, 0, 5, at(16, 4, 8), SkipMRCProbe, true},

		{"First, its RETH as RC has it", 0xC6, 0, 5, write(false, va, 9000, false, 4096)[4:], NumSkips, false},
		{"Middle without a RETH", 0xC7, 0, 5, at(4096, 4), NumSkips, false},
		{"First, a time stamp that its BTH does not tell of", 0xC6, 0, 5, write(true, va, 9000, false, 4096), NumSkips, false},
		{"First of no path MTU", 0xC6, 0, 5, write(false, va, 9000, false, 4000), NumSkips, false},
		{"First, longer than it says", 0xC6, 0, 5, write(false, va, 4000, false, 4096), NumSkips, false},
		{"Only of another length", 0xCA, 0, 5, write(false, va, 104, false, 100), NumSkips, false},
		{"Last to a strange address", 0xC8, 0, 5, write(false, 0x1234<<48, 9000, false, 808), NumSkips, false},
		{"Last without data", 0xC8, 0, 5, write(false, va, 9000, false, 0), NumSkips, false},
		{"ACK of another length", 0xD1, 0, 5, at(8), NumSkips, false},
		{"SACK of another length", 0xDC, 0, 5, at(32), NumSkips, false},
		{"SACK with a reserved byte", 0xDC, 0, 5, at(36, 12), NumSkips, false},
		{"endpoint request to another QP", 0xD8, 0, 5, at(16), NumSkips, false},
		{"another opcode", 0xDB, 0, 5, at(36), NumSkips, false},
		{"nothing", 0xCA, 0, 5, nil, NumSkips, false},
	}
	for _, tt := range tests {
		p := packet.Packet{Encap: packet.RoCEv2IPv6, Opcode: tt.opcode, Resv7: tt.resv7, DestQP: tt.qp, Payload: tt.b, PayloadLen: len(tt.b)}
		if what, sure := Multipath(&p); what != tt.want || sure != tt.sure {
			t.Errorf("%s: %d, %t; want %d, %t", tt.name, what, sure, tt.want, tt.sure)
		}
		p.Payload = p.Payload[:min(len(p.Payload), 3)] // as cut by a snap length: at most an ACK can be told
		if what, _ := Multipath(&p); what != NumSkips && what != SkipMRCAck {
			t.Errorf("%s, cut: %d", tt.name, what)
		}
		p.Encap = packet.Native
		if what, _ := Multipath(&p); what != NumSkips {
			t.Errorf("%s on InfiniBand: %d", tt.name, what)
		}
	}
}
