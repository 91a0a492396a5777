package conform

import (
	"encoding/binary"
	"slices"

	"ibwitness/fabricagent/ibsim"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet"
	"ibwitness/subnet/sa"
	"ibwitness/subnet/sma"
)

// recordedNodes is of how many nodes that are not there subnet administration in software has a record.
const recordedNodes = 28

// standbySMState is SMState of a subnet manager that waits (section 14.4.1).
const standbySMState = 2

// softKey is the SM_Key of subnet administration in software, and trustedMKey what it takes for the M_Key of the device.
const (
	softKey     = 0x0102_0304
	trustedMKey = 0x1234
)

// softPKeys are the P_Keys by which the ends of the link can talk, as subnet administration in software knows them.
var softPKeys = []uint16{0xFFFF, 0x8001}

// administration is subnet administration in software, with records of tester and device, and of nodes that are not there.
func (s Software) administration(standby bool) (*sa.Agent, error) {
	c := sa.Config{Key: softKey, Standby: standby, Records: map[mad.Attribute][][]byte{}}
	device := uint64(nodeGUID)
	if !s.wanted(Switch) {
		device++ // of port 1
	}
	c.Ports = []sa.Port{{GUID: testerGUID + 1, LID: testerLID, PKeys: softPKeys}, {GUID: device, LID: nodeLID, PKeys: softPKeys}, {GUID: secondGUID + 1, LID: secondLID, PKeys: softPKeys}}
	for _, p := range c.Ports[:2] {
		info, keys := make([]byte, mad.LayoutPortInfoRecord.Size), make([]byte, mad.LayoutPKeyTableRecord.Size)
		for _, b := range [][]byte{info, keys} {
			binary.BigEndian.PutUint16(b, p.LID)
		}
		info[2], keys[4] = 1, 1 // the port
		for name, v := range map[string]uint64{"MKey": trustedMKey, "GIDPrefix": 0xFE80 << 48, "LID": uint64(p.LID), "masterSMLID": nodeLID, "portState": sma.Active, "portPhysicalState": 5} {
			mad.LayoutPortInfo.Field(name).PutUint(info[4:], v)
		}
		for i, k := range p.PKeys {
			binary.BigEndian.PutUint16(keys[8+2*i:], k)
		}
		c.Records[mad.AttrPortInfoRecord] = append(c.Records[mad.AttrPortInfoRecord], info)
		c.Records[mad.AttrPKeyTableRecord] = append(c.Records[mad.AttrPKeyTableRecord], keys)
		c.Records[mad.AttrNodeRecord] = append(c.Records[mad.AttrNodeRecord], nodeRecord(p.LID, p.GUID))
	}
	for i := range uint64(recordedNodes) {
		c.Records[mad.AttrNodeRecord] = append(c.Records[mad.AttrNodeRecord], nodeRecord(uint16(100+i), nodeGUID+i<<16+1))
	}
	for i, lid := range []uint16{nodeLID, secondLID} {
		b := make([]byte, mad.LayoutSMInfoRecord.Size)
		binary.BigEndian.PutUint16(b, lid)
		mad.LayoutSMInfo.Field("GUID").PutUint(b[4:], nodeGUID+uint64(lid))
		mad.LayoutSMInfo.Field("SMState").PutUint(b[4:], []uint64{masterSMState, standbySMState}[i])
		c.Records[mad.AttrSMInfoRecord] = append(c.Records[mad.AttrSMInfoRecord], b)
	}
	if administrationFault(s.Fault) {
		c.Faults = []string{s.Fault}
	}
	return sa.New(c)
}

// nodeRecord is the NodeRecord of a port of a channel adapter.
func nodeRecord(lid uint16, guid uint64) []byte {
	b := make([]byte, mad.LayoutNodeRecord.Size)
	binary.BigEndian.PutUint16(b, lid)
	for name, v := range map[string]uint64{
		"baseVersion": 1, "classVersion": 1, "nodeType": uint64(subnet.ChannelAdapter), "numPorts": 1, "systemImageGUID": guid - 1, "nodeGUID": guid - 1, "portGUID": guid,
		"partitionCap": 1, "localPortNum": 1,
	} {
		mad.LayoutNodeInfo.Field(name).PutUint(b[4:], v)
	}
	return b
}

// administrationFault reports whether a fault is one of subnet administration.
func administrationFault(name string) bool {
	return slices.ContainsFunc(sa.Faults(), func(f sa.Fault) bool { return f.Name == name })
}

// administers has subnet administration at the device take a MAD that was delivered there, and reports whether it is for that.
func (m *manager) administers(at ibsim.End, d *ibsim.Datagram) bool {
	if m.standing != nil && at.Node == m.second.Node && mad.Class(d.MAD[1]) == mad.ClassSubnetAdmin {
		m.r.clock.After(turnaround, func() {
			m.issue(at, secondLID, m.standing.Receive(m.r.now(), sa.End{LID: d.SLID, QPN: d.SrcQP}, d.MAD[:]))
		})
		return true
	}
	if m.administration == nil || at.Node != m.node {
		return false
	}
	from := sa.End{LID: d.SLID, QPN: d.SrcQP}
	switch class, method := mad.Class(d.MAD[1]), mad.Method(d.MAD[3]); {
	case class == mad.ClassSubnetAdmin && d.DestQP == gsiQP:
		m.r.clock.After(turnaround, func() { m.issues(at, m.administration.Receive(m.r.now(), from, d.MAD[:])) })
	case class == mad.ClassSubnetLID && method == mad.Trap && d.DestQP == 0:
		m.r.clock.After(turnaround, func() { m.issues(at, m.administration.Trap(m.r.now(), from, d.MAD[:])) })
	default:
		return false
	}
	return true
}

// issue has MADs of subnet administration leave a port that has a LID.
func (m *manager) issue(at ibsim.End, lid uint16, list []sa.Out) {
	for _, o := range list {
		d := ibsim.Datagram{SLID: lid, DLID: o.To.LID, SrcQP: o.From, DestQP: o.To.QPN}
		copy(d.MAD[:], o.MAD)
		before := m.passed
		if _, ok := m.fabric.Carry(m.r.now(), at, &d); ok && m.passed != before {
			m.arrived = append(m.arrived, m.passed)
		}
	}
}

// issues has MADs of subnet administration at the device leave, and has it do later what is due then.
func (m *manager) issues(at ibsim.End, list []sa.Out) {
	m.issue(at, uint16(m.lid()), list)
	if next, ok := m.administration.Next(); ok {
		m.r.clock.After(max(next-m.r.now(), 0), func() {
			if due, ok := m.administration.Next(); ok && due <= m.r.now() {
				m.issues(at, m.administration.Expire(m.r.now()))
			}
		})
	}
}

// administered is a MAD of subnet administration.
type administered struct {
	mad.Header
	rmpp mad.RMPP
	data []byte // from byte 56 on
	p    *packet.Packet
}

// asksAdministration sends a MAD to subnet administration: a request, or r where that is active, an answer to segments. data are the bytes from byte 56 on.
func (m *manager) asksAdministration(h mad.Header, r mad.RMPP, data []byte) *packet.Packet {
	return m.asksRecords(h, r, mad.SA{}, data)
}

// asksRecords is asksAdministration with a header of subnet administration.
func (m *manager) asksRecords(h mad.Header, r mad.RMPP, s mad.SA, data []byte) *packet.Packet {
	h.BaseVersion, h.Class, h.ClassVersion = 1, mad.ClassSubnetAdmin, 2
	d := ibsim.Datagram{SLID: m.self(), DLID: uint16(m.lid()), SrcQP: gsiQP, DestQP: gsiQP}
	from := m.from
	if m.other {
		d.SLID, from = m.otherLID(), m.second
	}
	if m.asked != 0 {
		d.DLID = m.asked
	}
	m.r.can(h.Encode(d.MAD[:]))
	m.r.can(r.Encode(d.MAD[:]))
	m.r.can(s.Encode(d.MAD[:]))
	copy(d.MAD[mad.SAHeaderSize:], data)
	return m.leave(from, d, m.fabric.Carry)
}

// administrations takes the MADs of subnet administration that have come in a time, or as soon as there are some.
func (m *manager) administrations(wait int64, enough int) (list []administered) {
	m.r.until(m.r.now()+wait, func() bool {
		for _, p := range m.arrived {
			x := administered{p: p}
			if mad.DecodeHeader(p.Payload, &x.Header) == nil && x.Class == mad.ClassSubnetAdmin && x.rmpp.Decode(p.Payload) == nil {
				x.data = p.Payload[mad.SAHeaderSize:]
				list = append(list, x)
			}
		}
		m.arrived = nil
		return len(list) >= enough
	})
	return list
}

// proofs are the packets of MADs.
func proofs(list []administered, more ...*packet.Packet) []*packet.Packet {
	for _, x := range list {
		more = append(more, x.p)
	}
	return more
}
