package upper

import (
	"encoding/binary"
	"fmt"
)

// smb is SMB2 and SMB3 over SMB Direct ([MS-SMBD] 2.2, [MS-SMB2] 2.2). A SEND is a negotiation message, or a data transfer header with a part of an SMB2 message, of which
// the first part has the SMB2 header. All fields are little-endian.
type smb struct{}

const (
	smbdVersion     = 0x0100
	smbdRequestSize = 20 // of a negotiate request
	smbdReplySize   = 32 // of a negotiate response
	smbdHeaderSize  = 20 // of a data transfer header without padding
	smbdDataOffset  = 24 // where data begins, aligned to 8 bytes

	smb2HeaderSize = 64
	smb2Plain      = 0x424D53FE // 0xFE 'S' 'M' 'B'
	smb2Encrypted  = 0x424D53FD
	smb2Compressed = 0x424D53FC

	smb2IsReply  = 1 // in Flags
	statusPended = 0x00000103
	statusGoesOn = 0xC0000016 // STATUS_MORE_PROCESSING_REQUIRED

	smb2Flush                    = 7
	smb2Read, smb2Write          = 8, 9
	smb2Cancel, smb2ChangeNotify = 12, 15
	channelSize                  = 16 // of a buffer descriptor V1
	mostChannels                 = 64
	unsolicited                  = 1<<64 - 1 // MessageId of what a server sends by itself
)

func (smb) Name() string     { return "SMB Direct" }
func (smb) Ports() []uint16  { return []uint16{5445, 445} }
func (smb) Answered() bool   { return true }
func (smb) Headers() int     { return smbdDataOffset + smb2HeaderSize }
func (smb) Decoder() Decoder { return &smbDecoder{} }

func plausibleSMB(b *[leastHead]byte) bool {
	return binary.LittleEndian.Uint32(b[12:]) == smbdDataOffset && binary.LittleEndian.Uint16(b[6:]) == 0 || binary.LittleEndian.Uint32(b[:]) == smbdVersion|smbdVersion<<16
}

// smbdData is what is needed of a data transfer message.
type smbdData struct {
	remaining uint32 // bytes of the SMB2 message that are still to come
	length    uint32 // bytes of it that are here
	data      []byte // as many of these as were captured
}

// decode reads a data transfer message. It reports whether it is one.
func (d *smbdData) decode(m *Message) bool {
	b := m.Head
	if m.Kind != Send || len(b) < smbdHeaderSize {
		return false
	}
	offset := uint64(binary.LittleEndian.Uint32(b[12:]))
	d.remaining, d.length = binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[16:])
	flags, reserved := binary.LittleEndian.Uint16(b[4:]), binary.LittleEndian.Uint16(b[6:])
	if flags > 1 || reserved != 0 || binary.LittleEndian.Uint16(b) == 0 {
		return false
	}
	if d.length == 0 {
		return d.remaining == 0
	}
	if offset < smbdHeaderSize || offset%8 != 0 || m.Whole && offset+uint64(d.length) != uint64(m.Length) {
		return false
	}
	d.data = b[min(offset, uint64(len(b))):]
	d.data = d.data[:min(uint64(d.length), uint64(len(d.data)))]
	return true
}

// Fit takes an SMB2 message, and the negotiation before the first one.
func (smb) Fit(m *Message) Fit {
	if isSMBDNegotiate(m) {
		return Strong
	}
	var d smbdData
	if !d.decode(m) || len(d.data) < 8 {
		return NoFit
	}
	switch magic := binary.LittleEndian.Uint32(d.data); {
	case magic == smb2Plain && binary.LittleEndian.Uint16(d.data[4:]) == smb2HeaderSize:
		return Recognized
	case magic == smb2Encrypted || magic == smb2Compressed:
		return Strong
	}
	return NoFit
}

// isSMBDNegotiate reports whether a message is a negotiate request or response of the only version that there is.
func isSMBDNegotiate(m *Message) bool {
	b := m.Head
	if m.Kind != Send || !m.Whole || len(b) != m.Length || len(b) < smbdRequestSize || binary.LittleEndian.Uint32(b) != smbdVersion|smbdVersion<<16 {
		return false
	}
	switch len(b) {
	case smbdRequestSize: // Reserved, then what is at least 1, 128, 128 and 131072
		return binary.LittleEndian.Uint16(b[4:]) == 0 && binary.LittleEndian.Uint16(b[6:]) > 0 && binary.LittleEndian.Uint32(b[12:]) >= 128 && binary.LittleEndian.Uint32(b[16:]) >= 1<<17
	case smbdReplySize:
		return binary.LittleEndian.Uint16(b[4:]) == smbdVersion && binary.LittleEndian.Uint16(b[6:]) == 0
	}
	return false
}

// smbDecoder knows how much of a message that needs several SENDs is still to come, by the end that sends it, and the send credits since the negotiation.
type smbDecoder struct {
	remaining [2]uint32
	credits   Credits
}

func (s *smbDecoder) Message(m *Message, t *Tracker) bool {
	if isSMBDNegotiate(m) {
		s.credits = Credits{}
		if b := m.Head; len(b) == smbdReplySize && binary.LittleEndian.Uint32(b[12:]) == 0 {
			s.credits.known = true
			s.credits.grant(1-m.From, int(binary.LittleEndian.Uint16(b[10:])), m)
		}
		return true
	}
	var d smbdData
	if !d.decode(m) {
		if m.Kind == Send {
			s.credits.known = false // whatever it granted
		}
		return false
	}
	s.credits.use(m, binary.LittleEndian.Uint16(m.Head))
	s.credits.grant(1-m.From, int(binary.LittleEndian.Uint16(m.Head[2:])), m)
	if d.length == 0 {
		return true
	}
	before := s.remaining[m.From]
	s.remaining[m.From] = d.remaining
	if before == 0 || uint64(before) != uint64(d.length)+uint64(d.remaining) { // not the next part of the message before
		s.messages(m.From, d.data, t)
	}
	return true
}

// messages reads SMB2 messages that follow each other.
func (s *smbDecoder) messages(from int, b []byte, t *Tracker) {
	for len(b) >= smb2HeaderSize && binary.LittleEndian.Uint32(b) == smb2Plain && binary.LittleEndian.Uint16(b[4:]) == smb2HeaderSize {
		s.message(from, b, t)
		next := binary.LittleEndian.Uint32(b[20:])
		if next < smb2HeaderSize || uint64(next) > uint64(len(b)) {
			return
		}
		b = b[next:]
	}
}

// message reads an SMB2 message, which others may follow.
func (s *smbDecoder) message(from int, b []byte, t *Tracker) {
	status, command, flags, id := binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint16(b[12:]), binary.LittleEndian.Uint32(b[16:]), binary.LittleEndian.Uint64(b[24:])
	switch {
	case id == unsolicited:
	case command == smb2Cancel: // which has no answer
		t.cancels("SMB2 CANCEL", id, nil)
	case flags&smb2IsReply != 0:
		if status == statusPended { // the answer follows
			if c := t.Find(1-from, id); c != nil && c.Arg == 0 {
				c.Arg = t.message.Frame
			}
			return
		}
		if status>>30 < 3 || status == statusGoesOn {
			status = 0 // success, informational, or a warning
		}
		t.End(1-from, id, status)
	default:
		c := t.Begin(Command{ID: id, Code: uint32(command), Waits: command == smb2ChangeNotify})
		switch command {
		case smb2Flush:
			onFile(b, 8, t, c)
		case smb2Read:
			onFile(b, 16, t, c)
			channels(b, 36, 44, t, c)
		case smb2Write:
			onFile(b, 16, t, c)
			channels(b, 32, 40, t, c)
		}
	}
}

// onFile notes the FileId that a request names at a place of it; one of all ones is that of the request before in the same message.
func onFile(b []byte, at int, t *Tracker, c *Command) {
	b = b[smb2HeaderSize:]
	if len(b) < at+16 {
		return
	}
	id := b[at : at+16]
	if binary.LittleEndian.Uint64(id) != 1<<64-1 || binary.LittleEndian.Uint64(id[8:]) != 1<<64-1 {
		t.On(c, hashOf(id), id)
	}
}

// Interim returns the frame of the interim response (STATUS_PENDING) with which the peer went on with a command asynchronously; 0: there is
// none.
func (t *Tracker) Interim(c *Command) uint64 {
	if _, ok := t.decoder.(*smbDecoder); ok {
		return c.Arg
	}
	return 0
}

// channels reads the memory that a READ or WRITE request names: the kind of channel, and where its descriptors begin and how long they are, are at places of the request.
func channels(b []byte, channelAt, infoAt int, t *Tracker, c *Command) {
	r := b[smb2HeaderSize:]
	if len(r) < infoAt+4 {
		return
	}
	if kind := binary.LittleEndian.Uint32(r[channelAt:]); kind != 1 && kind != 2 { // SMB2_CHANNEL_RDMA_V1, and with invalidate
		return
	}
	offset, length := int(binary.LittleEndian.Uint16(r[infoAt:])), int(binary.LittleEndian.Uint16(r[infoAt+2:]))
	if offset < smb2HeaderSize || offset > len(b) {
		return
	}
	d, name := b[offset:min(offset+length, len(b))], t.MemoryOf
	if c.Code == smb2Write && len(d) == length && length <= mostChannels*channelSize { // all of them are here
		name = t.Fetch
	}
	for i := 0; len(d) >= channelSize && i < mostChannels; i++ {
		name(c, binary.LittleEndian.Uint64(d), binary.LittleEndian.Uint32(d[8:]), binary.LittleEndian.Uint32(d[12:]))
		d = d[channelSize:]
	}
}

// Credits are the send credits of the ends (MS-SMBD 3.1.5.1).
func (s *smbDecoder) Credits() (c Credits, known bool) { return s.credits, s.credits.known }

func (s *smbDecoder) Class(c *Command) (uint32, uint64) { return c.Code, 0 }

func (s *smbDecoder) Describe(c *Command) string {
	return fmt.Sprintf("%s, message id %d", s.Name(c), c.ID)
}

func (s *smbDecoder) Name(c *Command) string {
	name := fmt.Sprintf("command 0x%04x", c.Code)
	if int(c.Code) < len(smb2Commands) {
		name = smb2Commands[c.Code]
	}
	return "SMB2 " + name
}

func (s *smbDecoder) Status(c *Command) string {
	if name, ok := ntStatus[c.Status]; ok {
		return name
	}
	return fmt.Sprintf("NTSTATUS 0x%08x", c.Status)
}

// smb2Commands are by Command ([MS-SMB2] 2.2.1).
var smb2Commands = [...]string{
	"NEGOTIATE", "SESSION_SETUP", "LOGOFF", "TREE_CONNECT", "TREE_DISCONNECT", "CREATE", "CLOSE", "FLUSH", "READ", "WRITE", "LOCK", "IOCTL", "CANCEL", "ECHO", "QUERY_DIRECTORY",
	"CHANGE_NOTIFY", "QUERY_INFO", "SET_INFO", "OPLOCK_BREAK",
}

// ntStatus names the commoner errors ([MS-ERREF] 2.3.1).
var ntStatus = map[uint32]string{
	0xC0000008: "STATUS_INVALID_HANDLE", 0xC000000D: "STATUS_INVALID_PARAMETER", 0xC000000F: "STATUS_NO_SUCH_FILE",
	0xC0000011: "STATUS_END_OF_FILE", 0xC0000022: "STATUS_ACCESS_DENIED", 0xC0000034: "STATUS_OBJECT_NAME_NOT_FOUND",
	0xC000003A: "STATUS_OBJECT_PATH_NOT_FOUND", 0xC0000043: "STATUS_SHARING_VIOLATION", 0xC0000054: "STATUS_FILE_LOCK_CONFLICT", 0xC000006D: "STATUS_LOGON_FAILURE", 0xC000007F: "STATUS_DISK_FULL",
	0xC000009A: "STATUS_INSUFFICIENT_RESOURCES", 0xC00000B5: "STATUS_IO_TIMEOUT", 0xC00000BB: "STATUS_NOT_SUPPORTED", 0xC00000C9: "STATUS_NETWORK_NAME_DELETED",
	0xC00000CC: "STATUS_BAD_NETWORK_NAME", 0xC0000120: "STATUS_CANCELLED", 0xC0000128: "STATUS_FILE_CLOSED", 0xC0000203: "STATUS_USER_SESSION_DELETED", 0xC000035C: "STATUS_NETWORK_SESSION_EXPIRED",
}
