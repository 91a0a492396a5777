package conform

import (
	"fmt"

	"ibwitness/mad"
)

// switchInfoTests are those of row 04 of the attributes of C14-24.1.1, SwitchInfo, and of its PortStateChange, which that row leaves out.
var switchInfoTests = []*Test{switchInfoReadOnly, switchInfoLegal, switchInfoIllegal, portStateChange}

// Assertions of SwitchInfo.
const (
	switchInfoTaken   = "v1c14-024.1.1#04.01"
	switchInfoKept    = "v1c14-024.1.1#04.02"
	switchInfoStored  = "v1c14-024.1.1#04.03"
	switchInfoRefused = "v1c14-024.1.1#04.04"
)

// fixedSwitchInfo are the read-only components of SwitchInfo.
var fixedSwitchInfo = []string{
	"linearFDBCap", "randomFDBCap", "multicastFDBCap", "LIDsPerPort", "partitionEnforcementCap", "inboundEnforcementCap", "outboundEnforcementCap", "filterRawInboundCap",
	"filterRawOutboundCap", "enhancedPort0",
}

var (
	isSwitch           = "NodeType is 2, a switch"
	switchInfoNumbers  = Decision{"Which of the numbers #04.01 to #04.04 is what, is not told.", "#04.01 is that Get and Set are answered, #04.02 that read-only components stay, #04.03 that read-write ones are stored, #04.04 that illegal values are refused."}
	switchInfoChanging = Decision{"PortStateChange is left out.", "Each Set has it 0, which leaves it as it is. X14_005 tests it."}
)

// switchInfo begins a test of SwitchInfo.
func (r *run) switchInfo(t setting) (*setting, *surveyed) {
	s := r.survey()
	t.r, t.a, t.layout, t.steady = r, mad.AttrSwitchInfo, mad.LayoutSwitchInfo, []string{"portStateChange"}
	return &t, s
}

var switchInfoReadOnly = &Test{
	ID: "C14_024_04_SW_01", Title: "read-only components of SwitchInfo",
	Abstract: "A Set of SwitchInfo in which a read-only component is another is taken, and leaves that component as it is.",
	Covers:   []Statement{{"C14-24.1.1", Stated}, {"C13-24", Seen}, {"C14-27", Seen}, {"C14-30", Seen}}, Topology: subnetTopology, Device: Switch, Needs: Managed,
	Qualifiers: []string{isSwitch, keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Get SwitchInfo.",
		"For each read-only component, Set SwitchInfo with its highest bit inverted, and Get SwitchInfo.",
	},
	Assertions: []Assertion{
		{switchInfoTaken, "Get and Set of SwitchInfo are answered with status code 0."},
		{switchInfoKept, "Read-only components are as before, in the answer to the Set and in the next Get."},
		{switchInfoStored, "Read-write components have the values that were set."},
	},
	Decisions: []Decision{switchInfoNumbers, switchInfoChanging},
	run: func(r *run) {
		t, _ := r.switchInfo(setting{answered: switchInfoTaken, readOnly: switchInfoKept, stored: switchInfoStored})
		r.at(2)
		t.begin()
		for _, name := range fixedSwitchInfo {
			r.again(3)
			t.fixed(name)
		}
	},
}

// switchPorts are the components of SwitchInfo that name a port, and of which table.
var switchPorts = []struct{ name, of string }{
	{"defaultPort", "randomFDBCap"}, {"defaultMulticastPrimaryPort", "multicastFDBCap"}, {"defaultMulticastNotPrimaryPort", "multicastFDBCap"},
}

var switchInfoLegal = &Test{
	ID: "C14_024_04_SW_02", Title: "legal values of SwitchInfo",
	Abstract: "Read-write components of SwitchInfo take each legal value that the test gives them.",
	Covers:   []Statement{{"C14-24.1.1", Stated}, {"C14-27", Seen}, {"C14-30", Seen}}, Topology: subnetTopology, Device: Switch, Needs: Managed,
	Qualifiers: []string{isSwitch, keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Get SwitchInfo.",
		"Where LinearFDBCap is not 0, Set LinearFDBTop to 1, to half of it and to LinearFDBCap - 1; Get SwitchInfo after each.",
		"Where RandomFDBCap is not 0, do the same with DefaultPort; where MulticastFDBCap is not 0, with the two default multicast ports: the first port, the last, and 255.",
		"Do the same with LifeTimeValue: 0, 18, 19, 20, 31.",
		"Set SwitchInfo to what it was.",
	},
	Assertions: []Assertion{
		{switchInfoTaken, "Get and Set of SwitchInfo are answered with status code 0."},
		{switchInfoKept, "Read-only components are as before the Set."},
		{switchInfoStored, "The answer to the Set has the new value, and so has the next Get."},
	},
	Decisions: []Decision{
		switchInfoNumbers, switchInfoChanging,
		{"A component of a table that the switch does not have may be unsupported.", "It is left out, as its behaviour is undefined."},
	},
	run: func(r *run) {
		t, s := r.switchInfo(setting{answered: switchInfoTaken, readOnly: switchInfoKept, stored: switchInfoStored})
		r.at(2)
		t.begin()
		r.at(3)
		if top := t.came.uint(t.layout, "linearFDBCap"); top != 0 {
			for _, v := range distinct(1, top/2, top-1) {
				t.legal(nil, change{"linearFDBTop", v})
			}
		}
		r.at(4)
		for _, p := range switchPorts {
			for _, v := range distinct(1, uint64(s.ports), 255) {
				if t.came.uint(t.layout, p.of) != 0 {
					t.legal(nil, change{p.name, v})
				}
			}
		}
		r.at(5)
		for _, v := range []uint64{0, 18, 19, 20, 31} {
			t.legal(nil, change{"lifeTimeValue", v})
		}
		r.at(6)
		t.restore()
	},
}

// distinct are values, each once.
func distinct(list ...uint64) (out []uint64) {
	seen := map[uint64]bool{}
	for _, v := range list {
		if !seen[v] {
			out = append(out, v)
		}
		seen[v] = true
	}
	return out
}

var switchInfoIllegal = &Test{
	ID: "C14_024_04_SW_03", Title: "illegal values of SwitchInfo",
	Abstract: "A Set of SwitchInfo in which a read-write component has an illegal value is refused, and changes nothing.",
	Covers:   []Statement{{"C14-24.1.1", Stated}, {"C13-24", Seen}, {"C14-30", Seen}}, Topology: subnetTopology, Device: Switch, Needs: Managed,
	Qualifiers: []string{isSwitch, keyQualifier, "LinearFDBCap, RandomFDBCap or MulticastFDBCap is not 0"}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Get SwitchInfo.",
		"Where LinearFDBCap is not 0, Set LinearFDBTop to it, and to 0xFFFF; Get SwitchInfo after each.",
		"Where RandomFDBCap is not 0, do the same with DefaultPort; where MulticastFDBCap is not 0, with the two default multicast ports: NumPorts + 1, and 254.",
	},
	Assertions: []Assertion{{switchInfoRefused, "A Set with an illegal value is answered with status code 7, and SwitchInfo is as before."}},
	Decisions: []Decision{
		switchInfoNumbers, switchInfoChanging,
		{"A component of a table that the switch does not have may be unsupported.", "It is left out, as its behaviour is undefined."},
		{"LinearFDBTop is a LID.", "It is a unicast LID below LinearFDBCap: LinearFDBCap itself is illegal."},
	},
	run: func(r *run) {
		t, s := r.switchInfo(setting{refused: switchInfoRefused})
		r.at(2)
		t.begin()
		r.at(3)
		if size := t.came.uint(t.layout, "linearFDBCap"); size != 0 {
			for _, v := range distinct(size, 0xFFFF) {
				t.illegal(change{"linearFDBTop", v})
			}
		}
		r.at(4)
		for _, p := range switchPorts {
			for _, v := range distinct(uint64(s.ports)+1, 254) {
				if t.came.uint(t.layout, p.of) != 0 && v < 255 && v > uint64(s.ports) {
					t.illegal(change{p.name, v})
				}
			}
		}
	},
}

// Assertions of portStateChange.
const (
	changeCleared = "ours#01"
	changeShown   = "ours#02"
	changeKept    = "ours#03"
)

var portStateChange = &Test{
	ID: "X14_005", Title: "PortStateChange of SwitchInfo",
	Abstract: "PortStateChange becomes 1 when a port changes its state. A Set with 1 clears it, and one with 0 leaves it.",
	Covers:   []Statement{{"C14-24.1.1", Seen}}, Topology: subnetTopology, Device: Switch, Needs: Managed,
	Qualifiers: []string{isSwitch, keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Set SwitchInfo with PortStateChange 1, and Get it.",
		"Unplug the link and plug it in. Get SwitchInfo.",
		"Set SwitchInfo with PortStateChange 0, and Get it.",
		"Set SwitchInfo with PortStateChange 1, and Get it.",
	},
	Assertions: []Assertion{
		{changeCleared, "After a Set with PortStateChange 1, it is 0 in the answer and in the next Get."},
		{changeShown, "After a port has changed its state, PortStateChange is 1."},
		{changeKept, "After a Set with PortStateChange 0, it is still 1 in the next Get."},
	},
	run: func(r *run) {
		t, _ := r.switchInfo(setting{})
		bit := t.layout.Field("portStateChange")
		clearing := func(step int) {
			r.at(step)
			t.begin()
			x := t.set(change{bit.Name, 1})
			if !x.succeeded() {
				r.open(changeCleared, "the Set is not taken: "+x.outcome(), x.frames()...)
				return
			}
			now := t.get()
			r.check(changeCleared, bit.Uint(x.Data) == 0 && bit.Uint(now.Data) == 0, "PortStateChange 0", fmt.Sprintf("%d in the answer, %d in the next Get", bit.Uint(x.Data), bit.Uint(now.Data)), x.sent, x.got, now.got)
		}
		clearing(2)
		r.at(3)
		r.manager.replug()
		x := t.get()
		r.check(changeShown, bit.Uint(x.Data) == 1, "PortStateChange 1", fmt.Sprint(bit.Uint(x.Data)), x.got)
		r.at(4)
		set := t.set()
		x = t.get()
		switch {
		case !set.succeeded():
			r.open(changeKept, "the Set is not taken: "+set.outcome(), set.frames()...)
		case r.judged[changeShown].Outcome != Pass:
			r.open(changeKept, "it was 0 before, too", x.got)
		default:
			r.check(changeKept, bit.Uint(x.Data) == 1, "PortStateChange 1", fmt.Sprint(bit.Uint(x.Data)), set.sent, set.got, x.got)
		}
		clearing(5)
	},
}
