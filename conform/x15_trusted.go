package conform

import (
	"fmt"
	"slices"

	"ibwitness/mad"
	"ibwitness/packet"
)

var trusted = &Test{
	ID: "X15_003", Title: "records that only trusted requesters get",
	Abstract: "To a request without the SM_Key the M_Key of PortInfoRecords and the QPN of InformInfoRecords are 0, and there are no P_KeyTableRecords.",
	Covers:   []Statement{{"C15-0.1.23.1", Stated}, {"C15-0.1.23.2", Stated}, {"C15-0.1.23.4", Stated}}, Topology: subnetTopology, Device: Node, Needs: Managed | Administration,
	Qualifiers: []string{administrationQualifier, smKeyQualifier, keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		activeText,
		"Get PortInfoRecord of the tester's port with SM_Key 0, and with the SM_Key.",
		"Get P_KeyTableRecord of it, block 0, with SM_Key 0.",
		"Get P_KeyTableRecord of it, block 0, with the SM_Key.",
		"Subscribe to trap 144 of all LIDs by Set(InformInfo), with QPN 1. GetTable of the tester's InformInfoRecords with SM_Key 0.",
		"GetTable of them with the SM_Key. End the subscription.",
	},
	Assertions: []Assertion{
		{"ours#01", "The PortInfoRecord for the request with SM_Key 0 has M_Key 0."},
		{"ours#02", "No P_KeyTableRecord is returned for the request with SM_Key 0."},
		{"ours#03", "A P_KeyTableRecord of that port is returned for the request with the SM_Key."},
		{"ours#04", "The InformInfoRecords for the request with SM_Key 0 have QPN 0."},
		{"ours#05", "One of those for the request with the SM_Key has QPN 1."},
	},
	Decisions: ours,
	run: func(r *run) {
		m := r.manages()
		r.at(3)
		const infoAt = 4
		q := inquiry{method: mad.Get, a: mad.AttrPortInfoRecord, mask: maskLID | maskPort, values: map[string]uint64{"endportLID": uint64(m.self()), "portNum": 1}}
		if got := r.inquires("ours#01", q, 0); got != nil {
			key := mad.LayoutPortInfo.Field("MKey").Uint(got.data[infoAt:])
			r.check("ours#01", key == 0, "M_Key 0", "M_Key "+hex(key), got.p)
		}
		if m.smKey != 0 {
			q.key = m.smKey
			if _, got := m.inquire(q, madTries); got != nil {
				r.note("to a trusted requester the M_Key is %#x", mad.LayoutPortInfo.Field("MKey").Uint(got.data[infoAt:]))
			}
		}
		r.at(4)
		keys := inquiry{method: mad.Get, a: mad.AttrPKeyTableRecord, mask: maskLID | maskKeyBlock | maskKeyPort, values: map[string]uint64{"LID": uint64(m.self()), "portNum": 1}}
		sent, got := m.inquire(keys, 1)
		if got == nil {
			r.check("ours#02", true, "", "no answer", sent)
		} else {
			r.check("ours#02", got.Status != 0, "a refusal", mad.Status(got.Status).Text(got.Class), sent, got.p)
		}
		r.at(5)
		if keys.key = m.smKey; m.smKey == 0 {
			r.skip("ours#03", "the SM_Key of the subnet manager is not known")
		} else if got := r.inquires("ours#03", keys, 0); got != nil {
			lid := mad.LayoutPKeyTableRecord.Field("LID").Uint(got.data)
			r.check("ours#03", lid == uint64(m.self()), fmt.Sprintf("the record of LID %d", m.self()), fmt.Sprintf("of LID %d", lid), got.p)
		}
		r.at(6)
		if _, got := m.informs(inform(nil)); got == nil || got.Status != 0 {
			r.halt("the subscription is not confirmed")
		}
		qpns, proof := m.subscribers(0)
		r.check("ours#04", len(qpns) > 0 && !slices.ContainsFunc(qpns, func(n uint64) bool { return n != 0 }), "InformInfoRecords with QPN 0", fmt.Sprintf("QPNs %v", qpns), proof...)
		r.at(7)
		if m.smKey == 0 {
			r.skip("ours#05", "the SM_Key of the subnet manager is not known")
		} else {
			qpns, proof = m.subscribers(m.smKey)
			r.check("ours#05", slices.Contains(qpns, gsiQP), "an InformInfoRecord with QPN 1", fmt.Sprintf("QPNs %v", qpns), proof...)
		}
		m.informs(inform(map[string]uint64{"subscribe": 0}))
	},
}

// subscribers are the QPNs of the InformInfoRecords of the tester.
func (m *manager) subscribers(key uint64) (qpns []uint64, proof []*packet.Packet) {
	own, _ := m.ends()
	t, list := m.tableOf(inquiry{method: mad.GetTable, a: mad.AttrInformInfoRecord, key: key, mask: 1, gids: map[string][]byte{"subscriberGID": own}})
	for _, b := range list {
		const infoAt = 24
		qpns = append(qpns, mad.LayoutInformInfo.Field("QPN").Uint(b[infoAt:]))
	}
	return qpns, t.proofs()
}
