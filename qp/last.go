package qp

import "ibwitness/packet"

// LastRequest is what is kept of the newest request packet.
type LastRequest struct {
	Time  int64
	Frame uint64
	PSN   packet.PSN
	ID    uint16 // IPv4 identification
	Tap   uint16
}

// LastResponse is what is kept of the newest response, but for its PSN, which is that of the newest positive one.
type LastResponse struct {
	Time     int64
	PSN      packet.PSN // of the newest positive response
	Frame    uint32     // low bits
	ICRC     uint32
	ID       uint16 // IPv4 identification
	Tap      uint8  // low bits
	Positive bool   // PSN is set, and so is MSN.Last
}

// Came notes that p is the newest request packet.
func (l *LastRequest) Came(p *packet.Packet) {
	l.PSN, l.Time, l.ID, l.Frame, l.Tap = p.PSN, p.Time, p.IPID, p.Frame, p.Tap
}

// CameAt notes when the newest datagram came.
func (l *LastRequest) CameAt(now int64) { l.Time = now }

// Came notes that p is the newest response.
func (l *LastResponse) Came(p *packet.Packet) {
	l.ID, l.ICRC, l.Frame, l.Time, l.Tap = p.IPID, p.ICRC, uint32(p.Frame), p.Time, uint8(p.Tap)
}

// Numbered takes id for the IPv4 identification of the newest response.
func (l *LastResponse) Numbered(id uint16) { l.ID = id }

// Answer notes that the newest positive response has a PSN.
func (l *LastResponse) Answer(psn packet.PSN) { l.PSN, l.Positive = psn, true }
