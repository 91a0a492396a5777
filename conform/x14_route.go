package conform

import (
	"bytes"
	"fmt"

	"ibwitness/fabricagent/ibsim"
	"ibwitness/mad"
	"ibwitness/packet"
)

// routeTests are those of directed routes.
var routeTests = []*Test{routeAnswer, routeBeyond}

// Assertions of routeAnswer.
const (
	routeLIDs     = "v1c14-008#01"
	routePort     = "v1c14-009#02.01"
	routeTaken    = "v1c14-009#02.07"
	routeCount    = "v1c14-010#01"
	routeInitial  = "v1c14-010#02"
	routeDrSLID   = "v1c14-010#03"
	routeDrDLID   = "v1c14-010#04"
	routeBit      = "v1c14-011#03"
	routePointer  = "v1c14-011#04.02"
	routeSame     = "ours#01"
	routePacket   = "ours#02"
	oneHop        = 1
	permissiveLID = mad.PermissiveLID
)

var routeAnswer = &Test{
	ID: "TD_17.1.2.1.1", Title: "the answer on a directed route",
	Abstract: "The answer to a request on a directed route keeps the fields of the route, sets the direction, and goes back on the return path.",
	Covers:   []Statement{{"C14-8", Stated}, {"C14-9", Stated}, {"C14-10", Stated}, {"C14-11", Stated}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{"Get(NodeInfo) is answered to M_Key 0: the M_Key is 0, or the protect bits are at most 1"}, Setup: nodeSetup,
	Procedure: []string{
		"Get NodeInfo by a directed route of one hop, up to 3 times.",
		"Compare the answer with the request, whatever its transaction ID is.",
	},
	Assertions: []Assertion{
		{routeLIDs, "SLID and DLID of the answer are 0xFFFF."},
		{routePort, "Entry 1 of the return path is the port at which the request has come in, LocalPortNum of NodeInfo."},
		{routeTaken, "The request is answered, with status 0."},
		{routeCount, "HopCount of the answer is that of the request."},
		{routeInitial, "The initial path of the answer is that of the request."},
		{routeDrSLID, "DrSLID of the answer is that of the request."},
		{routeDrDLID, "DrDLID of the answer is that of the request."},
		{routeBit, "The direction bit of the answer is 1."},
		{routePointer, "HopPointer is 1 on the first link of the way back: HopCount + 1, less one."},
		{routeSame, "Versions, class, transaction ID, attribute and modifier are those of the request, and the method is GetResp."},
		{routePacket, "The answer is a UD SEND Only from QP 0 to QP 0, on VL 15 and SL 0, without GRH and padding."},
	},
	Decisions: []Decision{
		{"What each number is about is told by the statements only.", "C14-9 is what the request becomes on its way, C14-10 what an answer keeps, C14-11 what it sets; the numbers are dealt out in the order of the fields."},
		{"The request is sent once, and an answer expected in 1000 ms.", "Three tries, each as long as a device may take whose RespTimeValue is not known."},
	},
	run: func(r *run) {
		r.at(1)
		d, err := ibsim.Directed(mad.SMP{Header: mad.Header{Method: mad.Get, Attribute: mad.AttrNodeInfo, TID: testerKey}}, oneHop)
		r.can(err)
		sent, got := r.manager.anything(d)
		if got == nil {
			r.check(routeTaken, false, "an answer", fmt.Sprintf("none to %d tries", madTries), sent)
			r.halt("nothing comes back")
		}
		r.at(2)
		var s, x mad.SMP
		r.can(s.Decode(sent.Payload))
		r.can(x.Decode(got.Payload))
		r.routeKept(&s, &x, sent, got)
		fixed := func(h mad.Header) [5]any {
			return [5]any{h.BaseVersion, h.ClassVersion, h.TID, h.Attribute, h.Modifier}
		}
		r.check(routeSame, fixed(s.Header) == fixed(x.Header) && s.Class == x.Class && x.Method == mad.GetResp, fmt.Sprintf("GetResp(%s) with transaction ID %#x", s.AttributeName(), s.TID),
			fmt.Sprintf("%v(%s) with %#x", x.Method, x.AttributeName(), x.TID), sent, got)
		plain := got.Opcode == packet.Op(packet.UD, packet.SendOnly) && got.SrcQP == 0 && got.DestQP == 0 && got.VL == 15 && got.SL == 0 && got.Has&packet.HasGRH == 0 && got.PadCnt == 0
		r.check(routePacket, plain, "UD SEND Only, QP 0 to QP 0, VL 15, SL 0", fmt.Sprintf("%v, QP %d to QP %d, VL %d, SL %d, PadCnt %d", got.Opcode, got.SrcQP, got.DestQP, got.VL, got.SL, got.PadCnt), got)
	},
}

// routeKept judges the fields of the route of an answer.
func (r *run) routeKept(s, x *mad.SMP, sent, got *packet.Packet) {
	local := mad.LayoutNodeInfo.Field("localPortNum").Uint(x.Data)
	flag := map[bool]int{true: 1}
	for _, c := range []struct {
		id           string
		want, actual string
		ok           bool
	}{
		{routeLIDs, "SLID and DLID 0xffff", fmt.Sprintf("%v to %v", got.Src, got.Dst), got.Src == packet.LIDAddr(permissiveLID) && got.Dst == got.Src},
		{routePort, fmt.Sprintf("port %d", local), decimal(uint64(x.Return[oneHop])), uint64(x.Return[oneHop]) == local},
		{routeTaken, "status 0", x.Code().Text(x.Class), x.Code() == 0},
		{routeCount, decimal(uint64(s.HopCount())), decimal(uint64(x.HopCount())), s.HopCount() == x.HopCount()},
		{routeInitial, fmt.Sprint(s.Initial[:2]), fmt.Sprint(x.Initial[:2]), bytes.Equal(s.Initial, x.Initial)},
		{routeDrSLID, fmt.Sprintf("%#x", s.DrSLID), fmt.Sprintf("%#x", x.DrSLID), s.DrSLID == x.DrSLID},
		{routeDrDLID, fmt.Sprintf("%#x", s.DrDLID), fmt.Sprintf("%#x", x.DrDLID), s.DrDLID == x.DrDLID},
		{routeBit, "1", fmt.Sprint(flag[x.Backward()]), x.Backward()},
		{routePointer, "1", decimal(uint64(x.HopPointer())), x.HopPointer() == oneHop},
	} {
		r.check(c.id, c.ok, c.want, c.actual, sent, got)
	}
}

// anything sends a request up to three times, and three times more where the device is busy, and returns the first packet that the device sends.
func (m *manager) anything(d ibsim.Datagram) (sent, got *packet.Packet) {
	for range busyTries {
		if sent, got = m.firstOf(d); got == nil {
			break
		}
		var s mad.SMP
		if s.Decode(got.Payload) != nil || s.Code()&mad.StatusBusy == 0 {
			break
		}
		m.r.wait(busyPause)
	}
	return sent, got
}

// firstOf sends a request up to three times, and returns the first packet that the device sends.
func (m *manager) firstOf(d ibsim.Datagram) (sent, got *packet.Packet) {
	for range madTries {
		m.departed = nil
		sent = m.send(d)
		if m.r.until(m.r.now()+m.wait, func() bool { return len(m.departed) > 0 }) {
			m.arrived = nil
			return sent, m.departed[0].p
		}
	}
	return sent, nil
}

var routeBeyond = &Test{
	ID: "X14_002", Title: "a directed route whose hop count or hop pointer is beyond its end",
	Abstract: "A request whose HopCount is more than 63, or whose HopPointer is more than HopCount + 1, is discarded.",
	Covers:   []Statement{{"C14-6", Stated}, {"C14-9", Stated}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Send Get(NodeInfo) with HopCount 1 and HopPointer 3, 63, 64 and 255, each with paths of which all ports lead to the tester.",
		"Send Get(NodeInfo) with HopCount 64 and 255, and HopPointer 1.",
		"Get NodeInfo by a directed route of one hop.",
	},
	Assertions: []Assertion{
		{"ours#01", "Nothing leaves the device after a request whose HopPointer is beyond HopCount + 1."},
		{"ours#02", "Nothing leaves the device after a request whose HopCount is beyond 63."},
		{"ours#03", "Get(NodeInfo) is answered with status code 0 after all."},
	},
	Breaks: []string{"SMP-DR-001", "SMP-DR-005"},
	run: func(r *run) {
		m := r.manager
		r.survey()
		for _, pointer := range []uint8{3, 63, 64, 255} {
			r.again(2)
			r.discarded("ours#01", pointer, oneHop)
		}
		for _, count := range []uint8{64, 255} {
			r.again(3)
			r.discarded("ours#02", oneHop, count)
		}
		r.at(4)
		r.answered("ours#03", m.ask(mad.Get, mad.AttrNodeInfo, 0, nil), granted, "")
	},
}

// discarded sends a request with a hop pointer and a hop count, and judges that nothing comes back.
func (r *run) discarded(id string, pointer, count uint8) {
	m := r.manager
	m.tid++
	s := mad.SMP{
		Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetDirected, ClassVersion: 1, Method: mad.Get, Attribute: mad.AttrNodeInfo, TID: m.tid},
		MKey:   m.key, DrSLID: permissiveLID, DrDLID: permissiveLID, Initial: bytes.Repeat([]byte{m.at.Port}, 64), Return: bytes.Repeat([]byte{m.at.Port}, 64),
	}
	s.Initial[0], s.Return[0] = 0, 0
	s.SetHops(int(pointer), int(count))
	d := ibsim.Datagram{DLID: permissiveLID, SLID: permissiveLID}
	r.can(s.Encode(d.MAD[:]))
	had := len(r.result.Frames)
	sent := m.inject(d)
	r.wait(m.wait)
	n := len(r.result.Frames) - had - 1
	frames := []*packet.Packet{sent}
	if n > 0 {
		frames = append(frames, m.passed)
	}
	r.check(id, n == 0, "nothing", fmt.Sprintf("%d frames after HopPointer %d, HopCount %d", n, pointer, count), frames...)
	m.arrived = nil
}
