package live

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"ibwitness/packet"
)

// SendOptions say on which interface frames are sent, where they may go, and how fast.
type SendOptions struct {
	Interface string
	To        []packet.Addr // the only network addresses that frames may go to
	Rate      int           // frames a second at most; 0: 1000
}

// defaultRate is how many frames are sent in a second, where the options do not say.
const defaultRate = 1000

// TargetError says of a frame that it goes where none may.
type TargetError struct {
	Frame string      // what is wrong with it
	To    packet.Addr // where it goes; zero where that is not known
}

func (e *TargetError) Error() string {
	if e.To.IsZero() {
		return fmt.Sprintf("live: a frame is not sent: %s", e.Frame)
	}
	return fmt.Sprintf("live: a frame to %v is not sent: %s", e.To, e.Frame)
}

// permitted returns a *TargetError unless a frame goes to one of the addresses, and to one station where that is one of unicast.
func (o *SendOptions) permitted(frame []byte) error {
	to, ok := destination(frame)
	switch {
	case !ok:
		return &TargetError{Frame: "it is neither IPv4, IPv6 nor RoCEv1 without a tag, so that nobody knows where it goes: send one that is"}
	case !slices.Contains(o.To, to):
		return &TargetError{Frame: "the address is none of those that were named: name it", To: to}
	case frame[0]&1 != 0 && !to.IsMulticast():
		return &TargetError{Frame: "its Ethernet address is one of a group: give that of the station", To: to}
	}
	return nil
}

// destination is the network address that a frame goes to.
func destination(frame []byte) (packet.Addr, bool) {
	if len(frame) < etherSize {
		return packet.Addr{}, false
	}
	b := frame[etherSize:]
	switch binary.BigEndian.Uint16(frame[12:]) {
	case etherIPv4:
		if len(b) >= 20 {
			return packet.IPv4Addr(b[16:20]), true
		}
	case etherIPv6, etherRoCE:
		if len(b) >= 40 {
			return packet.GIDAddr(b[24:40]), true
		}
	}
	return packet.Addr{}, false
}

// pace says when the next frame may leave.
type pace struct {
	every time.Duration
	next  time.Time
}

// wait is how long a frame has to wait that is to leave now.
func (p *pace) wait(now time.Time) time.Duration {
	at := p.next
	if at.Before(now) {
		at = now
	}
	p.next = at.Add(p.every)
	return at.Sub(now)
}
