package conform

import (
	"encoding/binary"
	"slices"

	"ibwitness/fabricagent/ibsim"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet"
	"ibwitness/subnet/sma"
)

// LIDs that the tester gives the two ends of the link.
const (
	testerLID = 1
	nodeLID   = 2
)

// lid is the LID of the device: of a switch one, of another node one for each port, multiples of 2 and not of 4.
func (m *manager) lid() uint64 {
	if m.subnet != nil {
		return uint64(m.masterLID)
	}
	if m.node.Type() == subnet.Switch {
		return nodeLID
	}
	return 4*uint64(m.at.Port) - 2
}

// self is the LID of the tester.
func (m *manager) self() uint16 {
	if m.subnet != nil {
		return m.ownLID
	}
	return testerLID
}

// The queue pair of general services and its Q_Key (section 10.2.4).
const (
	gsiQP   = 1
	gsiQKey = 0x8001_0000
)

// activate has the tester, as a subnet manager does, give LIDs to a device and itself, and take their link to Active, so that other packets than those of subnet
// management pass it. A switch gets the way to the tester, too.
func (m *manager) activate() {
	m.address()
	if m.node.Type() == subnet.Switch {
		m.route()
	}
	port := uint32(m.at.Port)
	for _, state := range []uint64{sma.Armed, sma.Active} {
		if m.get(mad.AttrPortInfo, port).uint(mad.LayoutPortInfo, "portState") >= state {
			continue
		}
		m.own(m.from, map[string]uint64{"LID": testerLID, "masterSMLID": testerLID, "portState": state})
		m.set(mad.AttrPortInfo, port, map[string]uint64{"portState": state})
	}
}

// route sets the way to the tester in the forwarding table that a switch has.
func (m *manager) route() {
	if m.get(mad.AttrSwitchInfo, 0).uint(mad.LayoutSwitchInfo, "linearFDBCap") == 0 {
		m.write(mad.AttrRandomForwarding, 0, func(data []byte) {
			binary.BigEndian.PutUint32(data, testerLID<<16|randomValid|uint32(m.at.Port))
		})
		return
	}
	m.write(mad.AttrLinearForwarding, 0, func(data []byte) { data[testerLID], data[nodeLID] = m.at.Port, 0 })
	m.set(mad.AttrSwitchInfo, 0, map[string]uint64{"linearFDBTop": nodeLID})
}

// set sets components of an attribute of the node, and leaves the others as they are.
func (m *manager) set(a mad.Attribute, modifier uint32, change map[string]uint64) {
	layout := mad.LayoutPortInfo
	if a == mad.AttrSwitchInfo {
		layout = mad.LayoutSwitchInfo
	}
	m.write(a, modifier, func(data []byte) { changed(layout, data, change) })
}

// write changes the data of an attribute of the node. The test ends where the node does not take it.
func (m *manager) write(a mad.Attribute, modifier uint32, change func(data []byte)) {
	data := slices.Clone(m.get(a, modifier).Data)
	change(data)
	if x := m.ask(mad.Set, a, modifier, data); x.got == nil || x.Code() != 0 {
		m.r.halt("a Set that takes the link to Active is not taken: %s", x.outcome())
	}
}

// activated begins a test of packets by LIDs: the survey, step 2 takes the link to Active, and step 3 is what follows.
func (r *run) activated() *manager {
	r.survey()
	r.at(2)
	r.manager.activate()
	r.at(3)
	return r.manager
}

// activateSecond gives the second tester its LID, the device a way to it, and takes their link to Active.
func (m *manager) activateSecond() {
	if m.get(mad.AttrSwitchInfo, 0).uint(mad.LayoutSwitchInfo, "linearFDBCap") == 0 {
		m.write(mad.AttrRandomForwarding, 0, func(data []byte) { binary.BigEndian.PutUint32(data[4:], secondLID<<16|randomValid|secondPort) })
	} else {
		m.write(mad.AttrLinearForwarding, 0, func(data []byte) { data[secondLID] = secondPort })
		m.set(mad.AttrSwitchInfo, 0, map[string]uint64{"linearFDBTop": secondLID})
	}
	if m.second.Node == nil {
		return
	}
	for _, state := range []uint64{sma.Armed, sma.Active} {
		m.own(m.second, map[string]uint64{"LID": secondLID, "masterSMLID": testerLID, "portState": state})
		m.set(mad.AttrPortInfo, secondPort, map[string]uint64{"portState": state})
	}
}

// own sets components of PortInfo of the port of a tester.
func (m *manager) own(end ibsim.End, change map[string]uint64) {
	s := mad.SMP{Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetLID, ClassVersion: 1, Method: mad.Set, Attribute: mad.AttrPortInfo}}
	s.Data = end.Node.PortInfo(end.Port)
	changed(mad.LayoutPortInfo, s.Data, change)
	b := make([]byte, mad.Size)
	m.r.can(s.Encode(b))
	end.Node.Receive(m.r.now(), end.Port, b)
}

// changed sets components of an attribute; the states of a port, and PortStateChange of a switch, where they are not among them, stay as they are, which 0 means.
func changed(layout *mad.Layout, data []byte, change map[string]uint64) {
	switch layout {
	case mad.LayoutSwitchInfo:
		layout.Field("portStateChange").PutUint(data, 0)
	case mad.LayoutPortInfo:
		layout.Field("portState").PutUint(data, 0)
		layout.Field("portPhysicalState").PutUint(data, 0)
	}
	for name, v := range change {
		layout.Field(name).PutUint(data, v)
	}
}

// ping asks the agent of performance management at the node, by LIDs, on a service level.
func (m *manager) ping(sl uint8) *exchange {
	m.tid++
	d := ibsim.Datagram{SLID: testerLID, DLID: uint16(m.lid()), SrcQP: gsiQP, DestQP: gsiQP, SL: sl}
	h := mad.Header{BaseVersion: 1, Class: mad.ClassPerformance, ClassVersion: 1, Method: mad.Get, Attribute: mad.AttrClassPortInfo, TID: m.tid}
	m.r.can(h.Encode(d.MAD[:]))
	x := &exchange{tries: madTries}
	for range madTries {
		x.sent = m.send(d)
		if m.r.until(m.r.now()+m.wait, func() bool { return m.takes(x) }) {
			break
		}
	}
	return x
}

// stray sends a packet of general management to a LID that is not of the device.
func (m *manager) stray(lid uint16) *packet.Packet {
	m.tid++
	d := ibsim.Datagram{SLID: testerLID, DLID: lid, SrcQP: gsiQP, DestQP: gsiQP}
	h := mad.Header{BaseVersion: 1, Class: mad.ClassPerformance, ClassVersion: 1, Method: mad.Get, Attribute: mad.AttrClassPortInfo, TID: m.tid}
	m.r.can(h.Encode(d.MAD[:]))
	return m.send(d)
}

// byLID sends a subnet management packet by LIDs once, and waits as long as for an answer.
func (m *manager) byLID(s mad.SMP) *exchange {
	m.tid++
	s.BaseVersion, s.Class, s.ClassVersion, s.TID = 1, mad.ClassSubnetLID, 1, m.tid
	d := ibsim.Datagram{SLID: m.self(), DLID: uint16(m.lid())}
	if m.asked != 0 {
		d.DLID = m.asked
	}
	m.r.can(s.Encode(d.MAD[:]))
	x := &exchange{tries: 1, sent: m.send(d)}
	m.r.until(m.r.now()+m.wait, func() bool { return m.takes(x) })
	return x
}
