package upper

import (
	"encoding/binary"
	"fmt"
)

// iser is iSCSI Extensions for RDMA (RFC 7145), of iSCSI (RFC 7143). A SEND of an iSCSI PDU begins with the iSER header, which names the memory of the initiator that the data of
// a SCSI command comes from or goes to, and then has the basic header segment. All fields are in network byte order.
type iser struct{}

const (
	iserHeaderSize = 28
	bhsSize        = 48
	iserPDU        = 0x10 // opcode iSCSI control-type PDU
	iserWrite      = 0x08 // W: the Write STag is valid
	iserRead       = 0x04 // R: so is the Read STag

	opcodeMask   = 0x3F // of the opcode of a BHS; 0x40 is for immediate delivery
	isTarget     = 0x20
	noTag        = 0xFFFFFFFF
	finalBit     = 0x80
	scsiCommand  = 0x01
	scsiRead     = 0x40 // in the flags of a SCSI command
	scsiWrite    = 0x20
	nopOut       = 0x00
	rejectPDU    = 0x3F
	asyncMessage = 0x32
	readyToXfer  = 0x31
	loginRequest = 0x03

	testUnitReady = 0x00 // of a SCSI command, in the first byte of its CDB
	inquiry       = 0x12
	reportLUNs    = 0xA0

	taskManagement = 0x02
	abortTask      = 1 // its function
)

func (iser) Name() string     { return "iSER" }
func (iser) Ports() []uint16  { return []uint16{3260, 860} }
func (iser) Answered() bool   { return true }
func (iser) Headers() int     { return iserHeaderSize + bhsSize }
func (iser) Decoder() Decoder { return &iserDecoder{} }

func plausibleISER(b *[leastHead]byte) bool {
	return b[0]&0xF0 == iserPDU && b[0]&3 == 0 && b[1]|b[2]|b[3] == 0
}

// iserPDUOf returns the basic header segment of a message, or nil where it is none: reserved bits are 0, an STag is there where the header says so, the opcode is one, and
// lengths agree.
func iserPDUOf(m *Message) []byte {
	h := m.Head
	if m.Kind != Send || len(h) < iserHeaderSize+bhsSize || !plausibleISER((*[leastHead]byte)(h)) {
		return nil
	}
	for _, s := range [...]struct {
		valid byte
		at    int
	}{{iserWrite, 4}, {iserRead, 16}} {
		if h[0]&s.valid == 0 && (binary.BigEndian.Uint32(h[s.at:]) != 0 || binary.BigEndian.Uint64(h[s.at+4:]) != 0) {
			return nil
		}
	}
	b := h[iserHeaderSize : iserHeaderSize+bhsSize]
	if _, ok := iscsiPDUs[b[0]&opcodeMask]; !ok || b[0]&finalBit != 0 {
		return nil
	}
	ahs, data := uint64(b[4])*4, uint64(b[5])<<16|uint64(b[6])<<8|uint64(b[7])
	if size := iserHeaderSize + bhsSize + ahs + data; m.Whole && uint64(m.Length) != size && uint64(m.Length) != (size+3)&^3 {
		return nil
	}
	return b
}

// Fit takes a PDU of an initiator or target in which what is the same in all such PDUs is so.
func (iser) Fit(m *Message) Fit {
	b := iserPDUOf(m)
	if b == nil {
		return NoFit
	}
	switch op := b[0] & opcodeMask; {
	case op == scsiCommand && b[2]|b[3] == 0 && (b[1]&scsiWrite != 0) == (m.Head[0]&iserWrite != 0) && (b[1]&scsiRead != 0) == (m.Head[0]&iserRead != 0):
		return Strong
	case m.Head[0] != iserPDU: // only SCSI commands name memory
		return NoFit
	case op != scsiCommand && b[1]&finalBit != 0 || op == loginRequest || op == loginRequest|isTarget:
		return Strong
	}
	return NoFit
}

// iserDecoder needs no state: the opcode says which end is the initiator.
type iserDecoder struct{}

func (d *iserDecoder) Message(m *Message, t *Tracker) bool {
	b := iserPDUOf(m)
	if b == nil {
		return m.Kind == Send && m.Length == iserHeaderSize && len(m.Head) > 0 && m.Head[0]&0xF0 != iserPDU // Hello and HelloReply
	}
	op, tag := b[0]&opcodeMask, binary.BigEndian.Uint32(b[16:])
	switch {
	case tag == noTag || op == rejectPDU || op == asyncMessage || op == readyToXfer:
	case op&isTarget != 0:
		status := uint32(0)
		switch op {
		case scsiCommand | isTarget:
			status = uint32(b[2])<<8 | uint32(b[3]) // response, status
		case loginRequest | isTarget:
			status = uint32(b[36])<<8 | uint32(b[37]) // status class, detail
		}
		t.End(1-m.From, uint64(tag), status)
	default:
		d.command(m, b, t)
	}
	return true
}

func (d *iserDecoder) command(m *Message, b []byte, t *Tracker) {
	op := b[0] & opcodeMask
	c := Command{ID: uint64(binary.BigEndian.Uint32(b[16:])), Code: uint32(op)}
	if op != scsiCommand {
		begun := t.Begin(c)
		if op == taskManagement && b[1]&^finalBit == abortTask {
			t.cancels("iSCSI ABORT TASK", uint64(binary.BigEndian.Uint32(b[20:])), begun)
		}
		return
	}
	c.Code, c.Arg = uint32(op)|uint32(b[32])<<8, binary.BigEndian.Uint64(b[8:])
	begun := t.Begin(c)
	if op := b[32]; op != reportLUNs && op != inquiry && op != testUnitReady {
		t.On(begun, c.Arg, nil)
	}
	length, h := binary.BigEndian.Uint32(b[20:]), m.Head
	if h[0]&iserWrite != 0 {
		name := t.MemoryOf
		if unsolicited := binary.BigEndian.Uint32(b[4:]) & 0xFFFFFF; unsolicited == 0 && b[1]&finalBit != 0 { // all of the data is to be fetched
			name = t.Fetch
		}
		name(begun, binary.BigEndian.Uint64(h[8:]), binary.BigEndian.Uint32(h[4:]), length)
	}
	if h[0]&iserRead != 0 {
		t.Memory(binary.BigEndian.Uint64(h[20:]), binary.BigEndian.Uint32(h[16:]), length)
	}
}

// Class is by opcode, and of a SCSI command by its operation code, too.
func (d *iserDecoder) Class(c *Command) (uint32, uint64) { return c.Code, 0 }

func (d *iserDecoder) Name(c *Command) string {
	if op := uint8(c.Code); op != scsiCommand {
		return "iSCSI " + iscsiPDUs[op]
	}
	return "SCSI " + scsiName(uint8(c.Code>>8))
}

func (d *iserDecoder) Describe(c *Command) string {
	text := fmt.Sprintf("%s, initiator task tag 0x%08x", d.Name(c), c.ID)
	if uint8(c.Code) == scsiCommand {
		text += ", LUN " + lun(c.Arg)
	}
	return text
}

// lun is the first level of a LUN in words (SAM-5, 4.7), which is all of most; else all of it.
func lun(v uint64) string {
	switch {
	case v&0xFFFFFFFFFFFF != 0:
	case v>>62 == 0:
		return fmt.Sprint(v >> 48 & 0xFF)
	case v>>62 == 1:
		return fmt.Sprint(v >> 48 & 0x3FFF)
	}
	return fmt.Sprintf("0x%016x", v)
}

func (d *iserDecoder) Status(c *Command) string {
	high, low := c.Status>>8, c.Status&0xFF
	switch {
	case uint8(c.Code) == loginRequest:
		text := fmt.Sprintf("login status class %d, detail %d", high, low)
		if name, ok := loginStatus[c.Status]; ok {
			text = name + " (" + text + ")"
		}
		return text
	case high != 0:
		return fmt.Sprintf("iSCSI response %d", high)
	}
	if name, ok := scsiStatus[low]; ok {
		return name
	}
	return fmt.Sprintf("SCSI status 0x%02x", low)
}

// iscsiPDUs are by opcode (RFC 7143, 11.2.1.2).
var iscsiPDUs = map[uint8]string{
	nopOut: "NOP-Out", scsiCommand: "SCSI Command", taskManagement: "Task Management Request", loginRequest: "Login Request", 0x04: "Text Request", 0x05: "SCSI Data-Out", 0x06: "Logout Request",
	0x10: "SNACK Request", 0x20: "NOP-In", 0x21: "SCSI Response", 0x22: "Task Management Response", 0x23: "Login Response", 0x24: "Text Response", 0x25: "SCSI Data-In", 0x26: "Logout Response",
	readyToXfer: "Ready To Transfer", asyncMessage: "Asynchronous Message", rejectPDU: "Reject",
}

// scsiName names a command by its operation code (SPC-5, SBC-4).
func scsiName(op uint8) string {
	if name, ok := scsiCommands[op]; ok {
		return name
	}
	return fmt.Sprintf("command 0x%02x", op)
}

var scsiCommands = map[uint8]string{
	0x00: "TEST UNIT READY", 0x03: "REQUEST SENSE", 0x08: "READ(6)", 0x0A: "WRITE(6)", 0x12: "INQUIRY", 0x15: "MODE SELECT(6)", 0x16: "RESERVE(6)", 0x17: "RELEASE(6)", 0x1A: "MODE SENSE(6)",
	0x1B: "START STOP UNIT", 0x25: "READ CAPACITY(10)", 0x28: "READ(10)", 0x2A: "WRITE(10)", 0x2E: "WRITE AND VERIFY(10)", 0x2F: "VERIFY(10)", 0x35: "SYNCHRONIZE CACHE(10)",
	0x41: "WRITE SAME(10)", 0x42: "UNMAP", 0x4D: "LOG SENSE", 0x55: "MODE SELECT(10)", 0x5A: "MODE SENSE(10)", 0x5E: "PERSISTENT RESERVE IN", 0x5F: "PERSISTENT RESERVE OUT",
	0x83: "EXTENDED COPY", 0x84: "RECEIVE COPY RESULTS", 0x88: "READ(16)", 0x89: "COMPARE AND WRITE", 0x8A: "WRITE(16)", 0x8F: "VERIFY(16)", 0x91: "SYNCHRONIZE CACHE(16)",
	0x93: "WRITE SAME(16)", 0x9E: "SERVICE ACTION IN(16)", 0xA0: "REPORT LUNS", 0xA3: "MAINTENANCE IN", 0xA8: "READ(12)", 0xAA: "WRITE(12)",
}

// scsiStatus is by status code (SAM-5, 5.3.1).
var scsiStatus = map[uint32]string{
	0x02: "CHECK CONDITION", 0x04: "CONDITION MET", 0x08: "BUSY", 0x18: "RESERVATION CONFLICT", 0x28: "TASK SET FULL", 0x30: "ACA ACTIVE", 0x40: "TASK ABORTED",
}
