package conform

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"ibwitness/fabricagent/ibsim"
	"ibwitness/mad"
	"ibwitness/packet"
)

// relayTests are those of directed routes through a switch.
var relayTests = []*Test{relayOut, relayBack}

const (
	twoTopology = "testers at ports 1 and 2 of the device under test, two links of InfiniBand"
	secondLID   = 3 // to which the device has a way by port 2
)

// relaySetup is the second step of the tests of relayed directed routes.
const relaySetup = "Link a second tester with port 2. Give LIDs to the device and the tester, and the device ways to the LIDs of both testers."

// relay begins a test of relayed directed routes.
func (r *run) relay() *surveyed {
	s := r.survey()
	if s.ports < secondPort {
		r.inapplicable("NumPorts is %d, and the test is for switches of several ports", s.ports)
	}
	m := r.manager
	r.at(2)
	m.linkSecond()
	m.activate()
	if s.switched.uint(mad.LayoutSwitchInfo, "linearFDBCap") == 0 {
		m.write(mad.AttrRandomForwarding, 0, func(data []byte) { binary.BigEndian.PutUint32(data[4:], secondLID<<16|randomValid|secondPort) })
		return s
	}
	m.write(mad.AttrLinearForwarding, 0, func(data []byte) { data[secondLID] = secondPort })
	m.set(mad.AttrSwitchInfo, 0, map[string]uint64{"linearFDBTop": secondLID})
	return s
}

// routed makes a request or an answer on a directed route.
func (m *manager) routed(method mad.Method, pointer, count int, initial, back []byte) mad.SMP {
	m.tid++
	s := mad.SMP{
		Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetDirected, ClassVersion: 1, Method: method, Attribute: mad.AttrNodeInfo, TID: m.tid},
		DrSLID: permissiveLID, DrDLID: permissiveLID, Initial: initial, Return: back,
	}
	if method == mad.GetResp {
		s.Status = directionBit
	}
	s.SetHops(pointer, count)
	return s
}

// directionBit is the D bit, in the status of a directed route.
const directionBit = 0x8000

// relayed has a packet come to the device, waits, and returns it and what the device has sent at a port, or at any, since then. The answer of a tester to what comes to it
// is dropped.
func (m *manager) relayed(from ibsim.End, s mad.SMP) (sent *packet.Packet, departed []sentAt) {
	d := ibsim.Datagram{DLID: permissiveLID, SLID: permissiveLID}
	m.r.can(s.Encode(d.MAD[:]))
	m.departed = nil
	sent = m.leave(from, d, m.fabric.Inject)
	departed = m.departed
	m.r.settle()
	m.arrived = nil
	return sent, departed
}

// route is what of a directed route a link shows.
type route struct {
	port          uint8
	pointer       int
	dlid          uint16
	initial, back []byte // up to the greatest hop that a test has
}

func (t route) String() string {
	return fmt.Sprintf("at port %d, HopPointer %d, DLID %#x, initial path %v, return path %v", t.port, t.pointer, t.dlid, t.initial, t.back)
}

// shownHops is how many entries of paths are compared.
const shownHops = 4

// route judges that the device sends on just one packet, and what of its route is to be seen.
func (r *run) route(id string, sent *packet.Packet, departed []sentAt, want route) {
	if len(departed) == 0 {
		r.check(id, false, want.String(), "nothing leaves the device", sent)
		return
	}
	d := departed[0]
	var s mad.SMP
	r.can(s.Decode(d.p.Payload))
	got := route{d.port, s.HopPointer(), uint16(d.p.Dst.Lo), s.Initial[:shownHops], s.Return[:shownHops]}
	same := got.port == want.port && got.pointer == want.pointer && got.dlid == want.dlid && bytes.Equal(got.initial, want.initial) && bytes.Equal(got.back, want.back)
	r.check(id, same && len(departed) == 1, want.String(), fmt.Sprintf("%v, %d packets", got, len(departed)), sent, d.p)
}

// stays judges that nothing leaves the device.
func (r *run) stays(id string, sent *packet.Packet, departed []sentAt, what string) {
	frames := []*packet.Packet{sent}
	for _, d := range departed {
		frames = append(frames, d.p)
	}
	r.check(id, len(departed) == 0, "nothing leaves the device", fmt.Sprintf("%d packets after %s", len(departed), what), frames...)
}

var relayOut = &Test{
	ID: "X14_003", Title: "requests on directed routes through a switch",
	Abstract: "A switch relays a request on a directed route out of the next port of its initial path, counts the hop, and records the port at which it came in; at the end of the directed part it goes on by LIDs.",
	Covers:   []Statement{{"C14-9", Stated}}, Topology: twoTopology, Device: Switch, Needs: Managed,
	Qualifiers: []string{isSwitch, "NumPorts is at least 2", keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		relaySetup,
		"Have Get(NodeInfo) with initial path 1, 2, HopCount 2 and HopPointer 1 come in at port 1.",
		"Have one with initial path 1, HopCount 1 and HopPointer 1 come in at port 1, whose DrDLID is the LID of the second tester.",
		"Have ones with HopCount 2 and HopPointer 1 come in at port 1 whose second port is 0, NumPorts + 1 or 255, and, where there is one, a port that is not linked.",
		"Have the one of step 3 come in at port 1.",
	},
	Assertions: []Assertion{
		{"ours#01", "The request leaves at port 2, with HopPointer 2 and entry 1 of the return path 1; all else is as it came."},
		{"ours#02", "The request leaves at port 2, with HopPointer 2, entry 1 of the return path 1, and DLID its DrDLID."},
		{"ours#03", "A request whose next port is not there is dropped: nothing leaves, before and after which others are relayed."},
	},
	Breaks: []string{"SMP-DR-012"},
	run: func(r *run) {
		s, m := r.relay(), r.manager
		through := func(step int) {
			r.at(step)
			sent, departed := m.relayed(m.from, m.routed(mad.Get, 1, 2, []byte{0, 1, 2}, nil))
			r.route("ours#01", sent, departed, route{secondPort, 2, permissiveLID, []byte{0, 1, 2, 0}, []byte{0, 1, 0, 0}})
		}
		through(3)
		r.at(4)
		x := m.routed(mad.Get, 1, 1, []byte{0, 1}, nil)
		x.DrDLID = secondLID
		sent, departed := m.relayed(m.from, x)
		r.route("ours#02", sent, departed, route{secondPort, 2, secondLID, []byte{0, 1, 0, 0}, []byte{0, 1, 0, 0}})
		r.at(5)
		for _, port := range r.missingPorts(s) {
			sent, departed := m.relayed(m.from, m.routed(mad.Get, 1, 2, []byte{0, 1, port}, nil))
			r.stays("ours#03", sent, departed, fmt.Sprintf("next port %d", port))
		}
		through(6)
	},
}

// missingPorts are ports to which nothing can be relayed: that the switch does not have, and one without a link.
func (r *run) missingPorts(s *surveyed) (list []byte) {
	for _, port := range distinct(0, uint64(s.ports)+1, 255) {
		list = append(list, uint8(port))
	}
	if s.ports > secondPort {
		list = append(list, secondPort+1)
	}
	return list
}

var relayBack = &Test{
	ID: "X14_004", Title: "answers on directed routes through a switch",
	Abstract: "A switch relays an answer on a directed route out of the port before it on the return path, and counts the hop back; at the end of the directed part it goes on by LIDs, or is for the switch itself.",
	Covers:   []Statement{{"C14-13", Stated}}, Topology: twoTopology, Device: Switch, Needs: Managed,
	Qualifiers: []string{isSwitch, "NumPorts is at least 2", keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		relaySetup,
		"Have GetResp(NodeInfo) with return path 1, 2, HopCount 2 and HopPointer 2 come in at port 2.",
		"Have one with HopCount 2 and HopPointer 1 come in at port 2, whose DrSLID is the LID of the tester.",
		"Have ones with HopPointer 1 and DrSLID 0xFFFF, with HopPointer 0, and with HopCount 2 and HopPointer 4 and 255 come in at port 2.",
		"Have the one of step 3 come in at port 2.",
	},
	Assertions: []Assertion{
		{"ours#01", "The answer leaves at port 1, with HopPointer 1; all else is as it came."},
		{"ours#02", "The answer leaves at port 1, with HopPointer 0 and DLID its DrSLID."},
		{"ours#03", "An answer that has come to its end, or whose HopPointer is beyond HopCount + 1, goes no further: nothing leaves, before and after which others are relayed."},
	},
	Breaks: []string{"SMP-DR-008", "SMP-DR-009"},
	run: func(r *run) {
		r.relay()
		m := r.manager
		initial, back := []byte{0, 1, 2}, []byte{0, 1, 2}
		through := func(step int) {
			r.at(step)
			sent, departed := m.relayed(m.second, m.routed(mad.GetResp, 2, 2, initial, back))
			r.route("ours#01", sent, departed, route{1, 1, permissiveLID, []byte{0, 1, 2, 0}, []byte{0, 1, 2, 0}})
		}
		through(3)
		r.at(4)
		x := m.routed(mad.GetResp, 1, 2, initial, back)
		x.DrSLID = testerLID
		sent, departed := m.relayed(m.second, x)
		r.route("ours#02", sent, departed, route{1, 0, testerLID, []byte{0, 1, 2, 0}, []byte{0, 1, 2, 0}})
		r.at(5)
		for _, pointer := range []int{1, 0, 4, 255} {
			sent, departed := m.relayed(m.second, m.routed(mad.GetResp, pointer, 2, initial, back))
			r.stays("ours#03", sent, departed, fmt.Sprintf("HopPointer %d", pointer))
		}
		through(6)
	},
}
