package smp

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"ibwitness/mad"
	"ibwitness/rule"
	"ibwitness/subnet"
)

// The components that are judged.
var (
	niType       = mad.LayoutNodeInfo.Field("nodeType")
	niPorts      = mad.LayoutNodeInfo.Field("numPorts")
	niSystem     = mad.LayoutNodeInfo.Field("systemImageGUID")
	niGUID       = mad.LayoutNodeInfo.Field("nodeGUID")
	niPortGUID   = mad.LayoutNodeInfo.Field("portGUID")
	niPartitions = mad.LayoutNodeInfo.Field("partitionCap")
	niLocalPort  = mad.LayoutNodeInfo.Field("localPortNum")

	siLinearCap    = mad.LayoutSwitchInfo.Field("linearFDBCap")
	siRandomCap    = mad.LayoutSwitchInfo.Field("randomFDBCap")
	siMulticastCap = mad.LayoutSwitchInfo.Field("multicastFDBCap")
	siLinearTop    = mad.LayoutSwitchInfo.Field("linearFDBTop")
	siOptimized    = mad.LayoutSwitchInfo.Field("optimizedSLtoVLMappingProgramming")
	siEnforcement  = mad.LayoutSwitchInfo.Field("partitionEnforcementCap")
	siEnhanced     = mad.LayoutSwitchInfo.Field("enhancedPort0")
)

// The status of a response to a request that a node cannot serve.
var (
	invalidValue = mad.StatusValue.Text(mad.ClassSubnetLID)
	noMethod     = mad.StatusAttribute.Text(mad.ClassSubnetLID)
)

// judgeRequest judges what a new request asks for.
func (v *Verifier) judgeRequest(x *exchange) {
	s := &v.s
	switch s.Attribute {
	case mad.AttrNodeInfo:
		if v.breaks(rule.SMPNI001, s.Modifier != 0) {
			x.badModifier = true
			v.report(rule.SMPNI001, rule.Violation, rule.Requester, "attribute modifier 0", fmt.Sprintf("0x%x", s.Modifier))
		}
	case mad.AttrNodeDescription:
		if v.breaks(rule.SMPND001, s.Modifier != 0) {
			x.badModifier = true
			v.report(rule.SMPND001, rule.Violation, rule.Requester, "attribute modifier 0", fmt.Sprintf("0x%x", s.Modifier))
		}
	case mad.AttrPortInfo:
		if p := v.infoPort(x); p != nil {
			x.stateBefore = p.State // 0: not known
		}
		if p := x.at.port(); s.Method == mad.Set && x.at.endport(s.Modifier) && p != nil {
			v.mkeySetApart(x, v.of(p))
		}
	case mad.AttrSMInfo:
		v.smInfoRequest(x)
	default:
		v.tableRequest(x)
	}
}

// judgeResponse judges the status and the attribute of a response, and keeps what the attribute says.
func (v *Verifier) judgeResponse(x *exchange) {
	s := &v.s
	if s.Code() != 0 {
		v.errorStatus(x)
		return
	}
	if !v.served(x) {
		return
	}
	switch s.Attribute {
	case mad.AttrNodeInfo:
		v.nodeInfo(x)
	case mad.AttrNodeDescription:
		v.nodeDescription(x)
	case mad.AttrSwitchInfo:
		v.switchInfo(x)
	case mad.AttrPortInfo:
		v.portInfo(x)
	case mad.AttrSMInfo:
		v.smInfo(x)
	case mad.AttrVendorDiag:
		if v.breaks(rule.SMPVD001, x.Method == mad.Set) {
			v.report(rule.SMPVD001, v.paired(), rule.Responder, "VendorDiag is read-only", "status 0 to a Set", x.frame)
		}
	case mad.AttrLedInfo:
		rest := mad.LayoutLedInfo.Fields[1].Uint(s.Data)
		if v.breaks(rule.SMPVD001, rest != 0) {
			v.report(rule.SMPVD001, v.paired(), rule.Responder, "only bit 31 of LedInfo", fmt.Sprintf("0x%08x", rest), x.frame)
		}
	default:
		v.tableResponse(x)
	}
}

// served judges, by status 0, that the attribute has the method of the request (rule SMP-MTH-002) and the node the attribute (rule SMP-SI-001). It reports
// whether the node has it.
func (v *Verifier) served(x *exchange) bool {
	s := &v.s
	_, set, _, known := mad.SMPMethods(s.Attribute)
	if known && s.Attribute != mad.AttrVendorDiag && v.breaks(rule.SMPMTH002, x.Method == mad.Set && !set) {
		v.report(rule.SMPMTH002, v.paired(), rule.Responder, noMethod+": the attribute has no such method", "status 0", x.frame)
	}
	if ofSwitch(s.Attribute) && x.at.known() && v.breaks(rule.SMPSI001, x.at.node.Type != subnet.Switch) {
		v.report(rule.SMPSI001, v.paired(), rule.Responder, noMethod+": the node is no switch", fmt.Sprintf("%s of a %v", s.AttributeName(), x.at.node.Type), x.frame)
		return false
	}
	return true
}

// ofSwitch reports whether only switches have an attribute (table T11).
func ofSwitch(a mad.Attribute) bool {
	switch a {
	case mad.AttrSwitchInfo, mad.AttrLinearForwarding, mad.AttrRandomForwarding, mad.AttrMulticastForwarding:
		return true
	}
	return false
}

// mandatory reports whether each node of a type has a method of an attribute (table T11).
func mandatory(kind subnet.NodeType, x *exchange) bool {
	switch x.Attribute {
	case mad.AttrNodeInfo, mad.AttrNodeDescription:
		return x.Method == mad.Get
	case mad.AttrPortInfo:
		return true
	case mad.AttrPKeyTable: // a switch may enforce no partitions at a port
		return kind == subnet.ChannelAdapter || kind == subnet.Router
	case mad.AttrSwitchInfo:
		return kind == subnet.Switch
	}
	return false
}

// errorStatus judges a status other than 0, and counts the rules that it keeps.
func (v *Verifier) errorStatus(x *exchange) {
	c := v.s.Code()
	kind := subnet.UnknownNode
	if x.at.known() {
		kind = x.at.node.Type
	}
	switch {
	case mandatory(kind, x) && v.breaks(rule.SMPMTH002, denied(c)):
		v.report(rule.SMPMTH002, v.paired(), rule.Responder, fmt.Sprintf("%v(%s), which every node has", x.Method, x.AttributeName()), c.Text(x.Class), x.frame)
	case x.Attribute == mad.AttrPortInfo && v.breaks(rule.SMPPI001, x.refusedZero(c)):
		v.report(rule.SMPPI001, v.paired(), rule.Responder, "the PortInfo of port 0, which on a channel adapter means the port that received the request", c.Text(x.Class), x.frame)
	case x.Attribute == mad.AttrSLtoVL:
		v.refusedMapping(x, kind)
	}
	if ofSwitch(x.Attribute) && x.at.known() && kind != subnet.Switch {
		v.breaks(rule.SMPSI001, false)
	}
}

// denied reports whether a status says that the node has no such method or attribute.
func denied(c mad.Status) bool {
	return c.Code() == mad.StatusMethod || c.Code() == mad.StatusAttribute
}

// refusedZero reports whether a status says that attribute modifier 0 of a Get is no value that the node has.
func (x *exchange) refusedZero(c mad.Status) bool {
	return x.Method == mad.Get && x.Modifier == 0 && c.Code() == mad.StatusValue
}

// refusedMapping judges the refusal of an SLtoVLMappingTable: a port with several VLs and SL mapping in its capability mask has one (rule SMP-SV-002).
func (v *Verifier) refusedMapping(x *exchange, kind subnet.NodeType) {
	c := v.s.Code()
	can, has, known := v.maps(x)
	if known && v.breaks(rule.SMPSV002, (denied(c) || x.refusedZero(c) && kind != subnet.Switch) && can.CapabilityMask&capSLMapping != 0 && has.VLCap > 1) {
		v.report(rule.SMPSV002, v.paired(), rule.Responder, fmt.Sprintf("the mapping of a port with VLCap %d and CapabilityMask 0x%08x", has.VLCap, can.CapabilityMask),
			c.Text(x.Class), x.frame, has.Frame)
	}
}

// nodeInfo judges a NodeInfo (rules SMP-NI-001, -002), and keeps what it says of the node and of the port that received the request.
func (v *Verifier) nodeInfo(x *exchange) {
	d := v.s.Data
	guid, portGUID := niGUID.Uint(d), niPortGUID.Uint(d)
	if wrong := v.nodeInfoFault(); v.breaks(rule.SMPNI001, wrong != "") {
		v.report(rule.SMPNI001, v.paired(), rule.Responder, "BaseVersion and ClassVersion 1, NodeType 1 to 3, LocalPortNum of the port that received the request", wrong, x.frame)
		return
	}
	if v.breaks(rule.SMPNI002, guid == 0 || portGUID == 0) {
		v.report(rule.SMPNI002, v.paired(), rule.Responder, "NodeGUID and PortGUID other than 0", fmt.Sprintf("NodeGUID 0x%016x, PortGUID 0x%016x", guid, portGUID), x.frame)
		return
	}
	n := v.Subnet.Node(guid)
	if n == nil {
		return
	}
	n.Type, n.NumPorts, n.SystemGUID, n.PartitionCap = subnet.NodeType(niType.Uint(d)), uint8(niPorts.Uint(d)), niSystem.Uint(d), uint16(niPartitions.Uint(d))
	local := uint8(niLocalPort.Uint(d))
	v.moved(x, n, local)
	v.noteResponder(x, n, local)
	v.portGUID(x, portGUID)
}

// nodeInfoFault says what of the versions, the type and the port number of the NodeInfo at hand cannot be; "": nothing.
func (v *Verifier) nodeInfoFault() string {
	s, d := &v.s, v.s.Data
	kind, local, ports := subnet.NodeType(niType.Uint(d)), uint8(niLocalPort.Uint(d)), uint8(niPorts.Uint(d))
	entered := uint8(0)
	if n := s.HopCount(); s.Directed() && n > 0 {
		entered = s.Return[n]
	}
	switch {
	case d[0] != 1 || d[1] != 1:
		return fmt.Sprintf("BaseVersion %d, ClassVersion %d", d[0], d[1])
	case kind < subnet.ChannelAdapter || kind > subnet.Router:
		return fmt.Sprintf("NodeType %d", kind)
	case local > ports || local == 0 && kind != subnet.Switch:
		return fmt.Sprintf("LocalPortNum %d of %d ports", local, ports)
	case entered != 0 && local != entered:
		return fmt.Sprintf("LocalPortNum %d, where the return path has port %d", local, entered)
	}
	return ""
}

// portGUID judges the GUID of the port that received the request: the port keeps it, and no other port has it (rule SMP-NI-002).
func (v *Verifier) portGUID(x *exchange, guid uint64) {
	p := x.at.port()
	clash := p.Knows(subnet.KnowsGUID) && p.GUID != guid
	also := v.guids[guid]
	if also == p {
		also = nil
	}
	if v.breaks(rule.SMPNI002, clash || also != nil) {
		want := fmt.Sprintf("PortGUID 0x%016x as before", p.GUID)
		if also != nil {
			want = fmt.Sprintf("a PortGUID that no port of node 0x%016x has", also.Node.GUID)
		}
		v.report(rule.SMPNI002, v.lasting(), rule.Responder, want, fmt.Sprintf("0x%016x", guid), x.frame)
	}
	v.guids[guid] = p
	p.GUID, p.Has = guid, p.Has|subnet.KnowsGUID
	p.Time, p.Frame = v.p.Time, v.p.Frame
}

func (v *Verifier) nodeDescription(x *exchange) {
	d := v.s.Data
	if x.at.known() {
		text, _, _ := bytes.Cut(d, []byte{0})
		x.at.node.Description = strings.TrimSpace(strings.ToValidUTF8(string(text), "?"))
	}
	for i, b := range d {
		if b == 0 {
			d = d[:i]
			break
		}
	}
	for i := range d { // the end may cut a character
		if len(d) == len(v.s.Data) && utf8.RuneStart(d[i]) && !utf8.FullRune(d[i:]) {
			d = d[:i]
			break
		}
	}
	if v.breaks(rule.SMPND001, !utf8.Valid(d)) {
		v.report(rule.SMPND001, v.paired(), rule.Responder, "a NodeDescription in UTF-8", fmt.Sprintf("%q", d), x.frame)
	}
}

func (v *Verifier) switchInfo(x *exchange) {
	d := v.s.Data
	top, size := siLinearTop.Uint(d), siLinearCap.Uint(d)
	if v.breaks(rule.SMPSI002, size != 0 && top >= size) {
		v.report(rule.SMPSI002, v.paired(), rule.Responder, fmt.Sprintf("LinearFDBTop below LinearFDBCap %d", size), fmt.Sprintf("LinearFDBTop %d", top), x.frame)
	}
	asked := siLinearTop.Uint(x.data[:])
	switch kept := x.Method == mad.Set && v.breaks(rule.SMPMTH004, asked != top); {
	case !kept:
	case size != 0 && asked >= size && top < size:
		v.report(rule.SMPSI002, v.paired(), rule.Responder, fmt.Sprintf(invalidValue+": LinearFDBCap is %d", size), fmt.Sprintf("status 0 to a Set of LinearFDBTop %d", asked), x.frame)
	case asked < max(size, 1):
		v.report(rule.SMPMTH004, v.paired(), rule.Responder, fmt.Sprintf("LinearFDBTop %d as set", asked), fmt.Sprintf("LinearFDBTop %d", top), x.frame)
	}
	if !x.at.known() {
		return
	}
	n := x.at.node
	n.HasSwitchInfo, n.LinearCap, n.LinearTop = true, uint16(size), uint16(top)
	n.RandomCap, n.MulticastCap, n.EnforcementCap = uint16(siRandomCap.Uint(d)), uint16(siMulticastCap.Uint(d)), uint16(siEnforcement.Uint(d))
	n.EnhancedPort0, n.OptimizedSLtoVL = siEnhanced.Uint(d) != 0, siOptimized.Uint(d) != 0
}
