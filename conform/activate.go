package conform

import (
	"slices"

	"ibwitness/fabricagent/ibsim"
	"ibwitness/mad"
	"ibwitness/subnet/sma"
)

// LIDs that the tester gives the two ends of the link.
const (
	testerLID = 1
	nodeLID   = 2
)

// The queue pair of general services and its Q_Key (section 10.2.4).
const (
	gsiQP   = 1
	gsiQKey = 0x8001_0000
)

// activate has the tester, as a subnet manager does, give LIDs to a switch and itself, and take their link to Active, so that other packets than those of subnet
// management pass it.
func (m *manager) activate() {
	m.set(mad.AttrPortInfo, 0, map[string]uint64{"LID": nodeLID, "masterSMLID": testerLID})
	m.write(mad.AttrLinearForwarding, 0, func(data []byte) { data[testerLID], data[nodeLID] = 1, 0 })
	m.set(mad.AttrSwitchInfo, 0, map[string]uint64{"linearFDBTop": nodeLID, "portStateChange": 0})
	for _, state := range []uint64{sma.Armed, sma.Active} {
		m.own(map[string]uint64{"LID": testerLID, "masterSMLID": testerLID, "portState": state})
		m.set(mad.AttrPortInfo, 1, map[string]uint64{"portState": state})
	}
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

// own sets components of PortInfo of the port of the tester.
func (m *manager) own(change map[string]uint64) {
	s := mad.SMP{Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetLID, ClassVersion: 1, Method: mad.Set, Attribute: mad.AttrPortInfo}}
	s.Data = m.from.Node.PortInfo(m.from.Port)
	changed(mad.LayoutPortInfo, s.Data, change)
	b := make([]byte, mad.Size)
	m.r.can(s.Encode(b))
	m.from.Node.Receive(m.r.now(), m.from.Port, b)
}

// changed sets components of an attribute; the states of a port, where they are not among them, stay as they are, which 0 means.
func changed(layout *mad.Layout, data []byte, change map[string]uint64) {
	if layout == mad.LayoutPortInfo {
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
	d := ibsim.Datagram{SLID: testerLID, DLID: nodeLID, SrcQP: gsiQP, DestQP: gsiQP, SL: sl}
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
