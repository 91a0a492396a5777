package verifier_test

import (
	"fmt"
	"strconv"
	"strings"

	"ibwitness/mad"
	"ibwitness/packet"
)

// smps is what a scenario remembers of subnet management: the newest request or trap of each direction, and the newest TID.
type smps struct {
	asked map[string]mad.SMP
	tid   uint64
}

var smpMethods = map[string]mad.Method{
	"SMP_GET": mad.Get, "SMP_SET": mad.Set, "SMP_GETRESP": mad.GetResp, "SMP_TRAP": mad.Trap, "SMP_REPRESS": mad.TrapRepress,
}

// subnet makes the SMP of a line. Fields of its attribute go by their names in table T12, entries of a table as e0, e1 and so on.
func (s *scenario) subnet(p *packet.Packet, op string, src, dst end, f *fields) error {
	var ok bool
	m := smpLine{SMP: mad.SMP{Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetLID, ClassVersion: 1}}}
	if m.Method, ok = smpMethods[op]; !ok || len(f.names) == 0 {
		return fmt.Errorf("no operation %s, or no attribute", op)
	}
	layout, err := m.attribute(f)
	if err != nil {
		return err
	}
	asked := s.smps.asked[dst.name+">"+src.name]
	answer := m.Method == mad.GetResp || m.Method == mad.TrapRepress
	if answer {
		m.TID, m.Modifier = asked.TID, asked.Modifier
	} else {
		s.smps.tid++
		m.TID = s.smps.tid
	}
	m.Data = make([]byte, mad.SMPDataSize)
	if answer && asked.Data != nil && asked.Attribute == m.Attribute && asked.Method != mad.Get {
		copy(m.Data, asked.Data)
	} else if m.Method == mad.Set {
		usual(m.Data, layout, dst)
	} else if m.Method != mad.Get {
		usual(m.Data, layout, src)
	}
	if layout == mad.LayoutPortInfo {
		state := uint64(0)
		if answer {
			state = 4
		}
		layout.Field("portState").PutUint(m.Data, state)
		layout.Field("portPhysicalState").PutUint(m.Data, state+state/4)
	}
	path, directed := f.word("dr")
	if directed {
		m.direct(path, f, answer)
		p.Src, p.Dst = packet.LIDAddr(mad.PermissiveLID), packet.LIDAddr(mad.PermissiveLID)
	}
	if err := m.fields(layout, f); err != nil {
		return err
	}
	p.Opcode, p.DestQP, p.SrcQP, p.VL, p.QKey = packet.Op(packet.UD, packet.SendOnly), 0, 0, 15, 0
	f.psn(&p.PSN)
	p.Payload = make([]byte, mad.Size)
	if err := m.Encode(p.Payload); err != nil {
		return err
	}
	for i := range p.Payload {
		if n, ok := f.number("byte" + strconv.Itoa(i)); ok {
			p.Payload[i] = byte(n)
		}
	}
	if !answer {
		if s.smps.asked == nil {
			s.smps.asked = map[string]mad.SMP{}
		}
		s.smps.asked[src.name+">"+dst.name] = m.SMP
	}
	return nil
}

// smpLine is the SMP of a line.
type smpLine struct{ mad.SMP }

// attribute reads the name of an attribute, or its number as attr.
func (m *smpLine) attribute(f *fields) (*mad.Layout, error) {
	if n, ok := f.number("attr"); ok {
		m.Attribute = mad.Attribute(n)
		return nil, nil
	}
	for a := mad.Attribute(1); a < 0x40; a++ {
		h := mad.Header{Class: mad.ClassSubnetLID, Attribute: a}
		if name := h.AttributeName(); !strings.Contains(name, " ") {
			if _, ok := f.word(name); ok {
				m.Attribute = a
				return mad.SMPAttribute(a), nil
			}
		}
	}
	return nil, fmt.Errorf("give an attribute, NodeInfo for example")
}

// direct gives the SMP a directed route: dr=2,3 is the initial path, ret=6,1 the return path.
func (m *smpLine) direct(path string, f *fields, answer bool) {
	m.Class, m.DrSLID, m.DrDLID = mad.ClassSubnetDirected, mad.PermissiveLID, mad.PermissiveLID
	m.Initial, m.Return = make([]byte, 64), make([]byte, 64)
	hops := ports(m.Initial, path)
	if back, ok := f.word("ret"); ok {
		ports(m.Return, back)
	}
	if n, ok := f.number("hc"); ok {
		hops = int(n)
	}
	hop := 1
	if n, ok := f.number("hp"); ok {
		hop = int(n)
	}
	m.SetHops(hop, hops)
	if n, ok := f.number("drslid"); ok {
		m.DrSLID = uint16(n)
	}
	if n, ok := f.number("drdlid"); ok {
		m.DrDLID = uint16(n)
	}
	if n, ok := f.number("init0"); ok {
		m.Initial[0] = uint8(n)
	}
	back := answer
	if n, ok := f.number("d"); ok {
		back = n != 0
	}
	if back {
		m.Status = 0x8000
	}
}

func ports(path []byte, text string) (n int) {
	for i, word := range strings.Split(text, ",") {
		v, _ := strconv.ParseUint(word, 0, 8)
		path[i+1] = uint8(v)
		n++
	}
	return n
}

// fields takes what the line says of the header and the attribute.
func (m *smpLine) fields(layout *mad.Layout, f *fields) error {
	for name, set := range map[string]func(uint64){
		"tid": func(n uint64) { m.TID = n }, "mod": func(n uint64) { m.Modifier = uint32(n) }, "mkey": func(n uint64) { m.MKey = n },
		"status": func(n uint64) { m.Status |= uint16(n) }, "method": func(n uint64) { m.Method = mad.Method(n) },
		"class": func(n uint64) { m.Class = mad.Class(n) }, "bver": func(n uint64) { m.BaseVersion = uint8(n) },
		"cver": func(n uint64) { m.ClassVersion = uint8(n) },
	} {
		if n, ok := f.number(name); ok {
			set(n)
		}
	}
	if layout == nil {
		return nil
	}
	if text, ok := f.word("text"); ok {
		copy(m.Data, text)
	}
	for i := 0; i < len(f.names); i++ {
		name := f.names[i]
		n, err := strconv.ParseUint(f.values[i], 0, 64)
		if err != nil {
			continue
		}
		known := false
		for _, c := range layout.Fields {
			if c.Name == name {
				known = true
				c.PutUint(m.Data, n)
			}
		}
		if e, err := strconv.Atoi(strings.TrimPrefix(name, "e")); err == nil && name[0] == 'e' {
			known = true
			c := layout.Fields[0]
			c.Off, c.N = c.Off+e*c.Bits, 1
			c.PutUint(m.Data, n)
		}
		if known {
			f.word(name)
			i--
		}
	}
	return nil
}

// usual fills in what a correct node says of itself: a channel adapter with one port.
func usual(data []byte, layout *mad.Layout, of end) {
	set := func(values map[string]uint64) {
		for name, n := range values {
			layout.Field(name).PutUint(data, n)
		}
	}
	switch layout {
	case mad.LayoutNodeInfo:
		set(map[string]uint64{
			"baseVersion": 1, "classVersion": 1, "nodeType": 1, "numPorts": 1, "nodeGUID": 0x1000 + of.n*16, "portGUID": 0x1001 + of.n*16,
			"systemImageGUID": 0x1000 + of.n*16, "partitionCap": 32, "localPortNum": 1,
		})
	case mad.LayoutSwitchInfo:
		set(map[string]uint64{
			"linearFDBCap": 1024, "linearFDBTop": 100, "multicastFDBCap": 64, "randomFDBCap": 64, "partitionEnforcementCap": 32, "enhancedPort0": 1,
		})
	case mad.LayoutPortInfo:
		set(map[string]uint64{
			"GIDPrefix": 0xfe80 << 48, "LID": of.n, "masterSMLID": 1, "capabilityMask": 0x02510868, "localPortNum": 1, "linkWidthEnabled": 3,
			"linkWidthSupported": 3, "linkWidthActive": 2, "linkSpeedEnabled": 7, "linkSpeedSupported": 7, "linkSpeedActive": 4, "neighborMTU": 5,
			"MTUCap": 5, "VLCap": 4, "operationalVLs": 4, "GUIDCap": 32, "VLArbitrationHighCap": 8, "VLArbitrationLowCap": 8, "subnetTimeOut": 18,
			"respTimeValue": 16,
		})
	case mad.LayoutSLtoVL:
		for sl := range 8 {
			data[sl] = uint8(2*sl%8<<4 | (2*sl+1)%8)
		}
	case mad.LayoutSMInfo:
		set(map[string]uint64{"GUID": 0x1001 + of.n*16, "actCount": 10, "priority": 1, "SMState": 3})
	case mad.LayoutNotice:
		set(map[string]uint64{"isGeneric": 1, "noticeType": 4, "nodeType": 1, "trapNumber": 144, "issuerLID": of.n})
	case mad.LayoutPKeyTable:
		data[0], data[1] = 0xFF, 0xFF
	}
}
