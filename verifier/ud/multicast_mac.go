package ud

import (
	"encoding/binary"
	"math/bits"
	"net"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// groupMAC judges the Ethernet address that a datagram to a multicast group went to: that of the group (RFC 1112, RFC 2464; rule ROC-V2-033).
func (v *Verifier) groupMAC(c *qp.Pair, from int, p *packet.Packet) {
	v.Covered(rule.ROCV2033)
	low := binary.BigEndian.AppendUint32(nil, uint32(p.Dst.Lo))
	asIPv6 := [6]byte{0x33, 0x33, low[0], low[1], low[2], low[3]}
	want := asIPv6
	if p.Dst.IsIPv4() {
		want = [6]byte{0x01, 0x00, 0x5E, low[1] & 0x7F, low[2], low[3]}
	}
	if p.MAC == want {
		return
	}
	d := rule.Verdict{
		Rule: rule.ROCV2033, Class: rule.Violation, Role: rule.Sender, Basis: rule.OnPacket,
		Expected: net.HardwareAddr(want[:]).String() + ", the MAC address of the group", Actual: net.HardwareAddr(p.MAC[:]).String(),
	}
	switch {
	case p.MAC == asIPv6:
		d.Class, d.Detail = rule.Unproven, "the MAC address that the group would have on IPv6: the standard can be read so, and some drivers use it"
	case v.Untouched(p):
	case p.MAC[0]&1 == 0:
		d.Class, d.Detail = rule.Unproven, "a bridge or access point may have copied the packet for one member of the group"
	case oneBit(p.MAC, want) || oneBit(p.MAC, asIPv6):
		d.Class, d.Detail = rule.Unproven, "the ICRC does not cover the Ethernet address, which may have been damaged on the way to the tap"
	}
	v.Report(c, from, p, d)
}

// oneBit reports whether two Ethernet addresses differ in one bit, as one that was damaged does.
func oneBit(a, b [6]byte) bool {
	n := 0
	for i := range a {
		n += bits.OnesCount8(a[i] ^ b[i])
	}
	return n == 1
}
