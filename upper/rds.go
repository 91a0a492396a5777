package upper

import (
	"encoding/binary"
	"fmt"
)

// rds is Reliable Datagram Sockets over RDMA (RDS 3.1, as include/uapi/linux/rds.h and net/rds/rds.h of Linux have it). Every SEND begins with a header of 48 bytes, in network
// byte order: sequence number, the newest one of the peer that has been received, length of the datagram, ports, flags, credits, a checksum over the header, extensions. A
// datagram of more than 4096 bytes takes several SENDs with the same header.
type rds struct{}

const (
	rdsHeaderSize = 48
	rdsFragment   = 4096
	rdsFlags      = 0x3F    // those that are defined, and some to come
	rdsMost       = 1 << 20 // bytes of a datagram
	rdsBitmap     = 1       // flag: the datagram is the map of the congested ports
)

func (rds) Name() string     { return "RDS" }
func (rds) Ports() []uint16  { return []uint16{18634, 18635, 16385} }
func (rds) Answered() bool   { return false }
func (rds) Headers() int     { return rdsHeaderSize }
func (rds) Decoder() Decoder { return &rdsDecoder{} }

// plausibleRDS asks for the checksum not to be zero: without it, a header of zeros would fit.
func plausibleRDS(b []byte) bool {
	return len(b) >= rdsHeaderSize && b[24]&^rdsFlags == 0 && b[26]|b[27]|b[28]|b[29] == 0 && b[30]|b[31] != 0
}

// isRDS reports whether a message begins with a header: its checksum is right, and its length fits. The parts of a datagram are not counted: each may be the last one.
func isRDS(m *Message) bool {
	b := m.Head
	if m.Kind != Send || !plausibleRDS(b) {
		return false
	}
	sum := uint32(0)
	for i := 0; i < rdsHeaderSize; i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for sum > 0xFFFF {
		sum = sum>>16 + sum&0xFFFF
	}
	length := binary.BigEndian.Uint32(b[16:])
	payload := uint32(m.Length) - rdsHeaderSize
	return sum == 0xFFFF && length <= rdsMost && (!m.Whole || payload == length || length > rdsFragment && (payload == rdsFragment || payload == length%rdsFragment))
}

// Fit takes any message.
func (rds) Fit(m *Message) Fit {
	if isRDS(m) {
		return Strong
	}
	return NoFit
}

// rdsDecoder knows the newest datagram of each end.
type rdsDecoder struct{ newest [2]uint64 }

func (d *rdsDecoder) Message(m *Message, t *Tracker) bool {
	if !isRDS(m) {
		return false
	}
	b := m.Head
	sequence, ack := binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	t.EndUpTo(1-m.From, ack)
	if sequence > d.newest[m.From] { // 0: only an acknowledgement or credits; a part of a datagram has the number of it
		d.newest[m.From] = sequence
		t.Begin(Command{ID: sequence, Code: binary.BigEndian.Uint32(b[16:]), Arg: uint64(binary.BigEndian.Uint32(b[20:])) | uint64(b[24])<<32})
	}
	return true
}

func (d *rdsDecoder) Class(*Command) (uint32, uint64) { return 0, 0 }

func (d *rdsDecoder) Name(*Command) string { return "RDS datagram" }

func (d *rdsDecoder) Describe(c *Command) string {
	if c.Arg>>32&rdsBitmap != 0 {
		return fmt.Sprintf("RDS congestion map, sequence number %d", c.ID)
	}
	return fmt.Sprintf("RDS datagram of %d bytes, sequence number %d, port %d to port %d", c.Code, c.ID, c.Arg>>16&0xFFFF, c.Arg&0xFFFF)
}

// Status has nothing to say: a datagram is received, or not.
func (d *rdsDecoder) Status(*Command) string { return "" }
