package conform

import (
	"fmt"

	"ibwitness/fabricagent/ibsim"
	"ibwitness/mad"
	"ibwitness/packet"
)

// smpPacketTests are those of the packets of subnet management.
var smpPacketTests = []*Test{smpPackets}

// spoiling is a packet that is not as its receiver wants it.
type spoiling struct {
	id, what string
	change   func(p *packet.Packet)
}

// sized makes a MAD have another length.
func sized(n int) func(p *packet.Packet) {
	return func(p *packet.Packet) { p.Payload = append(p.Payload, make([]byte, 8)...)[:n] }
}

// immediate makes a packet one with immediate data.
func immediate(p *packet.Packet) {
	p.Opcode, p.Imm = packet.Op(packet.UD, packet.SendOnlyImm), 0x0102_0304
}

// withGRH gives a packet a GRH.
func withGRH(p *packet.Packet) {
	p.Has |= packet.HasGRH
	p.SGID, p.DGID = packet.Addr{Hi: defaultPrefix, Lo: testerGUID + 1}, packet.Addr{Hi: defaultPrefix, Lo: nodeGUID}
}

var smpPackets = &Test{
	ID: "X13_007", Title: "packets of subnet management that are not as they should be",
	Abstract: "QP0 drops a packet that does not have 256 bytes of payload, that has immediate data, that is on another lane than VL15, or that is from another queue pair than QP0.",
	Covers:   []Statement{{"", NoneID}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		activeText,
		"Send Get(NodeInfo) by LIDs with 252 and 260 bytes of payload, with immediate data, on VL 0, from queue pair 5, and with a GRH. Before the first and after each, send one that is right.",
	},
	Assertions: []Assertion{
		{"ours#01", "One of 252 or 260 bytes is not answered."},
		{"ours#02", "One with immediate data is not answered."},
		{"ours#03", "One on VL 0 is not answered."},
		{"ours#04", "One from queue pair 5 is not answered."},
		{"ours#05", "One that is right is answered with status code 0."},
	},
	Decisions: []Decision{
		{"That QP0 looks at the source queue pair no public source says.", "Its answer would go to that queue pair, and subnet management goes only between QP0 and QP0: no answer is right."},
		{"That a sender adds no GRH is clear; whether a receiver drops it no public source says.", "It is sent, and the report tells of an answer; both pass."},
	},
	Breaks: []string{"UD-QP0-001", "UD-HDR-003", "SMP-FMT-004", "LNK-VL-002"},
	run: func(r *run) {
		m := r.activated()
		right := func() {
			r.answered("ours#05", r.unlessBusy(func() *exchange { return m.offer(m.smpByLID(), nil, nil) }), granted, "")
		}
		right()
		for _, s := range []spoiling{
			{"ours#01", "252 bytes", sized(252)},
			{"ours#01", "260 bytes", sized(260)},
			{"ours#02", "immediate data", immediate},
			{"ours#03", "VL 0", func(p *packet.Packet) { p.VL = 0 }},
			{"ours#04", "source queue pair 5", func(p *packet.Packet) { p.SrcQP = 5 }},
			{"", "GRH", withGRH},
		} {
			x := m.offer(m.smpByLID(), s.change, nil)
			switch {
			case s.id != "":
				r.silent(s.id, x, ", "+s.what)
			case x.got != nil:
				r.remark("a request with a %s is answered: frames %d, %d", s.what, x.sent.Frame, x.got.Frame)
			}
			right()
		}
	},
}

// smpByLID is Get(NodeInfo) by LIDs, with a new transaction ID.
func (m *manager) smpByLID() ibsim.Datagram {
	m.tid++
	s := mad.SMP{
		Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetLID, ClassVersion: 1, Method: mad.Get, Attribute: mad.AttrNodeInfo, TID: m.tid}, MKey: m.key,
	}
	d := ibsim.Datagram{SLID: testerLID, DLID: uint16(m.lid())}
	m.r.can(s.Encode(d.MAD[:]))
	return d
}

// classTests are those of the classes of general services.
var classTests = []*Test{classes}

var classes = &Test{
	ID: "X13_008", Title: "ClassPortInfo of each class",
	Abstract: "Each class of general services that a device has answers Get(ClassPortInfo) with its versions; another one is refused.",
	Covers:   []Statement{{"", NoneID}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		activeText,
		"Get ClassPortInfo of classes 0x03 to 0x08 and 0x21.",
		"Get PortCounters of performance management.",
	},
	Assertions: []Assertion{
		{"ours#01", "An answer has status code 0, 1, 2 or 3."},
		{"ours#02", "With status 0, BaseVersion in ClassPortInfo is 1, and ClassVersion that of the header."},
		{"ours#03", "Performance management, which answers Get(PortCounters), answers Get(ClassPortInfo) with status code 0."},
	},
	Decisions: []Decision{{"What becomes of a class that a device does not have, whether it is refused or dropped, no public source says.", "Both pass; the report tells of classes that do not answer."}},
	run: func(r *run) {
		m := r.activated()
		var silent []mad.Class
		for _, c := range []mad.Class{mad.ClassSubnetAdmin, mad.ClassPerformance, mad.ClassBoard, mad.ClassDevice, mad.ClassCM, mad.ClassSNMP, mad.ClassCongestion} {
			h := performance(mad.Get, mad.AttrClassPortInfo)
			if h.Class = c; c == mad.ClassSubnetAdmin || c == mad.ClassCM {
				h.ClassVersion = 2
			}
			x := m.repeat(madTries, m.service(h, nil))
			if x.got == nil {
				silent = append(silent, c)
			} else {
				r.classPortInfo(x, h)
			}
			if c == mad.ClassPerformance {
				r.again(4)
				if m.perform(mad.Get, mad.AttrPortCounters, m.counterPort()).succeeded() {
					r.answered("ours#03", x, granted, "")
				} else {
					r.skip("ours#03", "performance management does not answer Get(PortCounters)")
				}
				r.again(3)
			}
		}
		if len(silent) > 0 {
			r.remark("Get(ClassPortInfo) is not answered in %d classes: %v", len(silent), silent)
		}
	},
}

// classPortInfo judges ClassPortInfo of a class.
func (r *run) classPortInfo(x *exchange, h mad.Header) {
	r.answered("ours#01", x, []int{0, 1, 2, 3}, h.Class.String())
	if !x.succeeded() {
		return
	}
	at := map[mad.Class]int{mad.ClassSubnetAdmin: mad.SAHeaderSize, mad.ClassCM: mad.HeaderSize}[h.Class] // where its attributes begin
	if at == 0 {
		at = mad.PerformanceData
	}
	l, b := mad.LayoutClassPortInfo, x.got.Payload[at:]
	base, class := l.Field("baseVersion").Uint(b), l.Field("classVersion").Uint(b)
	r.check("ours#02", base == 1 && class == uint64(h.ClassVersion), fmt.Sprintf("BaseVersion 1, ClassVersion %d", h.ClassVersion),
		fmt.Sprintf("BaseVersion %d, ClassVersion %d of %v", base, class, h.Class), x.frames()...)
}
