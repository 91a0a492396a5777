package upper

import (
	"math/bits"
	"testing"
)

// write takes a WRITE, with an immediate as NCCL has it, or without one where it is negative.
func (k *talk) write(from int, addr uint64, key, length uint32, imm int) {
	m := Message{From: from, Kind: Write, Whole: true, VA: addr, RKey: key, DMALen: length}
	if imm >= 0 {
		m.Kind, m.Imm = WriteImm, bits.ReverseBytes32(uint32(imm))
	}
	k.take(&m)
}

func TestNCCL(t *testing.T) {
	k := &talk{TB: t}
	for i := range 4 {
		k.write(1, 0x9000, 9, 64, -1) // there is room
		k.write(0, 0x1000*uint64(i), 7, 4096, 4096)
	}
	k.is("NCCL", Counts{Begun: 4, Ended: 4})
	// With adaptive routing the data comes first, and then an empty WRITE with the immediate.
	k.write(0, 0x100000, 7, 65536, -1)
	k.is("NCCL", Counts{Begun: 5, Ended: 4, Open: 1})
	k.oldest("NCCL transfer 5 of 65536 bytes")
	k.owns(0x100000, 7, 65536, "NCCL transfer 5 of 65536 bytes")
	k.write(0, 0x100000, 7, 0, 65536)
	k.is("NCCL", Counts{Begun: 5, Ended: 5})
	k.write(0, 0x200000, 7, 0, 0)
	k.is("NCCL", Counts{Begun: 6, Ended: 6})
}

// TestNCCLStrict: an immediate that is something else, or the length as network byte order has it, is not that of NCCL.
func TestNCCLStrict(t *testing.T) {
	for _, m := range []Message{{DMALen: 4096, Imm: 4096}, {DMALen: 4096}, {}, {DMALen: 1, Imm: 1}} {
		m.Kind, m.Whole = WriteImm, true
		if p, fit := Recognize(&m); fit != NoFit {
			t.Errorf("%+v: %s", m, p.Name())
		}
	}
}

func FuzzNCCL(f *testing.F) { fuzz(f, nccl{}, make([]byte, 64)) }
