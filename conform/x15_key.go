package conform

import (
	"fmt"

	"ibwitness/mad"
)

var managementKey = &Test{
	ID: "X15_001", Title: "SM_Key of requests to subnet administration",
	Abstract: "A request is answered where its SM_Key is 0 or that of the subnet manager, and dropped where it is another; the SM_Key of answers is 0.",
	Covers:   []Statement{{"C15-0.1.5", Stated}}, Topology: subnetTopology, Device: Node, Needs: Managed | Administration,
	Qualifiers: []string{administrationQualifier, smKeyQualifier, keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		activeText,
		"Get NodeRecord of the LID of the tester with SM_Key 0.",
		"The same with an SM_Key that is wrong in one bit, and with one that is wrong in all.",
		"The same with the SM_Key of the subnet manager.",
	},
	Assertions: []Assertion{
		{"ours#01", "The request with SM_Key 0 is answered with status 0."},
		{"ours#02", "Requests with a wrong SM_Key are not answered."},
		{"ours#03", "The request with the right SM_Key is answered with status 0."},
		{"ours#04", "The SM_Key of answers is 0."},
	},
	Decisions: ours,
	run: func(r *run) {
		m := r.manages()
		asks := func(step int, id string, key uint64) {
			r.at(step)
			if got := r.inquires(id, nodeRecordOf(m.self(), key), 0); got != nil {
				var s mad.SA
				r.can(s.Decode(got.p.Payload))
				r.check("ours#04", s.SMKey == 0, "SM_Key 0", fmt.Sprintf("SM_Key %#x", s.SMKey), got.p)
			}
		}
		asks(3, "ours#01", 0)
		r.at(4)
		for _, key := range []uint64{m.smKey ^ 1<<63, ^m.smKey} {
			sent, got := m.inquire(nodeRecordOf(m.self(), key), 1)
			if got != nil {
				r.check("ours#02", false, "no answer", "an answer to "+hex(key), sent, got.p)
				continue
			}
			r.check("ours#02", true, "", "no answer in "+exact(m.wait), sent)
		}
		if m.smKey == 0 {
			r.at(5)
			r.skip("ours#03", "the SM_Key of the subnet manager is not known")
			return
		}
		asks(5, "ours#03", m.smKey)
	},
}

const smKeyQualifier = "the SM_Key of the subnet manager is known; else what needs it is not judged"
