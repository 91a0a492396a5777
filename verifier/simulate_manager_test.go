package verifier_test

import (
	"encoding/binary"

	"ibwitness/mad"
)

// simManager is the subnet manager, on port 1 of the first node. It asks one thing after the other, or several at once, each again when no answer comes.
type simManager struct {
	net    *simNet
	tid    uint64
	open   map[uint64]*simAsk
	tasks  []func() *simAsk // what is to be asked; nil: nothing, after all
	window int
	mkey   uint64
	lids   map[*simPort]uint16
	next   uint16
	direct bool // on directed routes only
	repeat int64
}

// simAsk is a request.
type simAsk struct {
	to     *simNode
	s      mad.SMP
	direct bool
	done   func(*mad.SMP)
	tries  int
	f      *flight
}

const simManagerLID = 1

func (m *simManager) port() *simPort { return m.net.nodes[0].ports[1] }

// ask makes a request of a node.
func (m *simManager) ask(to *simNode, method mad.Method, a mad.Attribute, modifier uint32, done func(*mad.SMP)) *simAsk {
	m.tid++
	k := &simAsk{to: to, direct: m.direct || m.lids[to.end()] == 0 || m.net.r.IntN(4) == 0, done: done}
	k.s = mad.SMP{Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetLID, ClassVersion: 1, Method: method, TID: m.tid, Attribute: a, Modifier: modifier}, MKey: m.mkey, Data: make([]byte, 64)}
	return k
}

// end is the port of a node that has LIDs, as the manager reaches it.
func (x *simNode) end() *simPort {
	if x.isSw {
		return x.ports[0]
	}
	return x.ports[x.back[len(x.back)-1]]
}

// fill sends requests while the window has room.
func (m *simManager) fill() {
	for len(m.open) < m.window && len(m.tasks) > 0 {
		k := m.tasks[0]()
		m.tasks = m.tasks[1:]
		if k == nil {
			continue
		}
		if k.direct {
			k.s.Class, k.s.DrSLID, k.s.DrDLID = mad.ClassSubnetDirected, 0xFFFF, 0xFFFF
			k.s.SetHops(1, len(k.to.path))
			k.s.Initial = append([]byte{0}, k.to.path...)
		}
		b := make([]byte, mad.Size)
		if err := k.s.Encode(b); err != nil {
			panic(err)
		}
		k.f = &flight{simManagerLID, m.lids[k.to.end()], 0, 15, 0xFFFF, 0, 0, 0, b}
		if k.direct {
			k.f.slid, k.f.dlid = 0xFFFF, 0xFFFF
		}
		m.open[k.s.TID] = k
		m.send(k)
	}
}

func (m *simManager) send(k *simAsk) {
	k.tries++
	m.net.leave(m.port(), k.f)
	tries := k.tries
	m.net.after(m.repeat, func() {
		switch {
		case m.open[k.s.TID] != k || k.tries != tries:
		case k.tries < 4:
			m.send(k)
		default:
			delete(m.open, k.s.TID)
			m.fill()
		}
	})
}

// managed takes what has come to QP0 of the manager.
func (m *simManager) managed(f *flight) {
	var s mad.SMP
	if s.Decode(f.b) != nil {
		return
	}
	if s.Method == mad.Trap {
		m.represses(f)
		return
	}
	k := m.open[s.TID]
	if s.Method != mad.GetResp || k == nil {
		return
	}
	delete(m.open, s.TID)
	if k.done != nil && s.Code() == 0 {
		k.done(&s)
	}
	m.fill()
}

// add adds a task after those that there are.
func (m *simManager) add(do func() *simAsk) { m.tasks = append(m.tasks, do) }

func (m *simManager) get(to *simNode, a mad.Attribute, modifier uint32, done func(*mad.SMP)) {
	m.add(func() *simAsk { return m.ask(to, mad.Get, a, modifier, done) })
}

// put asks for a block, changes it, and sets it.
func (m *simManager) put(to *simNode, a mad.Attribute, modifier uint32, change func(data []byte)) {
	m.add(func() *simAsk {
		return m.ask(to, mad.Get, a, modifier, func(s *mad.SMP) {
			k := m.ask(to, mad.Set, a, modifier, nil)
			copy(k.s.Data, s.Data)
			change(k.s.Data)
			m.tasks = append([]func() *simAsk{func() *simAsk { return k }}, m.tasks...)
		})
	})
}

// set sets a block without a look.
func (m *simManager) set(to *simNode, a mad.Attribute, modifier uint32, change func(data []byte)) {
	m.add(func() *simAsk {
		k := m.ask(to, mad.Set, a, modifier, nil)
		change(k.s.Data)
		return k
	})
}

// discover asks a node who it is.
func (m *simManager) discover(x *simNode) {
	m.add(func() *simAsk {
		k := m.ask(x, mad.Get, mad.AttrNodeInfo, 0, nil)
		k.direct = true
		return k
	})
	m.get(x, mad.AttrNodeDescription, 0, nil)
	if x.isSw {
		m.put(x, mad.AttrSwitchInfo, 0, func(d []byte) { mad.LayoutSwitchInfo.Field("linearFDBTop").PutUint(d, 200) })
	}
}

// portSetting changes a PortInfo as the manager wants it.
func (m *simManager) portSetting(p *simPort, state uint64) func([]byte) {
	in := mad.LayoutPortInfo
	return func(d []byte) {
		for name, v := range map[string]uint64{
			"portState": state, "portPhysicalState": 0, "linkWidthEnabled": 0, "linkSpeedEnabled": 0, "linkDownDefaultState": 0, "neighborMTU": 4, "operationalVLs": 2,
			"subnetTimeOut": 18, "masterSMLID": simManagerLID, "masterSMSL": 0, "MKey": m.mkey, "MKeyLeasePeriod": 30, "MKeyProtectBits": 1,
		} {
			in.Field(name).PutUint(d, v)
		}
		if m.net.wide {
			in.Field("MKeyLeasePeriod").PutUint(d, 3)
		}
		if lid := m.lids[p]; lid != 0 {
			in.Field("LID").PutUint(d, uint64(lid))
		}
	}
}

// configure brings a node into use.
func (m *simManager) configure(x *simNode, lids bool) {
	if end := x.end(); lids || m.lids[end] == 0 {
		m.next += 4
		lid := m.next
		m.add(func() *simAsk { m.direct = true; return nil })
		m.put(x, mad.AttrPortInfo, uint32(end.number), func(d []byte) {
			m.lids[end] = lid
			m.portSetting(end, 0)(d)
		})
		m.add(func() *simAsk { m.direct = false; return nil })
	}
	for i, p := range x.ports {
		if p != nil && i > 0 && p.peer != nil && (x.isSw || p == x.end()) {
			m.portStates(x, p)
		}
	}
	if !x.isSw || m.net.r.IntN(2) == 0 {
		block := m.net.r.IntN(2)
		m.put(x, mad.AttrPKeyTable, uint32(block), m.someKeys(block))
	}
	if !x.isSw {
		m.get(x, mad.AttrPKeyTable, 0, nil)
		m.get(x, mad.AttrPKeyTable, 1, nil)
		m.get(x, mad.AttrGUIDInfo, 0, nil)
		m.get(x, mad.AttrGUIDInfo, 1, nil)
		m.set(x, mad.AttrSLtoVL, 0, m.lanes)
	}
	m.set(x, mad.AttrVLArbitration, 0x10000|uint32(m.onPort(x)), func(d []byte) { d[1], d[2], d[3] = 4, 1, 8 })
}

func (m *simManager) onPort(x *simNode) uint8 {
	if !x.isSw {
		return 0
	}
	return uint8(1 + m.net.r.IntN(len(x.ports)-1))
}

func (m *simManager) lanes(d []byte) {
	for i := range 8 {
		d[i] = byte(m.net.r.IntN(2)<<4 | m.net.r.IntN(2))
	}
}

// someKeys gives a port other P_Keys in one block: the default one stays.
func (m *simManager) someKeys(block int) func([]byte) {
	return func(d []byte) {
		seen := map[uint16]bool{}
		for i := 2; i < 64; i += 2 {
			k := uint16(0)
			if m.net.r.IntN(8) == 0 {
				k = uint16(1 + m.net.r.IntN(30) + 32*block)
			}
			if seen[k] {
				k = 0
			}
			if seen[k] = true; k != 0 && m.net.r.IntN(2) == 0 {
				k |= 0x8000
			}
			binary.BigEndian.PutUint16(d[i:], k)
		}
	}
}

// portStates takes a port from Initialize to Active, as far as it is not there.
func (m *simManager) portStates(x *simNode, p *simPort) {
	state := mad.LayoutPortInfo.Field("portState")
	for _, to := range []uint64{3, 4} {
		m.add(func() *simAsk {
			return m.ask(x, mad.Get, mad.AttrPortInfo, uint32(p.number), func(s *mad.SMP) {
				if was := state.Uint(s.Data); was != to-1 {
					return
				}
				k := m.ask(x, mad.Set, mad.AttrPortInfo, uint32(p.number), nil)
				copy(k.s.Data, s.Data)
				m.portSetting(p, to)(k.s.Data)
				m.tasks = append([]func() *simAsk{func() *simAsk { return k }}, m.tasks...)
			})
		})
	}
}

// routes gives the switches their forwarding tables.
func (m *simManager) routes() {
	for _, x := range m.net.nodes {
		if !x.isSw {
			continue
		}
		for block := range uint32(2) {
			m.set(x, mad.AttrLinearForwarding, block, func(d []byte) {
				for i := range d {
					d[i] = m.toward(x, uint16(64*int(block)+i))
				}
			})
		}
	}
}

// toward is the port of a switch that leads to a LID.
func (m *simManager) toward(x *simNode, lid uint16) byte {
	if lid == simManagerLID {
		return x.back[len(x.back)-1]
	}
	for p, l := range m.lids {
		if l != lid {
			continue
		}
		y := p.node
		switch {
		case y == x:
			return 0
		case len(y.path) > len(x.path) && string(y.path[:len(x.path)]) == string(x.path):
			return y.path[len(x.path)]
		}
		return x.back[len(x.back)-1]
	}
	return 255
}
