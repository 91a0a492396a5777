package conform

import (
	"fmt"

	"ibwitness/mad"
)

// nobodyLID is a LID that no port has.
const nobodyLID = 0xBFFF

var records = &Test{
	ID: "X15_002", Title: "Get of no, one and several records",
	Abstract: "A Get that names one record is answered with it; one that names none, or several, is refused.",
	Covers:   []Statement{{"C15-0.1.30", Stated}}, Topology: subnetTopology, Device: Node, Needs: Managed | Administration,
	Qualifiers: []string{administrationQualifier, keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		activeText,
		"Get NodeRecord of LID 0xBFFF, which no port has.",
		"Get NodeRecord of the LID of the tester.",
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
		r.inquires("ours#01", nodeRecordOf(nobodyLID, 0), statusNoRecords)
		r.at(4)
		if got := r.inquires("ours#02", nodeRecordOf(m.self(), 0), 0); got != nil {
			have := mad.LayoutNodeRecord.Field("LID").Uint(got.data)
			r.check("ours#02", have == uint64(m.self()), fmt.Sprintf("the record of LID %d", m.self()), fmt.Sprintf("of LID %d", have), got.p)
		}
		r.at(5)
		r.inquires("ours#03", inquiry{method: mad.Get, a: mad.AttrNodeRecord}, statusManyRecords)
	},
}

// nodeRecordOf is Get(NodeRecord) of a LID, with an SM_Key.
func nodeRecordOf(lid uint16, key uint64) inquiry {
	return inquiry{method: mad.Get, a: mad.AttrNodeRecord, key: key, mask: maskLID, values: map[string]uint64{"LID": uint64(lid)}}
}
