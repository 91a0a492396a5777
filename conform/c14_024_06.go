package conform

import (
	"slices"

	"ibwitness/mad"
)

// portInfoTests are those of row 06 of the attributes of C14-24.1.1, PortInfo.
var portInfoTests = []*Test{adapterReadOnly, adapterLegal, adapterIllegal, externalIllegal, portZeroLegal, portZeroIllegal, reregister, adapterTables}

// Assertions of PortInfo.
const (
	portInfoTaken    = "v1c14-024.1.1#06.01"
	portInfoKept     = "v1c14-024.1.1#06.02"
	portInfoStored   = "v1c14-024.1.1#06.04"
	portInfoOwn      = "v1c14-024.1.1#06.05"
	portInfoOwnFixed = "v1c14-024.1.1#06.06"
)

// fixedPortInfo are the read-only components of PortInfo that do not change by themselves.
var fixedPortInfo = []string{
	"capabilityMask", "localPortNum", "linkWidthSupported", "linkSpeedSupported", "VLCap", "initType", "VLArbitrationHighCap", "VLArbitrationLowCap", "MTUCap", "GUIDCap",
	"respTimeValue",
}

var (
	portInfoNumbers = Decision{
		"Which of the numbers #06.01, #06.02 and #06.04 is what, is not told.",
		"#06.01 is that Get and legal Sets are answered, #06.02 that read-only components stay, #06.04 is about read-write ones: legal values are stored, illegal ones refused.",
	}
	portInfoStates = Decision{"Each Set has PortState and PortPhysicalState.", "They are 0 unless they are tested: no change. What changes by itself, such as counters and states, is not compared."}
	portInfoLIDs   = Decision{"LID and MasterSMLID of a device that no manager has configured are 0, which cannot be set.", "Both are set to unicast LIDs first."}
	anyEnd         = "NodeType is 1 or 3, a channel adapter or router"
)

// portInfo begins a test of PortInfo. The device has LIDs from here on.
func (r *run) portInfo(t setting) (*setting, *surveyed) {
	s := r.survey()
	t.r, t.a, t.layout, t.steady = r, mad.AttrPortInfo, mad.LayoutPortInfo, variable
	return &t, s
}

// address gives LIDs to the device, which many Sets need. Each port of a channel adapter has its own.
func (m *manager) address() {
	m.set(mad.AttrPortInfo, 0, map[string]uint64{"LID": m.lid(), "masterSMLID": testerLID})
}

// componentValues are legal and illegal values of a component.
type componentValues struct {
	name           string
	legal, illegal []uint64
}

// linkValues are values of the components of a port that has a link: of a channel adapter, a router, or an external one of a switch.
func linkValues(info *exchange) []componentValues {
	get := func(name string) uint64 { return info.uint(mad.LayoutPortInfo, name) }
	width, speed, mtu := get("linkWidthSupported"), get("linkSpeedSupported"), get("MTUCap")
	return append([]componentValues{
		{"linkWidthEnabled", bitsOf(width, 8), missing(width, 8)},
		{"linkSpeedEnabled", bitsOf(speed, 4), missing(speed, 4)},
		{"linkDownDefaultState", []uint64{1, 2}, []uint64{3, 15}},
		{"neighborMTU", distinct(1, mtu), distinct(mtu+1, 15)},
		{"localPhyErrors", []uint64{0, 15}, nil},
		{"overrunErrors", []uint64{0, 15}, nil},
	}, laneValues(info)...)
}

// laneValues are values of the components of a port that has data lanes.
func laneValues(info *exchange) []componentValues {
	lanes := info.uint(mad.LayoutPortInfo, "VLCap")
	return []componentValues{
		{"operationalVLs", distinct(1, lanes), distinct(lanes+1, 15)},
		{"VLHighLimit", []uint64{0, 255}, nil},
	}
}

// endValues are values of the components of a port that has LIDs, but for those of the M_Key.
func (m *manager) endValues() []componentValues {
	lid := m.lid()
	return []componentValues{
		{"GIDPrefix", []uint64{0xFEC0 << 48, 0xFE80 << 48}, nil},
		{"LID", []uint64{1, 0x80, 0xBFFF, lid}, []uint64{0, 0xC000, 0xFFFF}},
		{"masterSMLID", []uint64{1, 0xBFFF, testerLID}, []uint64{0, 0xC000, 0xFFFF}},
		{"masterSMSL", []uint64{15, 0}, nil},
		{"subnetTimeOut", []uint64{1, 18}, nil},
		{"LMC", []uint64{1, 0}, []uint64{2, 7}}, // the LID is a multiple of 2, not of 4
	}
}

// bitsOf are masks that are legal where some bits are supported: each bit, and all of them.
func bitsOf(mask uint64, width int) (list []uint64) {
	for i := range width {
		if mask>>i&1 == 1 {
			list = append(list, 1<<i)
		}
	}
	return distinct(append(list, mask)...)
}

// missing are masks that are illegal: the lowest bit that is not supported, and with what is. All bits mean what is supported.
func missing(mask uint64, width int) []uint64 {
	for i := range width {
		if b := uint64(1) << i; mask&b == 0 {
			list := []uint64{b, mask | b}
			return slices.DeleteFunc(distinct(list...), func(v uint64) bool { return v == 1<<width-1 })
		}
	}
	return nil
}

// stateValues are illegal values of the states of a port: Initialize and undefined ones, a physical state that is not to be set, and one with Armed or Active.
var stateValues = [][]change{
	{{"portState", 2}},
	{{"portState", 5}},
	{{"portState", 15}},
	{{"portPhysicalState", 4}},
	{{"portPhysicalState", 15}},
	{{"portState", 3}, {"portPhysicalState", 2}},
	{{"portState", 4}}, // of a port that is not Armed
}

// legalValues sets components to each of their legal values.
func (t *setting) legalValues(list []componentValues) {
	for _, c := range list {
		for _, v := range c.legal {
			t.legal(nil, change{c.name, v})
		}
	}
}

// illegalValues sets components to each of their illegal values.
func (t *setting) illegalValues(list []componentValues) {
	for _, c := range list {
		for _, v := range c.illegal {
			t.illegal(change{c.name, v})
		}
	}
}

// specialValues sets components to legal values that have a special effect.
func (t *setting) specialValues(list map[string]uint64, names ...string) {
	for _, name := range names {
		t.legal([]change{{name, t.layout.Field(name).Uint(t.was)}}, change{name, list[name]})
	}
}

// ownModifiers are the modifiers by which a port of a channel adapter is asked for its own PortInfo.
func ownModifiers(port int) []uint32 { return []uint32{0, uint32(port)} }

var adapterReadOnly = &Test{
	ID: "C14_024_06_CA_01", Title: "read-only components of PortInfo of a channel adapter",
	Abstract: "A Set of PortInfo in which a read-only component is another is taken, and leaves that component as it is.",
	Covers:   []Statement{{"C14-24.1.1", Seen}}, Topology: eachTopology, Device: ChannelAdapter, Needs: Managed,
	Qualifiers: []string{anyEnd, keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"At each port, Set LIDs, and Get PortInfo with modifier 0.",
		"For each read-only component, Set PortInfo with its highest bit inverted, and Get PortInfo.",
	},
	Assertions: []Assertion{
		{"ours#01", "Get and Set of PortInfo are answered with status code 0."},
		{"ours#02", "Read-only components are as before, in the answer to the Set and in the next Get."},
		{"ours#03", "Read-write components have the values that were set."},
	},
	Decisions: []Decision{{"The page was not seen, only its number.", "The assertions are ours; they are made as those of SwitchInfo."}, portInfoStates, portInfoLIDs},
	run: func(r *run) {
		t, s := r.portInfo(setting{answered: "ours#01", readOnly: "ours#02", stored: "ours#03"})
		for port := 1; port <= s.ports; port++ {
			r.again(2)
			r.manager.move(uint8(port))
			r.manager.address()
			t.begin()
			for _, name := range fixedPortInfo {
				r.again(3)
				t.fixed(name)
			}
		}
	},
}

var adapterLegal = &Test{
	ID: "C14_024_06_CA_02", Title: "legal values of PortInfo of a channel adapter",
	Abstract: "Read-write components of PortInfo take each legal value that the test gives them, and values that mean no change change nothing.",
	Covers:   []Statement{{"C14-24.1.1", Seen}}, Topology: eachTopology, Device: ChannelAdapter, Needs: Managed,
	Qualifiers: []string{anyEnd, keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"At each port, Set LIDs, and Get PortInfo with modifier 0.",
		"For each read-write component but for the M_Key and the states, Set PortInfo with legal values: the bounds, and for masks each bit. Get PortInfo after each.",
		"Set LinkWidthEnabled, LinkSpeedEnabled and OperationalVLs to 0: no change. Set both masks to all bits: what is supported.",
		"Set PortInfo to what it was.",
	},
	Assertions: []Assertion{
		{"ours#01", "Get and Set of PortInfo are answered with status code 0."},
		{"ours#02", "Read-only components are as before the Set."},
		{"ours#03", "The answer to the Set has the new value, and so has the next Get."},
	},
	Decisions: []Decision{{"The page was not seen, only its number.", "The assertions are ours; they are made as those of SwitchInfo."}, portInfoStates, portInfoLIDs},
	run: func(r *run) {
		t, s := r.portInfo(setting{answered: "ours#01", readOnly: "ours#02", stored: "ours#03"})
		for port := 1; port <= s.ports; port++ {
			r.again(2)
			r.manager.move(uint8(port))
			r.manager.address()
			t.begin()
			r.again(3)
			t.legalValues(r.manager.endValues())
			t.legalValues(linkValues(t.came))
			r.again(4)
			t.specialValues(nil, "linkWidthEnabled", "linkSpeedEnabled", "operationalVLs")
			t.legal([]change{{"linkWidthEnabled", t.came.uint(t.layout, "linkWidthSupported")}}, change{"linkWidthEnabled", 0xFF})
			t.legal([]change{{"linkSpeedEnabled", t.came.uint(t.layout, "linkSpeedSupported")}}, change{"linkSpeedEnabled", 0xF})
			r.again(5)
			t.restore()
		}
	},
}

var adapterIllegal = &Test{
	ID: "C14_024_06_CA_03", Title: "illegal values of PortInfo of a channel adapter",
	Abstract: "A Set of PortInfo in which a read-write component has an illegal value is refused, and changes nothing.",
	Covers:   []Statement{{"C14-24.1.1", Stated}, {"C13-24", Seen}, {"C14-30", Seen}}, Topology: eachTopology, Device: ChannelAdapter, Needs: Managed,
	Qualifiers: []string{anyEnd, keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"At each port, Set LIDs, and Get PortInfo with modifier 0 and with the number of the port.",
		"With both modifiers, for each read-write component that has illegal values, Set PortInfo with some of them, and Get PortInfo.",
		"Do the same with PortState and PortPhysicalState.",
	},
	Assertions: []Assertion{
		{portInfoTaken, "Get(PortInfo) is answered with status code 0."},
		{portInfoKept, "Read-only components are as before the Set."},
		{portInfoStored, "A Set with an illegal value is answered with status code 7, and PortInfo is as before."},
		{portInfoOwn, "PortInfo with modifier 0 is that of the port at which the request has come in."},
		{portInfoOwnFixed, "It is the same with the number of that port as modifier."},
	},
	Decisions: []Decision{
		portInfoNumbers, portInfoStates, portInfoLIDs,
		{"#06.05 and #06.06 are at the two modifiers.", "#06.05 is that modifier 0 means the port itself, shown by LocalPortNum; #06.06 that its own number means the same."},
	},
	run: func(r *run) {
		t, s := r.portInfo(setting{answered: portInfoTaken, readOnly: portInfoKept, refused: portInfoStored})
		for port := 1; port <= s.ports; port++ {
			r.again(2)
			r.manager.move(uint8(port))
			r.manager.address()
			var zero *exchange
			for _, t.modifier = range ownModifiers(port) {
				r.again(2)
				t.begin()
				if zero == nil {
					zero = t.came
					local := t.came.uint(t.layout, "localPortNum")
					r.check(portInfoOwn, local == uint64(port), "LocalPortNum of the port at which the request came in", decimal(local), t.came.frames()...)
				} else {
					r.equals(portInfoOwnFixed, t.layout, zero.Data, t.came.Data, variable, "PortInfo as with modifier 0", zero.got, t.came.got)
				}
				t.illegalSteps(append(r.manager.endValues(), linkValues(t.came)...))
			}
		}
	},
}

// illegalSteps are steps 3 and 4 of the tests of illegal values: components, and the states of a port that has a link.
func (t *setting) illegalSteps(list []componentValues) {
	t.r.again(3)
	t.illegalValues(list)
	if len(t.r.test.Procedure) < 4 {
		return
	}
	t.r.again(4)
	for _, c := range stateValues {
		t.illegal(c...)
	}
}

// Assertions of reregister.
const (
	reregisterShown = "ours#01"
	reregisterGone  = "ours#02"
)

// capReregister is the bit of CapabilityMask of ClientReregister.
const capReregister = 1 << 25

var reregister = &Test{
	ID: "X14_007", Title: "ClientReregister",
	Abstract: "ClientReregister is in the answer to the Set that has it, and is not stored.",
	Covers:   []Statement{{"o14-12.2.1", Seen}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{"bit 25 of CapabilityMask, IsClientReregistrationSupported, is 1", keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Set LIDs. Set PortInfo with ClientReregister 1.",
		"Get PortInfo.",
	},
	Assertions: []Assertion{
		{reregisterShown, "The answer to the Set has ClientReregister 1."},
		{reregisterGone, "The next Get has ClientReregister 0."},
	},
	Decisions: []Decision{{"The consumer gets an event.", "It is not judged: a node that is reached only by subnet management packets shows none."}},
	run: func(r *run) {
		t, s := r.portInfo(setting{})
		if !s.capable(capReregister) {
			r.inapplicable("CapabilityMask says that ClientReregister is not supported")
		}
		r.at(2)
		r.manager.address()
		t.begin()
		bit := t.layout.Field("clientReregister")
		x := t.set(change{bit.Name, 1})
		r.check(reregisterShown, x.succeeded() && bit.Uint(x.Data) == 1, "status 0 and ClientReregister 1", x.outcome()+", ClientReregister "+decimal(bit.Uint(x.Data)), x.frames()...)
		r.at(3)
		now := t.get()
		r.check(reregisterGone, bit.Uint(now.Data) == 0, "ClientReregister 0", decimal(bit.Uint(now.Data)), x.sent, now.got)
	},
}

// adapterTables is the test of what only switches have.
var adapterTables = &Test{
	ID: "X14_006", Title: "attributes of switches at a channel adapter",
	Abstract: "A channel adapter or router refuses SwitchInfo and the forwarding tables.",
	Covers:   []Statement{{"", NoneID}}, Topology: subnetTopology, Device: ChannelAdapter, Needs: Managed,
	Qualifiers: []string{anyEnd, keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Get and Set SwitchInfo, LinearForwardingTable, RandomForwardingTable and MulticastForwardingTable.",
	},
	Assertions: []Assertion{{"ours#01", "Get and Set of what only switches have are answered with status code 3."}},
	run: func(r *run) {
		r.survey()
		r.at(2)
		for _, a := range []mad.Attribute{mad.AttrSwitchInfo, mad.AttrLinearForwarding, mad.AttrRandomForwarding, mad.AttrMulticastForwarding} {
			for _, method := range []mad.Method{mad.Get, mad.Set} {
				r.answered("ours#01", r.manager.ask(method, a, 0, make([]byte, mad.SMPDataSize)), noMethod, "")
			}
		}
	},
}
