package conform

import (
	"encoding/binary"
	"fmt"

	"ibwitness/fabricagent/ibsim"
	"ibwitness/link"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet"
)

// receiverTests are those of the packet receiver of a port: what it drops.
var receiverTests = []*Test{
	receiverTest("TD_10.2.4.1.1", "wrong VCRC", badVCRC, subnet.ChannelAdapter),
	receiverTest("TD_10.2.4.1.2", "wrong ICRC", wrongICRC, subnet.ChannelAdapter),
	receiverTest("TD_10.2.4.1.3", "link versions", linkVersions, subnet.ChannelAdapter),
	receiverTest("TD_10.2.4.1.9", "wrong delimiters", delimiters, subnet.ChannelAdapter),
	receiverTest("TD_10.2.4.1.10", "bad-packet delimiter", badPacket, subnet.ChannelAdapter),
	receiverTest("TD_10.3.1.1.1", "wrong VCRC", badVCRC, subnet.Switch, subnet.Router),
	receiverTest("TD_10.3.1.1.2", "wrong ICRC", wrongICRC, subnet.Switch, subnet.Router),
	receiverTest("TD_10.3.1.1.3", "link versions", linkVersions, subnet.Switch, subnet.Router),
	receiverTest("TD_10.3.1.1.8", "wrong delimiters", delimiters, subnet.Switch, subnet.Router),
	receiverTest("TD_10.3.1.1.9", "bad-packet delimiter", badPacket, subnet.Switch, subnet.Router),
	receiverTest("TD_10.3.1.2.1", "link versions at any port", linkVersions, subnet.ChannelAdapter, subnet.Switch, subnet.Router),
	receiverTest("CATC_BadPktLen", "wrong packet lengths", packetLengths, subnet.ChannelAdapter, subnet.Switch, subnet.Router),
}

// wrongPacket is a packet that a port is to drop: its bytes changed, and what ends it.
type wrongPacket struct {
	what   string
	change func(b []byte) []byte
	mark   link.Mark
}

// wrongKind is a kind of packets that a port is to drop.
type wrongKind struct {
	text   string // what they are
	part   string // of the assertion
	list   []wrongPacket
	breaks []string
	page   []Decision
}

var badVCRC = wrongKind{
	"whose VCRC is inverted", "01.01", []wrongPacket{{"VCRC inverted", func(b []byte) []byte {
		b[len(b)-1], b[len(b)-2] = ^b[len(b)-1], ^b[len(b)-2]
		return b
	}, link.Mark{}}}, []string{"LNK-CRC-001"}, nil,
}

var wrongICRC = wrongKind{
	"whose ICRC is inverted, with the VCRC that fits it", "01.02", []wrongPacket{{"ICRC inverted", revised(func(b []byte) {
		for i := len(b) - 6; i < len(b)-2; i++ {
			b[i] = ^b[i]
		}
	}), link.Mark{}}}, []string{"LNK-CRC-005"}, nil,
}

var linkVersions = wrongKind{
	"of each link version from 1 to 15, with CRCs that fit it", "01.03", func() (list []wrongPacket) {
		for v := range byte(15) {
			list = append(list, wrongPacket{fmt.Sprintf("link version %d", v+1), relinked(func(p *packet.Packet) { p.LVer = v + 1 }), link.Mark{}})
		}
		return list
	}(), []string{"LNK-LRH-002"}, nil,
}

var delimiters = wrongKind{
	"that end with an invalid code group, with SLP and with SDP in place of EGP", "02.01", []wrongPacket{
		{"ended by an invalid code group", nil, link.Mark{Bad: true, End: link.Invalid}},
		{"ended by SLP", nil, link.Mark{Bad: true, End: link.SLP}},
		{"ended by SDP", nil, link.Mark{Bad: true, End: link.SDP}},
	}, nil, nil,
}

var badPacket = wrongKind{"that end with EBP in place of EGP", "02.03", []wrongPacket{{"ended by EBP", nil, link.Mark{Bad: true}}}, nil, nil}

var packetLengths = wrongKind{
	"whose PktLen is one more and one less than their length, 5, and 2047, with the ICRC and VCRC that fit", "01.04",
	[]wrongPacket{
		{"PktLen one more", lengthened(func(n uint16) uint16 { return n + 1 }), link.Mark{}},
		{"PktLen one less", lengthened(func(n uint16) uint16 { return n - 1 }), link.Mark{}},
		{"PktLen 5", lengthened(func(uint16) uint16 { return 5 }), link.Mark{}},
		{"PktLen 2047", lengthened(func(uint16) uint16 { return 2047 }), link.Mark{}},
	},
	[]string{"LNK-LRH-005", "LNK-LRH-006", "LNK-LRH-007"},
	[]Decision{{"PktLen is one more than the packet has.", "One less, less than any packet has, and more than any MTU allows are sent, too."}},
}

// revised makes a change of bytes after which the VCRC is right.
func revised(change func(b []byte)) func(b []byte) []byte {
	return func(b []byte) []byte {
		change(b)
		binary.LittleEndian.PutUint16(b[len(b)-2:], packet.VCRC(b[:len(b)-2]))
		return b
	}
}

// relinked makes a change of a packet after which ICRC and VCRC are right.
func relinked(change func(p *packet.Packet)) func(b []byte) []byte {
	return func(b []byte) []byte {
		var p packet.Packet
		packet.DecodeInfiniBand(&p, b, len(b))
		change(&p)
		p.SealICRC()
		return p.Append(nil)
	}
}

// lengthened makes PktLen another one; ICRC and VCRC are those of the packet that is sent.
func lengthened(length func(n uint16) uint16) func(b []byte) []byte {
	return relinked(func(p *packet.Packet) { p.PktLen = length(p.PktLen) })
}

// receiverTest makes the test of packets of one kind at nodes of some kinds.
func receiverTest(id, title string, k wrongKind, kinds ...subnet.NodeType) *Test {
	ca := kinds[0] == subnet.ChannelAdapter
	t := &Test{
		ID: id, Title: title, Abstract: "A port drops packets " + k.text + ": a request in one is not answered.",
		Topology: cableTopology, Device: Node, Needs: Managed, Qualifiers: []string{keyQualifier}, Setup: cableSetup,
		Procedure: []string{
			surveyText,
			"Send Get(PortInfo) on a directed route of one hop that is right, and one " + k.text + ", one after the other where there are several, each once. Wait for an answer, and send one that is right after each.",
		},
		Decisions: k.page, Breaks: k.breaks, cabled: true,
	}
	assert := func(statement string) string {
		a := Assertion{fmt.Sprintf("%s#%s", statement, k.part), "A request in a packet " + k.text + " is not answered."}
		t.Assertions = append(t.Assertions, a)
		return a.ID
	}
	var ids []string
	switch {
	case len(kinds) == 2:
		t.Covers, ids = []Statement{{"C7-9", Stated}}, []string{assert("v1c07-009")}
		t.Qualifiers = append([]string{"NodeType is 2 or 3: it is a switch or a router"}, t.Qualifiers...)
	case len(kinds) == 1:
		t.Covers, ids = []Statement{{"C7-7", Stated}}, []string{assert("v1c07-007")}
		t.Device, t.Qualifiers = ChannelAdapter, append([]string{"NodeType is 1: it is a channel adapter"}, t.Qualifiers...)
	case k.part == linkVersions.part:
		k.part = "01"
		t.Covers, ids = []Statement{{"C7-10", Stated}}, []string{assert("v1c07-010")}
		t.Decisions = append(t.Decisions, Decision{"The text of the page is that of another test, under another statement.", "The same, at devices of any kind."})
	default:
		t.Covers, ids = []Statement{{"C7-7", Stated}, {"C7-9", Stated}}, []string{assert("v1c07-007"), assert("v1c07-009")}
	}
	t.Assertions = append(t.Assertions, Assertion{"ours#01", "A request that is right is answered before the first and after each of them."})
	t.run = func(r *run) {
		s := r.survey()
		switch {
		case !ca && s.kind == subnet.ChannelAdapter, len(kinds) == 1 && s.kind != subnet.ChannelAdapter:
			r.inapplicable("NodeType is %d, %v", s.kind, s.kind)
		case len(ids) == 2 && s.kind == subnet.ChannelAdapter:
			r.skip(ids[1], "it is of switches and routers")
			ids := ids[:1]
			r.drops(ids[0], k.list)
			return
		case len(ids) == 2:
			r.skip(ids[0], "it is of channel adapters")
			r.drops(ids[1], k.list)
			return
		}
		r.drops(ids[0], k.list)
	}
	return t
}

// cableSetup is the initialisation of the tests on native links.
var cableSetup = []string{"Link the tester with port 1 of the device, and have the link train up to Initialize. The tester offers credits on each data lane."}

// drops is the second step of the tests of packet receivers.
func (r *run) drops(id string, list []wrongPacket) {
	m := r.manager
	r.at(2)
	right := func() { r.answered("ours#01", m.ask(mad.Get, mad.AttrPortInfo, 1, nil), granted, "") }
	right()
	for _, w := range list {
		x := m.wrong(w)
		r.silent(id, x, ", "+w.what)
		right()
	}
}

// wrong sends Get(PortInfo) by a directed route in a packet that is wrong, once, and waits as long as for an answer.
func (m *manager) wrong(w wrongPacket) *exchange {
	m.tid++
	s := mad.SMP{Header: mad.Header{Method: mad.Get, Attribute: mad.AttrPortInfo, Modifier: 1, TID: m.tid}, MKey: m.key}
	d, err := ibsim.Directed(s, 1)
	m.r.can(err)
	x := &exchange{tries: 1, sent: m.cabled(m.madPacket(d), w.change, w.mark, w.what)}
	m.r.until(m.r.now()+m.wait, func() bool { return m.takes(x) })
	return x
}
