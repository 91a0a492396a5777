package verifier_test

import (
	"encoding/binary"

	"ibwitness/mad"
)

// seldom lets something happen that few subnets show: traps, other managers, attributes that few nodes have.
func (n *simNet) seldom(x *simNode) {
	r, m := n.r, n.sm
	switch r.IntN(14) {
	case 0, 1, 2:
		n.traps(x)
		return
	case 3:
		m.get(x, mad.AttrSMInfo, 0, nil)
	case 4:
		m.add(func() *simAsk { return m.ask(x, mad.Set, mad.AttrSMInfo, uint32(1+r.IntN(5)), nil) })
	case 5:
		m.get(x, mad.AttrVendorDiag, 0, nil)
		m.put(x, mad.AttrLedInfo, 0, func(d []byte) { d[0] = byte(r.IntN(2) << 7) })
	case 6:
		if x.isSw {
			m.put(x, mad.AttrRandomForwarding, uint32(r.IntN(3)), func(d []byte) { d[1], d[2], d[3] = byte(1+r.IntN(9)), 0x80, byte(r.IntN(6)) })
		}
	case 7:
		if x.isSw {
			m.put(x, mad.AttrMulticastForwarding, uint32(r.IntN(2)), func(d []byte) { d[1], d[3] = 0x7E, byte(r.IntN(64))<<1 })
			m.get(x, mad.AttrMulticastForwarding, 0, nil)
		}
	case 8:
		if x.isSw {
			m.set(x, mad.AttrSLtoVL, []uint32{1, 0x102, 0x10001, 0x20000, 0x30000}[r.IntN(5)], m.lanes)
			m.get(x, mad.AttrSLtoVL, 0x102, nil)
		}
	case 9: // of which a table may have few
		block := uint32(1+r.IntN(4)) << 16
		m.put(x, mad.AttrVLArbitration, block|uint32(m.onPort(x)), func(d []byte) {
			for i := range 8 {
				d[2*i], d[2*i+1] = byte(r.IntN(2)), byte(r.IntN(4))
			}
		})
		m.get(x, mad.AttrVLArbitration, block|uint32(m.onPort(x)), nil)
	case 10, 11: // somebody who does not know the key
		for range 1 + r.IntN(3) {
			m.add(func() *simAsk {
				k := m.ask(x, []mad.Method{mad.Get, mad.Set}[r.IntN(2)], mad.AttrNodeDescription, 0, nil)
				if k.s.Method == mad.Set {
					k.s.Attribute = mad.AttrVLArbitration
					k.s.Modifier = 0x10000 | uint32(m.onPort(x))
				}
				k.s.MKey = 99
				return k
			})
		}
		m.get(x, mad.AttrPortInfo, uint32(x.end().number), nil)
	case 12:
		if x.isSw {
			m.put(x, mad.AttrPKeyTable, uint32(m.onPort(x))<<16, m.someKeys(0))
		}
	case 13:
		for i := range 2 {
			m.get(x, mad.AttrPKeyTable, uint32(i), nil)
			m.put(x, mad.AttrGUIDInfo, uint32(i), func(d []byte) { d[15] = byte(r.IntN(9)) })
		}
	}
	m.fill()
}

// seldom serves such an attribute, and reports whether it does.
func (x *simNode) seldom(p *simPort, s *mad.SMP) bool {
	k := simTable{p.number, s.Attribute, s.Modifier}
	if x.isSw {
		k.port = 0
	}
	if x.tables[k] == nil {
		x.tables[k] = make([]byte, 64)
	}
	t := x.tables[k]
	set := s.Method == mad.Set
	switch s.Attribute {
	case mad.AttrSMInfo:
		if !x.manages() {
			return false
		}
		clear(s.Data)
		binary.BigEndian.PutUint64(s.Data, x.guid)
		binary.BigEndian.PutUint32(s.Data[16:], uint32(x.net.now/1e6))
		s.Data[20] = byte(x.guid>>4)<<4 | 2 + byte(x.guid/16%2&(x.guid/64%2))
		return true
	case mad.AttrVendorDiag:
		copy(s.Data, t)
		return !set
	case mad.AttrLedInfo:
		if set {
			copy(t, s.Data[:1])
		}
	case mad.AttrRandomForwarding:
		if !x.isSw || s.Modifier > 1 {
			return false
		}
		if set {
			copy(t, s.Data)
		}
	default:
		return false
	}
	copy(s.Data, t)
	return true
}

// traps has a node send a trap, again until it is told that it was heard.
func (n *simNet) traps(x *simNode) {
	p := x.end()
	if p.field("portState") != 4 || p.field("LID") == 0 || x.trapping != 0 {
		return
	}
	number, producer := []int{129, 130, 131, 144, 145, 256, 257, 258}[n.r.IntN(8)], mad.ProducerCA
	if x.isSw {
		producer = mad.ProducerSwitch
	}
	x.trapping = 0x7000_0000 + n.r.Uint64N(1<<20)
	s := mad.SMP{Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetLID, ClassVersion: 1, Method: mad.Trap, TID: x.trapping, Attribute: mad.AttrNotice}, Data: make([]byte, 64)}
	for name, v := range map[string]uint64{"isGeneric": 1, "noticeType": 1, "nodeType": uint64(producer), "trapNumber": uint64(number), "issuerLID": p.field("LID"), "noticeToggle": 1, "noticeCount": 1} {
		mad.LayoutNotice.Field(name).PutUint(s.Data, v)
	}
	switch number {
	case 256:
		binary.BigEndian.PutUint16(s.Data[12:], simManagerLID)
		binary.BigEndian.PutUint64(s.Data[24:], 77)
	case 257:
		binary.BigEndian.PutUint16(s.Data[12:], simManagerLID)
		binary.BigEndian.PutUint16(s.Data[14:], uint16(p.field("LID")))
		binary.BigEndian.PutUint16(s.Data[18:], 0x4444)
		s.Data[27] = byte(n.r.IntN(2))
	}
	b := make([]byte, mad.Size)
	if s.Encode(b) != nil {
		panic("no room")
	}
	var send func(left int)
	send = func(left int) {
		if x.trapping != s.TID || left == 0 || p.field("portState") != 4 {
			x.trapping = 0
			return
		}
		n.route(x, p, &flight{uint16(p.field("LID")), simManagerLID, 0, 15, 0xFFFF, 0, 0, 0, b})
		n.after(2_000_000_000, func() { send(left - 1) })
	}
	send(3)
}

// represses answers a trap.
func (m *simManager) represses(f *flight) {
	b := append([]byte(nil), f.b...)
	b[3] = byte(mad.TrapRepress)
	binary.BigEndian.PutUint64(b[24:], m.mkey)
	m.net.leave(m.port(), &flight{simManagerLID, f.slid, 0, 15, f.pkey, 0, 0, 0, b})
}

// manages reports whether a node has a subnet manager, in standby.
func (x *simNode) manages() bool { return x.net.wide && !x.isSw && x.guid%32 != 0 }
