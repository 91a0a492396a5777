package verifier_test

import (
	"encoding/binary"

	"ibwitness/mad"
)

// agent answers a subnet management packet that came to a port, or returns nil.
func (x *simNode) agent(p *simPort, request []byte) []byte {
	var s mad.SMP
	b := append([]byte(nil), request...)
	if s.Decode(b) != nil {
		return nil
	}
	end := p // whose M_Key counts
	if x.isSw {
		end = x.ports[0]
	}
	status := func(code uint16) []byte {
		b[3], b[5] = byte(mad.GetResp), b[5]|byte(code)
		return b
	}
	if end.lease != 0 && x.net.now > end.lease {
		end.put("MKeyProtectBits", 0)
		end.lease = 0
	}
	protect := end.field("MKeyProtectBits")
	hide := false
	if end.mkey != 0 && s.MKey != end.mkey {
		if s.Method == mad.Set || protect >= 2 {
			n := end.field("MKeyViolations")
			end.put("MKeyViolations", min(n+1, 0xFFFF))
			if period := end.field("MKeyLeasePeriod"); end.lease == 0 && period != 0 {
				end.lease = x.net.now + int64(period)*1e9
			}
			return nil
		}
		hide = protect == 1
	}
	if end.mkey == s.MKey {
		end.lease = 0
	}
	set := s.Method == mad.Set
	switch s.Attribute {
	case mad.AttrNodeInfo:
		clear(s.Data)
		for name, v := range map[string]uint64{
			"baseVersion": 1, "classVersion": 1, "nodeType": 1, "numPorts": uint64(len(x.ports) - 1), "nodeGUID": x.guid, "portGUID": x.guid + uint64(p.number),
			"systemImageGUID": x.guid, "partitionCap": 64, "localPortNum": uint64(p.number),
		} {
			mad.LayoutNodeInfo.Field(name).PutUint(s.Data, v)
		}
		if x.isSw {
			s.Data[2] = 2
			mad.LayoutNodeInfo.Field("portGUID").PutUint(s.Data, x.guid)
		}
	case mad.AttrNodeDescription:
		copy(s.Data, "node")
	case mad.AttrSwitchInfo:
		if !x.isSw {
			return status(0x0C)
		}
		if set {
			x.tables[simTable{0, s.Attribute, 0}] = append([]byte(nil), s.Data...)
		}
		if t := x.tables[simTable{0, s.Attribute, 0}]; t != nil {
			copy(s.Data, t)
		}
		for name, v := range map[string]uint64{"linearFDBCap": 1024, "multicastFDBCap": 64, "partitionEnforcementCap": 32, "enhancedPort0": 1} {
			mad.LayoutSwitchInfo.Field(name).PutUint(s.Data, v)
		}
		if x.net.wide {
			mad.LayoutSwitchInfo.Field("randomFDBCap").PutUint(s.Data, 32)
			mad.LayoutSwitchInfo.Field("optimizedSLtoVLMappingProgramming").PutUint(s.Data, 1)
		}
	case mad.AttrPortInfo:
		return x.portInfo(p, end, b, &s, hide, status)
	case mad.AttrPKeyTable, mad.AttrGUIDInfo, mad.AttrSLtoVL, mad.AttrVLArbitration, mad.AttrLinearForwarding, mad.AttrMulticastForwarding:
		return x.table(p, b, &s, status)
	default:
		if !x.net.wide || !x.seldom(p, &s) {
			return status(0x0C)
		}
	}
	return status(0)
}

func (x *simNode) portInfo(p, end *simPort, b []byte, s *mad.SMP, hide bool, status func(uint16) []byte) []byte {
	k := int(s.Modifier & 0xFF)
	if k >= len(x.ports) {
		return status(0x1C)
	}
	of := x.ports[k]
	if k == 0 && !x.isSw {
		of = p
	}
	in := mad.LayoutPortInfo
	if s.Method == mad.Set {
		want, was := in.Field("portState").Uint(s.Data), of.field("portState")
		if want == 2 || want == 3 && was != 2 && was != 3 || want == 4 && was < 3 || want > 4 {
			return status(0x1C)
		}
		if !x.isSw || k == 0 {
			if in.Field("LID").Uint(s.Data) == 0 || in.Field("masterSMLID").Uint(s.Data) == 0 {
				return status(0x1C)
			}
			for _, name := range []string{"LID", "LMC", "masterSMLID", "masterSMSL", "GIDPrefix", "MKeyLeasePeriod", "MKeyProtectBits", "subnetTimeOut"} {
				of.put(name, in.Field(name).Uint(s.Data))
			}
			of.mkey = in.Field("MKey").Uint(s.Data)
		}
		of.put("neighborMTU", in.Field("neighborMTU").Uint(s.Data))
		of.put("operationalVLs", max(in.Field("operationalVLs").Uint(s.Data), 1))
		if want != 0 && k != 0 || want != 0 && !x.isSw {
			of.put("portState", want)
		}
		reregister := in.Field("clientReregister").Uint(s.Data)
		copy(s.Data, of.info)
		in.Field("clientReregister").PutUint(s.Data, reregister)
	} else {
		copy(s.Data, of.info)
	}
	key := of.mkey
	if hide {
		key = 0
	}
	in.Field("MKey").PutUint(s.Data, key)
	in.Field("localPortNum").PutUint(s.Data, uint64(p.number))
	return status(0)
}

// table serves a block of a table.
func (x *simNode) table(p *simPort, b []byte, s *mad.SMP, status func(uint16) []byte) []byte {
	k := simTable{p.number, s.Attribute, s.Modifier}
	if x.isSw {
		k.port = 0
	}
	switch s.Attribute {
	case mad.AttrPKeyTable:
		if s.Modifier > 1 {
			return status(0x1C)
		}
	case mad.AttrGUIDInfo:
		if s.Modifier > 1 {
			return status(0x1C)
		}
	case mad.AttrVLArbitration:
		if s.Modifier>>16 != 1 && s.Modifier>>16 != 3 {
			return status(0x1C)
		}
	case mad.AttrLinearForwarding, mad.AttrMulticastForwarding:
		if !x.isSw {
			return status(0x0C)
		}
		if s.Modifier >= 16 || s.Attribute == mad.AttrMulticastForwarding && s.Modifier >= 2 {
			return status(0x1C)
		}
	}
	t := x.tables[k]
	if t == nil {
		t = make([]byte, 64)
		switch s.Attribute {
		case mad.AttrPKeyTable:
			if s.Modifier == 0 {
				t[0], t[1] = 0xFF, 0xFF
			}
		case mad.AttrLinearForwarding:
			for i := range t {
				t[i] = 255
			}
		}
		x.tables[k] = t
	}
	if s.Method == mad.Set {
		copy(t, s.Data)
		if s.Attribute == mad.AttrLinearForwarding {
			for len(x.linear) < 1024 {
				x.linear = append(x.linear, 255)
			}
			copy(x.linear[64*s.Modifier:], t)
		}
	}
	copy(s.Data, t)
	if s.Attribute == mad.AttrGUIDInfo && s.Modifier == 0 {
		guid := x.guid
		if !x.isSw {
			guid += uint64(p.number)
		}
		binary.BigEndian.PutUint64(s.Data, guid)
	}
	return status(0)
}

// keys are the P_Keys of a port.
func (p *simPort) keys() (list []uint16) {
	for _, m := range []uint32{0, 1} {
		t := p.node.tables[simTable{p.number, mad.AttrPKeyTable, m}]
		if t == nil && m == 0 {
			list = append(list, 0xFFFF)
		}
		for i := 0; i+1 < len(t); i += 2 {
			if k := binary.BigEndian.Uint16(t[i:]); k&0x7FFF != 0 {
				list = append(list, k)
			}
		}
	}
	return list
}
