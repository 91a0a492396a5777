package agent

import (
	"ibwitness/agent/internal/connection"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/verifier"
	"ibwitness/verifier/stream"
)

// notRDMA is how many outcomes of decoding name frames that hold no packet which could be read.
const notRDMA = fabricagent.NumOutcomes - fabricagent.UltraEthernet

// notRDMAWhy is why these are not judged, from fabricagent.UltraEthernet on.
var notRDMAWhy = [notRDMA]string{
	"packets of Ultra Ethernet (UDP port 4793): another RDMA transport, which is not judged",
	"packets of ESP (IPsec): encrypted, so that nobody can tell whether they carry RoCE",
	"packets of PSP (UDP port 1000): encrypted, so that nobody can tell whether they carry RoCE",
}

// other judges the headers of packets whose service is not followed.
func (t *Transport) other(p *packet.Packet, host, dir uint32) {
	if !t.seal(nil, 0, p, host, dir) {
		return
	}
	if t.misfits(p, host, dir) {
		t.unjudged++
		return
	}
	if t.multipath(p, host) {
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

// multipath counts a packet that fits MRC, and reports whether it is one. It is not judged: MRC gives reserved bits of the BTH a meaning, and has every packet take another path.
// An ACK, which fits RC too, is one where something else between the hosts was.
func (t *Transport) multipath(p *packet.Packet, host uint32) bool {
	what, sure := verifier.Multipath(p)
	h := t.table.Host(host)
	h.Multipath = h.Multipath || sure
	if what == verifier.NumSkips || !h.Multipath {
		return false
	}
	t.ver.Skipped[what]++
	t.unjudged++
	return true
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
