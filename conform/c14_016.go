package conform

import (
	"fmt"

	"ibwitness/mad"
)

// keyTests are those of C14-16: which requests with a wrong M_Key a port answers.
var keyTests = []*Test{keyGetShown, keyGetHidden, keyGetSilent, keySet, keyTogether, keyRepress}

// shownTest is the test of a Get with a wrong M_Key that is answered.
func shownTest(id string, protect, want uint64, what string) *Test {
	assertion := fmt.Sprintf("v1c14-016#%02d.01", protect+1)
	return &Test{
		ID: id, Title: fmt.Sprintf("Get with a wrong M_Key, protect bits %d", protect),
		Abstract: fmt.Sprintf("With protect bits %d, a Get with a wrong M_Key is answered, and %s.", protect, what),
		Covers:   []Statement{{"C14-16", Stated}, {"C14-29", Seen}}, Topology: subnetTopology, Device: Node, Needs: Managed,
		Qualifiers: []string{keyQualifier}, Setup: keySetup,
		Procedure: []string{
			surveyText,
			fmt.Sprintf("Set an M_Key, protect bits %d and lease period 0.", protect),
			"Get PortInfo with another M_Key, and with M_Key 0.",
			"Get PortInfo with the right M_Key.",
			unguardText,
		},
		Assertions: []Assertion{
			{assertion, fmt.Sprintf("Get(PortInfo) with a wrong M_Key is answered with status code 0, and %s.", what)},
			{"ours#01", "Get(PortInfo) with the right M_Key shows it."},
			{"ours#02", "MKeyViolations is 0."},
		},
		Decisions: []Decision{countKept, {"One wrong M_Key is sent.", "M_Key 0 is wrong, too (ours)."}},
		run: func(r *run) {
			m := r.manager
			r.survey()
			r.at(2)
			m.guard(guard{key: testerKey, protect: protect})
			r.at(3)
			var last *exchange
			for _, key := range []uint64{otherKey, 0} {
				last = m.with(key, mad.Get, mad.AttrPortInfo, 0, nil)
				if r.answered(assertion, last, granted, fmt.Sprintf("M_Key %#x", key)) {
					got := last.uint(mad.LayoutPortInfo, "MKey")
					r.check(assertion, got == want, fmt.Sprintf("M_Key %#x in the answer", want), fmt.Sprintf("%#x", got), last.frames()...)
				}
			}
			r.at(4)
			info := m.get(mad.AttrPortInfo, 0)
			got := info.uint(mad.LayoutPortInfo, "MKey")
			r.check("ours#01", got == testerKey, fmt.Sprintf("M_Key %#x", uint64(testerKey)), fmt.Sprintf("%#x", got), info.frames()...)
			r.counts("ours#02", 0, last)
			r.at(5)
			m.unguard()
		},
	}
}

var (
	keyGetShown  = shownTest("C14_016_GET_0", 0, testerKey, "shows the M_Key of the port")
	keyGetHidden = shownTest("C14_016_GET_1", 1, 0, "shows M_Key 0")
)

var keyGetSilent = &Test{
	ID: "C14_016_GET_2", Title: "Get with a wrong M_Key, protect bits 2 and 3",
	Abstract: "With protect bits 2 and 3, a Get with a wrong M_Key is not answered, and counts as a violation.",
	Covers:   []Statement{{"C14-16", Stated}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: keySetup,
	Procedure: []string{
		surveyText,
		"Set an M_Key, protect bits 2, and then 3, and lease period 0.",
		"Get NodeInfo with another M_Key, once.",
		"Get NodeInfo and PortInfo with the right M_Key.",
		unguardText,
	},
	Assertions: []Assertion{
		{"v1c14-016#03.01", "With protect bits 2, Get(NodeInfo) with a wrong M_Key is not answered."},
		{"v1c14-016#04.01", "With protect bits 3, Get(NodeInfo) with a wrong M_Key is not answered."},
		{"ours#01", "MKeyViolations is one more than before."},
		{"ours#02", "Get(NodeInfo) with the right M_Key is answered with status code 0."},
	},
	Decisions: []Decision{countKept, {"How long nothing comes is not said.", "As long as RespTimeValue and SubnetTimeOut let an answer take; requests with the right M_Key are answered before and after."}},
	run: func(r *run) {
		m := r.manager
		r.survey()
		for i, protect := range bothProtected {
			r.again(2)
			m.guard(guard{key: testerKey, protect: protect})
			r.again(3)
			x := m.once(otherKey, mad.Get, mad.AttrNodeInfo, 0, nil)
			r.silent([]string{"v1c14-016#03.01", "v1c14-016#04.01"}[i], x, " with a wrong M_Key")
			r.again(4)
			r.answered("ours#02", m.ask(mad.Get, mad.AttrNodeInfo, 0, nil), granted, "the right M_Key")
			r.counts("ours#01", 1, x)
		}
		r.at(5)
		m.unguard()
	},
}

var keySet = &Test{
	ID: "C14_016_SET", Title: "Set with a right and a wrong M_Key, protect bits 0 to 3",
	Abstract: "A Set with the right M_Key is carried out. One with a wrong M_Key is not answered, changes nothing, and counts as a violation, whatever the protect bits are.",
	Covers:   []Statement{{"C14-16", Stated}, {"C14-26", Seen}, {"C14-29", Seen}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: keySetup,
	Procedure: []string{
		surveyText,
		"Set an M_Key, protect bits from 0 to 3, and lease period 0.",
		"Set MasterSMSL of PortInfo to another value with the right M_Key, and Get PortInfo.",
		"Set it with another M_Key, once, and Get PortInfo with the right one.",
		unguardText,
	},
	Assertions: []Assertion{
		{"v1c14-016#01.02", "With protect bits 0, a Set with a wrong M_Key is not answered, and changes nothing."},
		{"v1c14-016#02.02", "With protect bits 1, a Set with a wrong M_Key is not answered, and changes nothing."},
		{"v1c14-016#03.02", "With protect bits 2, a Set with a wrong M_Key is not answered, and changes nothing."},
		{"v1c14-016#04.02", "With protect bits 3, a Set with a wrong M_Key is not answered, and changes nothing."},
		{"v1c14-029#02.01", "A Set with the right M_Key is answered with status code 0."},
		{"v1c14-029#02.02", "After a Set with the right M_Key, the new value is in the answer and in the next Get."},
		{"ours#01", "MKeyViolations is one more after the Set with a wrong M_Key."},
	},
	Decisions: []Decision{countKept, {"C14-26 has a number of its own.", "The statement is covered (~), without an assertion of its own."}},
	run: func(r *run) {
		m := r.manager
		r.survey()
		for protect := range uint64(4) {
			id := fmt.Sprintf("v1c14-016#%02d.02", protect+1)
			r.again(2)
			m.guard(guard{key: testerKey, protect: protect})
			r.again(3)
			x, now := m.setSL(testerKey, madTries)
			if r.answered("v1c14-029#02.01", x, granted, fmt.Sprintf("the right M_Key, protect bits %d", protect)) {
				r.sl("v1c14-029#02.02", now, x)
			} else {
				now = m.get(mad.AttrPortInfo, 0).uint(mad.LayoutPortInfo, "masterSMSL")
			}
			r.again(4)
			x, _ = m.setSL(otherKey, 1)
			if r.silent(id, x, " with a wrong M_Key") {
				r.sl(id, now, x)
			}
			r.counts("ours#01", 1, x)
		}
		r.at(5)
		m.unguard()
	},
}

var keyTogether = &Test{
	ID: "X14_001", Title: "M_Key, protect bits and lease period in one Set",
	Abstract: "M_Key, protect bits and lease period are set together by one Set of PortInfo.",
	Covers:   []Statement{{"C14-22", Stated}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: keySetup,
	Procedure: []string{
		surveyText,
		"Set an M_Key, protect bits and a lease period, three times with other values.",
		"Get PortInfo.",
		unguardText,
	},
	Assertions: []Assertion{{"ours#01", "The answer to the Set has all three values, and so has the next Get."}},
	run: func(r *run) {
		m := r.manager
		r.survey()
		for i, g := range []guard{{testerKey, 1, 60}, {otherKey, 2, 0xFFFF}, {testerKey, 3, 1}} {
			r.again(2)
			x := m.guard(g)
			r.again(3)
			now := m.get(mad.AttrPortInfo, 0)
			for _, a := range []*exchange{x, now} {
				got := guard{a.uint(mad.LayoutPortInfo, "MKey"), a.uint(mad.LayoutPortInfo, "MKeyProtectBits"), a.uint(mad.LayoutPortInfo, "MKeyLeasePeriod")}
				r.check("ours#01", got == g, g.String(), got.String(), x.sent, a.got)
			}
			r.note("set %d of 3", i+1)
		}
		r.at(4)
		m.unguard()
	},
}

func (g guard) String() string {
	return fmt.Sprintf("M_Key %#x, protect bits %d, lease period %d s", g.key, g.protect, g.lease)
}

var keyRepress = &Test{
	ID: "X14_014", Title: "TrapRepress with a right and a wrong M_Key, and an answer",
	Abstract: "A TrapRepress is not answered, nor is a GetResp. A TrapRepress with a wrong M_Key counts as a violation.",
	Covers:   []Statement{{"o13-6", Seen}, {"o13-7", Seen}, {"o14-3.a4", Stated}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: keySetup,
	Procedure: []string{
		surveyText,
		"Give LIDs to the device and the tester. Set an M_Key, protect bits 1 and lease period 0.",
		"Send a TrapRepress with the right M_Key, by LIDs. Get PortInfo.",
		"Send a TrapRepress with another M_Key, by LIDs. Get PortInfo.",
		"Send a GetResp(NodeInfo) with the right M_Key, by LIDs. Get PortInfo.",
		unguardText,
	},
	Assertions: []Assertion{
		{"ours#01", "No TrapRepress is answered."},
		{"ours#02", "MKeyViolations counts the TrapRepress with a wrong M_Key, and no other."},
		{"ours#03", "A GetResp is not answered."},
	},
	run: func(r *run) {
		m := r.manager
		r.survey()
		r.at(2)
		m.activate()
		m.guard(guard{key: testerKey, protect: 1})
		for i, key := range []uint64{testerKey, otherKey} {
			r.at(i + 3)
			x := m.repress(key)
			r.silent("ours#01", x, "")
			r.counts("ours#02", uint64(i), x)
		}
		r.at(5)
		x := m.byLID(mad.SMP{Header: mad.Header{Method: mad.GetResp, Attribute: mad.AttrNodeInfo}, MKey: testerKey, Data: make([]byte, mad.SMPDataSize)})
		r.silent("ours#03", x, "")
		r.counts("ours#02", 1, x)
		r.at(6)
		m.unguard()
	},
}
