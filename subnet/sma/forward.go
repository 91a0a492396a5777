package sma

import (
	"bytes"
	"encoding/binary"

	"ibwitness/packet"
)

// Copy is a packet as a switch sends it out of a port.
type Copy struct {
	Port, VL uint8
	Data     []byte // LRH through VCRC; the link gives it the lane and the VCRC that fits
}

// Forwards says what leaves a switch for a packet, LRH through VCRC, that has come in at a port and is not for the switch itself: by its forwarding tables, where partition
// enforcement lets it (sections 18.2.4 and 10.9.3). What is discarded is counted.
func (n *Node) Forwards(in uint8, data []byte) (list []Copy) {
	var p packet.Packet
	if n.sw == nil || !packet.DecodeInfiniBand(&p, data, len(data)) {
		return nil
	}
	if !n.passes(in, &p, piEnforceIn) {
		n.Count(in, RcvConstraintErrors, 1)
		return nil
	}
	outs := n.egresses(in, p.DLID)
	if len(outs) == 0 {
		n.Count(in, RcvSwitchRelayErrors, 1)
	}
	for _, out := range outs {
		switch vl := n.laneOf(in, out, &p); {
		case n.at(int(out)).get(piState) != Active, vl == managementVL && p.VL != managementVL:
			n.Count(out, XmitDiscards, 1)
		case !n.passes(out, &p, piEnforceOut):
			n.Count(out, XmitConstraintErrors, 1)
		default:
			list = append(list, Copy{out, vl, n.rewritten(bytes.Clone(data))})
		}
	}
	return n.reorders(list)
}

// egresses are the ports out of which a packet leaves.
func (n *Node) egresses(in uint8, lid uint16) []uint8 {
	if lid >= firstMulticast {
		return n.members(in, lid)
	}
	out, ok := n.Egress(lid)
	if !ok && n.has(topIgnored) && int(lid) < len(n.sw.linear) {
		out, ok = n.sw.linear[lid], n.at(int(n.sw.linear[lid])) != nil
	}
	if !ok && n.has(unroutedForwarded) {
		out, ok = in%n.config.Ports+1, true
	}
	if n.has(misrouted) {
		out = out%n.config.Ports + 1
	}
	if !ok || out == 0 || out == in {
		return nil
	}
	return []uint8{out}
}

// members are the ports of a multicast LID but for the one at which a packet has come in.
func (n *Node) members(in uint8, lid uint16) (list []uint8) {
	row := int(lid - firstMulticast)
	if row >= len(n.sw.multicast) {
		return nil
	}
	for port := 1; port < len(n.ports); port++ {
		if n.sw.multicast[row][port/16]>>(port%16)&1 != 0 && (port != int(in) || n.has(multicastReflected)) {
			list = append(list, uint8(port))
		}
	}
	return list
}

// laneOf is the lane on which a packet leaves.
func (n *Node) laneOf(in, out uint8, p *packet.Packet) uint8 {
	if p.VL == managementVL {
		return managementVL
	}
	return n.VL(in, out, p.SL)
}

// passes reports whether partition enforcement of a port in one direction lets a packet through. Raw packets have no P_Key.
func (n *Node) passes(number uint8, p *packet.Packet, direction enforcement) bool {
	port := n.at(int(number))
	if p.LNH < packet.LNHLocal || p.VL == managementVL || n.has(partitionIgnored) || port.get(direction.Field) == 0 {
		return true
	}
	return port.member(p.PKey)
}

// rewritten is what a faulty switch makes of a packet.
func (n *Node) rewritten(data []byte) []byte {
	var p packet.Packet
	if n.has(icrcRewritten) && packet.DecodeInfiniBand(&p, data, len(data)) && p.LNH >= packet.LNHLocal {
		p.MigReq = !p.MigReq
		p.SealICRC()
		return p.Append(nil)
	}
	return data
}

// reorders keeps a packet back that the next one is to overtake, where the switch has that fault.
func (n *Node) reorders(list []Copy) []Copy {
	if !n.has(reordered) {
		return list
	}
	kept := n.sw.kept
	if n.sw.kept = nil; len(kept) == 0 {
		n.sw.kept = list
		return nil
	}
	return append(list, kept...)
}

// Life is how long a packet may wait for a port out of which it is to leave, in nanoseconds: the less of the port's HOQLife and of the switch's LifeTimeValue (sections
// 14.2.5.4 and 14.2.5.6); 0: without end.
func (n *Node) Life(out uint8) int64 {
	p := n.at(int(out))
	if n.sw == nil || p == nil || n.has(oldForwarded) {
		return 0
	}
	code := min(p.get(piHOQLife), siLifeTime.Uint(n.sw.info[:]))
	if code > longestLife {
		return 0
	}
	return 4096 << code
}

// longestLife is the greatest code of HOQLife and LifeTimeValue that has an end.
const longestLife = 19

// damaged reports whether the VCRC of a packet is wrong.
func damaged(data []byte) bool {
	end := len(data) - vcrcSize
	return binary.LittleEndian.Uint16(data[end:]) != packet.VCRC(data[:end])
}
