package conform

import (
	"encoding/binary"
	"slices"

	"ibwitness/fabricagent/ibsim"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet"
	"ibwitness/subnet/sa"
)

// recordedNodes is of how many nodes subnet administration in software has a record.
const recordedNodes = 30

// administration is subnet administration in software, with records of nodes that are not there.
func (s Software) administration() (*sa.Agent, error) {
	c := sa.Config{}
	for i := range uint64(recordedNodes) {
		b := make([]byte, mad.LayoutNodeRecord.Size)
		put := func(name string, v uint64) { mad.LayoutNodeInfo.Field(name).PutUint(b[4:], v) }
		binary.BigEndian.PutUint16(b, uint16(100+i))
		for name, v := range map[string]uint64{
			"baseVersion": 1, "classVersion": 1, "nodeType": uint64(subnet.ChannelAdapter), "numPorts": 1, "systemImageGUID": nodeGUID + i<<16, "nodeGUID": nodeGUID + i<<16,
			"portGUID": nodeGUID + i<<16 + 1, "partitionCap": 1, "localPortNum": 1,
		} {
			put(name, v)
		}
		c.Nodes = append(c.Nodes, b)
	}
	if administrationFault(s.Fault) {
		c.Faults = []string{s.Fault}
	}
	return sa.New(c)
}

// administrationFault reports whether a fault is one of subnet administration.
func administrationFault(name string) bool {
	return slices.ContainsFunc(sa.Faults(), func(f sa.Fault) bool { return f.Name == name })
}

// administers has subnet administration at the device take a MAD that was delivered there, and reports whether it is for that.
func (m *manager) administers(at ibsim.End, d *ibsim.Datagram) bool {
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

// issues has MADs of subnet administration leave, and has it do later what is due then.
func (m *manager) issues(at ibsim.End, list []sa.Out) {
	for _, o := range list {
		d := ibsim.Datagram{SLID: uint16(m.lid()), DLID: o.To.LID, SrcQP: o.From, DestQP: o.To.QPN}
		copy(d.MAD[:], o.MAD)
		before := m.passed
		if _, ok := m.fabric.Carry(m.r.now(), at, &d); ok && m.passed != before {
			m.arrived = append(m.arrived, m.passed)
		}
	}
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
	return m.asksRecords(h, r, 0, data)
}

// asksRecords is asksAdministration with a ComponentMask.
func (m *manager) asksRecords(h mad.Header, r mad.RMPP, mask uint64, data []byte) *packet.Packet {
	h.BaseVersion, h.Class, h.ClassVersion = 1, mad.ClassSubnetAdmin, 2
	d := ibsim.Datagram{SLID: testerLID, DLID: uint16(m.lid()), SrcQP: gsiQP, DestQP: gsiQP}
	m.r.can(h.Encode(d.MAD[:]))
	m.r.can(r.Encode(d.MAD[:]))
	m.r.can((&mad.SA{ComponentMask: mask}).Encode(d.MAD[:]))
	copy(d.MAD[mad.SAHeaderSize:], data)
	return m.send(d)
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
