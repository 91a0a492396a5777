package connection

import (
	"ibwitness/packet"
	"ibwitness/verifier"
)

// What IPv4 identifications tell of copies: a sender that counts its packets gives a copy the number of its packet.

// wrapping is how far from 0 the numbers beside a 0 are at most that a counter gives as it wraps.
const wrapping = 64

// numbers reports whether a packet has a number that its sender counted: also 0, as the counter wraps.
func (m *mirrored) numbers(p *packet.Packet) bool {
	return verifier.Numbered(p) || m.wraps && p.IPID == 0 && p.Encap == packet.RoCEv2IPv4
}

// displaced reports whether such a packet may be so by its IPv4 identification, too. It is, where none like it follows.
func (m *mirrored) displaced(p *packet.Packet, q *newestOfQP) bool {
	return !m.numbers(p) || m.oneID || verifier.LeftBefore(p, q.id)
}

// follow takes the IPv4 identification of a packet, and reports whether its sender counted it.
func (m *mirrored) follow(p *packet.Packet) bool {
	m.oneID = m.oneID || m.began && p.IPID == m.id && p.PSN != m.psn
	if p.IPID == 0 && m.id != 0 {
		m.wraps = int16(m.id) >= -wrapping && int16(m.id) <= wrapping
	}
	m.began, m.id, m.psn = true, p.IPID, p.PSN
	return m.numbers(p) && !m.oneID
}
