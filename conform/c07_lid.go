package conform

import (
	"fmt"

	"ibwitness/fabricagent/ibsim"
	"ibwitness/mad"
	"ibwitness/subnet"
)

// linkLIDTests are those of the LIDs that a port takes for its own.
var linkLIDTests = []*Test{linkDLID, linkLMC}

// lidSetup is the second step of the tests of LIDs.
const lidSetup = "Give the device LID and LMC by Set(PortInfo), and a switch the way to the tester."

// lids gives the device a LID and an LMC; the test ends where it does not take them.
func (m *manager) lids(lid, lmc uint64) {
	change := map[string]uint64{"LID": lid, "LMC": lmc, "masterSMLID": testerLID}
	m.own(m.from, map[string]uint64{"LID": testerLID, "masterSMLID": testerLID})
	m.set(mad.AttrPortInfo, 0, change)
	if m.node.Type() == subnet.Switch {
		m.route()
	}
}

// nodeInfoAt asks for NodeInfo by LIDs once, and waits as long as for an answer.
func (m *manager) nodeInfoAt(lid uint16) *exchange {
	m.tid++
	s := mad.SMP{Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetLID, ClassVersion: 1, Method: mad.Get, Attribute: mad.AttrNodeInfo, TID: m.tid}, MKey: m.key}
	d := ibsim.Datagram{SLID: testerLID, DLID: lid}
	m.r.can(s.Encode(d.MAD[:]))
	x := &exchange{tries: 1, sent: m.send(d)}
	m.r.until(m.r.now()+m.wait, func() bool { return m.takes(x) })
	return x
}

// reached judges that a request to a LID is answered, or, not own, that it is not.
func (r *run) reached(id string, lid uint64, own bool) {
	m := r.manager
	about := fmt.Sprintf("to LID %d", lid)
	send := func() *exchange { return m.nodeInfoAt(uint16(lid)) }
	if own {
		r.answered(id, r.unlessBusy(send), granted, about)
		return
	}
	r.silent(id, send(), ", "+about)
}

var linkDLID = &Test{
	ID: "TD_10.3.1.2.2", Title: "packets to another LID",
	Abstract: "A port with LMC 0 takes packets to its LID, and none to the LID after that.",
	Covers:   []Statement{{"C7-10", Stated}}, Topology: cableTopology, Device: Node, Needs: Managed, cabled: true,
	Qualifiers: []string{keyQualifier}, Setup: cableSetup,
	Procedure: []string{
		surveyText,
		lidSetup + " The LMC is 0.",
		"Get NodeInfo by LIDs at the LID.",
		"Get it at the LID after that, once, and at the LID.",
	},
	Assertions: []Assertion{{"ours#01", "A request to the LID is answered."}, {"v1c07-010#02", "A request to the LID after that is not."}},
	run: func(r *run) {
		r.survey()
		m := r.manager
		r.at(2)
		m.lids(nodeLID, 0)
		r.at(3)
		r.reached("ours#01", nodeLID, true)
		r.at(4)
		r.reached("v1c07-010#02", nodeLID+1, false)
		r.reached("ours#01", nodeLID, true)
	},
}

// maskedLID is what the base LIDs are counted from.
const maskedLID = 256

var linkLMC = &Test{
	ID: "TD_10.10.1.1.1", Title: "LIDs of an LMC",
	Abstract: "A port takes packets to each LID that its LMC gives it, and to no other.",
	Covers:   []Statement{{"C7-66", Stated}}, Topology: cableTopology, Device: Node, Needs: Managed, cabled: true,
	Qualifiers: []string{keyQualifier}, Setup: cableSetup,
	Procedure: []string{
		surveyText,
		lidSetup + " The LMC goes from 0 to 7, for base port 0 of a switch it is 0; the LID is 256 + 2^LMC.",
		"With each LMC get NodeInfo by LIDs at the LID, at the last of its LMC, at the LID before the first, and at the one after the last.",
	},
	Assertions: []Assertion{{"v1c07-066#01", "A request to the first and to the last LID is answered."}, {"v1c07-066#02", "A request to the LID before or after these is not."}},
	Decisions:  []Decision{{"The base LID is 2^LMC.", "With LMC 0 this is LID 1, and the one before it 0, which is no LID: 256 more."}},
	run: func(r *run) {
		s := r.survey()
		m := r.manager
		most := uint64(7)
		if s.kind == subnet.Switch && s.first != 0 {
			most = 0
		}
		for lmc := range most + 1 {
			r.again(2)
			base := maskedLID + uint64(1)<<lmc
			last := base + 1<<lmc - 1
			m.lids(base, lmc)
			r.again(3)
			r.reached("v1c07-066#01", base, true)
			r.reached("v1c07-066#01", last, true)
			r.reached("v1c07-066#02", base-1, false)
			r.reached("v1c07-066#02", last+1, false)
		}
	},
}
