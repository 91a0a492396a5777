package conform

import (
	"bytes"
	"fmt"

	"ibwitness/mad"
	"ibwitness/subnet"
	"ibwitness/subnet/sma"
)

// refusalTests are those of requests that a device does not support: by version, method, attribute and attribute modifier.
var refusalTests = []*Test{versions, methods, combinations, modifiers}

// Status codes 1 and 2.
var (
	badVersion = []int{int(mad.StatusVersion >> 2)}
	badMethod  = []int{int(mad.StatusMethod >> 2)}
)

// orSilent judges that a request is answered with a status code or not at all, and reports whether it was not.
func (r *run) orSilent(id string, x *exchange, codes []int, about string) (silent bool) {
	if x.got != nil {
		r.answered(id, x, codes, about)
		return false
	}
	return r.check(id, true, "", x.outcome()+" to "+x.what()+", "+about, x.sent)
}

var versions = &Test{
	ID: "X13_001", Title: "BaseVersion and ClassVersion",
	Abstract: "A request with a BaseVersion or ClassVersion that the device does not have is refused with status code 1, or dropped.",
	Covers:   []Statement{{"C13-24", Seen}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Get NodeInfo with BaseVersion 0 and 2, and with ClassVersion 0 and 2.",
		"Give LIDs to the device and the tester, and take their link to Active. Get PortCounters of performance management with the same versions.",
		"Get NodeInfo with the right versions.",
	},
	Assertions: []Assertion{
		{"ours#01", "Get(NodeInfo) with another version is answered with status code 1, or not at all."},
		{"ours#02", "Get(PortCounters) with another version is answered with status code 1, or not at all."},
		{"ours#03", "Get(NodeInfo) with the right versions is answered with status code 0."},
	},
	Decisions: []Decision{{"Sources differ about what becomes of another version: a refusal, or none.", "Both pass; the report tells of requests that are dropped."}},
	Breaks:    []string{"SMP-FMT-003", "MAD-FMT-001"},
	run: func(r *run) {
		m := r.manager
		r.survey()
		dropped := 0
		each := func(id string, ask func(base, class byte) *exchange) {
			for _, v := range [][2]byte{{0, 1}, {2, 1}, {1, 0}, {1, 2}} {
				if r.orSilent(id, ask(v[0], v[1]), badVersion, fmt.Sprintf("BaseVersion %d, ClassVersion %d", v[0], v[1])) {
					dropped++
				}
			}
		}
		r.at(2)
		each("ours#01", func(base, class byte) *exchange {
			return m.spoiled(madTries, mad.SMP{Header: mad.Header{Method: mad.Get, Attribute: mad.AttrNodeInfo}}, func(b []byte) { b[0], b[2] = base, class })
		})
		r.at(3)
		m.activate()
		each("ours#02", func(base, class byte) *exchange {
			h := performance(mad.Get, mad.AttrPortCounters)
			h.BaseVersion, h.ClassVersion = base, class
			return m.repeat(madTries, m.service(h, m.counterPort()))
		})
		r.at(4)
		r.answered("ours#03", m.ask(mad.Get, mad.AttrNodeInfo, 0, nil), granted, "")
		if dropped > 0 {
			r.remark("%d requests with another version were not answered", dropped)
		}
	},
}

// counterPort is the beginning of an attribute of performance management of the port at hand.
func (m *manager) counterPort() []byte { return []byte{0, m.at.Port} }

var methods = &Test{
	ID: "X13_002", Title: "methods that subnet management does not have",
	Abstract: "A request with a method that subnet management does not have is refused with status code 2.",
	Covers:   []Statement{{"C13-24", Seen}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Send NodeInfo with each method from 0x10 to 0x7F.",
		"Send NodeInfo with methods 3 and 6, Send and Report, and with the reserved ones 0, 4 and 8 to 0x0F.",
		"Get NodeInfo.",
	},
	Assertions: []Assertion{
		{"ours#01", "A method from 0x10 on is answered with status code 2."},
		{"ours#02", "Send, Report and reserved methods are answered with status code 2, or not at all."},
		{"ours#03", "Get(NodeInfo) is answered with status code 0."},
	},
	Decisions: []Decision{{"Whether Send, Report and reserved methods are answered, no public source says.", "An answer has status code 2; none passes, and the report tells of it."}},
	Breaks:    []string{"SMP-MTH-001"},
	run: func(r *run) {
		m := r.manager
		r.survey()
		send := func(method mad.Method) *exchange { return m.ask(method, mad.AttrNodeInfo, 0, nil) }
		r.at(2)
		for method := mad.Method(0x10); method < 0x80; method++ {
			r.answered("ours#01", send(method), badMethod, "")
		}
		r.at(3)
		dropped := 0
		for _, method := range []mad.Method{mad.Send, mad.Report, 0, 4, 8, 9, 10, 11, 12, 13, 14, 15} {
			if r.orSilent("ours#02", send(method), badMethod, "") {
				dropped++
			}
		}
		r.at(4)
		r.answered("ours#03", send(mad.Get), granted, "")
		if dropped > 0 {
			r.remark("%d requests with Send, Report or a reserved method were not answered", dropped)
		}
	},
}

// unknownAttributes are attributes that subnet management does not have, some of them in other classes.
var unknownAttributes = []mad.Attribute{0, mad.AttrClassPortInfo, mad.AttrInformInfo, 0x0F, 0x13, 0x21, 0x2F, 0x32, 0x7FFF, 0xFEFF}

var combinations = &Test{
	ID: "X13_003", Title: "attributes and methods that do not go together",
	Abstract: "A method of an attribute that does not have it, and an attribute that is not there, are refused with status code 3, and the data come back as they were sent.",
	Covers:   []Statement{{"C13-24", Seen}, {"C14-3", Seen}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Set NodeInfo, VendorDiag and, of a channel adapter or router, SwitchInfo and the forwarding tables. Get the latter.",
		"Get and Set attributes that subnet management does not have.",
	},
	Assertions: []Assertion{
		{"ours#01", "A method that the attribute does not have on this kind of node is answered with status code 3."},
		{"ours#02", "An attribute that subnet management does not have is answered with status code 3."},
		{"ours#03", "The data of the answer are those of the request."},
	},
	Decisions: []Decision{
		{"What a node lacks only because it is optional is refused, too.", "That is part of the tests of those attributes. Attributes from 0xFF00 on are the vendor's, and not tested."},
		{"An attribute that is not known might be dropped.", "It is answered: silence fails."},
	},
	Breaks: []string{"SMP-MTH-002"},
	run: func(r *run) {
		m, s := r.manager, r.survey()
		refused := func(id string, method mad.Method, a mad.Attribute) {
			data := pattern(uint64(a)<<8|uint64(method), mad.SMPDataSize)
			if x := m.ask(method, a, 0, data); r.answered(id, x, noMethod, "") {
				r.check("ours#03", bytes.Equal(x.Data, data), "the data of the request", "other data in the answer to "+x.what(), x.frames()...)
			}
		}
		r.at(2)
		refused("ours#01", mad.Set, mad.AttrNodeInfo)
		refused("ours#01", mad.Set, mad.AttrVendorDiag)
		if s.kind != subnet.Switch {
			for _, a := range []mad.Attribute{mad.AttrSwitchInfo, mad.AttrLinearForwarding, mad.AttrRandomForwarding, mad.AttrMulticastForwarding} {
				refused("ours#01", mad.Get, a)
				refused("ours#01", mad.Set, a)
			}
		}
		r.at(3)
		for _, a := range unknownAttributes {
			refused("ours#02", mad.Get, a)
			refused("ours#02", mad.Set, a)
		}
	},
}

var modifiers = &Test{
	ID: "X13_004", Title: "attribute modifiers beyond their range",
	Abstract: "A request with an attribute modifier beyond its range is refused with status code 7.",
	Covers:   []Statement{{"C13-24", Seen}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Get each attribute that the device has with the first attribute modifier beyond its range, and with 0x7FFFFFFF where that names no port.",
	},
	Assertions: []Assertion{{"ours#01", "The Get is answered with status code 7."}},
	Decisions: []Decision{
		{"The answer to a Set is not named.", "Sets beyond the range are part of the tests of those attributes."},
		{"VendorDiag and SLtoVLMappingTable of a channel adapter have no range.", "They are not asked for."},
	},
	Breaks: []string{"SMP-NI-001", "SMP-ND-001"},
	run: func(r *run) {
		m, s := r.manager, r.survey()
		r.at(2)
		for _, x := range s.beyond() {
			r.answered("ours#01", m.ask(mad.Get, x.a, x.modifier, nil), badValue, "")
		}
	},
}

// modified is an attribute with a modifier.
type modified struct {
	a        mad.Attribute
	modifier uint32
}

// beyond are the attributes that the device has, with modifiers that these do not have.
func (s *surveyed) beyond() []modified {
	const far = 0x7FFFFFFF
	port := func(name string) uint32 { return uint32(s.port.uint(mad.LayoutPortInfo, name)) }
	guids, keys := (port("GUIDCap")+7)/8, uint32(s.node.uint(mad.LayoutNodeInfo, "partitionCap")+31)/32
	list := []modified{
		{mad.AttrNodeDescription, 1},
		{mad.AttrNodeDescription, far},
		{mad.AttrNodeInfo, 1},
		{mad.AttrNodeInfo, far},
		{mad.AttrPortInfo, uint32(s.ports) + 1},
		{mad.AttrGUIDInfo, guids},
		{mad.AttrGUIDInfo, far},
		{mad.AttrPKeyTable, keys},
	}
	if s.capable(sma.CapLed) {
		list = append(list, modified{mad.AttrLedInfo, uint32(s.ports) + 1})
	}
	if s.kind != subnet.Switch {
		return list
	}
	info := func(name string) uint32 { return uint32(s.switched.uint(mad.LayoutSwitchInfo, name)) }
	list = append(list, modified{mad.AttrSwitchInfo, 1}, modified{mad.AttrSwitchInfo, far}, modified{mad.AttrPKeyTable, uint32(s.ports+1) << 16})
	for _, t := range []struct {
		a         mad.Attribute
		cap, size uint32
	}{{mad.AttrLinearForwarding, info("linearFDBCap"), 64}, {mad.AttrRandomForwarding, info("randomFDBCap"), 16}, {mad.AttrMulticastForwarding, info("multicastFDBCap"), 32}} {
		if t.cap > 0 {
			list = append(list, modified{t.a, (t.cap + t.size - 1) / t.size})
		}
	}
	if s.capable(sma.CapSLtoVL) {
		list = append(list, modified{mad.AttrSLtoVL, uint32(s.ports+1) << 8})
	}
	return list
}
