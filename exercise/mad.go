package exercise

import (
	"math/rand/v2"

	"ibwitness/mad"
)

// MAD is a management datagram: its header from fields, what follows from the components of its attribute, or from bytes.
type MAD struct {
	mad.Header
	TID        Value
	MKey       uint64   // of subnet management
	Route      []uint16 // of a directed route: the port of each hop
	Pointer    int      // hop pointer of a directed route
	Components uint64   // component mask of subnet administration
	Fields     []madField
	Message    []messageField // of the communication manager
	Data       []byte         // from byte DataAt on
	DataAt     int

	layout *mad.Layout
}

// madField is a component of an attribute, and its value.
type madField struct {
	mad.Field
	value Value
}

// classes are the management classes by name, and the version that their datagrams have.
var classes = map[string]struct {
	class   mad.Class
	version uint8
}{
	"subnet": {mad.ClassSubnetLID, 1}, "subnet_directed": {mad.ClassSubnetDirected, 1}, "subnet_administration": {mad.ClassSubnetAdmin, 2},
	"performance": {mad.ClassPerformance, 1}, "baseboard": {mad.ClassBoard, 1}, "device": {mad.ClassDevice, 1}, "cm": {mad.ClassCM, 2}, "snmp": {mad.ClassSNMP, 1},
	"congestion": {mad.ClassCongestion, mad.CongestionVersion},
}

// methods are the methods by name.
var methods = map[string]mad.Method{
	"get": mad.Get, "set": mad.Set, "send": mad.Send, "trap": mad.Trap, "report": mad.Report, "trap_repress": mad.TrapRepress, "get_resp": mad.GetResp,
	"report_resp": mad.ReportResp, "get_table": mad.GetTable, "get_table_resp": mad.GetTableResp, "get_trace_table": mad.GetTraceTable, "get_multi": mad.GetMulti,
	"get_multi_resp": mad.GetMultiResp, "delete": mad.Delete, "delete_resp": mad.DeleteResp,
}

// layoutOf is the layout of an attribute of a class; nil where it is not known.
func layoutOf(c mad.Class, a mad.Attribute) *mad.Layout {
	if c.Subnet() {
		return mad.SMPAttribute(a)
	}
	switch a {
	case mad.AttrClassPortInfo:
		return mad.LayoutClassPortInfo
	case mad.AttrNotice:
		return mad.LayoutNotice
	case mad.AttrInformInfo:
		return mad.LayoutInformInfo
	}
	switch c {
	case mad.ClassSubnetAdmin:
		return mad.SARecord(a)
	case mad.ClassPerformance:
		return map[mad.Attribute]*mad.Layout{
			mad.AttrPortCounters: mad.LayoutPortCounters, mad.AttrPortCountersExtended: mad.LayoutPortCountersExtended,
			mad.AttrPortSamplesControl: mad.LayoutPortSamplesControl, mad.AttrPortSamplesResult: mad.LayoutPortSamplesResult,
		}[a]
	}
	return nil
}

// attributeAt is where the attribute begins in a datagram of a class.
func attributeAt(c mad.Class) int {
	switch c {
	case mad.ClassSubnetAdmin:
		return mad.SAHeaderSize
	case mad.ClassCM:
		return mad.HeaderSize
	}
	return mad.SMPData
}

// directed reports whether the datagram goes on a directed route.
func (m *MAD) directed() bool { return m.Class == mad.ClassSubnetDirected }

// encode makes datagram n of a step.
func (m *MAD) encode(n uint64, chance *rand.Rand) []byte {
	b := make([]byte, mad.Size)
	h := m.Header
	h.TID = m.TID.of(n, chance)
	switch {
	case len(m.Message) > 0:
		m.encodeMessage(h, b, n, chance)
	case m.Class.Subnet():
		s := mad.SMP{Header: h, MKey: m.MKey}
		if m.directed() {
			s.DrSLID, s.DrDLID = mad.PermissiveLID, mad.PermissiveLID
			s.Initial = []byte{0}
			for _, hop := range m.Route {
				s.Initial = append(s.Initial, byte(hop))
			}
			s.SetHops(m.Pointer, len(m.Route))
		}
		_ = s.Encode(b) // there is room
	default:
		_ = h.Encode(b)
		if m.Class == mad.ClassSubnetAdmin {
			_ = (&mad.SA{ComponentMask: m.Components, AttributeOffset: m.offset()}).Encode(b)
			b[24] = 1 // the version of RMPP
		}
	}
	attribute := b[attributeAt(m.Class):]
	for i := range m.Fields {
		m.Fields[i].PutUint(attribute, m.Fields[i].value.of(n, chance))
	}
	copy(b[m.DataAt:], m.Data)
	return b
}

// offset is the size of a record of subnet administration, in units of 8 bytes.
func (m *MAD) offset() uint16 {
	if m.layout == nil {
		return 0
	}
	return uint16((m.layout.Size + 7) / 8)
}
