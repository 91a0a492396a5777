package conform

import (
	"encoding/binary"

	"ibwitness/fabricagent/ibsim"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet"
)

// Status codes of subnet administration (section 15.2.4).
const (
	statusRequestInvalid = 0x0200
	statusNoRecords      = 0x0300
	statusManyRecords    = 0x0400
	statusInsufficient   = 0x0600
)

// Bits of ComponentMask.
const (
	maskLID      = 1 << 0 // of the records of a node or port
	maskPort     = 1 << 1 // of a PortInfoRecord
	maskKeyBlock = 1 << 1 // of a P_KeyTableRecord
	maskKeyPort  = 1 << 2
	maskDGID     = 1 << 2 // of a PathRecord
	maskSGID     = 1 << 3
	maskNumbPath = 1 << 12
	maskPathPKey = 1 << 13
)

// inquiry is a request for records.
type inquiry struct {
	method mad.Method
	a      mad.Attribute
	key    uint64 // SM_Key
	mask   uint64
	values map[string]uint64 // of components
	gids   map[string][]byte
}

// data is the record of the request.
func (q *inquiry) data() []byte {
	l := mad.SARecord(q.a)
	b := make([]byte, l.Size)
	for name, v := range q.values {
		l.Field(name).PutUint(b, v)
	}
	for name, g := range q.gids {
		copy(l.Field(name).Bytes(b), g)
	}
	return b
}

// inquire sends a request up to some times and returns the answer; nil: none came.
func (m *manager) inquire(q inquiry, tries int) (sent *packet.Packet, got *administered) {
	m.tid++
	if m.subnet != nil {
		m.tid = m.tid&(1<<48-1) | uint64(m.subnet.clientAt(m.other).Number())<<48
	}
	m.arrived = nil
	for range tries {
		sent = m.asksRecords(mad.Header{Method: q.method, Attribute: q.a, TID: m.tid}, mad.RMPP{}, mad.SA{SMKey: q.key, ComponentMask: q.mask}, q.data())
		for until := m.r.now() + m.wait; m.r.now() < until; {
			for _, x := range m.administrations(until-m.r.now(), 1) {
				if x.Method&0x80 != 0 && x.TID == m.tid {
					return sent, &x
				}
			}
		}
	}
	return sent, nil
}

// inquires judges the status of the answer to a request, and returns that where it is right.
func (r *run) inquires(id string, q inquiry, want mad.Status) *administered {
	sent, got := r.manager.inquire(q, madTries)
	expected := want.Text(mad.ClassSubnetAdmin)
	if got == nil {
		r.check(id, false, expected, "no answer", sent)
		return nil
	}
	if !r.check(id, mad.Status(got.Status) == want, expected, mad.Status(got.Status).Text(got.Class), sent, got.p) {
		return nil
	}
	return got
}

// tableOf asks for a table of records, and returns them, cut to the size that the attribute has. Where the answer is no table the result has its first MAD only; the test ends where
// nothing comes.
func (m *manager) tableOf(q inquiry) (t *received, records [][]byte) {
	for range madTries {
		t = m.asksTableOf(q.a, mad.SA{SMKey: q.key, ComponentMask: q.mask}, q.data())
		if t.collect() {
			break
		}
	}
	first, came := t.segments[1]
	if !came {
		m.r.halt("GetTable(%s) is not answered", mad.SARecord(q.a).Name)
	}
	if t.last == 0 {
		return t, nil
	}
	var h mad.SA
	m.r.can(h.Decode(first.p.Payload))
	size, b := int(h.AttributeOffset)*8, t.data()
	for at := 0; size > 0 && at+size <= len(b); at += size {
		records = append(records, b[at:at+min(size, mad.SARecord(q.a).Size)])
	}
	return t, records
}

// collect takes a table to its end, and reports whether it came whole, or an answer that is no table.
func (t *received) collect() bool {
	for t.last == 0 {
		if t.next > 1 {
			t.acks(tableWindows[1])
		}
		had := t.next
		for _, x := range t.own(t.m.administrations(t.m.wait, int(t.window-t.next)+1)) {
			if !x.rmpp.Active() {
				t.segments[1] = x
				return true
			}
			if x.rmpp.Data1 != t.next || t.last != 0 {
				continue
			}
			t.segments[t.next] = x
			if t.next++; x.rmpp.Flags&mad.RMPPLast != 0 {
				t.last = x.rmpp.Data1
			}
		}
		if t.last == 0 && t.next == had || t.next > mostSegments {
			return false
		}
	}
	t.acks(0)
	return true
}

// proofs are the request and the segments of a table.
func (t *received) proofs() []*packet.Packet {
	list := []*packet.Packet{t.asked}
	for n := uint32(1); n < t.next || n == 1; n++ {
		list = append(list, t.segments[n].p)
	}
	return list
}

// ends are the GIDs of tester and device.
func (m *manager) ends() (tester, device []byte) {
	at := ibsim.End{Node: m.node, Port: m.at.Port}
	if m.subnet != nil {
		at = m.subnet.master(m.masterLID)
	}
	if at.Node.Type() == subnet.Switch {
		at.Port = 0
	}
	return gidOf(m.from), gidOf(at)
}

// gidOf is the GID of a port, with the default prefix.
func gidOf(e ibsim.End) []byte {
	const defaultPrefix = 0xFE80 << 48
	guid := mad.LayoutNodeInfo.Field("portGUID").Uint(e.Node.NodeInfo(e.Port))
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, defaultPrefix), guid)
}
