package conform

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/packet"
)

// Status codes of subnet administration (section 15.2.4), and the bit of ComponentMask of the LID of a NodeRecord.
const (
	statusNoRecords   = 0x0300
	statusManyRecords = 0x0400
	maskLID           = 1 << 0
)

var records = &Test{
	ID: "X15_002", Title: "Get of no, one and several records",
	Abstract: "A Get that names one record is answered with it; one that names none, or several, is refused.",
	Covers:   []Statement{{"C15-0.1.30", Stated}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{administrationQualifier, "there are NodeRecords of at least 2 LIDs", keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		activeText,
		"GetTable of all NodeRecords.",
		"Get NodeRecord of a LID that no record has.",
		"Get NodeRecord of the LID of the last record.",
		"Get NodeRecord without a component.",
	},
	Assertions: []Assertion{
		{"ours#01", "The Get that names no record is answered with status 0x0300."},
		{"ours#02", "The Get that names one is answered with status 0 and the record."},
		{"ours#03", "The Get that names several is answered with status 0x0400."},
	},
	Decisions: ours,
	run: func(r *run) {
		m := r.manages()
		r.at(3)
		t := m.asksTable()
		count := map[uint64]int{}
		lids := t.lids()
		for _, lid := range lids {
			count[lid]++
		}
		if len(count) < 2 {
			r.inapplicable("there are NodeRecords of %d LIDs", len(count))
		}
		foreign := uint64(1)
		for count[foreign] > 0 {
			foreign++
		}
		r.at(4)
		r.status("ours#01", maskLID, foreign, statusNoRecords)
		r.at(5)
		lid := lids[len(lids)-1]
		if count[lid] > 1 {
			r.skip("ours#02", fmt.Sprintf("there are %d records of LID %d", count[lid], lid))
		} else if got := r.status("ours#02", maskLID, lid, 0); got != nil {
			have := mad.LayoutNodeRecord.Field("LID").Uint(got.data)
			r.check("ours#02", have == lid, fmt.Sprintf("the record of LID %d", lid), fmt.Sprintf("of LID %d", have), got.p)
		}
		r.at(6)
		r.status("ours#03", 0, 0, statusManyRecords)
	},
}

// lids takes the table to its end; the LIDs of its records come back. The test ends where it does not come whole.
func (t *received) lids() (list []uint64) {
	var came []administered
	for t.last == 0 {
		if t.next > 1 {
			t.acks(tableWindows[1])
		}
		list := t.own(t.m.administrations(t.m.wait, 1<<20))
		had := t.next
		for _, x := range list {
			if x.rmpp.Data1 != t.next || t.last != 0 {
				continue
			}
			t.segments[t.next] = x
			if t.next++; x.rmpp.Flags&mad.RMPPLast != 0 {
				t.last = x.rmpp.Data1
			}
		}
		if t.next == had || t.next > mostSegments {
			t.m.r.halt("the table of NodeRecords does not come whole, in %d segments at most", mostSegments)
		}
		came = append(came, list...)
	}
	t.acks(0)
	var h mad.SA
	t.m.r.can(h.Decode(came[0].p.Payload))
	size, b := int(h.AttributeOffset)*8, t.data()
	for at := 0; size >= mad.LayoutNodeRecord.Size && at+size <= len(b); at += size {
		list = append(list, mad.LayoutNodeRecord.Field("LID").Uint(b[at:]))
	}
	return list
}

// status judges the status of the answer to a Get of NodeRecord, which comes back where it is right.
func (r *run) status(id string, mask, lid uint64, want uint16) *administered {
	m := r.manager
	data := make([]byte, mad.LayoutNodeRecord.Size)
	mad.LayoutNodeRecord.Field("LID").PutUint(data, lid)
	var sent *packet.Packet
	for range madTries {
		m.tid++
		sent = m.asksRecords(mad.Header{Method: mad.Get, Attribute: mad.AttrNodeRecord, TID: m.tid}, mad.RMPP{}, mask, data)
		for _, x := range m.administrations(m.wait, 1) {
			if x.Method == mad.GetResp && x.TID == m.tid {
				if r.check(id, x.Status == want, fmt.Sprintf("status %#04x", want), fmt.Sprintf("status %#04x", x.Status), sent, x.p) {
					return &x
				}
				return nil
			}
		}
	}
	r.check(id, false, fmt.Sprintf("status %#04x", want), "no answer", sent)
	return nil
}
