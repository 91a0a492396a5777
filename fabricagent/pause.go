package fabricagent

import (
	"encoding/binary"

	"ibwitness/link"
	"ibwitness/packet"
)

const (
	etherControl = 0x8808 // MAC control (IEEE 802.3 clause 31)

	opPause = 0x0001 // annex 31B
	opPFC   = 0x0101 // annex 31D, IEEE 802.1Qbb
)

// control says what a MAC control frame is, from after its EtherType on.
func control(b []byte, depth int) Outcome {
	if depth > 0 || len(b) < 4 {
		return NotRDMA
	}
	switch op := binary.BigEndian.Uint16(b); {
	case op == opPause, op == opPFC && len(b) >= 20:
		return Paused
	}
	return NotRDMA
}

// DecodePause fills in the pause frame that Decode has found.
func DecodePause(f *Frame, m *link.Pause) bool {
	b := f.Data
	if f.Link != LinkEthernet || len(b) < etherSize || binary.BigEndian.Uint16(b[12:]) != etherControl || control(b[etherSize:], 0) != Paused {
		return false
	}
	*m = link.Pause{Time: f.Time, Frame: f.Number, Tap: f.Tap, Way: f.Way, From: [6]byte(b[6:])}
	if m.All = binary.BigEndian.Uint16(b[14:]) == opPause; m.All {
		m.Quanta[0] = binary.BigEndian.Uint16(b[16:])
		return true
	}
	m.Classes = b[17]
	for i := range m.Quanta {
		m.Quanta[i] = binary.BigEndian.Uint16(b[18+2*i:])
	}
	return true
}

// DecodeSent decodes the RoCE packet of a frame into s.Packet and fills in the rest of s. The result is false where the frame has no RoCE packet.
func DecodeSent(f *Frame, s *link.Sent) bool {
	b := f.Data
	if f.Link != LinkEthernet || Decode(f, s.Packet) != RDMA || s.Has&packet.HasBTH == 0 {
		return false
	}
	s.To, s.From, s.Size = [6]byte(b), [6]byte(b[6:]), int(f.Len)
	t := binary.BigEndian.Uint16(b[12:])
	if s.Tagged, s.Priority = t == etherVLAN || t == etherQinQ, 0; s.Tagged {
		s.Priority = b[14] >> 5
	}
	return true
}
