package sma

import (
	"bytes"
	"encoding/binary"
	"time"

	"ibwitness/mad"
)

// direction is the D bit of a directed route, in its status.
const direction = 0x8000

// Receive takes a MAD, 256 bytes, that was delivered to the agents of the node, and the port at which it came in: of a switch 0 where it came from its own
// host. It returns the response, or nil where there is none: it does not respond to what is no request, to a wrong M_Key (section 14.2.4), and to MADs that
// are not 256 bytes long. The response to a directed route has D = 1 and the hop pointer with which it begins (C14-13); see Relay. b is left as it is.
func (n *Node) Receive(now int64, number uint8, b []byte) []byte {
	p := n.at(int(number))
	if len(b) != mad.Size || p == nil {
		return nil
	}
	n.expire(now)
	out := n.generalMAD
	if mad.Class(b[1]).Subnet() {
		out = n.subnetMAD
	}
	return n.mixed(now, b, out(now, p, b))
}

// mixed is what a faulty node makes of the response to a request that comes at the same time as another one.
func (n *Node) mixed(now int64, request, response []byte) []byte {
	if response == nil {
		return nil
	}
	if n.firstAt != now {
		n.firstAt = now
		_ = mad.DecodeHeader(request, &n.first)
	}
	switch {
	case n.has(tidShared):
		binary.BigEndian.PutUint64(response[8:], n.first.TID)
	case n.has(modifierMixed):
		binary.BigEndian.PutUint32(response[20:], n.first.Modifier)
	case n.has(attributeMixed):
		binary.BigEndian.PutUint16(response[16:], uint16(n.first.Attribute))
	}
	return response
}

// Delay is how many nanoseconds the node takes for an answer beyond those of its parts, which a simulation knows: none, unless it has a fault.
func (n *Node) Delay(number uint8) int64 {
	switch p := n.managed(number); {
	case p == nil:
	case n.has(slowAnswer):
		return 2 * (4096<<p.get(piRespTime) + 2*4096<<p.get(piTimeout))
	case n.has(slowFirstAnswer):
		return int64(8 * time.Second)
	}
	return 0
}

// request is an SMP at hand.
type request struct {
	mad.SMP
	in   *port
	now  int64
	data []byte // of the response, 64 bytes; at first those of the request
	drop bool   // no response
}

func (r *request) set() bool { return r.Method == mad.Set }

// subnetMAD answers an SMP.
func (n *Node) subnetMAD(now int64, p *port, b []byte) []byte {
	r := request{in: p, now: now, data: make([]byte, mad.SMPDataSize)}
	if r.Decode(b) != nil || r.Backward() {
		return nil
	}
	copy(r.data, r.Data)
	var status mad.Status
	switch {
	case (r.BaseVersion != 1 || r.ClassVersion != 1) && !n.has(versionIgnored):
		status = mad.StatusVersion // section 13.4.7
	case r.Method == mad.TrapRepress:
		if n.checkMKey(&r) {
			n.repress(r.TID)
		}
		r.drop = !n.has(repressAnswered)
	case r.Method == mad.GetResp && n.has(answersAnswer):
	case r.Method == mad.Trap || r.Method&0x80 != 0:
		return nil
	case r.Method != mad.Get && r.Method != mad.Set:
		status, r.drop = n.noMethod(), n.has(methodSilent)
	case !n.checkMKey(&r):
		return nil
	default:
		status = n.carryOut(&r)
	}
	if r.drop {
		return nil
	}
	return n.respond(&r, status)
}

// respond makes the GetResp to an SMP (sections 13.4.6 and 14.2.2).
func (n *Node) respond(r *request, status mad.Status) []byte {
	s := r.SMP
	s.Method, s.Status, s.Data = mad.GetResp, uint16(status), r.data
	if status == mad.StatusAttribute && n.has(refusalChanged) {
		r.data[0] ^= 0xFF
	}
	if s.Directed() {
		s.Status |= direction
		s.SetHops(s.HopCount()+1, s.HopCount())
	}
	if n.has(tidMixed) {
		s.TID ^= 1 << 31
	}
	out := make([]byte, mad.Size)
	if s.Encode(out) != nil {
		return nil
	}
	return out
}

// carryOut carries out a Get or Set, unless the node is busy.
func (n *Node) carryOut(r *request) mad.Status {
	if n.busy > 0 {
		n.busy--
		return mad.StatusBusy
	}
	n.busy = n.config.Busy
	if n.repeats(r.Method, r.Attribute) {
		r.drop = true
		return 0
	}
	if n.refuses(r) {
		return mad.StatusAttribute
	}
	return n.attribute(r)
}

// attribute carries out a Get or Set (table T11) and returns its status.
func (n *Node) attribute(r *request) mad.Status {
	get, set, _, ok := mad.SMPMethods(r.Attribute)
	if !ok || !get && !r.set() || !set && r.set() {
		return n.unsupported()
	}
	switch r.Attribute {
	case mad.AttrNodeDescription:
		return n.nodeDescription(r)
	case mad.AttrNodeInfo:
		n.nodeInfo(r.data, r.in.number)
		return n.noModifier(r)
	case mad.AttrPortInfo:
		return n.portInfo(r)
	case mad.AttrGUIDInfo:
		return n.guidInfo(r)
	case mad.AttrPKeyTable:
		return n.pkeyTable(r)
	case mad.AttrSLtoVL:
		return n.slToVL(r)
	case mad.AttrVLArbitration:
		return n.vlArbitration(r)
	case mad.AttrSMInfo:
		return n.smInfo(r)
	case mad.AttrVendorDiag:
		return n.vendorDiag(r)
	case mad.AttrLedInfo:
		return n.ledInfo(r)
	}
	if n.sw == nil {
		return n.unsupported()
	}
	switch r.Attribute {
	case mad.AttrSwitchInfo:
		return n.switchInfo(r)
	case mad.AttrLinearForwarding:
		return n.linearForwarding(r)
	case mad.AttrRandomForwarding:
		return n.randomForwarding(r)
	case mad.AttrMulticastForwarding:
		return n.multicastForwarding(r)
	}
	return n.unsupported()
}

// nodeDescription is NodeDescription (section 14.2.5.2), which cannot be set.
func (n *Node) nodeDescription(r *request) mad.Status {
	if r.set() && !n.has(nodeDescriptionSet) {
		return n.unsupported()
	}
	if r.set() {
		text, _, _ := bytes.Cut(r.Data, []byte{0})
		n.config.Description = string(text)
	}
	clear(r.data)
	copy(r.data, n.config.Description)
	return n.noModifier(r)
}

// noMethod refuses a method.
func (n *Node) noMethod() mad.Status {
	if n.has(methodIgnored) {
		return 0
	}
	return mad.StatusMethod
}

// unsupported refuses a combination of method and attribute; the data stay as they came (section 13.4.7).
func (n *Node) unsupported() mad.Status {
	if n.has(combinationTaken) {
		return 0
	}
	return mad.StatusAttribute
}

// noModifier refuses a modifier that is to be 0.
func (n *Node) noModifier(r *request) mad.Status {
	if r.Modifier != 0 {
		return n.badModifier()
	}
	return 0
}

// badModifier refuses a modifier beyond its range (table T11).
func (n *Node) badModifier() mad.Status {
	if n.has(modifierIgnored) {
		return 0
	}
	return mad.StatusValue
}

// nodeInfo is NodeInfo as a port answers it (section 14.2.5.3).
func (n *Node) nodeInfo(b []byte, number uint8) {
	clear(b)
	c := &n.config
	put := func(name string, v uint64) { mad.LayoutNodeInfo.Field(name).PutUint(b, v) }
	put("baseVersion", 1)
	put("classVersion", 1)
	put("nodeType", uint64(c.Type))
	put("numPorts", uint64(c.Ports))
	put("systemImageGUID", c.SystemGUID)
	put("nodeGUID", c.GUID)
	if n.has(nodeInfoDiffers) {
		put("nodeGUID", c.GUID+uint64(number)<<32)
	}
	put("portGUID", n.portGUID(number))
	put("partitionCap", uint64(c.PartitionCap))
	put("deviceID", uint64(c.Type))
	put("revision", 1)
	put("localPortNum", uint64(number))
	switch {
	case n.has(localPortFixed):
		put("localPortNum", 1)
	case n.has(portGUIDShared):
		put("portGUID", n.portGUID(1))
	case n.has(versionsWrong):
		put("baseVersion", 2)
	}
}

// portOf is the port that a modifier names: of a channel adapter or router 0 means the one of the SMP, as does its own number (rule SMP-PI-001).
func (n *Node) portOf(r *request, number uint32) *port {
	if n.sw == nil && number == 0 {
		return r.in
	}
	if number > 254 {
		return nil
	}
	return n.at(int(number))
}

// guidInfo is GUIDInfo (section 14.2.5.5): entry 0 of block 0 is read only.
func (n *Node) guidInfo(r *request) mad.Status {
	p := n.managed(r.in.number)
	if int64(r.Modifier)*8 >= int64(len(p.guids)) {
		return n.badModifier()
	}
	guids := p.guids[r.Modifier*8:]
	for i := range min(8, len(guids)) {
		if r.set() && (r.Modifier > 0 || i > 0 || n.has(guidZeroWritten)) && !n.has(guidNotStored) {
			guids[i] = binary.BigEndian.Uint64(r.Data[i*8:])
		}
	}
	clear(r.data)
	for i := range min(8, len(guids)) {
		binary.BigEndian.PutUint64(r.data[i*8:], guids[i])
	}
	return 0
}

// ledInfo is LedInfo (section 14.2.5.15).
func (n *Node) ledInfo(r *request) mad.Status {
	if !n.config.Led {
		return n.unsupported()
	}
	p := n.portOf(r, r.Modifier)
	if p == nil || p.number == 0 {
		return n.badModifier()
	}
	if r.set() && !n.has(ledNotStored) {
		p.led = r.Data[0]>>7 != 0
	}
	clear(r.data)
	if p.led {
		r.data[0] = 0x80
	}
	return 0
}

// vendorDiag is VendorDiag: the list of diagnostics is empty, NextIndex 0 (section 14.2.5.14).
func (n *Node) vendorDiag(r *request) mad.Status {
	clear(r.data)
	if n.has(vendorDiagLoop) {
		mad.LayoutVendorDiag.Field("nextIndex").PutUint(r.data, 1)
		return 0
	}
	return n.noModifier(r)
}

// SM is what the agent says of a subnet manager that runs at the node (SMInfo, section 14.2.5.13).
type SM struct {
	GUID     uint64
	Key      uint64
	Count    uint32 // ActCount
	Priority uint8  // 4 bits
	State    uint8  // 0 not active, 1 discovering, 2 standby, 3 master
}

// SetSM says that a subnet manager runs at the node, or, where it is nil, that none does: IsSM of CapabilityMask follows, and trap 144 tells of it
// (section 14.2.5.1).
func (n *Node) SetSM(now int64, m *SM) {
	was := n.hasSM
	n.sm, n.hasSM = SM{}, m != nil
	if m != nil {
		n.sm = *m
	}
	if was == n.hasSM {
		return
	}
	for i := range n.ports {
		if p := &n.ports[i]; n.at(i) != nil && !n.external(p.number) {
			p.put(piCapability, n.capabilities())
			n.capabilityTrap(now, p)
		}
	}
}

// smInfo is SMInfo: where no subnet manager runs, it is not supported. A Set is for the subnet manager itself, not for the agent.
func (n *Node) smInfo(r *request) mad.Status {
	if !n.hasSM || r.set() {
		return n.unsupported()
	}
	clear(r.data)
	m := &n.sm
	put := func(name string, v uint64) { mad.LayoutSMInfo.Field(name).PutUint(r.data, v) }
	put("GUID", m.GUID)
	if n.has(smGUIDWrong) {
		put("GUID", m.GUID+1)
	}
	put("SMKey", m.Key)
	put("actCount", uint64(m.Count))
	put("priority", uint64(m.Priority))
	put("SMState", uint64(m.State))
	return n.noModifier(r)
}
