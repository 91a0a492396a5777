package upper

import (
	"encoding/binary"
	"fmt"
)

// nvme is NVM Express over RDMA: NVMe over Fabrics, RDMA transport (NVM Express RDMA Transport Specification 1.0, NVM Express Base Specification 2.0, figures 87 and 92). A
// command capsule is a SEND that begins with a submission queue entry of 64 bytes, whose SGL1 is keyed, or has its data in the capsule; a response capsule is a
// SEND of a completion queue entry of 16 bytes.
type nvme struct{}

// Layout of a submission queue entry, all of it little-endian.
const (
	sqeSize    = 64
	sqeCID     = 2
	sqeNSID    = 4
	sqeMPTR    = 16
	sqeSGL     = 24
	sqeSGLKey  = sqeSGL + 11
	sqeSGLType = sqeSGL + 15
	sqeFctype  = 4    // of a command of Fabrics
	sqeHeaders = 16   // what names a command ends here
	sqeEnd     = 40   // and its descriptor here
	sqeQID     = 42   // of Connect
	sqeAborts  = 40   // of Abort: the queue and the CID
	sqeBlocks  = 52   // what tells Read from Get Log Page ends here
	psdtSGL    = 0x40 // SGLs, and metadata in one buffer; the low bits are of fused commands

	sglKeyed      = 0x40 // type keyed SGL data block; subtype address
	sglInvalidate = 0x4F // and the key is to be invalidated
	sglInCapsule  = 0x01 // type SGL data block; subtype offset
	sglNone       = 0x00

	// The lowest bits of an opcode tell in which direction data goes; 0: there is none.
	direction    = 3
	toController = 1

	cqeSize   = 16
	cqeCID    = 12
	cqeStatus = 14

	fabrics   = 0x7F
	asyncEvnt = 0x0C // Asynchronous Event Request
	abort     = 0x08 // of the admin queue
	keepAlive = 0x18
	allNSIDs  = 0xFFFFFFFF
)

// What kind of queue the commands of a connection go to: which one it is decides what an opcode means.
const (
	queueUnknown = iota
	queueAdmin
	queueIO
)

func (nvme) Name() string     { return "NVMe over RDMA" }
func (nvme) Ports() []uint16  { return []uint16{4420, 8009} }
func (nvme) Answered() bool   { return true }
func (nvme) Headers() int     { return sqeHeaders }
func (nvme) Decoder() Decoder { return &nvmeDecoder{host: -1} }

func plausibleNVMe(b *[leastHead]byte) bool { return b[1]&^3 == psdtSGL }

// Fit takes a command capsule with a command that is specified, in which what most commands do not use is 0; faintly also one that uses it, or is cut.
func (nvme) Fit(m *Message) Fit {
	b := m.Head
	if !isCommandCapsule(m) && !isLikeCapsule(m) {
		return NoFit
	}
	if _, known := nvmeNames(b[0], queueUnknown, b[sqeFctype]); !known {
		return NoFit
	}
	switch reserved, metadata := binary.LittleEndian.Uint64(b[8:]) != 0, !zero(b[min(sqeMPTR, len(b)):min(sqeSGL, len(b))]); {
	case reserved && metadata:
		return NoFit
	case reserved || metadata || !isCommandCapsule(m):
		return Faint
	}
	if b[sqeSGLType] == sglNone {
		if b[0] != keepAlive || !zero(b[sqeNSID:]) {
			return NoFit
		}
		return Likely
	}
	return Strong
}

// isCommandCapsule reports whether a message is a command capsule: it uses SGLs, the descriptor is one of those of the transport, and its data is in the capsule if that
// says so.
func isCommandCapsule(m *Message) bool {
	b := m.Head
	if m.Kind != Send || m.Length < sqeSize || len(b) < sqeEnd || b[1]&^3 != psdtSGL {
		return false
	}
	switch b[sqeSGLType] {
	case sglKeyed, sglInvalidate:
		return !m.Whole || m.Length == sqeSize
	case sglInCapsule:
		data := binary.LittleEndian.Uint32(b[sqeSGL+8:])
		return !m.Whole || uint64(m.Length) == sqeSize+uint64(data)
	case sglNone: // nobody reads the descriptor of a command without data
		return m.Whole && m.Length == sqeSize && b[0]&direction == 0 && zero(b[sqeSGL:sqeEnd])
	}
	return false
}

// isLikeCapsule reports whether a message may be a command capsule of which the snap length left what names the command and not the descriptor, or of which less data
// came than its descriptor says.
func isLikeCapsule(m *Message) bool {
	b := m.Head
	if m.Kind != Send || m.Length < sqeSize || len(b) < sqeHeaders || b[1]&^3 != psdtSGL || m.Length > sqeSize && !fromHost(b) {
		return false
	}
	return len(b) < sqeEnd && m.Cut() || len(b) >= sqeEnd && b[sqeSGLType] == sglInCapsule
}

// zero reports whether all bytes are 0.
func zero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

type nvmeDecoder struct {
	host    int // the end that sends commands; -1: not known
	queue   uint8
	connect *connectNames // of a Connect that has not ended well; nil: there is none
}

func (d *nvmeDecoder) Message(m *Message, t *Tracker) bool {
	if m.Kind != Send {
		return false
	}
	if (d.host < 0 || m.From == d.host) && (isCommandCapsule(m) || isLikeCapsule(m)) {
		d.host = m.From
		d.command(m.Head, t)
		return true
	}
	if m.From == 1-d.host && m.Whole && m.Length == cqeSize && len(m.Head) == cqeSize {
		status := binary.LittleEndian.Uint16(m.Head[cqeStatus:]) >> 1
		t.End(d.host, uint64(binary.LittleEndian.Uint16(m.Head[cqeCID:])), uint32(status))
		if status == 0 {
			d.connect = nil
		}
		return true
	}
	return false
}

func (d *nvmeDecoder) command(b []byte, t *Tracker) {
	opcode, nsid := b[0], binary.LittleEndian.Uint32(b[sqeNSID:])
	if d.queue == queueUnknown || d.queue == queueAdmin && (opcode == 0x01 || opcode == 0x02) && queueOf(b) == queueIO { // whatever the Connect said
		d.queue = queueOf(b)
	}
	first, blocks := blocksOf(b)
	c := t.Begin(Command{
		ID: uint64(binary.LittleEndian.Uint16(b[sqeCID:])), Code: uint32(opcode) | uint32(d.queue)<<8 | blocks<<16, Arg: uint64(nsid) | first<<32,
		Waits: opcode == asyncEvnt && d.queue == queueAdmin,
	})
	if opcode != fabrics && nsid != 0 && nsid != allNSIDs && d.queue != queueAdmin {
		t.On(c, uint64(nsid), nil)
	}
	if len(b) < sqeEnd {
		return
	}
	if d.Opens(c) {
		d.connects(b)
	}
	if opcode == abort && d.queue == queueAdmin && len(b) >= sqeSize {
		t.cancel(Cancel{Name: "NVMe Abort", Queue: binary.LittleEndian.Uint16(b[sqeAborts:]), ID: uint64(binary.LittleEndian.Uint16(b[sqeAborts+2:]))}, c)
	}
	if kind := b[sqeSGLType]; kind == sglKeyed || kind == sglInvalidate {
		name := t.MemoryOf
		if fromHost(b) {
			name = t.Fetch
		}
		name(c, binary.LittleEndian.Uint64(b[sqeSGL:]), binary.LittleEndian.Uint32(b[sqeSGLKey:]), sglLength(b))
	}
}

// fromHost reports whether the data of a command goes from the host to the controller, as the lowest bits of its opcode tell, of a command of Fabrics those of its type.
func fromHost(b []byte) bool {
	if b[0] == fabrics {
		return b[sqeFctype]&direction == toController
	}
	return b[0]&direction == toController
}

// queueOf returns to which kind of queue a command goes, as far as it tells.
func queueOf(b []byte) uint8 {
	switch b[0] {
	case fabrics:
		switch {
		case b[sqeFctype] != 0x01 || len(b) < sqeBlocks: // properties and authentication, or cut
			return queueUnknown
		case binary.LittleEndian.Uint16(b[sqeQID:]) == 0:
			return queueAdmin
		}
		return queueIO
	case 0x06, 0x0A, keepAlive: // Identify, Get Features
		return queueAdmin
	case asyncEvnt: // in an I/O queue it is Verify, which has a namespace
		if binary.LittleEndian.Uint32(b[sqeNSID:]) == 0 {
			return queueAdmin
		}
		return queueIO
	case 0x02:
		return queueOfRead(b)
	case 0x01: // Write, as queues of other transports are not created by a command
		return queueIO
	}
	return queueUnknown
}

// queueOfRead tells Get Log Page from Read, which has a namespace, by which of their fields agrees with how much memory is named.
func queueOfRead(b []byte) uint8 {
	if len(b) < sqeBlocks {
		return queueUnknown
	}
	nsid := binary.LittleEndian.Uint32(b[sqeNSID:])
	length, cdw := sglLength(b), func(n int) uint32 { return binary.LittleEndian.Uint32(b[4*n:]) }
	if dwords := uint64(cdw(10)>>16|cdw(11)<<16) + 1; 4*dwords == uint64(length) {
		return queueAdmin
	}
	blocks := cdw(12)&0xFFFF + 1
	if size := length / blocks; nsid != 0 && nsid != allNSIDs && size >= 512 && size&(size-1) == 0 && size*blocks == length {
		return queueIO
	}
	return queueUnknown
}

// sglLength is how many bytes a keyed descriptor names.
func sglLength(b []byte) uint32 {
	return uint32(b[sqeSGL+8]) | uint32(b[sqeSGL+9])<<8 | uint32(b[sqeSGL+10])<<16
}

// Class is by opcode, and of a command of Fabrics by its type, too.
func (d *nvmeDecoder) Class(c *Command) (uint32, uint64) {
	if uint8(c.Code) == fabrics {
		return fabrics, c.Arg & 0xFF
	}
	return c.Code & 0xFF, 0
}

func (d *nvmeDecoder) Name(c *Command) string {
	queue := c.Code >> 8 & 0xFF
	if queue == queueUnknown {
		queue = uint32(d.queue)
	}
	name, _ := nvmeNames(uint8(c.Code), uint8(queue), uint8(c.Arg))
	return "NVMe " + name
}

func (d *nvmeDecoder) Describe(c *Command) string {
	nsid := uint32(c.Arg)
	text := fmt.Sprintf("%s, command id %d", d.Name(c), c.ID)
	if uint8(c.Code) != fabrics && nsid != 0 && nsid != allNSIDs {
		text += fmt.Sprintf(", namespace %d", nsid)
	}
	return text
}

// Status is by status code type and status code.
func (d *nvmeDecoder) Status(c *Command) string {
	kind, code := c.Status>>8&7, c.Status&0xFF
	if name, ok := nvmeStatus[kind<<8|code]; ok {
		return name
	}
	return nvmeCodes(c)
}

// nvmeCodes is a status in numbers.
func nvmeCodes(c *Command) string {
	return fmt.Sprintf("status code type %d, status code 0x%02x", c.Status>>8&7, c.Status&0xFF)
}
