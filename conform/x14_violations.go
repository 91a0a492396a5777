package conform

import (
	"bytes"

	"ibwitness/mad"
)

// violationTests are those of the counters of violations.
var violationTests = []*Test{saturation}

// Assertions of saturation.
const (
	violationsGrow = "ours#01"
	violationsStay = "ours#02"
	violationsZero = "ours#03"
	violationsKept = "ours#04"
)

// mostViolations is the greatest value of a counter of violations.
const mostViolations = 0xFFFF

var saturation = &Test{
	ID: "X14_008", Title: "the counter of M_Key violations",
	Abstract: "MKeyViolations counts up to 65535 and stays there. A Set to 0 resets it; a Set to another value does not change it.",
	Covers:   []Statement{{"", NoneID}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: keySetup,
	Procedure: []string{
		surveyText,
		"Set an M_Key, protect bits 0 and lease period 0. Send 65535 Sets of GUIDInfo with another M_Key, and Get PortInfo.",
		"Send 3 more, and Get PortInfo.",
		"Set MKeyViolations to 5, and Get PortInfo.",
		"Set MKeyViolations to 0, and Get PortInfo.",
		unguardText,
	},
	Assertions: []Assertion{
		{violationsGrow, "MKeyViolations is 65535 after 65535 requests with a wrong M_Key."},
		{violationsStay, "MKeyViolations is 65535 after 3 more."},
		{violationsKept, "After a Set to 5, which is answered with status code 0 or 7, MKeyViolations is 65535."},
		{violationsZero, "After a Set to 0 MKeyViolations is 0, in the answer and in the next Get."},
	},
	Decisions: []Decision{{"There are counters of P_Key and Q_Key violations.", "They count packets of other queue pairs, and are not tested."}},
	run: func(r *run) {
		m := r.manager
		r.survey()
		r.at(2)
		m.guard(guard{key: testerKey})
		last := m.violate(mostViolations)
		r.counts(violationsGrow, mostViolations, last)
		r.at(3)
		last = m.violate(3)
		r.counts(violationsStay, mostViolations, last)
		for i, value := range []uint64{5, 0} {
			r.at(4 + i)
			data := bytes.Clone(m.get(mad.AttrPortInfo, 0).Data)
			changed(mad.LayoutPortInfo, data, map[string]uint64{"MKeyViolations": value})
			x := m.ask(mad.Set, mad.AttrPortInfo, 0, data)
			if value == 0 {
				r.answered(violationsZero, x, granted, "MKeyViolations 0")
				r.counts(violationsZero, 0, x)
				continue
			}
			r.answered(violationsKept, x, []int{0, badValue[0]}, "MKeyViolations 5")
			r.counts(violationsKept, mostViolations, x)
		}
		r.at(6)
		m.unguard()
	},
}

// violate sends requests with a wrong M_Key, one after the other as fast as a device answers, and returns the last. The log has only that.
func (m *manager) violate(n int) *exchange {
	x := &exchange{tries: 1}
	m.quiet = n > 1
	for i := range n {
		m.tid++
		s := mad.SMP{Header: mad.Header{Method: mad.Set, Attribute: mad.AttrGUIDInfo, TID: m.tid}, MKey: otherKey, Data: make([]byte, mad.SMPDataSize)}
		m.quiet = i < n-1
		x.sent = m.sendDirected(s)
		m.r.wait(2 * turnaround)
	}
	m.r.note("%d requests with M_Key %#x", n, uint64(otherKey))
	m.r.wait(m.wait)
	m.arrived = nil
	return x
}
