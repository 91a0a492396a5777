package smp

import (
	"encoding/binary"
	"fmt"

	"ibwitness/mad"
	"ibwitness/rule"
	"ibwitness/subnet"
)

// tableKey names one block of a table of a node.
type tableKey struct {
	node     *subnet.Node
	number   uint8 // of the port that received the request, on a channel adapter
	attr     mad.Attribute
	modifier uint32
}

// table is a block of a table as it was last reported.
type table struct {
	data  [mad.SMPDataSize]byte
	set   bool   // by a Set
	frame uint64 // that reported it

	newest  uint64 // the Set that holds; 0: none, or not known
	changed int64  // when that was sent, or answered
	held    int64  // when an answer had it last
}

// entries of the blocks.
func entry16(b []byte, i int) uint16 { return binary.BigEndian.Uint16(b[2*i:]) }
func entry32(b []byte, i int) uint32 { return binary.BigEndian.Uint32(b[4*i:]) }

// slVL is the lane of a service level in a SLtoVLMappingTable.
func slVL(b []byte, sl int) uint8 { return b[sl/2] >> (4 * (1 - sl%2)) & 0xF }

// vlPort is the port whose VLArbitration or SLtoVL a request is about; nil where it is not known.
func (v *Verifier) vlPort(x *exchange, number uint32) *subnet.Port {
	if !x.at.known() {
		return nil
	}
	if x.at.node.Type != subnet.Switch {
		return x.at.port()
	}
	if number > uint32(x.at.node.NumPorts) {
		return nil
	}
	return x.at.node.Port(uint8(number))
}

// tableRequest judges a request for a block of a table: its modifier, and what a Set puts there.
func (v *Verifier) tableRequest(x *exchange) {
	set := v.s.Method == mad.Set
	switch v.s.Attribute {
	case mad.AttrSLtoVL:
		v.sltovlRequest(x)
	case mad.AttrVLArbitration:
		v.vlArbitrationRequest(x)
	case mad.AttrLinearForwarding:
		v.linearRequest(x)
	case mad.AttrRandomForwarding:
		v.randomRequest()
	case mad.AttrMulticastForwarding:
		v.multicastRequest(x)
	case mad.AttrPKeyTable:
		if set {
			v.pkeysSet(x)
		}
	case mad.AttrGUIDInfo, mad.AttrNotice:
	}
}

// vlArbitrationRequest judges a request for a VLArbitrationTable: blocks 1 to 4, whose entries name data VLs (rules SMP-VA-001, -002).
func (v *Verifier) vlArbitrationRequest(x *exchange) {
	s := &v.s
	block, set := s.Modifier>>16, s.Method == mad.Set
	odd := -1
	if set {
		odd = oddEntry(s.Data)
	}
	if v.breaks(rule.SMPVA001, block < 1 || block > 4 || odd >= 0) {
		actual := fmt.Sprintf("block %d", block)
		if odd >= 0 {
			actual = entryText(s.Data, odd)
		}
		v.report(rule.SMPVA001, rule.Violation, rule.Requester, "blocks 1 to 4, of data VLs", actual)
		x.badSet, x.badModifier = true, odd < 0
		return
	}
	if set {
		v.vlArbitrationSet(x)
	}
}

// randomRequest judges the reserved bits of the entries that a Set gives a RandomForwardingTable (rule SMP-RF-001).
func (v *Verifier) randomRequest() {
	s := &v.s
	odd := -1
	for i := range 16 {
		if mad.RandomEntry(entry32(s.Data, i)).Reserved() != 0 && s.Method == mad.Set {
			odd = i
		}
	}
	if v.breaks(rule.SMPRF001, odd >= 0) {
		v.report(rule.SMPRF001, rule.Violation, rule.Requester, "reserved bits 0", fmt.Sprintf("entry %d is 0x%08x", odd, entry32(s.Data, odd)))
	}
}

// oddEntry returns an entry of a VLArbitrationTable that names VL 15, or -1. One with a weight of 0 is skipped, whatever else it says.
func oddEntry(b []byte) int {
	odd := -1
	for i := range 32 {
		if a := mad.VLArb(entry16(b, i)); a.Weight() != 0 && a.VL() == 15 {
			odd = i
		}
	}
	return odd
}

func entryText(b []byte, i int) string {
	return fmt.Sprintf("VL%d in entry %d", mad.VLArb(entry16(b, i)).VL(), i)
}

func (v *Verifier) sltovlRequest(x *exchange) {
	s := &v.s
	first := 16
	if n := x.at.node; x.at.known() && n.Type == subnet.Switch && (!n.HasSwitchInfo || n.OptimizedSLtoVL) {
		first = 18 // two bits say all input ports, and all output ports
	}
	if v.breaks(rule.SMPSV001, x.at.known() && s.Modifier>>first != 0) {
		x.badModifier = true
		v.report(rule.SMPSV001, rule.Violation, rule.Requester, fmt.Sprintf("bits 31:%d of the attribute modifier 0", first), mad.ModifierText(s.Attribute, s.Modifier))
		return
	}
	p := v.vlPort(x, s.Modifier&0xFF)
	if s.Method != mad.Set || !p.Knows(subnet.KnowsVLs) || p.VLCap <= 1 { // of one VL there is no table: SMP-SV-002
		return
	}
	for sl := range 16 {
		vl := slVL(s.Data, sl)
		if v.breaks(rule.SMPSV001, vl != 15 && vl >= p.OperVLs) {
			v.report(rule.SMPSV001, rule.Unproven, rule.Requester, fmt.Sprintf("VLs below %d, or 15 to drop", p.OperVLs), fmt.Sprintf("VL %d for SL %d", vl, sl), p.Frame)
			return
		}
	}
}

// vlArbitrationSet judges the entries that a Set gives a VLArbitrationTable.
func (v *Verifier) vlArbitrationSet(x *exchange) {
	s := &v.s
	block, p := s.Modifier>>16, v.vlPort(x, s.Modifier&0xFF)
	if p == nil || !v.of(p).has {
		return
	}
	info := v.of(p).info[:]
	size := piLowCap.Uint(info)
	if block > 2 {
		size = piHighCap.Uint(info)
	}
	first := uint64(block-1) % 2 * 32
	for i := range 32 {
		a := mad.VLArb(entry16(s.Data, i))
		if a.Weight() == 0 {
			continue
		}
		class := v.paired()
		if first+uint64(i) < size {
			class = v.lasting() // the lanes in use may have been changed by what the capture does not show
		}
		if v.breaks(rule.SMPVA002, first+uint64(i) >= size || p.Knows(subnet.KnowsVLs) && a.VL() >= p.OperVLs) {
			v.report(rule.SMPVA002, class, rule.Requester, fmt.Sprintf("%d entries, of %d VLs", size, p.OperVLs), fmt.Sprintf("VL %d in entry %d", a.VL(), first+uint64(i)), p.Frame)
			return
		}
	}
}

func (v *Verifier) linearRequest(x *exchange) {
	s := &v.s
	if s.Method != mad.Set || !x.at.known() || x.at.node.Type != subnet.Switch {
		return
	}
	n := x.at.node.NumPorts
	odd := -1
	for i, port := range s.Data {
		if port > n && port != 255 {
			odd = i
		}
	}
	if v.breaks(rule.SMPLF001, odd >= 0) {
		v.report(rule.SMPLF001, rule.Violation, rule.Requester, fmt.Sprintf("ports up to %d, or 255", n), fmt.Sprintf("port %d for LID %d", s.Data[odd], int(s.Modifier&0xFFFF)*64+odd))
		x.badSet = true
	}
}

func (v *Verifier) multicastRequest(x *exchange) {
	s := &v.s
	position := s.Modifier >> 28
	x.badModifier = s.Modifier>>9&(1<<19-1) != 0
	bad, actual := x.badModifier, mad.ModifierText(s.Attribute, s.Modifier)
	if s.Method == mad.Set && x.at.known() && x.at.node.Type == subnet.Switch && !bad {
		for i := range 32 {
			for bit := range 16 {
				port := int(position)*16 + bit
				if entry16(s.Data, i)>>bit&1 != 0 && port > int(x.at.node.NumPorts) {
					bad, actual = true, fmt.Sprintf("port %d of %d", port, x.at.node.NumPorts)
				}
			}
		}
	}
	if v.breaks(rule.SMPMF001, bad) {
		v.report(rule.SMPMF001, rule.Violation, rule.Requester, "block in bits 8:0, position in bits 31:28, ports of the switch", actual)
	}
}

// pkeysSet judges the P_Keys that a manager gives a port.
func (v *Verifier) pkeysSet(x *exchange) {
	if v.s.Modifier>>16 != 0 { // of another port of a switch, whose other blocks are not kept
		v.pkeyBlockSet(x)
		return
	}
	n, p := v.pkeyBlocks(x), x.at.port()
	if n == 0 || p == nil {
		return
	}
	class := v.paired()
	if n > 1 {
		class = v.lasting() // the other blocks may have been changed by what the capture does not show
	}
	k := v.of(p)
	keys, whole := v.pkeysOnceSet(k, n)
	seen := map[uint16]bool{}
	for _, key := range keys {
		if v.breaks(rule.SMPPK003, seen[key]) {
			v.report(rule.SMPPK003, class, rule.Requester, "each P_Key once", fmt.Sprintf("0x%04x twice", key))
			x.badSet = class == rule.Violation
			return
		}
		seen[key] = true
	}
	k.given = k.given || whole
	if whole && v.breaks(rule.SMPPK002, !seen[0xFFFF] && !seen[0x7FFF]) {
		v.report(rule.SMPPK002, class, rule.Requester, "the default P_Key 0xffff or 0x7fff in the table of each port", "none")
	}
}

// pkeysOnceSet returns the valid P_Keys that the table of a port, of n blocks, has with the block of the Set at hand, and whether all of its blocks are known.
func (v *Verifier) pkeysOnceSet(k *port, n int) (keys []uint16, whole bool) {
	whole = true
	for b := range uint16(n) {
		block, known := k.blocks[b]
		if b == uint16(v.s.Modifier) {
			known = true
			for i := range block {
				block[i] = entry16(v.s.Data, i)
			}
		}
		whole = whole && known
		for _, key := range block {
			if key&0x7FFF != 0 {
				keys = append(keys, key)
			}
		}
	}
	return keys, whole
}

// pkeyBlockSet judges that a block of P_Keys has none twice.
func (v *Verifier) pkeyBlockSet(x *exchange) {
	seen := map[uint16]bool{}
	for i := range 32 {
		key := entry16(v.s.Data, i)
		if key&0x7FFF == 0 {
			continue
		}
		if v.breaks(rule.SMPPK003, seen[key]) {
			v.report(rule.SMPPK003, v.paired(), rule.Requester, "each P_Key once", fmt.Sprintf("0x%04x twice", key))
			x.badSet = true
			return
		}
		seen[key] = true
	}
}

// pkeyBlocks is how many blocks the P_Key table of the port has that receives a request; 0: not known.
func (v *Verifier) pkeyBlocks(x *exchange) int {
	if !x.at.known() {
		return 0
	}
	return (int(x.at.node.PartitionCap) + 31) / 32
}
