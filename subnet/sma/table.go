package sma

import (
	"encoding/binary"

	"ibwitness/mad"
)

// pkeyTable is P_KeyTable (section 14.2.5.7): block in the low half of the modifier, port of a switch in the high one.
func (n *Node) pkeyTable(r *request) mad.Status {
	p := r.in
	if n.sw != nil {
		p = n.at(int(r.Modifier >> 16))
	}
	block := int(r.Modifier & 0xFFFF)
	if n.has(pkeyBlockIgnored) {
		block = 0
	}
	if p == nil || block*32 >= len(p.pkeys) {
		return n.badModifier()
	}
	keys := p.pkeys[block*32:]
	keys = keys[:min(32, len(keys))]
	if r.set() {
		if n.has(pkeyBadStatus) {
			return mad.StatusValue
		}
		for i := range keys {
			if n.has(pkeyNotStored) {
				break
			}
			keys[i] = binary.BigEndian.Uint16(r.Data[i*2:])
		}
	}
	clear(r.data)
	for i, k := range keys {
		binary.BigEndian.PutUint16(r.data[i*2:], k)
	}
	return 0
}

// slToVL is SLtoVLMappingTable (section 14.2.5.8). A switch has one for each input and output port: inputs from 0 on, outputs from 0 on where port 0 is an
// enhanced one, else from 1.
func (n *Node) slToVL(r *request) mad.Status {
	if n.has(sltovlSilent) {
		r.drop = true
		return 0
	}
	if n.config.NoSLtoVL {
		return n.noSLtoVL(r)
	}
	if n.sw == nil {
		mapping(r, &r.in.sltovl[0], n.has(sltovlNotStored))
		return 0
	}
	all := r.Modifier >> 16
	in, out := int(r.Modifier>>8&0xFF), int(r.Modifier&0xFF)
	first := 1
	if n.config.EnhancedPort0 {
		first = 0
	}
	allowed := uint32(0)
	if n.config.Optimized && r.set() {
		allowed = 3
	}
	if all&^allowed != 0 {
		return n.badModifier()
	}
	ins, outs := [2]int{in, in}, [2]int{out, out}
	if n.means(all, 1) {
		ins = [2]int{0, len(n.ports) - 1}
	}
	if n.means(all, 2) {
		outs = [2]int{first, len(n.ports) - 1}
	}
	if ins[1] >= len(n.ports) || outs[1] >= len(n.ports) || outs[0] < first {
		return n.badModifier()
	}
	for o := outs[0]; o <= outs[1]; o++ {
		for i := ins[0]; i <= ins[1]; i++ {
			if n.has(sltovlPairMixed) {
				i = ins[1]
				mapping(r, &n.ports[o].sltovl[0], false)
				continue
			}
			mapping(r, &n.ports[o].sltovl[i], n.has(sltovlNotStored))
		}
	}
	return 0
}

// means reports whether the upper half of a modifier of SLtoVLMappingTable has a bit that means all ports.
func (n *Node) means(all, bit uint32) bool { return all&bit != 0 && !n.has(sltovlAllIgnored) }

// sltovlStatuses are the statuses with which a faulty node answers requests for an SLtoVLMappingTable that it does not support.
var sltovlStatuses = []struct {
	fault
	status mad.Status
}{
	{sltovlStatusZero, 0},
	{sltovlWrongCode, 5 << 2},
	{sltovlInvalidValue, mad.StatusValue},
	{sltovlRedirect, mad.StatusRedirect},
	{sltovlBusy, mad.StatusBusy},
}

// noSLtoVL refuses the attribute, as the specification says or as a fault does.
func (n *Node) noSLtoVL(r *request) mad.Status {
	t := &r.in.sltovl[0] // which a faulty node has
	switch {
	case r.set() && n.has(sltovlStores), !r.set() && n.has(sltovlAnswers), !r.set() && n.has(sltovlKeepsRefused) && n.refusedSet == r.Modifier+1:
		mapping(r, t, false)
		return 0
	case r.set() && n.has(sltovlKeepsRefused):
		mapping(r, t, false)
		n.refusedSet = r.Modifier + 1
	case r.set() && n.has(portInfoChanged):
		if p := n.at(int(r.Modifier & 0xFF)); p != nil {
			limit := pi("VLHighLimit")
			p.put(limit, p.get(limit)+1)
		}
	}
	for _, s := range sltovlStatuses {
		if n.has(s.fault) {
			return s.status
		}
	}
	return n.unsupported()
}

// mapping reads or writes one SLtoVLMappingTable.
func mapping(r *request, t *[16]uint8, keep bool) {
	if r.set() && !keep {
		for sl := range t {
			t[sl] = r.Data[sl/2] >> (4 * (1 - sl%2)) & 0xF
		}
	}
	clear(r.data)
	for sl, vl := range t {
		r.data[sl/2] |= vl << (4 * (1 - sl%2))
	}
}

// SLtoVL returns how a switch, or another node whose in is then 0, maps service levels between two ports (section 14.2.5.8).
func (n *Node) SLtoVL(in, out uint8) (t [16]uint8, ok bool) {
	p := n.at(int(out))
	if p == nil || int(in) >= len(p.sltovl) || n.config.NoSLtoVL {
		return t, false
	}
	return p.sltovl[in], true
}

// VL returns the virtual lane on which a packet of a service level, that came in at a port of a switch, leaves by another (section 7.6.6): 0 where the node does not
// support SLtoVLMappingTable; 15 where it is dropped. Port 0 is where packets of the switch itself come from.
func (n *Node) VL(in, out, sl uint8) uint8 {
	if n.has(vlFromSL) {
		return sl & 0xF
	}
	if n.sw == nil {
		in = 0
	}
	t, _ := n.SLtoVL(in, out)
	vl := t[sl&0xF]
	if vl == managementVL && n.has(lane15Sent) {
		return 0
	}
	return vl
}

// vlArbitration is VLArbitrationTable (section 14.2.5.9): blocks 1 and 2 of low, 3 and 4 of high priority, of a port that has several data lanes.
func (n *Node) vlArbitration(r *request) mad.Status {
	if n.config.VLCap == 1 {
		return n.unsupported()
	}
	block, p := int(r.Modifier>>16), n.portOf(r, r.Modifier&0xFFFF)
	if p == nil || block < 1 || block > 4 || n.kind(p) == onBase0 {
		return n.badModifier()
	}
	entries := min(max(int(n.config.VLArbitration)-32*((block-1)%2), 0), 32)
	if entries == 0 {
		return n.badModifier()
	}
	t := p.arb[block-1][:entries]
	if r.set() {
		for i := range t {
			if mad.VLArb(binary.BigEndian.Uint16(r.Data[i*2:])).VL() == 15 {
				return mad.StatusValue
			}
		}
		for i := range t {
			if !n.has(vlarbNotStored) {
				t[i] = binary.BigEndian.Uint16(r.Data[i*2:])
			}
		}
	}
	clear(r.data)
	for i, e := range t {
		binary.BigEndian.PutUint16(r.data[i*2:], e)
	}
	return 0
}

// Arbitration returns the entries of the VLArbitrationTables of a port that have a weight, and the limit of the high one (section 7.6.9).
func (n *Node) Arbitration(number uint8) (high, low []mad.VLArb, limit uint8) {
	p := n.at(int(number))
	if p == nil || n.has(arbitrationIgnored) {
		return nil, nil, 0
	}
	weighted := func(blocks ...[32]uint16) (list []mad.VLArb) {
		for _, b := range blocks {
			for _, e := range b {
				if v := mad.VLArb(e); v.Weight() > 0 {
					list = append(list, v)
				}
			}
		}
		return list
	}
	if limit = uint8(p.get(pi("VLHighLimit"))); n.has(highLimitIgnored) {
		limit = 255
	}
	return weighted(p.arb[2], p.arb[3]), weighted(p.arb[0], p.arb[1]), limit
}

// linearForwarding is LinearForwardingTable (section 14.2.5.10). Ports that the switch does not have are taken: packets to them are discarded.
func (n *Node) linearForwarding(r *request) mad.Status {
	if len(n.sw.linear) == 0 {
		return n.unsupported()
	}
	if int64(r.Modifier)*64 >= int64(len(n.sw.linear)) {
		return n.badModifier()
	}
	block := n.sw.linear[r.Modifier*64:]
	block = block[:min(64, len(block))]
	if r.set() && !n.has(lftNotStored) {
		copy(block, r.Data)
	}
	clear(r.data)
	copy(r.data, block)
	return 0
}

// multicastForwarding is MulticastForwardingTable (section 14.2.5.12): block of 32 LIDs in bits 8:0, position of 16 ports in bits 31:28 of the modifier.
func (n *Node) multicastForwarding(r *request) mad.Status {
	if len(n.sw.multicast) == 0 {
		return n.unsupported()
	}
	block, position := int(r.Modifier&0x1FF), int(r.Modifier>>28)
	if block*32 >= len(n.sw.multicast) || position*16 >= len(n.ports) || r.Modifier&0x0FFFFE00 != 0 {
		return n.badModifier()
	}
	rows := n.sw.multicast[block*32:]
	rows = rows[:min(32, len(rows))]
	if r.set() && !n.has(mftNotStored) {
		for i := range rows {
			rows[i][position] = binary.BigEndian.Uint16(r.Data[i*2:])
		}
	}
	clear(r.data)
	for i := range rows {
		binary.BigEndian.PutUint16(r.data[i*2:], rows[i][position])
	}
	return 0
}

// The parts of an entry of a RandomForwardingTable (section 14.2.5.11): LID in bits 31:16, valid in bit 15, LMC in bits 14:12, port in bits 7:0.
const (
	randomValid    = 1 << 15
	randomReserved = 0xF << 8
)

// randomForwarding is RandomForwardingTable (section 14.2.5.11), in blocks of 16 entries. Ports that the switch does not have are taken: packets to them are discarded.
func (n *Node) randomForwarding(r *request) mad.Status {
	if len(n.sw.random) == 0 {
		return n.unsupported()
	}
	if int64(r.Modifier)*16 >= int64(len(n.sw.random)) {
		return n.badModifier()
	}
	block := n.sw.random[r.Modifier*16:]
	block = block[:min(16, len(block))]
	if r.set() && !n.has(rftNotStored) {
		for i := range block {
			block[i] = binary.BigEndian.Uint32(r.Data[i*4:]) &^ randomReserved
		}
	}
	clear(r.data)
	for i, e := range block {
		binary.BigEndian.PutUint32(r.data[i*4:], e)
	}
	return 0
}

// randomEgress is Egress by the RandomForwardingTable: the port of the entry that has the LID, else DefaultPort.
func (n *Node) randomEgress(lid uint16) (number uint8, ok bool) {
	number = uint8(siDefault.Uint(n.sw.info[:]))
	for _, e := range n.sw.random {
		if lmc := e >> 12 & 7; e&randomValid != 0 && uint16(e>>16)>>lmc == lid>>lmc {
			number = uint8(e)
			break
		}
	}
	return number, n.at(int(number)) != nil
}
