package conform

import (
	"bytes"
	"fmt"

	"ibwitness/fabricagent/ibsim"
	"ibwitness/link"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet"
	"ibwitness/subnet/sma"
)

// routerTests are those of packets that a router forwards from one subnet to another.
var routerTests = []*Test{routerForwards, routerDrops}

// The two subnets that a router is between, and its ways to the testers in them.
const (
	firstSubnet  = 0xFEC0<<48 | 1
	secondSubnet = 0xFEC0<<48 | 2
)

var routerWays = []sma.Way{{Prefix: firstSubnet, Port: 1, LID: relayLID + 1}, {Prefix: secondSubnet, Port: secondPort, LID: relayLID + secondPort}}

const (
	routerTopology = "testers at ports 1 and 2 of the device under test, each on a native link whose other port the tester plays"
	routerStep     = "Link a second tester with port 2, give LIDs to both ports and both testers, and take the links to Active."
)

var routerQualifiers = []string{
	"NodeType is 3: it is a router", "it has ways to prefix 0xfec0000000000001, out of port 1 to LID 17, and to prefix 0xfec0000000000002, out of port 2 to LID 18", keyQualifier,
}

// router begins a test of packets that a router forwards.
func (r *run) router() *switched {
	s, m := r.survey(), r.manager
	switch {
	case s.kind != subnet.Router:
		r.inapplicable("NodeType is %d, %v, and the test is for routers", s.kind, s.kind)
	case s.ports < secondPort:
		r.inapplicable("NumPorts is %d, and the test needs %d", s.ports, secondPort)
	}
	r.at(2)
	w := &switched{manager: m, nodes: map[uint8]*sma.Node{1: m.from.Node}, table: make([]byte, 64)}
	for port := uint8(1); port <= secondPort; port++ {
		w.plug(port)
		w.asks(port)
		w.address()
		for _, state := range []uint64{sma.Armed, sma.Active} {
			w.own(m.from, map[string]uint64{"LID": uint64(relayLID + port), "masterSMLID": testerLID, "portState": state})
			w.set(mad.AttrPortInfo, uint32(port), map[string]uint64{"portState": state})
		}
		w.cable.follow(m.from.Node)
	}
	return w
}

// asks has the tester at a port be the one that asks the device.
func (w *switched) asks(port uint8) {
	w.cable.comes = nil
	w.cable = w.plugged.cables[port]
	w.cable.comes = w.comes
	w.from = ibsim.End{Node: w.nodes[port], Port: 1}
	w.at.Port = port
	w.get(mad.AttrNodeInfo, 0)
}

// global makes a datagram from port 1 to the tester at port 2, by way of the router.
func (w *switched) global(hops uint8) *packet.Packet {
	p := w.datagramFrom(1, 2) // the LID of port 1 of a router
	p.Has, p.HopLmt = packet.HasGRH, hops
	p.SGID, p.DGID = packet.Addr{Hi: firstSubnet, Lo: testerGUID + 1}, packet.Addr{Hi: secondSubnet, Lo: testerGUID + 2<<8 + 1}
	return p
}

var routerForwards = &Test{
	ID: "X19_001", Title: "packets to another subnet",
	Abstract: "A router forwards a packet to the subnet of its DGID with a hop limit less by 1 and an LRH of that subnet, and changes nothing else but the VCRC.",
	Covers:   []Statement{{"", NoneID}}, Topology: routerTopology, Device: ChannelAdapter, Needs: Managed, cabled: true,
	Qualifiers: routerQualifiers, Setup: cableSetup,
	Procedure: []string{
		surveyText, routerStep,
		"Send datagrams from port 1 to the other subnet: hop limits 2, 3, 64 and 255, lengths from 0 to 1024 bytes, and other traffic classes and flow labels.",
	},
	Assertions: []Assertion{
		{"ours#01", "Each leaves once, out of port 2."},
		{"ours#02", "The hop limit is less by 1."},
		{"ours#03", "The SLID is that of port 2, the DLID that of the way, and SL and length are as they were."},
		{"ours#04", "All else, from the GRH to the ICRC, is as it was."},
		{"ours#05", "The VCRC is right."},
	},
	Decisions: ours,
	run: func(r *run) {
		w := r.router()
		r.at(3)
		for i, hops := range []uint8{2, 3, 64, 255} {
			p := w.global(hops)
			p.Payload, p.TClass, p.FlowLabel, p.SL = pattern(uint64(i), []int{0, 63, 256, 1024}[i]), uint8(i*0x55), uint32(i*0x33333), uint8(i)
			w.routed(p)
		}
	},
}

// routed has a packet come in at port 1, and judges how it leaves by port 2.
func (w *switched) routed(p *packet.Packet) {
	r := w.r
	sent, _ := w.forwarded("ours#01", p, secondPort)
	copies := w.left()[secondPort]
	if len(copies) != 1 {
		return
	}
	got := copies[0]
	r.check("ours#02", got.HopLmt == p.HopLmt-1, fmt.Sprintf("hop limit %d", p.HopLmt-1), fmt.Sprintf("%d", got.HopLmt), sent, got)
	own := 4*uint16(secondPort) - 2
	ok := got.SLID == own && got.DLID == relayLID+secondPort && got.SL == p.SL && got.PktLen == p.PktLen
	r.check("ours#03", ok, fmt.Sprintf("SLID %d, DLID %d, SL %d, %d words", own, relayLID+secondPort, p.SL, p.PktLen),
		fmt.Sprintf("SLID %d, DLID %d, SL %d, %d words", got.SLID, got.DLID, got.SL, got.PktLen), sent, got)
	want, have := p.Append(nil)[routedFrom:], bytes.Clone(got.Data[routedFrom:])
	want, have = want[:len(want)-2], have[:len(have)-2]
	want[routedHops], have[routedHops] = 0, 0
	r.check("ours#04", bytes.Equal(want, have), "the bytes as they came", unlike(want, have), sent, got)
	r.check("ours#05", got.VCRCState == packet.CRCGood, "a VCRC that is right", fmt.Sprintf("VCRC %v", got.VCRCState), sent, got)
}

// Where the GRH is in a packet, and the hop limit in the GRH.
const (
	routedFrom = 8
	routedHops = 7
)

var routerDrops = &Test{
	ID: "X19_002", Title: "packets that stay in their subnet",
	Abstract: "A router does not forward packets whose hop limit is 0 or 1, packets to link-local GIDs, and packets of subnet management.",
	Covers:   []Statement{{"", NoneID}}, Topology: routerTopology, Device: ChannelAdapter, Needs: Managed, cabled: true,
	Qualifiers: routerQualifiers, Setup: cableSetup,
	Procedure: []string{
		surveyText, routerStep,
		"Send datagrams to the other subnet from port 1 with hop limits 0 and 1, one to a link-local GID of the tester there, and a packet on VL 15 from QP0 to QP0. Before the first and after each, send one that is right.",
	},
	Assertions: []Assertion{
		{"ours#01", "One with hop limit 0 or 1 leaves by no port."},
		{"ours#02", "One to a link-local GID leaves by no port."},
		{"ours#03", "One of subnet management leaves by no port."},
		{"ours#04", "One that is right leaves by port 2."},
	},
	Decisions: ours, Breaks: []string{"LNK-VL-002"},
	run: func(r *run) {
		w := r.router()
		m := w.manager
		r.at(3)
		right := func() { w.forwarded("ours#04", w.global(3), secondPort) }
		right()
		for _, x := range []struct {
			id     string
			change func(p *packet.Packet)
			sent   func(b []byte) []byte // what becomes of its bytes
		}{
			{"ours#01", func(*packet.Packet) {}, revised(func(b []byte) { b[routedFrom+routedHops] = 0 })},
			{"ours#01", func(p *packet.Packet) { p.HopLmt = 1 }, nil},
			{"ours#02", func(p *packet.Packet) { p.DGID.Hi, p.SGID.Hi = defaultPrefix, defaultPrefix }, nil},
			{"ours#03", func(p *packet.Packet) {
				d := m.smpByLID()
				p.VL, p.SrcQP, p.DestQP, p.QKey, p.MigReq, p.Payload = smpLane, 0, 0, 0, false, d.MAD[:]
			}, nil},
		} {
			p := w.global(3)
			x.change(p)
			w.stays(x.id, p, x.sent)
			right()
		}
	},
}

// stays has a packet come in at port 1, and judges that it leaves by no port, on any lane. change, where not nil, makes of its bytes those that are sent.
func (w *switched) stays(id string, p *packet.Packet, change func(b []byte) []byte) {
	r := w.r
	p.Complete()
	w.forgets()
	sent := w.enters(1, p, change)
	r.settle()
	proof := []*packet.Packet{sent}
	for _, port := range w.ports {
		for _, x := range w.plugged.cables[port].datas {
			if x.VL < link.Lanes || x.PSN == p.PSN {
				proof = append(proof, x)
			}
		}
	}
	r.check(id, len(proof) == 1, "nothing leaves", fmt.Sprintf("%d packets", len(proof)-1), proof...)
}
