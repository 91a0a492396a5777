package conform

import (
	"fmt"
	"time"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet/sma"
)

// linkStateTests are those of the states of a link.
var linkStateTests = []*Test{linkStates, linkManagement}

// stateNames are those of PortState.
var stateNames = map[uint64]string{sma.Down: "Down", sma.Initialize: "Initialize", sma.Armed: "Armed", sma.Active: "Active"}

func stateText(s uint64) string {
	if name := stateNames[s]; name != "" {
		return name
	}
	return fmt.Sprintf("state %d", s)
}

// linkState reads PortState of the port with the link, and judges it.
func (r *run) linkState(id string, want uint64) bool {
	m := r.manager
	x := m.get(mad.AttrPortInfo, uint32(m.at.Port))
	got := x.uint(mad.LayoutPortInfo, "portState")
	return r.check(id, got == want, "PortState "+stateText(want), "PortState "+stateText(got), x.frames()...)
}

// advance takes the port of the device to a state by a Set of PortState, and that of the tester too.
func (m *manager) advance(state uint64) *exchange {
	data := append([]byte(nil), m.get(mad.AttrPortInfo, uint32(m.at.Port)).Data...)
	changed(mad.LayoutPortInfo, data, map[string]uint64{"portState": state, "LID": m.portLID(), "masterSMLID": testerLID})
	m.own(m.from, map[string]uint64{"LID": testerLID, "masterSMLID": testerLID, "portState": state})
	return m.ask(mad.Set, mad.AttrPortInfo, uint32(m.at.Port), data)
}

// portLID is the LID that PortInfo of the port with the link has: 0 of an external port of a switch.
func (m *manager) portLID() uint64 {
	if m.node.Type() == sma.SwitchConfig(0, "", 0).Type {
		return 0
	}
	return m.lid()
}

// down takes the link down for a time, in which a test sees whether the device sends.
func (m *manager) down(d int64) (sent []*packet.Packet) {
	r, c := m.r, m.cable
	c.link.Down()
	c.beats++
	m.node.Cut(r.now(), c.port)
	m.from.Node.Cut(r.now(), 1)
	m.plugged.sync()
	r.note("the port of the tester goes down")
	r.wait(linkSettles)
	c.flows, c.datas = nil, nil
	r.wait(d)
	for i := range c.flows {
		sent = append(sent, c.flows[i].shown())
	}
	return append(sent, c.datas...)
}

// linkSettles is for what was on its way.
const linkSettles = 1000

// up has the link train again.
func (m *manager) up() {
	m.plugged.join(m.cable, m.from.Node)
	m.r.note("the link has trained again")
}

var linkStates = &Test{
	ID: "CATC_StateTransitions", Title: "states of a link",
	Abstract: "A port goes to Initialize when its link has trained and stays there; it goes to Armed and to Active as subnet management says, and sends nothing when its link is down.",
	Covers:   []Statement{{"C7-1", Stated}, {"C7-2", Stated}, {"C7-3", Stated}}, Topology: cableTopology, Device: Node, Needs: Managed, cabled: true,
	Qualifiers: []string{keyQualifier}, Setup: cableSetup,
	Procedure: []string{
		surveyText,
		"Take the link down for 100 ms, and have it train. Get PortInfo, and again after 1 s.",
		"Set PortState Armed, and get PortInfo twice.",
		"Set PortState Active, and get PortInfo twice.",
		"Take the link down for 100 ms, and have it train. Get PortInfo.",
		"Set PortState Armed, get PortInfo, and the same with Active.",
	},
	Assertions: []Assertion{
		{"v1c07-001#05", "When the link has trained, in 300 ms, PortState is Initialize."},
		{"v1c07-001#11", "It is after 1 s."},
		{"v1c07-001#18", "After a Set of Armed it is Armed."},
		{"v1c07-001#23", "After a Set of Active it is Active."},
		{"v1c07-001#27", "When the link was down and has trained again, it is Initialize."},
		{"v1c07-002#03", "Armed stays Armed as long as nobody sets another state and no data packet comes."},
		{"v1c07-002#04", "Active stays Active."},
		{"v1c07-003#01", "While its link is down the port sends nothing."},
		{"ours#01", "The physical states of the port are among 1 to 7, those that there are."},
	},
	Decisions: []Decision{
		{"What each number is about is told by no public source.", "They are dealt out in the order of the procedure."},
		{"The states are set in the order Armed, Active, Armed, Active.", "Only Initialize goes to Armed by a Set (SMP-PI-006): the link goes down between."},
	},
	run: func(r *run) {
		m := r.manager
		r.survey()
		quiet := func() {
			sent := m.down(int64(100 * time.Millisecond))
			r.check("v1c07-003#01", len(sent) == 0, "nothing", fmt.Sprintf("%d packets", len(sent)), sent...)
			m.up()
			for _, x := range m.cable.physics {
				r.check("ours#01", x.state >= 1 && x.state <= physicalStates, "a state from 1 to 7", fmt.Sprintf("physical state %d", x.state), &packet.Packet{Frame: x.frame})
			}
			m.cable.physics = nil
		}
		r.at(2)
		quiet()
		r.linkState("v1c07-001#05", sma.Initialize)
		r.wait(int64(time.Second))
		r.linkState("v1c07-001#11", sma.Initialize)
		r.at(3)
		m.advance(sma.Armed)
		r.linkState("v1c07-001#18", sma.Armed)
		r.linkState("v1c07-002#03", sma.Armed)
		r.at(4)
		m.advance(sma.Active)
		r.linkState("v1c07-001#23", sma.Active)
		r.linkState("v1c07-002#04", sma.Active)
		r.at(5)
		quiet()
		r.linkState("v1c07-001#27", sma.Initialize)
		r.at(6)
		m.advance(sma.Armed)
		r.linkState("v1c07-001#18", sma.Armed)
		m.advance(sma.Active)
		r.linkState("v1c07-001#23", sma.Active)
	},
}

// physicalStates is the greatest PortPhysicalState that there is.
const physicalStates = 7

var linkManagement = &Test{
	ID: "CATC_SMPacketsInLinkInitializeAndLinkArm", Title: "subnet management in Initialize and Armed",
	Abstract: "A port takes packets of subnet management in Initialize and in Armed, and answers on VL 15.",
	Covers:   []Statement{{"C7-1", Stated}}, Topology: cableTopology, Device: Node, Needs: Managed, cabled: true,
	Qualifiers: []string{"Get(PortInfo) is answered to M_Key 0: the M_Key is 0, or the protect bits are at most 1"}, Setup: cableSetup,
	Procedure: []string{
		"Get PortInfo in Initialize.",
		surveyText + " Set PortState Armed.",
		"Get PortInfo in Armed.",
	},
	Assertions: []Assertion{
		{"v1c07-001#07", "In Initialize the request is answered."},
		{"v1c07-001#14", "In Armed the request is answered."},
		{"ours#01", "The answer is on VL 15."},
	},
	run: func(r *run) {
		m := r.manager
		answers := func(id string) {
			x := m.ask(mad.Get, mad.AttrPortInfo, uint32(m.at.Port), nil)
			if r.answered(id, x, granted, "") {
				r.check("ours#01", x.got.VL == smpLane, "VL 15", fmt.Sprintf("VL %d", x.got.VL), x.frames()...)
			}
		}
		r.at(1)
		answers("v1c07-001#07")
		r.at(2)
		m.learn(m.get(mad.AttrPortInfo, 0))
		m.advance(sma.Armed)
		r.at(3)
		answers("v1c07-001#14")
	},
}
