package smp

import (
	"encoding/binary"
	"fmt"
	"time"

	"ibwitness/mad"
	"ibwitness/rule"
	"ibwitness/subnet"
)

// tableResponse judges an answer that carries a block of a table, and keeps it.
func (v *Verifier) tableResponse(x *exchange) {
	s := &v.s
	if !v.inTable(x) {
		return
	}
	switch s.Attribute {
	case mad.AttrSLtoVL, mad.AttrVLArbitration, mad.AttrPKeyTable, mad.AttrGUIDInfo, mad.AttrLinearForwarding, mad.AttrRandomForwarding, mad.AttrMulticastForwarding:
	default:
		return
	}
	fresh := v.fresh(x)
	v.valuesKept(x, fresh)
	if !fresh {
		return
	}
	p := x.at.port()
	switch s.Attribute {
	case mad.AttrSLtoVL:
		if x.at.node.Type != subnet.Switch && p != nil {
			for sl := range p.SLtoVL {
				p.SLtoVL[sl] = slVL(s.Data, sl)
			}
			p.Has |= subnet.KnowsSLtoVL
			p.Time, p.Frame = v.p.Time, v.p.Frame
		}
	case mad.AttrPKeyTable:
		v.learnPKeys(x)
	case mad.AttrGUIDInfo:
		v.learnGUIDs(x)
	case mad.AttrLinearForwarding:
		if x.at.node.Type == subnet.Switch {
			x.at.node.SetLinear(int(s.Modifier), s.Data)
			if x.Method == mad.Set {
				x.at.node.Routed = v.p.Time
			}
		}
	}
}

// inTable judges that the node took a modifier that is in its tables, and reports whether.
func (v *Verifier) inTable(x *exchange) bool {
	if !x.at.known() {
		return true
	}
	b := bound{}
	switch v.s.Attribute {
	case mad.AttrSLtoVL:
		b = v.mappingBound(x)
	case mad.AttrVLArbitration:
		b = v.arbitrationBound(x)
	case mad.AttrPKeyTable:
		b = v.pkeyBound(x.at.node)
	case mad.AttrLinearForwarding, mad.AttrRandomForwarding, mad.AttrMulticastForwarding:
		b = v.forwardingBound(x.at.node)
	case mad.AttrGUIDInfo:
		return v.guidInfo(x)
	}
	if b.known && v.breaks(b.rule, b.beyond) {
		v.report(b.rule, v.paired(), rule.Responder, invalidValue+": "+b.want, "status 0 with "+mad.ModifierText(v.s.Attribute, v.s.Modifier), x.frame)
	}
	return !b.beyond
}

// bound is what the size of a table makes of the attribute modifier at hand.
type bound struct {
	rule   rule.ID
	known  bool   // the size of the table is known, so that the modifier can be judged
	beyond bool   // the modifier names what the table has not
	want   string // the size
}

// mappingBound is that of an SLtoVLMappingTable (rules SMP-SV-001, -002).
func (v *Verifier) mappingBound(x *exchange) bound {
	if !v.mapsLanes(x) {
		return bound{beyond: true}
	}
	beyond, want := v.noSuchPort(x)
	return bound{rule.SMPSV001, true, beyond, want}
}

// arbitrationBound is that of a VLArbitrationTable. It judges the entries of a block within the table, too (rule SMP-VA-001).
func (v *Verifier) arbitrationBound(x *exchange) bound {
	s, n := &v.s, x.at.node
	block, number := s.Modifier>>16, s.Modifier&0xFFFF
	b := bound{rule.SMPVA001, true, block < 1 || block > 4 || n.Type == subnet.Switch && number > uint32(n.NumPorts), "blocks 1 to 4, and ports of the node"}
	if odd := oddEntry(s.Data); !b.beyond && x.Method == mad.Get && odd >= 0 {
		v.breaks(b.rule, true)
		v.report(b.rule, rule.Unproven, rule.Responder, "a data VL in each entry that has a weight", entryText(s.Data, odd), x.frame)
	}
	return b
}

// pkeyBound is that of a P_KeyTable: at port 0 of a switch, and of other nodes, by PartitionCap, else by PartitionEnforcementCap (rule SMP-PK-001).
func (v *Verifier) pkeyBound(n *subnet.Node) bound {
	block, number := v.s.Modifier&0xFFFF, v.s.Modifier>>16
	size := n.PartitionCap
	if n.Type == subnet.Switch && number != 0 {
		if !n.HasSwitchInfo {
			return bound{}
		}
		size = n.EnforcementCap
	}
	if n.Type == subnet.Switch && number > uint32(n.NumPorts) {
		return bound{rule.SMPPK001, true, true, fmt.Sprintf("the node has %d ports", n.NumPorts)}
	}
	return bound{rule.SMPPK001, true, block*32 >= uint32(size), fmt.Sprintf("%d P_Keys", size)}
}

// forwardingBound is that of a forwarding table, by what SwitchInfo says (rules SMP-LF-001, -RF-001, -MF-001).
func (v *Verifier) forwardingBound(n *subnet.Node) bound {
	s := &v.s
	switch {
	case s.Attribute == mad.AttrLinearForwarding && (!n.HasSwitchInfo || n.LinearCap == 0):
		return bound{beyond: s.Modifier >= 1024}
	case s.Attribute == mad.AttrLinearForwarding:
		return bound{rule.SMPLF001, true, uint64(s.Modifier)*64 >= uint64(n.LinearCap), fmt.Sprintf("LinearFDBCap %d", n.LinearCap)}
	case !n.HasSwitchInfo:
		return bound{}
	case s.Attribute == mad.AttrRandomForwarding:
		return bound{rule.SMPRF001, true, uint64(s.Modifier)*16 >= uint64(n.RandomCap), fmt.Sprintf("RandomFDBCap %d", n.RandomCap)}
	}
	return bound{rule.SMPMF001, true, s.Modifier&0x1FF*32 >= uint32(n.MulticastCap), fmt.Sprintf("MulticastFDBCap %d", n.MulticastCap)}
}

// noSuchPort reports whether the modifier of an SLtoVLMappingTable names a port that the node has not, and which ports it has.
func (v *Verifier) noSuchPort(x *exchange) (bad bool, want string) {
	s, n := &v.s, x.at.node
	in, out := s.Modifier>>8&0xFF, s.Modifier&0xFF
	ports := uint32(n.NumPorts)
	want = fmt.Sprintf("the node has %d ports", ports)
	if n.Type == subnet.Switch && n.HasSwitchInfo && !n.EnhancedPort0 && out == 0 && s.Modifier>>16 == 0 {
		return true, want + ", and only a switch with an enhanced port 0 has output port 0"
	}
	return out > ports || in > ports, want
}

// mapsLanes judges that the port of an SLtoVLMappingTable has one (rule SMP-SV-002), and reports whether.
func (v *Verifier) mapsLanes(x *exchange) bool {
	isSwitch := x.at.node.Type == subnet.Switch
	can, has, known := v.maps(x)
	if known && v.breaks(rule.SMPSV002, can.CapabilityMask&capSLMapping == 0 && isSwitch && has.VLCap <= 1 || !isSwitch && (can.CapabilityMask&capSLMapping == 0 || has.VLCap <= 1)) {
		v.report(rule.SMPSV002, v.paired(), rule.Responder, "a status other than 0: one VL, or no SL mapping in the capability mask",
			fmt.Sprintf("status 0 with VLCap %d, CapabilityMask 0x%08x", has.VLCap, can.CapabilityMask), x.frame, has.Frame)
		return false
	}
	return true
}

// maps returns the ports that say whether the port of an SLtoVLMappingTable has one: by the capability mask, which a switch has at port 0, and by its lanes.
func (v *Verifier) maps(x *exchange) (can, has *subnet.Port, known bool) {
	can = x.at.port()
	if has = can; can != nil && x.at.node.Type == subnet.Switch {
		has = v.vlPort(x, x.Modifier&0xFF)
	}
	return can, has, can.Knows(subnet.KnowsInfo) && has.Knows(subnet.KnowsInfo) && !x.wide()
}

func (v *Verifier) guidInfo(x *exchange) bool {
	s, p := &v.s, x.at.port()
	if p == nil {
		return true
	}
	size := uint64(0)
	if k := v.of(p); k.has {
		size = piGUIDCap.Uint(k.info[:])
	}
	bad, want, actual := false, "", ""
	first := mad.LayoutPortInfo.Field("MKey").Uint(s.Data) // the first 64 bits
	switch {
	case size != 0 && uint64(s.Modifier)*8 >= size:
		bad, want, actual = true, fmt.Sprintf(invalidValue+": GUIDCap %d", size), fmt.Sprintf("block %d", s.Modifier)
	case s.Modifier == 0 && p.Knows(subnet.KnowsGUID) && first != p.GUID:
		bad, want, actual = true, fmt.Sprintf("the PortGUID 0x%016x first", p.GUID), fmt.Sprintf("0x%016x", first)
	}
	if v.breaks(rule.SMPGI001, bad) {
		v.report(rule.SMPGI001, v.paired(), rule.Responder, want, actual, x.frame)
	}
	return !bad
}

// noGUID reports whether an entry of a block is 0, and is or may be beyond the GUIDs that the port can have.
func (v *Verifier) noGUID(x *exchange, have []byte, i int) bool {
	if (mad.Field{Off: i * 64, Bits: 64, N: 1}).Uint(have) != 0 {
		return false
	}
	k := v.ports[x.at.port()]
	return k == nil || !k.has || uint64(x.Modifier)*8+uint64(i) >= piGUIDCap.Uint(k.info[:])
}

// learnGUIDs keeps a block of the GUIDs of the port that received the request.
func (v *Verifier) learnGUIDs(x *exchange) {
	s, p := &v.s, x.at.port()
	if p == nil {
		return
	}
	k := v.of(p)
	if k.guids == nil {
		k.guids = map[uint8][8]uint64{}
	}
	var b [8]uint64
	for i := range b {
		b[i] = binary.BigEndian.Uint64(s.Data[8*i:])
	}
	if old, ok := k.guids[uint8(s.Modifier)]; x.Method == mad.Set || ok && old != b {
		p.Changed = v.p.Time
	}
	k.guids[uint8(s.Modifier)] = b
	p.Time, p.Frame = v.p.Time, v.p.Frame
	k.wholeGUIDs(p)
}

// wholeGUIDs tells which GUIDs a port has, where all of them are known.
func (k *port) wholeGUIDs(p *subnet.Port) {
	p.GUIDs, p.Has = p.GUIDs[:0], p.Has&^subnet.KnowsGUIDs
	size := (piGUIDCap.Uint(k.info[:]) + 7) / 8
	for i := range size {
		b, ok := k.guids[uint8(i)]
		if !ok {
			return
		}
		for _, g := range b {
			if g != 0 {
				p.GUIDs = append(p.GUIDs, g)
			}
		}
	}
	if size > 0 {
		p.Has |= subnet.KnowsGUIDs
	}
}

// restartTime is how soon a node may be back that was switched off: it has then forgotten what it was told.
const restartTime = int64(time.Second)

// valuesKept judges that a Set has put its values there, and that a Get returns what was set (SMP-MTH-004, C14-024).
func (v *Verifier) valuesKept(x *exchange, fresh bool) {
	s := &v.s
	l := mad.SMPAttribute(s.Attribute)
	size := l.Size
	if x.Method == mad.Set && !x.wrongMKey && !x.badSet {
		if at := v.firstDifference(x, x.data[:size], s.Data[:size]); v.breaks(rule.SMPMTH004, at >= 0) {
			v.report(rule.SMPMTH004, v.paired(), rule.Responder, fmt.Sprintf("%s as set: byte %d is 0x%02x", l.Name, at, x.data[at]), fmt.Sprintf("0x%02x", s.Data[at]), x.frame)
		}
	}
	if !fresh {
		return
	}
	t := v.asBlock(x)
	if p := x.at.port(); p != nil && v.of(p).restartedAt > t.held {
		t.set = false
	}
	if t.set && x.Method == mad.Get && !x.wide() && t.held >= v.wide[x.at.node] {
		if at := v.firstDifference(x, t.data[:size], s.Data[:size]); v.breaks(rule.SMPMTH004, at >= 0) {
			class := v.lasting()
			if x.time-t.held > restartTime {
				class = rule.Unproven
			}
			v.report(rule.SMPMTH004, class, rule.Responder, fmt.Sprintf("%s as it was set: byte %d is 0x%02x", l.Name, at, t.data[at]), fmt.Sprintf("0x%02x", s.Data[at]), t.frame)
		}
	}
	copy(t.data[:], s.Data)
	t.frame, t.held = v.p.Frame, v.p.Time
}

// firstDifference returns the first byte of a block that is not as it was set, or -1. Entries that a node need not keep are left out: the first GUID,
// what is beyond a table that is shorter than its block, P_Keys of no partition.
func (v *Verifier) firstDifference(x *exchange, want, have []byte) int {
	for i := range want {
		if want[i] == have[i] || x.Attribute == mad.AttrGUIDInfo && x.Modifier == 0 && i < 8 {
			continue
		}
		switch x.Attribute {
		case mad.AttrGUIDInfo:
			if v.noGUID(x, have, i/8) {
				continue
			}
		case mad.AttrVLArbitration:
			if entry16(have, i/2) == 0 {
				continue
			}
		case mad.AttrPKeyTable:
			if entry16(want, i/2)&0x7FFF == 0 || entry16(have, i/2)&0x7FFF == 0 {
				continue
			}
		}
		return i
	}
	return -1
}

// learnPKeys keeps a block of the P_Key table of the port that received the request.
func (v *Verifier) learnPKeys(x *exchange) {
	s, p := &v.s, x.at.port()
	n := v.pkeyBlocks(x)
	if p == nil || n == 0 || s.Modifier>>16 != 0 {
		return
	}
	k := v.of(p)
	if k.blocks == nil {
		k.blocks = map[uint16][32]uint16{}
	}
	var b [32]uint16
	for i := range b {
		b[i] = entry16(s.Data, i)
	}
	if old, ok := k.blocks[uint16(s.Modifier)]; x.Method == mad.Set || ok && old != b {
		p.Changed = v.p.Time
	}
	k.blocks[uint16(s.Modifier)] = b
	p.PKeys, p.Has = p.PKeys[:0], p.Has&^subnet.KnowsPKeys
	for i := range uint16(n) {
		keys, ok := k.blocks[i]
		if !ok {
			return
		}
		for _, key := range keys {
			if key&0x7FFF != 0 {
				p.PKeys = append(p.PKeys, key)
			}
		}
	}
	p.Has |= subnet.KnowsPKeys
	p.Time, p.Frame = v.p.Time, v.p.Frame
	v.defaultPKey(x, p)
}

// defaultPKey judges a P_Key table that no manager was seen to set: it has the default P_Key once the port is in use (rule PKY-008).
func (v *Verifier) defaultPKey(x *exchange, p *subnet.Port) {
	if x.Method != mad.Get || !p.Knows(subnet.KnowsInfo) || p.State != active || v.of(p).given {
		return
	}
	member, _ := p.Member(0x7FFF)
	if v.breaks(rule.PKY008, !member) {
		v.report(rule.PKY008, rule.Unproven, rule.Responder, "the default P_Key 0xffff or 0x7fff in the table of a port in use", "none", x.frame)
	}
}
