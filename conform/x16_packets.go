package conform

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/packet"
)

// gmpPacketTests are those of the packets of general services.
var gmpPacketTests = []*Test{gmpPackets}

var gmpPackets = &Test{
	ID: "X16_007", Title: "packets of general services that are not as they should be",
	Abstract: "QP1 drops a packet with another Q_Key, with another length than 256 bytes or with immediate data. What performance management does not have is refused.",
	Covers:   []Statement{{"C13-24", Seen}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		measuredText,
		"Send Get(ClassPortInfo) with Q_Key 0x11111111, with 252 and 260 bytes of payload and with immediate data. Before the first and after each, send one that is right.",
		"Send ClassPortInfo with methods 0x10, 0x12 and 0x7F.",
		"Get attributes 0 and 0x7FFF.",
		"Get ClassPortInfo of classes that are not defined, 0x02 and 0x7F.",
	},
	Assertions: []Assertion{
		{"ours#01", "One with another Q_Key is not answered."},
		{"ours#02", "One of 252 or 260 bytes is not answered."},
		{"ours#03", "One with immediate data is not answered."},
		{"ours#04", "A method that the class does not have is answered with status code 2."},
		{"ours#05", "An attribute that the class does not have is answered with status code 3."},
		{"ours#06", "A class that is not defined is answered with status code 1, 2 or 3, or not at all."},
		{"ours#07", "One that is right is answered with status code 0."},
	},
	Decisions: []Decision{{"What becomes of a class that is not defined, no public source says.", "A refusal passes, and so does silence, of which the report tells."}},
	Breaks:    []string{"UD-QKEY-003", "UD-QP1-001", "MAD-MTH-001"},
	run: func(r *run) {
		r.measured()
		m := r.manager
		r.at(3)
		h := performance(mad.Get, mad.AttrClassPortInfo)
		right := func() { r.answered("ours#07", m.offer(m.service(h, nil), nil, nil), granted, "") }
		right()
		for _, s := range []spoiling{
			{"ours#01", "Q_Key 0x11111111", func(p *packet.Packet) { p.QKey = 0x1111_1111 }},
			{"ours#02", "252 bytes", sized(252)},
			{"ours#02", "260 bytes", sized(260)},
			{"ours#03", "immediate data", immediate},
		} {
			r.silent(s.id, m.offer(m.service(h, nil), s.change, nil), ", "+s.what)
			right()
		}
		r.at(4)
		for _, method := range []mad.Method{0x10, 0x12, 0x7F} {
			r.answered("ours#04", m.perform(method, mad.AttrClassPortInfo, nil), badMethod, "")
		}
		r.at(5)
		for _, a := range []mad.Attribute{0, 0x7FFF} {
			r.answered("ours#05", m.perform(mad.Get, a, nil), noMethod, "")
		}
		r.at(6)
		silent := 0
		for _, class := range []mad.Class{0x02, 0x7F} {
			other := h
			other.Class = class
			if r.orSilent("ours#06", m.repeat(madTries, m.service(other, nil)), []int{1, 2, 3}, fmt.Sprintf("class 0x%02x", uint8(class))) {
				silent++
			}
		}
		if silent > 0 {
			r.remark("%d requests of classes that are not defined were not answered", silent)
		}
		right()
	},
}
