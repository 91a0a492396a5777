package fabricagent

import (
	"ibwitness/link"
	"ibwitness/packet"
)

// tapped decodes a frame of a link tap.
func tapped(p *packet.Packet, b []byte, wire int) Outcome {
	k, m, ok := link.DecodeHeader(b)
	switch {
	case !ok:
		return UnknownLink
	case k != link.Data:
		return LinkLevel
	}
	if !packet.DecodeInfiniBand(p, b[link.HeaderSize:], wire-link.HeaderSize) {
		return TooShort
	}
	p.Link = 1 + uint32(m.Link)<<1 + uint32(m.Port)
	if m.Bad {
		p.Flaws |= packet.FlawDelimiter
	}
	return judge(p, true, 0)
}

// DecodeLink fills in e from a frame of a link tap: the port, the symbol time, and a link packet or port state. The result is false where the frame is of no link tap. It
// leaves e.Data to the caller, and does not allocate.
func DecodeLink(f *Frame, e *link.Event) bool {
	if f.Link != LinkTap {
		return false
	}
	k, m, ok := link.DecodeHeader(f.Data)
	if !ok {
		return false
	}
	b := f.Data[link.HeaderSize:]
	*e = link.Event{Time: f.Time, Frame: f.Number, Tap: f.Tap, Way: f.Way, Kind: k, Mark: m, Size: max(int(f.Len)-link.HeaderSize, len(b))}
	switch k {
	case link.Packet:
		e.FC, _ = link.DecodeFlowControl(b)
	case link.Physical:
		if len(b) == 0 {
			return false
		}
		e.State = b[0]
	}
	return true
}
