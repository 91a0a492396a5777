package smp

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/subnet"
)

// Data judges a packet of an InfiniBand link, not of QP0, by the tables that are known.
func (v *Verifier) Data(p *packet.Packet) {
	v.p, v.mine = p, true
	v.s.Class = 0
	from := v.Subnet.Port(p.SLID)
	if from.Knows(subnet.KnowsSLtoVL|subnet.KnowsVLs) && v.Near(p.Src) && p.VL != 15 {
		vl := from.SLtoVL[p.SL]
		if v.breaks(rule.SMPSV003, vl != p.VL) {
			v.report(rule.SMPSV003, rule.Violation, rule.Sender, fmt.Sprintf("VL %d for SL %d, by the mapping of the port", vl, p.SL), fmt.Sprintf("VL %d", p.VL), from.Frame)
		}
	}
	v.forwarded(p)
}

// forwarded judges a packet that reached the port that the tap is near, by the forwarding table of the only switch.
func (v *Verifier) forwarded(p *packet.Packet) {
	if p.DLID >= 0xC000 || p.SLID == p.DLID || !v.Near(p.Dst) || v.Near(p.Src) {
		return
	}
	n := v.Subnet.OnlySwitch()
	if n == nil || !n.HasSwitchInfo {
		return
	}
	from := v.Subnet.Port(p.SLID)
	if from == nil || from.Node == n {
		return
	}
	port, known := n.Egress(p.DLID)
	if v.breaks(rule.SMPLF002, known && port == 255 || n.LinearTop != 0 && p.DLID > n.LinearTop) {
		f := fmt.Sprintf("a packet dropped: LID %d has no route", p.DLID)
		v.report(rule.SMPLF002, rule.Unproven, rule.Network, f, "the packet arrived")
	}
}
