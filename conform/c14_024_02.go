package conform

import (
	"bytes"
	"fmt"

	"ibwitness/mad"
	"ibwitness/subnet"
)

// nodeTests are those of rows 02 and 03 of the attributes of C14-24.1.1, NodeDescription and NodeInfo.
var nodeTests = []*Test{nodeDescription, nodeInfo}

// Assertions of nodeDescription.
const (
	descriptionTaken   = "v1c14-024.1.1#02.01"
	descriptionRefused = "v1c14-024.1.1#02.02"
	descriptionKept    = "v1c14-024.1.1#02.03"
)

// Bits of CapabilityMask and CapabilityMask2 by which a node says that its NodeDescription can be set.
const (
	capMask2       = 1 << 15
	cap2SetsDescr  = 1 << 0
	testerNodeText = "set by the tester"
)

var nodeDescription = &Test{
	ID: "C14_024_02", Title: "NodeDescription",
	Abstract: "NodeDescription is read, and cannot be set unless the node says that it can.",
	Covers:   []Statement{{"C14-24.1.1", Stated}, {"C13-24", Seen}, {"C14-27", Seen}, {"C14-30", Seen}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Get NodeDescription.",
		"Unless CapabilityMask2 says that it can be set, Set NodeDescription to another text.",
		"Get NodeDescription.",
	},
	Assertions: []Assertion{
		{descriptionTaken, "Get(NodeDescription) is answered with status code 0."},
		{descriptionRefused, "Set(NodeDescription) is answered with status code 3."},
		{descriptionKept, "NodeDescription is as before the Set."},
	},
	Decisions: []Decision{
		{"Which of the numbers #02.01 to #02.03 is what, is not told.", "#02.01 is the Get, #02.02 the refusal of the Set, #02.03 that it changes nothing."},
		{"Newer nodes can have it set.", "Where bit 15 of CapabilityMask and bit 0 of CapabilityMask2 are 1, it is not set, and what is said of the Set is not applicable."},
	},
	run: func(r *run) {
		m, s := r.manager, r.survey()
		r.at(2)
		first := m.ask(mad.Get, mad.AttrNodeDescription, 0, nil)
		if !r.answered(descriptionTaken, first, granted, "") {
			r.halt("NodeDescription is not read")
		}
		r.at(3)
		if s.capable(capMask2) && s.port.uint(mad.LayoutPortInfo, "capabilityMask2")&cap2SetsDescr != 0 {
			r.skip(descriptionRefused, "the node says that its NodeDescription can be set")
			r.skip(descriptionKept, "the node says that its NodeDescription can be set")
			return
		}
		data := make([]byte, mad.SMPDataSize)
		copy(data, testerNodeText)
		set := m.ask(mad.Set, mad.AttrNodeDescription, 0, data)
		r.answered(descriptionRefused, set, noMethod, "")
		r.at(4)
		now := m.ask(mad.Get, mad.AttrNodeDescription, 0, nil)
		if r.answered(descriptionTaken, now, granted, "") {
			r.check(descriptionKept, bytes.Equal(first.Data, now.Data), fmt.Sprintf("%q", described(first)), fmt.Sprintf("%q", described(now)), first.got, set.sent, now.got)
		}
	},
}

// described is the text of a NodeDescription.
func described(x *exchange) string {
	text, _, _ := bytes.Cut(x.Data, []byte{0})
	return string(text)
}

// Assertions of nodeInfo.
const (
	nodeInfoTaken    = "v1c14-024.1.1#03.01"
	nodeInfoVersions = "v1c14-024.1.1#03.02"
	nodeInfoRefused  = "v1c14-024.1.1#03.03"
	nodeInfoSame     = "v1c14-024.1.1#03.04"
	nodeInfoGUIDs    = "v1c14-024.1.1#03.05"
	nodeInfoPort     = "v1c14-024.1.1#03.06"
)

var nodeInfo = &Test{
	ID: "C14_024_03", Title: "NodeInfo, on each port",
	Abstract: "NodeInfo is read at each port, where it is the same but for the port itself, and cannot be set.",
	Covers:   []Statement{{"C14-24.1.1", Stated}, {"C13-24", Seen}, {"C14-27", Seen}, {"C14-30", Seen}}, Topology: eachTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"At each port, Get NodeInfo.",
		"At port 1, for each component, Set NodeInfo with its inverse.",
		"Get NodeInfo.",
	},
	Assertions: []Assertion{
		{nodeInfoTaken, "Get(NodeInfo) is answered with status code 0."},
		{nodeInfoVersions, "BaseVersion and ClassVersion are 1, NodeType is 1, 2 or 3."},
		{nodeInfoRefused, "Set(NodeInfo) is answered with status code 3, and NodeInfo is as before."},
		{nodeInfoSame, "All components but LocalPortNum and, of a channel adapter or router, PortGUID are the same at each port."},
		{nodeInfoGUIDs, "SystemImageGUID, NodeGUID and PortGUID are not 0; PortGUID is the same at each port of a switch, and another one at each port of another node."},
		{nodeInfoPort, "LocalPortNum is the port at which the request has come in."},
	},
	Decisions: []Decision{{
		"Of the numbers #03.01 to #03.06 only the last three are told: what is the same at each port.",
		"#03.01 is the Get, #03.02 versions and type, #03.03 the Set; #03.04 is what is the same, #03.05 PortGUID, #03.06 LocalPortNum.",
	}},
	Breaks: []string{"SMP-MTH-002"},
	run: func(r *run) {
		m, s := r.manager, r.survey()
		guids := map[uint64]bool{}
		for port := 1; port <= s.ports; port++ {
			r.again(2)
			m.move(uint8(port))
			x := m.ask(mad.Get, mad.AttrNodeInfo, 0, nil)
			if r.answered(nodeInfoTaken, x, granted, "") {
				r.nodeInfoOf(s, x, port, guids)
			}
		}
		m.move(1)
		for _, f := range mad.LayoutNodeInfo.Fields {
			r.again(3)
			data := bytes.Clone(s.node.Data)
			f.PutUint(data, ^f.Uint(data))
			r.answered(nodeInfoRefused, m.ask(mad.Set, mad.AttrNodeInfo, 0, data), noMethod, f.Name+" inverted")
		}
		r.at(4)
		x := m.get(mad.AttrNodeInfo, 0)
		r.equals(nodeInfoRefused, mad.LayoutNodeInfo, s.node.Data, x.Data, nil, "NodeInfo as before the Sets", s.node.got, x.got)
	},
}

// nodeInfoOf judges NodeInfo of a port, by that of the survey and the PortGUIDs of other ports.
func (r *run) nodeInfoOf(s *surveyed, x *exchange, port int, guids map[uint64]bool) {
	l := mad.LayoutNodeInfo
	get := func(name string) uint64 { return x.uint(l, name) }
	base, class, kind := get("baseVersion"), get("classVersion"), get("nodeType")
	r.check(nodeInfoVersions, base == 1 && class == 1 && kind >= 1 && kind <= 3, "versions 1, NodeType 1 to 3", fmt.Sprintf("BaseVersion %d, ClassVersion %d, NodeType %d", base, class, kind), x.got)
	except := []string{"localPortNum", "portGUID"}
	r.equals(nodeInfoSame, l, s.node.Data, x.Data, except, fmt.Sprintf("NodeInfo at port %d as at port 1", port), s.node.got, x.got)
	system, node, guid := get("systemImageGUID"), get("nodeGUID"), get("portGUID")
	same := guids[guid]
	if s.kind == subnet.Switch {
		same = len(guids) > 0 && !guids[guid]
	}
	guids[guid] = true
	r.check(nodeInfoGUIDs, system != 0 && node != 0 && guid != 0 && !same, "GUIDs other than 0, PortGUID as it is of this kind of node",
		fmt.Sprintf("SystemImageGUID %#x, NodeGUID %#x, PortGUID %#x at port %d", system, node, guid, port), s.node.got, x.got)
	local := get("localPortNum")
	r.check(nodeInfoPort, local == uint64(port), fmt.Sprintf("LocalPortNum %d", port), fmt.Sprint(local), x.sent, x.got)
}
