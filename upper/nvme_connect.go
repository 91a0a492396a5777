package upper

import (
	"bytes"
	"fmt"
)

// Layout of the data of Connect (NVMe Base Specification 2.0, figure 392).
const (
	connectSubNQN  = 256
	connectHostNQN = 512
	nqnSize        = 256
)

// connectNames is what a Connect asks for, as far as its data came to the tap, in the capsule or as the response to a READ.
type connectNames struct{ subsystem, host string }

// read takes the beginning of the data of a Connect.
func (n *connectNames) read(data []byte) {
	if n.subsystem != "" {
		return
	}
	if n.subsystem = nqn(data, connectSubNQN); n.subsystem != "" {
		n.host = nqn(data, connectHostNQN)
	}
}

// nqn is the NQN at a place of the data of a Connect; "": there is none, or it was cut.
func nqn(data []byte, at int) string {
	if len(data) < at+nqnSize {
		return ""
	}
	b, _, ended := bytes.Cut(data[at:at+nqnSize], []byte{0})
	if !ended || !bytes.HasPrefix(b, []byte("nqn.")) {
		return ""
	}
	for _, x := range b {
		if x <= ' ' || x > '~' {
			return ""
		}
	}
	return string(b)
}

// connects notes a Connect, of which the capsule may have data.
func (d *nvmeDecoder) connects(b []byte) {
	d.connect = &connectNames{}
	if b[sqeSGLType] == sglInCapsule && len(b) > sqeSize {
		d.connect.read(b[sqeSize:])
	}
}

// Sought names the subsystem and the host of a Connect.
func (d *nvmeDecoder) Sought() string {
	switch n := d.connect; {
	case n == nil || n.subsystem == "":
		return ""
	case n.host == "":
		return "subsystem " + n.subsystem
	default:
		return fmt.Sprintf("subsystem %s, host %s", n.subsystem, n.host)
	}
}

// What an NVMe status has: the status code, its type, and above these DNR.
const (
	nvmeStatusMask = 0x7FF
	nvmeNoRetry    = 0x4000
)

// nvmeTrouble are the generic statuses that mean trouble; hosts also probe for what a controller lacks.
var nvmeTrouble = map[uint32]bool{
	0x004: true, 0x005: true, 0x006: true, 0x007: true, 0x018: true, 0x021: true, 0x080: true, 0x081: true, 0x082: true, 0x083: true,
}

// Trouble is each failure of Connect, of media but for Compare, and of the path, and some more.
func (d *nvmeDecoder) Trouble(c *Command) bool {
	status := c.Status & nvmeStatusMask
	return d.Opens(c) || status>>8 == 2 && status != 0x285 || status>>8 == 3 || nvmeTrouble[status]
}

func (d *nvmeDecoder) Opens(c *Command) bool { return uint8(c.Code) == fabrics && uint8(c.Arg) == 0x01 }

func (d *nvmeDecoder) Lost(*Command) bool { return false }
