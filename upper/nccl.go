package upper

import (
	"fmt"
	"math/bits"
)

// nccl is the pattern of NVIDIA's collective communication library (src/transport/net_ib.cc of NCCL 2): it has no headers. What is sent goes into the memory of the
// receiver by RDMA WRITEs, the last of which, which may be empty, has the immediate. For one buffer that is the number of bytes, as the processor has it in memory: on the wire
// it is little-endian, which those who convert it as they should do not have.
type nccl struct{}

func (nccl) Name() string     { return "NCCL" }
func (nccl) Ports() []uint16  { return nil }
func (nccl) Answered() bool   { return false }
func (nccl) Headers() int     { return 0 }
func (nccl) Decoder() Decoder { return &ncclDecoder{} }

// Fit takes a WRITE with an immediate that is its length as NCCL sends it. Other programs may do so too: it takes several.
func (nccl) Fit(m *Message) Fit {
	if m.Kind == WriteImm && m.DMALen > 0 && bits.ReverseBytes32(m.Imm) == m.DMALen && m.Imm != m.DMALen {
		return Likely
	}
	return NoFit
}

// ncclDecoder follows the WRITEs of each end up to their immediate. An end that has sent none is a receiver, whose WRITEs say where there is room.
type ncclDecoder struct {
	sends  [2]bool
	number [2]uint64 // of the transfer that is open; 0: none is
	begun  uint64
	bytes  [2]uint64
}

func (d *ncclDecoder) Message(m *Message, t *Tracker) bool {
	if m.Kind == Send {
		return false
	}
	from := m.From
	d.sends[from] = d.sends[from] || m.Kind == WriteImm
	if !d.sends[from] {
		return true
	}
	begins := d.number[from] == 0
	if begins {
		d.begun++
		d.number[from], d.bytes[from] = d.begun, 0
		t.Begin(Command{ID: d.begun})
	}
	c := t.Find(from, d.number[from])
	if begins || m.Kind == Write || m.Whole { // else it is the end of a WRITE whose beginning was taken
		d.bytes[from] += uint64(m.DMALen)
		if c != nil {
			t.MemoryOf(c, m.VA, m.RKey, m.DMALen)
		}
	}
	if c != nil {
		c.Arg = d.bytes[from]
	}
	if m.Kind == WriteImm {
		t.End(from, d.number[from], 0)
		d.number[from] = 0
	}
	return true
}

func (d *ncclDecoder) Class(*Command) (uint32, uint64) { return 0, 0 }

func (d *ncclDecoder) Name(*Command) string { return "NCCL transfer" }

func (d *ncclDecoder) Describe(c *Command) string {
	return fmt.Sprintf("NCCL transfer %d of %d bytes", c.ID, c.Arg)
}

// Status has nothing to say: no transfer fails by itself.
func (d *ncclDecoder) Status(*Command) string { return "" }
