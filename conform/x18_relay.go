package conform

import (
	"encoding/binary"
	"fmt"
	"slices"

	"ibwitness/fabricagent/ibsim"
	"ibwitness/fabricagent/sim"
	"ibwitness/link"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet"
	"ibwitness/subnet/sma"
)

// Topology and first steps of the tests of packets that a switch forwards.
const (
	relayTopology = "testers at ports 1 to 3 of the device under test, as far as it has these, each on a native link whose other port the tester plays"
	relayStep     = "Link testers with ports 2 and 3, give LIDs, the way to each tester, HOQLife and LifeTimeValue without end, and take the links to Active."
)

// relayPorts is at how many ports testers are, at most.
const relayPorts = 3

// LIDs of the tests of packets that a switch forwards: of the testers, and from which on a test has its own.
const (
	relayLID  = 16 // and the number of the port
	relayFree = 32
	relayTop  = 63
)

// noEnd is the code of HOQLife and LifeTimeValue without end.
const noEnd = 20

// switched is a switch with testers at its ports.
type switched struct {
	*manager
	ports []uint8 // with a tester
	nodes map[uint8]*sma.Node
	table []byte // block 0 of the LinearForwardingTable
	psn   uint32
}

// switches begins a test of packets that a switch forwards, which needs so many ports.
func (r *run) switches(need int) *switched {
	s := r.survey()
	m := r.manager
	switch {
	case s.switched.uint(mad.LayoutSwitchInfo, "linearFDBCap") == 0:
		r.inapplicable("LinearFDBCap is 0, and the test sets the LinearForwardingTable")
	case s.switched.uint(mad.LayoutSwitchInfo, "linearFDBCap") <= relayTop:
		r.inapplicable("LinearFDBCap is %d, and the test has LIDs up to %d", s.switched.uint(mad.LayoutSwitchInfo, "linearFDBCap"), relayTop)
	case s.ports < need:
		r.inapplicable("NumPorts is %d, and the test needs %d", s.ports, need)
	}
	r.at(2)
	w := &switched{manager: m, nodes: map[uint8]*sma.Node{1: m.from.Node}, table: make([]byte, 64)}
	for i := range w.table {
		w.table[i] = unrouted
	}
	w.table[testerLID], w.table[nodeLID] = 1, 0
	for port := uint8(1); int(port) <= min(s.ports, relayPorts); port++ {
		w.plug(port)
	}
	m.address()
	w.routes()
	m.set(mad.AttrSwitchInfo, 0, map[string]uint64{"linearFDBTop": relayTop, "lifeTimeValue": noEnd})
	for _, port := range w.ports {
		w.raise(port)
	}
	return w
}

// unrouted is the entry of a forwarding table of a LID without a way.
const unrouted = 255

// plug links a tester with a port, whose LID has a way.
func (w *switched) plug(port uint8) {
	w.ports = append(w.ports, port)
	w.table[relayLID+port] = port
	if port == 1 {
		return
	}
	node, err := sma.New(sma.Config{Type: subnet.ChannelAdapter, GUID: testerGUID + uint64(port)<<8, Description: fmt.Sprintf("tester %d", port), Ports: 1})
	w.r.can(err)
	w.nodes[port] = node
	w.plugged.cableTo(port, w.options(), node)
	w.r.note("a tester is at port %d", port)
}

func (w *switched) options() sim.LinkOptions {
	return sim.LinkOptions{Symbol: slowSymbol, Lanes: dataLanes(w.node), Ports: [2]sim.LinkPort{{}, {Buffer: cableBuffer}}}
}

// raise takes the link of a port to Active, where HOQLife is without end.
func (w *switched) raise(port uint8) {
	for _, state := range []uint64{sma.Armed, sma.Active} {
		end := ibsim.End{Node: w.nodes[port], Port: 1}
		lid := uint64(relayLID + port)
		if port == 1 {
			lid = testerLID
		}
		w.own(end, map[string]uint64{"LID": lid, "masterSMLID": testerLID, "portState": state})
		w.set(mad.AttrPortInfo, uint32(port), map[string]uint64{"portState": state, "HOQLife": noEnd})
		w.plugged.cables[port].follow(w.nodes[port])
	}
}

// routes writes the first block of the LinearForwardingTable.
func (w *switched) routes() {
	w.write(mad.AttrLinearForwarding, 0, func(data []byte) { copy(data, w.table) })
}

// datagramFrom makes a datagram from the tester at a port to a LID.
func (w *switched) datagramFrom(port uint8, lid uint16) *packet.Packet {
	w.psn++
	return &packet.Packet{
		Encap: packet.Native, Opcode: packet.Op(packet.UD, packet.SendOnly), Src: packet.LIDAddr(relayLID + uint16(port)), Dst: packet.LIDAddr(lid), PKey: 0xFFFF,
		SrcQP: 0x100 + uint32(port), DestQP: 0x200, QKey: 0x1234, PSN: packet.PSN(w.psn), Payload: pattern(uint64(w.psn), 64), MigReq: true,
	}
}

// enters has a packet that is complete come in at a port; change, where not nil, makes of its bytes those that are sent.
func (w *switched) enters(port uint8, p *packet.Packet, change func(b []byte) []byte) *packet.Packet {
	return w.entersAs(port, p, change, link.Mark{})
}

// entersAs is enters for a packet that ends as a mark says.
func (w *switched) entersAs(port uint8, p *packet.Packet, change func(b []byte) []byte, mark link.Mark) *packet.Packet {
	b := p.Append(nil)
	if change != nil {
		b = change(b)
	}
	p.Time = w.r.now()
	if !w.quiet {
		w.r.note("port %d -> LID %d: %s", port, p.DLID, told(p))
	}
	return w.plugged.cables[port].sends(link.Data, mark, b, p)
}

// left is what has left the switch by data lanes at each port since the tests forgot it.
func (w *switched) left() map[uint8][]*packet.Packet {
	list := map[uint8][]*packet.Packet{}
	for _, port := range w.ports {
		for _, p := range w.plugged.cables[port].datas {
			if p.VL < link.Lanes && (p.DestQP > gsiQP || p.LNH < packet.LNHLocal) {
				list[port] = append(list[port], p)
			}
		}
	}
	return list
}

// forgets forgets what has left.
func (w *switched) forgets() {
	for _, c := range w.plugged.cables {
		c.forget()
	}
}

// forwarded has a packet come in at port 1 and judges out of which ports it leaves, once each.
func (w *switched) forwarded(id string, p *packet.Packet, outs ...uint8) (sent *packet.Packet, copies []*packet.Packet) {
	r := w.r
	var raw func(b []byte) []byte
	if p.LNH == packet.LNHRaw && p.Has&packet.HasRWH != 0 {
		raw = func([]byte) []byte { return p.Data }
	} else {
		p.Complete()
	}
	w.forgets()
	sent = w.enters(1, p, raw)
	r.settle()
	left := w.left()
	proof := []*packet.Packet{sent}
	var got []uint8
	for _, port := range w.ports {
		for _, x := range left[port] {
			proof, got, copies = append(proof, x), append(got, port), append(copies, x)
		}
	}
	r.check(id, slices.Equal(got, outs), fmt.Sprintf("out of ports %v", outs), fmt.Sprintf("LID %d: out of ports %v", p.DLID, got), proof...)
	return sent, copies
}

// discarded has a packet come in at port 1 and judges that it leaves by no port, and is counted.
func (w *switched) discarded(id, counted string, p *packet.Packet, port uint8, counter string) {
	r := w.r
	was := w.counterOf(port, counter)
	sent, _ := w.forwarded(id, p)
	now := w.counterOf(port, counter)
	r.check(counted, now == was+1, fmt.Sprintf("%s of port %d: %d", counter, port, was+1), fmt.Sprintf("%d", now), sent)
}

// masks sets the ports of a multicast LID, which is in block 0.
func (w *switched) masks(lid uint16, ports ...uint8) {
	mask := uint16(0)
	for _, port := range ports {
		mask |= 1 << port
	}
	w.write(mad.AttrMulticastForwarding, 0, func(data []byte) { binary.BigEndian.PutUint16(data[2*(lid-firstMulticastLID):], mask) })
}

// firstMulticastLID is the first multicast LID.
const firstMulticastLID = 0xC000
