package agent

import (
	"ibwitness/agent/internal/connection"
	"ibwitness/packet"
	"ibwitness/verifier"
	"ibwitness/verifier/stream"
)

// other judges the headers of packets whose service is not followed.
func (t *Transport) other(p *packet.Packet, host, dir uint32) {
	if !t.seal(nil, 0, p, host, dir) {
		return
	}
	if t.misfits(p, host, dir) {
		t.unjudged++
		return
	}
	if whole(p) {
		t.header.Packet(nil, 0, p)
	} else {
		t.ver.Skipped[verifier.SkipCut]++
	}
	if !p.IsCNP() {
		t.unjudged++
	}
	switch {
	case p.IsCNP():
		t.ver.Show(p)
		t.notified(p, host, dir)
	case p.Opcode >= 0xC0:
		t.ver.Skipped[verifier.SkipManagement]++
	default:
		t.ver.Skipped[verifier.SkipService]++
	}
	if p.IsCNP() || p.Opcode >= 0xC0 || p.Info().Defined {
		return
	}
	if c, from := t.table.Named(p, host, dir); c != nil {
		t.table.Belongs(c, from, p)
	}
}

// misfits reports whether a packet of a service that is not followed is one of the connection whose QP it names, with a wrong opcode: a QP does not change its
// service for one packet. A manufacturer's opcodes are that where they replace what the connection has to send.
func (t *Transport) misfits(p *packet.Packet, host, dir uint32) bool {
	if p.IsCNP() || !p.Info().Defined && p.Opcode < 0xC0 {
		return false
	}
	c, from := t.table.Named(p, host, dir)
	if c == nil || p.Opcode >= 0xC0 && (!connection.Connects(c.Service) || !stream.ExpectsPSN(&c.Pair, from, p)) {
		return false
	}
	return !t.table.Belongs(c, from, p) && c.WrongService != nil
}
