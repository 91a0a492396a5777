package smp

import (
	"fmt"
	"hash/crc32"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/tally"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/subnet"
)

// TestFields holds what is said of each value, as far as values can matter, of each component of each attribute: in a request, in its answer, and in both. A line of
// testdata/fields.txt has the values between which what is said changes, and a checksum of what is learned; make golden writes it.
func TestFields(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(2000))
	var out strings.Builder
	for _, kind := range nodeKinds {
		for i, a := range fieldAttributes {
			if i%sample.Stride(4) > 0 {
				continue
			}
			for _, m := range []mad.Method{mad.Get, mad.Set} {
				fieldLines(&out, kind, a, m)
			}
		}
	}
	tally.Text(t, "testdata/fields.txt", out.String())
}

// nodeKind is a node that is asked.
type nodeKind struct {
	name     string
	kind     subnet.NodeType
	enhanced bool // port 0, and SLtoVLMappingTables of all ports at once
	known    bool // its tables are
	state    uint8
}

var nodeKinds = []nodeKind{
	{"a channel adapter", subnet.ChannelAdapter, false, true, active},
	{"a switch", subnet.Switch, false, true, active},
	{"an enhanced switch", subnet.Switch, true, true, armed},
	{"a switch not seen before", subnet.Switch, true, false, active},
}

var fieldAttributes = []mad.Attribute{
	mad.AttrNodeDescription, mad.AttrNodeInfo, mad.AttrSwitchInfo, mad.AttrGUIDInfo, mad.AttrPortInfo, mad.AttrPKeyTable, mad.AttrSLtoVL, mad.AttrVLArbitration,
	mad.AttrLinearForwarding, mad.AttrRandomForwarding, mad.AttrMulticastForwarding, mad.AttrSMInfo, mad.AttrVendorDiag, mad.AttrLedInfo,
}

// talker exchanges datagrams with a node.
type talker struct {
	v   *Verifier
	rec *rule.Recorder
	p   packet.Packet
	tid uint64
}

const askedLID = 5

func newTalker() *talker {
	t := &talker{rec: new(rule.Recorder)}
	t.v = New(t.rec, func(packet.Addr) bool { return true })
	t.p = packet.Packet{Encap: packet.Native, Opcode: sendOnly, Has: packet.HasLRH | packet.HasBTH | packet.HasDETH, VL: 15, PayloadLen: mad.Size, Time: 1_000_000_000_000}
	return t
}

// say sends a datagram.
func (t *talker) say(from, to uint16, s *mad.SMP) {
	b := make([]byte, mad.Size)
	if s.Encode(b) != nil {
		panic("no room")
	}
	t.p.Payload, t.p.SLID, t.p.DLID, t.p.Src, t.p.Dst = b, from, to, packet.LIDAddr(from), packet.LIDAddr(to)
	t.p.Frame++
	t.p.Time += 100_000
	t.v.Packet(&t.p, true)
}

// exchange asks and answers.
func (t *talker) exchange(m mad.Method, a mad.Attribute, modifier uint32, status uint16, ask, answer []byte) {
	t.tid++
	t.p.Time += 2_000_000_000 // what was set has settled
	s := mad.SMP{Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetLID, ClassVersion: 1, Method: m, TID: t.tid, Attribute: a, Modifier: modifier}, Data: ask}
	t.say(1, askedLID, &s)
	s.Method, s.Status, s.Data = mad.GetResp, status, answer
	t.say(askedLID, 1, &s)
}

// data is what a node has in an attribute.
func (k nodeKind) data(a mad.Attribute, modifier uint32) []byte {
	b := make([]byte, mad.SMPDataSize)
	put := func(l *mad.Layout, fields map[string]uint64) {
		for name, n := range fields {
			l.Field(name).PutUint(b, n)
		}
	}
	kind := max(uint64(k.kind), 1)
	isSwitch := kind == uint64(subnet.Switch)
	switch a {
	case mad.AttrNodeDescription:
		copy(b, "a node")
	case mad.AttrNodeInfo:
		put(mad.LayoutNodeInfo, map[string]uint64{
			"baseVersion": 1, "classVersion": 1, "nodeType": kind, "numPorts": 3, "systemImageGUID": 0x100, "nodeGUID": 0x101, "portGUID": 0x102, "partitionCap": 33, "localPortNum": 1,
		})
	case mad.AttrSwitchInfo:
		put(mad.LayoutSwitchInfo, map[string]uint64{"linearFDBCap": 193, "randomFDBCap": 33, "multicastFDBCap": 65, "linearFDBTop": 100, "partitionEnforcementCap": 20})
		if k.enhanced {
			put(mad.LayoutSwitchInfo, map[string]uint64{"enhancedPort0": 1, "optimizedSLtoVLMappingProgramming": 1})
		}
	case mad.AttrPortInfo:
		put(mad.LayoutPortInfo, map[string]uint64{
			"GIDPrefix": 0xfe80 << 48, "LID": askedLID, "masterSMLID": 1, "capabilityMask": 0x4A, "localPortNum": 1, "linkWidthEnabled": 3, "linkWidthSupported": 3, "linkWidthActive": 2,
			"linkSpeedSupported": 7, "linkSpeedEnabled": 7, "linkSpeedActive": 4, "portState": uint64(k.state), "portPhysicalState": 5, "neighborMTU": 4, "MTUCap": 4, "VLCap": 3, "operationalVLs": 3,
			"VLArbitrationHighCap": 8, "VLArbitrationLowCap": 40, "GUIDCap": 9, "subnetTimeOut": 18, "respTimeValue": 16,
		})
		if isSwitch && modifier != 0 {
			put(mad.LayoutPortInfo, map[string]uint64{"LID": 0, "masterSMLID": 0, "capabilityMask": 0, "GIDPrefix": 0})
		}
	case mad.AttrPKeyTable:
		if modifier == 0 {
			b[0], b[1] = 0xFF, 0xFF
		}
		b[4], b[5] = 0x80, byte(2+modifier)
	case mad.AttrGUIDInfo:
		if modifier == 0 {
			b[6], b[7] = 1, 2
		}
		b[15] = 9
	case mad.AttrVLArbitration:
		b[0], b[1], b[2], b[3] = 1, 4, 2, 8
	case mad.AttrSLtoVL:
		b[1] = 0x12
	case mad.AttrLinearForwarding:
		b[1], b[2] = 255, 3
	case mad.AttrRandomForwarding:
		b[1], b[2] = 7, 0x80
	case mad.AttrMulticastForwarding:
		b[1] = 0x0E
	case mad.AttrSMInfo:
		put(mad.LayoutSMInfo, map[string]uint64{"GUID": 0x102, "actCount": 7, "priority": 3, "SMState": 2})
	}
	return b
}

// meet has the manager learn of a node.
func (k nodeKind) meet() *talker {
	t := newTalker()
	if k.kind == subnet.UnknownNode {
		return t
	}
	get := func(a mad.Attribute, modifier uint32) {
		b := k.data(a, modifier)
		t.exchange(mad.Get, a, modifier, 0, make([]byte, mad.SMPDataSize), b)
	}
	get(mad.AttrNodeInfo, 0)
	if !k.known {
		return t
	}
	if k.kind == subnet.Switch {
		get(mad.AttrSwitchInfo, 0)
		get(mad.AttrLinearForwarding, 0)
		get(mad.AttrPortInfo, 2)
	}
	for _, a := range []mad.Attribute{mad.AttrPortInfo, mad.AttrPKeyTable, mad.AttrGUIDInfo, mad.AttrSMInfo} {
		if a != mad.AttrSMInfo || k.kind != subnet.Switch {
			get(a, 0)
		}
	}
	get(mad.AttrPKeyTable, 1)
	get(mad.AttrGUIDInfo, 1)
	if k.kind != subnet.Switch {
		get(mad.AttrSLtoVL, 0)
	}
	return t
}

// component is what is changed in an exchange.
type component struct {
	name string
	bits int
	// change returns the exchange with another value.
	modifier bool
	field    mad.Field
}

// components of an attribute: the first elements of arrays and the last, the attribute modifier, and the status of the answer.
func components(a mad.Attribute) []component {
	list := []component{{name: "modifier", bits: 32, modifier: true}}
	for _, f := range mad.SMPAttribute(a).Fields {
		for i := range f.N {
			if i == 0 || i == 8 || i == f.N-1 {
				e := mad.Field{Name: f.Name, Off: f.Off + i*f.Bits, Bits: min(f.Bits, 64), N: 1}
				list = append(list, component{name: fmt.Sprint(f.Name, "[", i, "]"), bits: e.Bits, field: e})
			}
		}
	}
	return list
}

// valuesOf are the values of a component that may matter. few are those that tell whether any does.
func valuesOf(c component, was uint64, few bool) (list []uint64) {
	top := ^uint64(0) >> (64 - c.bits)
	switch {
	case few:
		list = append(list, 0, 1, top/2+1, top-1, top, was, was+1)
	case c.bits <= 5:
		for n := range top + 1 {
			list = append(list, n)
		}
	default:
		list = append(list, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 39, 40, 41, 63, 64, 69, 70, 71, 100, 101, 199, 200, 201, 255, 256, 0x301, 0x401, 0xE01, 0xF01, 1023, 1024, 0xBFFF, 0xC000, 0xFFFF, top/2+1, top-1, top, was-1, was, was+1)
		if c.bits == 32 {
			for i := range c.bits {
				list = append(list, was^1<<i)
			}
		}
	}
	if c.modifier {
		for _, high := range []uint64{1 << 16, 2 << 16, 3 << 16, 4 << 16, 5 << 16, 3 << 8, 4 << 8, 1 << 28} {
			list = append(list, high, high|1, high|2, high|3, high|4)
		}
	}
	list = slices.DeleteFunc(list, func(n uint64) bool { return n > top })
	slices.Sort(list)
	return slices.Compact(list)
}

// Where a value is changed.
var placesOf = []string{"asked", "answered", "both"}

// fieldLines writes the lines of an attribute.
func fieldLines(out *strings.Builder, k nodeKind, a mad.Attribute, m mad.Method) {
	usual := uint32(0)
	switch {
	case a == mad.AttrVLArbitration:
		usual = 1 << 16
		if k.kind == subnet.Switch {
			usual |= 2
		}
	case a == mad.AttrSLtoVL && k.kind == subnet.Switch:
		usual = 0x0102
	case a == mad.AttrSMInfo && m == mad.Set:
		usual = 1
	case a == mad.AttrPortInfo && k.kind == subnet.Switch && m == mad.Set:
		usual = 2
	}
	refused := false // whatever is asked
	for _, c := range components(a) {
		for where, place := range placesOf {
			if c.modifier && where != 2 || !c.modifier && (m == mad.Get) != (where == 1) {
				continue
			}
			if !c.modifier && refused {
				continue // whatever it says
			}
			f := fieldLine{k: k, a: a, m: m, c: c, where: where, usual: usual, base: k.data(a, usual)}
			if f.run(true); strings.Count(f.text.String(), ";") > 1 {
				f.text.Reset()
				f.run(false)
			}
			refused = refused || c.modifier && !f.well
			fmt.Fprintf(out, "%v(%s) of %s, %s %s:%s learned %08x\n", m, mad.SMPAttribute(a).Name, k.name, c.name, place, f.text.String(), f.sum)
		}
	}
}

// fieldLine is a line in the making.
type fieldLine struct {
	k     nodeKind
	a     mad.Attribute
	m     mad.Method
	c     component
	where int
	usual uint32
	base  []byte
	text  strings.Builder
	sum   uint32
	well  bool // some value is
}

// run tries values.
func (f *fieldLine) run(few bool) {
	last, from, to := "", uint64(0), uint64(0)
	flush := func() {
		if last != "" {
			fmt.Fprintf(&f.text, " %s %s;", span(from, to), last)
		}
	}
	for _, n := range valuesOf(f.c, f.c.field.Uint(f.base), few) {
		modifier, ask, answer := f.usual, slices.Clone(f.base), slices.Clone(f.base)
		if f.m == mad.Get {
			clear(ask)
		} else if f.a == mad.AttrPortInfo {
			piState.PutUint(ask, 0)
			piPhysical.PutUint(ask, 0)
		}
		if f.c.modifier {
			modifier = uint32(n)
		}
		if !f.c.modifier && f.where != 1 {
			f.c.field.PutUint(ask, n)
		}
		if !f.c.modifier && f.where != 0 {
			f.c.field.PutUint(answer, n)
		}
		t := f.k.meet()
		before := len(t.rec.Findings)
		t.exchange(f.m, f.a, modifier, 0, ask, answer)
		t.exchange(mad.Get, f.a, modifier, 0, make([]byte, mad.SMPDataSize), answer)
		said := brief(t.rec.Findings[before:])
		f.sum = crc32.Update(f.sum, crc32.IEEETable, []byte(learnt(t)))
		f.well = f.well || said == "well"
		if said != last {
			flush()
			last, from = said, n
		}
		to = n
	}
	flush()
}

func span(from, to uint64) string {
	if from == to {
		return fmt.Sprintf("0x%x", from)
	}
	return fmt.Sprintf("0x%x-0x%x", from, to)
}

// brief names the findings.
func brief(list []rule.Finding) string {
	var said []string
	for _, f := range list {
		role := "node"
		if f.Accused.Addr == packet.LIDAddr(1) {
			role = "manager"
		}
		said = append(said, fmt.Sprintf("%v of %s %v", f.Rule, role, f.Class))
	}
	slices.Sort(said)
	if said = slices.Compact(said); len(said) == 0 {
		return "well"
	}
	return strings.Join(said, " and ")
}

// learnt is what is known of the subnet.
func learnt(t *talker) string {
	var b strings.Builder
	for _, f := range t.rec.Findings {
		fmt.Fprint(&b, f.Expected, f.Actual, f.Evidence, f.Detail)
	}
	for _, n := range t.v.Subnet.Nodes {
		m := *n
		m.Ports = nil
		fmt.Fprintf(&b, "%+v", m)
		for _, p := range n.Ports {
			q := *p
			q.Node = nil
			fmt.Fprintf(&b, "%+v", q)
		}
	}
	return b.String()
}

// TestDescription: a NodeDescription is UTF-8, of which the end of the attribute may cut a character.
func TestDescription(t *testing.T) {
	for at, text := range map[int]string{64: "\xC3", 65: "\xE2\x82", 66: "\xF0\x9F\x98", 67: "\xF0\x9F\x98\x80"} {
		whole := make([]byte, mad.SMPDataSize)
		for i := range whole {
			whole[i] = 'a'
		}
		for _, c := range []struct {
			name string
			from int
			bad  bool
		}{{"at the end", mad.SMPDataSize - len(text), false}, {"before the end", mad.SMPDataSize - len(text) - 1, at != 67}, {"at the beginning", 0, at != 67}} {
			b := slices.Clone(whole)
			copy(b[c.from:], text)
			s := nodeKinds[0].meet()
			s.exchange(mad.Get, mad.AttrNodeDescription, 0, 0, make([]byte, mad.SMPDataSize), b)
			if bad := len(s.rec.Findings) > 0; bad != c.bad {
				t.Errorf("%q %s: %t, want %t", text, c.name, bad, c.bad)
			}
			if n := s.v.Subnet.Nodes[0].Description; !strings.HasPrefix(n, "a") && c.from > 0 {
				t.Errorf("%q %s: called %q", text, c.name, n)
			}
		}
	}
}
