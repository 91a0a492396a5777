package conform

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/subnet/sma"
)

var standby = &Test{
	ID: "X15_006", Title: "subnet administration of a standby subnet manager",
	Abstract: "Only the subnet administration of the master answers: that of a standby subnet manager is silent.",
	Covers:   []Statement{{"C15-0.1.3", Stated}}, Topology: standbyTopology, Device: Node, Needs: Managed | Administration,
	Qualifiers: []string{administrationQualifier, "there is a standby subnet manager", keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		activeText,
		"GetTable of SMInfoRecords. Get(SMInfo) from each subnet manager by its LID: one has SMState 2, standby.",
		"Get NodeRecord of the LID of the tester from the subnet administration at the LID of the standby subnet manager, three times.",
		"Get it from the subnet administration of the master.",
	},
	Assertions: []Assertion{
		{"ours#01", "The subnet administration of the standby subnet manager does not answer."},
		{"ours#02", "That of the master answers with status 0."},
	},
	Decisions: ours,
	run: func(r *run) {
		m := r.manages()
		r.at(3)
		m.linkStandby()
		_, list := m.tableOf(inquiry{method: mad.GetTable, a: mad.AttrSMInfoRecord})
		if m.asked = m.standbyOf(list); m.asked == 0 {
			r.inapplicable("of %d subnet managers none is standby", len(list))
		}
		r.at(4)
		for range 3 {
			sent, got := m.inquire(nodeRecordOf(m.self(), 0), 1)
			if got != nil {
				r.check("ours#01", false, "no answer", fmt.Sprintf("%v, %s", got.Method, mad.Status(got.Status).Text(got.Class)), sent, got.p)
				continue
			}
			r.check("ours#01", true, "", "no answer in "+exact(m.wait), sent)
		}
		r.at(5)
		m.asked = 0
		r.inquires("ours#02", nodeRecordOf(m.self(), 0), 0)
	},
}

const standbyTopology = "tester at port 1 of the device under test, a switch, where the master subnet manager runs; a standby subnet manager at a node beside port 2"

// standbyOf is the LID of a subnet manager that says it is standby, of those that have an SMInfoRecord; 0: none does. What the record has may be old.
func (m *manager) standbyOf(list [][]byte) (lid uint16) {
	defer func() { m.asked = 0 }()
	for _, b := range list {
		m.asked = uint16(mad.LayoutSMInfoRecord.Field("LID").Uint(b))
		if uint64(m.asked) == m.lid() {
			continue
		}
		x := m.byLID(mad.SMP{Header: mad.Header{Method: mad.Get, Attribute: mad.AttrSMInfo}})
		if x.succeeded() && x.uint(mad.LayoutSMInfo, "SMState") == standbySMState {
			lid = m.asked
		}
	}
	return lid
}

// linkStandby puts a standby subnet manager in software at a node beside port 2 of a switch.
func (m *manager) linkStandby() {
	if m.subnet != nil {
		return
	}
	if m.standby == nil || !m.linkOther() {
		m.r.inapplicable("no node can be beside port 2 of the device")
	}
	var err error
	m.standing, err = m.standby()
	m.r.can(err)
	m.second.Node.SetSM(m.r.now(), &sma.SM{GUID: nodeGUID + secondLID, State: standbySMState})
}
