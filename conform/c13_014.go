package conform

import (
	"fmt"
	"time"

	"ibwitness/mad"
)

// timeTests are those of C13-13.1.1 to C13-16: the time for an answer.
var timeTests = []*Test{answerTime}

// Assertions of answerTime.
const (
	timeDefault = "v1c13-013.1.1#03"
	timeStatus  = "v1c13-014#01"
	timeOthers  = "v1c13-015#01"
	timeGet     = "v1c13-016#01"
	timeSet     = "v1c13-016#02"
)

// patience is how long the tester waits for an answer whose time it judges.
const patience = int64(time.Minute)

var answerTime = &Test{
	ID: "C13_014_01", Title: "the time for an answer",
	Abstract: "A request is answered within the default time as long as RespTimeValue is not known, and then within 4.096 µs times 2 to the power RespTimeValue; the way takes SubnetTimeOut twice.",
	Covers:   []Statement{{"C13-13.1.1", Stated}, {"C13-14", Stated}, {"C13-15", Stated}, {"C13-16", Stated}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		"Get PortInfo. For its answer, as for all later ones, the tester waits a minute.",
		"Get PortInfo again, and NodeInfo and NodeDescription.",
		"Set PortInfo with a LID and MasterSMLID, and otherwise as it is.",
	},
	Assertions: []Assertion{
		{timeDefault, "The first Get(PortInfo) is answered within 4.3 s and twice the SubnetTimeOut of code 18, 2.15 s."},
		{timeStatus, "Each request is answered with status code 0."},
		{timeOthers, "Get(NodeInfo) and Get(NodeDescription) are answered within the time that PortInfo tells."},
		{timeGet, "The second Get(PortInfo) is answered within the time that the first one told."},
		{timeSet, "Set(PortInfo) is answered within that time."},
	},
	Decisions: []Decision{
		{"The second bound is written 2 to the power of a sum of a value and of times.", "It is 4.096 µs times 2 to the power RespTimeValue, and twice 4.096 µs times 2 to the power SubnetTimeOut."},
		{"SubnetTimeOut is not known at the first request.", "Code 18 is taken."},
		{"Only a Get is timed.", "So are a Set and Gets of other attributes."},
		{"Which of the numbers is what is not told.", "C13-13.1.1 is the default, C13-14 the status, C13-15 the time for any request, C13-16 that for a Get and a Set of PortInfo."},
	},
	run: func(r *run) {
		m := r.manager
		r.at(1)
		m.wait = patience
		info := m.ask(mad.Get, mad.AttrPortInfo, 0, nil)
		if !r.answered(timeStatus, info, granted, "") {
			r.halt("PortInfo is not read")
		}
		r.within(timeDefault, info, firstWait)
		m.learn(info)
		limit := m.wait
		m.wait = patience
		ask := func(id string, method mad.Method, a mad.Attribute, data []byte) {
			if x := m.ask(method, a, 0, data); r.answered(timeStatus, x, granted, "") {
				r.within(id, x, limit)
			}
		}
		r.at(2)
		ask(timeGet, mad.Get, mad.AttrPortInfo, nil)
		ask(timeOthers, mad.Get, mad.AttrNodeInfo, nil)
		ask(timeOthers, mad.Get, mad.AttrNodeDescription, nil)
		r.at(3)
		data := append([]byte(nil), info.Data...)
		changed(mad.LayoutPortInfo, data, map[string]uint64{"LID": m.lid(), "masterSMLID": testerLID})
		ask(timeSet, mad.Set, mad.AttrPortInfo, data)
	},
}

// within judges the time for an answer that has come.
func (r *run) within(id string, x *exchange, limit int64) {
	took := x.got.Time - x.sent.Time
	r.check(id, took <= limit, "an answer within "+exact(limit), fmt.Sprintf("after %s to %s", exact(took), x.what()), x.frames()...)
}
