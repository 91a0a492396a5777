package conform

import (
	"fmt"

	"ibwitness/mad"
)

// noKeyTests are those of C14-15: M_Keys are not compared where that of the port is 0.
var noKeyTests = []*Test{noKeyGet, noKeySet, noKeyRepress}

// keySetup is the initialisation of the tests of M_Keys.
var keySetup = []string{
	"Link the tester with port 1 of the device. Subnet management packets go by a directed route of one hop.",
	"M_Key, protect bits and lease period are set by one Set of PortInfo, together with LIDs and MKeyViolations 0.",
}

// What is done of MKeyViolations.
var (
	countZero = Decision{"MKeyViolations is verified to be 0, or not looked at.", "It is set to 0 first, and read after each request."}
	countKept = Decision{"MKeyViolations is not looked at.", "It is set to 0 first, and read after each request, with the right M_Key (ours)."}
)

// violations reads MKeyViolations, with the M_Key of the device.
func (m *manager) violations() (uint64, *exchange) {
	x := m.get(mad.AttrPortInfo, 0)
	return x.uint(mad.LayoutPortInfo, "MKeyViolations"), x
}

// counts judges how many M_Key violations there are.
func (r *run) counts(id string, want uint64, x *exchange) {
	n, info := r.manager.violations()
	r.check(id, n == want, fmt.Sprintf("MKeyViolations %d after %s", want, x.what()), decimal(n), x.sent, x.got, info.got)
}

// unguardText is the last step of the tests of M_Keys.
const unguardText = "Set M_Key, protect bits and lease period to what they were, and MKeyViolations to 0."

// bothProtected are the protect bits with which a Get with a wrong M_Key is a violation.
var bothProtected = []uint64{2, 3}

var noKeyGet = &Test{
	ID: "C14_015_GET", Title: "no M_Key: Get",
	Abstract: "A port whose M_Key is 0 answers a Get with any M_Key, whatever its protect bits are.",
	Covers:   []Statement{{"C14-15", Stated}, {"C14-28", Seen}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: keySetup,
	Procedure: []string{
		surveyText,
		"Set M_Key 0 and protect bits 2, and then 3.",
		"Get NodeInfo with an M_Key.",
		"Get PortInfo.",
		unguardText,
	},
	Assertions: []Assertion{
		{"v1c14-015#01", "Get(NodeInfo) with an M_Key is answered with status code 0."},
		{"ours#01", "MKeyViolations is as before."},
	},
	Decisions: []Decision{countZero},
	run: func(r *run) {
		m := r.manager
		r.survey()
		for _, protect := range bothProtected {
			r.again(2)
			m.guard(guard{protect: protect})
			r.again(3)
			x := m.with(otherKey, mad.Get, mad.AttrNodeInfo, 0, nil)
			r.answered("v1c14-015#01", x, granted, fmt.Sprintf("protect bits %d", protect))
			r.again(4)
			r.counts("ours#01", 0, x)
		}
		r.at(5)
		m.unguard()
	},
}

var noKeySet = &Test{
	ID: "C14_015_SET", Title: "no M_Key: Set",
	Abstract: "A port whose M_Key is 0 carries out a Set with any M_Key, whatever its protect bits are.",
	Covers:   []Statement{{"C14-15", Stated}, {"C14-25", Seen}, {"C14-28", Seen}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: keySetup,
	Procedure: []string{
		surveyText,
		"Set M_Key 0 and protect bits 2, and then 3.",
		"Set MasterSMSL of PortInfo to another value, with an M_Key.",
		"Get PortInfo.",
		unguardText,
	},
	Assertions: []Assertion{
		{"v1c14-015#02", "Set(PortInfo) with an M_Key is answered with status code 0, and the new value is in the answer and in the next Get."},
		{"ours#01", "MKeyViolations is as before."},
	},
	Decisions: []Decision{countZero},
	run: func(r *run) {
		m := r.manager
		r.survey()
		for _, protect := range bothProtected {
			r.again(2)
			m.guard(guard{protect: protect})
			r.again(3)
			x, want := m.setSL(otherKey, madTries)
			about := fmt.Sprintf("protect bits %d", protect)
			ok := r.answered("v1c14-015#02", x, granted, about)
			r.again(4)
			if ok {
				r.sl("v1c14-015#02", want, x)
			}
			r.counts("ours#01", 0, x)
		}
		r.at(5)
		m.unguard()
	},
}

// setSL sets MasterSMSL to another value, with an M_Key, and returns the value.
func (m *manager) setSL(key uint64, tries int) (x *exchange, want uint64) {
	data := append([]byte(nil), m.get(mad.AttrPortInfo, 0).Data...)
	f := mad.LayoutPortInfo.Field("masterSMSL")
	want = (f.Uint(data) + 1) % 16
	changed(mad.LayoutPortInfo, data, map[string]uint64{f.Name: want})
	if tries == 1 {
		return m.once(key, mad.Set, mad.AttrPortInfo, 0, data), want
	}
	return m.with(key, mad.Set, mad.AttrPortInfo, 0, data), want
}

// sl judges that MasterSMSL is what was set, in the answer, where there is one, and in the next Get.
func (r *run) sl(id string, want uint64, x *exchange) {
	now := r.manager.get(mad.AttrPortInfo, 0)
	later := now.uint(mad.LayoutPortInfo, "masterSMSL")
	ok, actual := later == want, fmt.Sprintf("%d in the next Get", later)
	if x.got != nil {
		sent := x.uint(mad.LayoutPortInfo, "masterSMSL")
		ok, actual = ok && sent == want, fmt.Sprintf("%d in the answer, %s", sent, actual)
	}
	r.check(id, ok, fmt.Sprintf("MasterSMSL %d", want), actual, x.sent, x.got, now.got)
}

var noKeyRepress = &Test{
	ID: "C14_015_TRAPREPRESS", Title: "no M_Key: TrapRepress",
	Abstract: "A port whose M_Key is 0 takes a TrapRepress with any M_Key, and counts no violation.",
	Covers:   []Statement{{"C14-15", Seen}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: keySetup,
	Procedure: []string{
		surveyText,
		"Give LIDs to the device and the tester. Set M_Key 0 and protect bits 2, and then 3.",
		"Send a TrapRepress with an M_Key, by LIDs.",
		"Get PortInfo.",
		unguardText,
	},
	Assertions: []Assertion{
		{"ours#01", "The TrapRepress is not answered."},
		{"ours#02", "MKeyViolations is as before."},
	},
	Decisions: []Decision{
		{"No assertion of C14-15 is named for it.", "Both are ours."},
		{"By which route it goes is not said.", "By LIDs, as the trap that it would answer."},
	},
	run: func(r *run) {
		m := r.manager
		r.survey()
		for _, protect := range bothProtected {
			r.again(2)
			m.activate()
			m.guard(guard{protect: protect})
			r.again(3)
			x := m.repress(otherKey)
			r.silent("ours#01", x, "")
			r.again(4)
			r.counts("ours#02", 0, x)
		}
		r.at(5)
		m.unguard()
	},
}

// repress sends a TrapRepress by LIDs, and waits as long as for an answer.
func (m *manager) repress(key uint64) *exchange {
	return m.byLID(mad.SMP{Header: mad.Header{Method: mad.TrapRepress, Attribute: mad.AttrNotice}, MKey: key, Data: make([]byte, mad.SMPDataSize)})
}
