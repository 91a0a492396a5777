package conform

import (
	"slices"

	"ibwitness/mad"
)

var externalIllegal = &Test{
	ID: "C14_024_06_SW_02", Title: "illegal values of PortInfo of external ports of a switch",
	Abstract: "A Set of PortInfo of an external port in which a read-write component has an illegal value is refused, and changes nothing.",
	Covers:   []Statement{{"C14-24.1.1", Stated}, {"C13-24", Seen}, {"C14-30", Seen}}, Topology: eachTopology, Device: Switch, Needs: Managed,
	Qualifiers: []string{isSwitch, keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"At each port, Get PortInfo with the number of the port.",
		"For each read-write component that has illegal values, Set PortInfo with some of them, and Get PortInfo.",
		"Do the same with PortState and PortPhysicalState.",
	},
	Assertions: []Assertion{
		{portInfoTaken, "Get(PortInfo) is answered with status code 0."},
		{portInfoKept, "Read-only components are as before the Set."},
		{portInfoStored, "A Set with an illegal value is answered with status code 7, and PortInfo is as before."},
	},
	Decisions: []Decision{
		portInfoNumbers, portInfoStates,
		{"Which ports are linked is not said.", "The link is moved from port to port, as PortInfo of a port that is Down may have any values but the states."},
	},
	run: func(r *run) {
		t, s := r.portInfo(setting{answered: portInfoTaken, readOnly: portInfoKept, refused: portInfoStored})
		for port := 1; port <= s.ports; port++ {
			r.again(2)
			r.manager.move(uint8(port))
			t.modifier = uint32(port)
			t.begin()
			t.illegalSteps(linkValues(t.came))
		}
	},
}

// enhanced ends the test where the switch has no enhanced port 0.
func (s *surveyed) enhanced(r *run) {
	if s.first != 0 {
		r.inapplicable("EnhancedPort0 is 0, and the test is for switches with an enhanced port 0")
	}
}

var enhancedOnly = "EnhancedPort0 of SwitchInfo is 1"

var portZeroLegal = &Test{
	ID: "C14_024_06_SW_05", Title: "legal and special values of PortInfo of an enhanced port 0",
	Abstract: "Read-write components of an enhanced port 0 take legal values; counters of violations are reset by 0, and OperationalVLs 0 changes nothing.",
	Covers:   []Statement{{"C14-24.1.1", Stated}, {"C13-24", Seen}, {"C14-30", Seen}}, Topology: subnetTopology, Device: Switch, Needs: Managed,
	Qualifiers: []string{isSwitch, enhancedOnly, keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Set LIDs, and Get PortInfo of port 0.",
		"For each read-write component but for the M_Key, Set PortInfo with legal values, and Get PortInfo.",
		"Set OperationalVLs to 0.",
		"Set an M_Key, and send a Set with another one. With the right one Set MKeyViolations to 0, PKeyViolations and QKeyViolations too.",
		"Set PortInfo to what it was.",
	},
	Assertions: []Assertion{
		{portInfoTaken, "Get and Set of PortInfo are answered with status code 0."},
		{portInfoKept, "Read-only components are as before the Set."},
		{portInfoStored, "The answer to the Set has the new value, or, of a special value, its effect, and so has the next Get."},
	},
	Decisions: []Decision{
		portInfoNumbers, portInfoStates, portInfoLIDs,
		{"A counter that is 0 is set to 0.", "MKeyViolations is 1 before, by a request with a wrong M_Key."},
	},
	run: func(r *run) {
		t, s := r.portInfo(setting{answered: portInfoTaken, readOnly: portInfoKept, stored: portInfoStored})
		s.enhanced(r)
		r.at(2)
		r.manager.address()
		t.begin()
		r.at(3)
		t.legalValues(append(r.manager.endValues(), laneValues(t.came)...))
		r.at(4)
		t.specialValues(nil, "operationalVLs")
		r.at(5)
		t.resetViolations()
		r.at(6)
		t.restore()
	},
}

// resetViolations judges that counters of violations are reset by a Set to 0, where that of the M_Key is 1.
func (t *setting) resetViolations() {
	m, before := t.r.manager, slices.Clone(t.was)
	m.guard(guard{key: testerKey})
	m.once(otherKey, mad.Set, mad.AttrPortInfo, 0, t.restored())
	x := t.get()
	if n := x.uint(t.layout, "MKeyViolations"); n != 1 {
		t.r.open(t.stored, "MKeyViolations is "+decimal(n)+" after a request with a wrong M_Key, and shows nothing", x.got)
	}
	t.was = slices.Clone(x.Data)
	for _, name := range []string{"MKeyViolations", "PKeyViolations", "QKeyViolations"} {
		t.legal(nil, change{name, 0})
	}
	m.unguard()
	t.was = before
}

var portZeroIllegal = &Test{
	ID: "C14_024_06_SW_06", Title: "illegal values of PortInfo of an enhanced port 0",
	Abstract: "A Set of PortInfo of an enhanced port 0 in which a read-write component has an illegal value is refused, and changes nothing.",
	Covers:   []Statement{{"C14-24.1.1", Stated}, {"C13-24", Seen}, {"C14-30", Seen}}, Topology: subnetTopology, Device: Switch, Needs: Managed,
	Qualifiers: []string{isSwitch, enhancedOnly, keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Set LIDs, and Get PortInfo of port 0.",
		"For LID, MasterSMLID, LMC and OperationalVLs, Set PortInfo with illegal values, and Get PortInfo.",
	},
	Assertions: []Assertion{
		{portInfoTaken, "Get(PortInfo) is answered with status code 0."},
		{portInfoKept, "Read-only components are as before the Set."},
		{portInfoStored, "A Set with an illegal value is answered with status code 7, and PortInfo is as before."},
	},
	Decisions: []Decision{portInfoNumbers, portInfoStates, portInfoLIDs},
	run: func(r *run) {
		t, s := r.portInfo(setting{answered: portInfoTaken, readOnly: portInfoKept, refused: portInfoStored})
		s.enhanced(r)
		r.at(2)
		r.manager.address()
		t.begin()
		t.illegalSteps(append(r.manager.endValues(), laneValues(t.came)...))
	},
}
