package sma

import (
	"ibwitness/mad"
)

// Kinds of ports, for which components of PortInfo are used (section 14.2.5.6).
const (
	onCA = 1 << iota // of channel adapters and routers
	onBase0
	onEnhanced0
	onExternal

	onEnd   = onCA | onBase0 | onEnhanced0
	onLink  = onCA | onExternal
	onLanes = onCA | onEnhanced0 | onExternal
)

func (n *Node) kind(p *port) int {
	switch {
	case n.sw == nil:
		return onCA
	case p.number != 0:
		return onExternal
	case n.config.EnhancedPort0:
		return onEnhanced0
	}
	return onBase0
}

// component is one read-write component of PortInfo: where it is used, and which values are legal.
type component struct {
	mad.Field
	where int
	legal func(n *Node, p *port, set []byte) bool        // nil: all values
	store func(n *Node, p *port, was, set uint64) uint64 // nil: the value itself
}

// written are the read-write components of PortInfo but for the states (section 14.2.5.6).
var written = []component{
	{piMKey, onEnd, nil, nil},
	{piPrefix, onEnd, nil, nil},
	{piLID, onEnd, legalLID, nil},
	{piSMLID, onEnd, legalSMLID, nil},
	{piLease, onEnd, nil, nil},
	{piProtect, onEnd, nil, nil},
	{piLMC, onCA | onEnhanced0, nil, nil},
	{piSMSL, onEnd, nil, nil},
	{piTimeout, onEnd, nil, nil},
	{pi("initTypeReply"), onEnd, nil, nil},
	{piMKeyBad, onEnd, nil, resetOnly},
	{piPKeyBad, onEnd | onExternal, nil, resetOnly},
	{piQKeyBad, onEnd, nil, resetOnly},
	{piReregister, onEnd, nil, keepReregister},
	{piWidthOn, onLink, legalWidth, supported(piWidthCap, 0xFF)},
	{piSpeedOn, onLink, legalSpeed, supported(piSpeedCap, 0xF)},
	{piDownDefault, onLink, atMost(piDownDefault, polling), unlessZero},
	{piMTU, onLink, legalMTU, nil},
	{piVLs, onLanes, legalVLs, unlessZero},
	{pi("VLHighLimit"), onLanes, nil, nil},
	{pi("localPhyErrors"), onLink, nil, nil},
	{pi("overrunErrors"), onLink, nil, nil},
	{pi("VLStallCount"), onExternal, nil, nil},
	{pi("HOQLife"), onExternal, nil, nil},
	{pi("partitionEnforcementInbound"), onExternal, nil, ifEnforced},
	{pi("partitionEnforcementOutbound"), onExternal, nil, ifEnforced},
}

// readOnly are components that a faulty node lets be written.
var readOnly = []mad.Field{piCapability, piWidthCap, piSpeedCap, piMTUCap, piVLCap, piGUIDCap, piRespTime, piHighCap, piLowCap}

func unicast(lid uint64) bool { return lid > 0 && lid < firstMulticast }

// legalLID judges LID and LMC (rule SMP-PI-002). A port without LID may be set while it has none.
func legalLID(n *Node, p *port, set []byte) bool {
	lid, lmc := piLID.Uint(set), piLMC.Uint(set)
	if n.kind(p) == onBase0 {
		lmc = 0
	}
	return lid == 0 && p.get(piLID) == 0 || unicast(lid) && lid&(1<<lmc-1) == 0
}

func legalSMLID(_ *Node, p *port, set []byte) bool {
	lid := piSMLID.Uint(set)
	return unicast(lid) || lid == p.get(piSMLID)
}

// legalWidth judges LinkWidthEnabled (rule SMP-PI-003).
func legalWidth(_ *Node, p *port, set []byte) bool {
	w := piWidthOn.Uint(set)
	return w == 0xFF || w&^p.get(piWidthCap) == 0
}

// legalSpeed judges LinkSpeedEnabled (rule SMP-PI-004).
func legalSpeed(_ *Node, p *port, set []byte) bool {
	s := piSpeedOn.Uint(set)
	return s == 0xF || s&^p.get(piSpeedCap) == 0
}

// legalMTU judges NeighborMTU (rule SMP-PI-005).
func legalMTU(_ *Node, p *port, set []byte) bool {
	m := piMTU.Uint(set)
	return m >= 1 && m <= p.get(piMTUCap)
}

// legalVLs judges OperationalVLs (rule SMP-PI-005).
func legalVLs(_ *Node, p *port, set []byte) bool { return piVLs.Uint(set) <= p.get(piVLCap) }

func atMost(f mad.Field, most uint64) func(*Node, *port, []byte) bool {
	return func(_ *Node, _ *port, set []byte) bool { return f.Uint(set) <= most }
}

// supported: 0 changes nothing, and one value means all that is supported.
func supported(from mad.Field, all uint64) func(*Node, *port, uint64, uint64) uint64 {
	return func(_ *Node, p *port, was, set uint64) uint64 {
		switch set {
		case 0:
			return was
		case all:
			return p.get(from)
		}
		return set
	}
}

func unlessZero(_ *Node, _ *port, was, set uint64) uint64 {
	if set == 0 {
		return was
	}
	return set
}

// resetOnly: a counter of violations is set to 0; other values change nothing (rule SMP-PI-010).
func resetOnly(n *Node, _ *port, was, set uint64) uint64 {
	if set == 0 && !n.has(violationsKept) {
		return 0
	}
	return was
}

// keepReregister: the bit is in the response only (rule SMP-PI-008).
func keepReregister(n *Node, _ *port, _, set uint64) uint64 {
	if n.has(reregisterKept) {
		return set
	}
	return 0
}

func ifEnforced(n *Node, _ *port, was, set uint64) uint64 {
	if n.config.Enforcement == 0 {
		return was
	}
	return set
}

// portInfo is PortInfo (section 14.2.5.6). Bit 31 of the modifier says that the manager knows extended speeds.
func (n *Node) portInfo(r *request) mad.Status {
	p := n.portOf(r, r.Modifier&^(1<<31))
	if p == nil || r.set() && n.sw == nil && p != r.in { // the agent of a channel adapter's port is that of this port only
		return n.badModifier()
	}
	var status mad.Status
	reregister := uint64(0)
	if r.set() {
		if n.has(setNotStored) {
			return 0
		}
		if status = n.setPortInfo(r, p); status == 0 && n.kind(p)&onEnd != 0 {
			reregister = piReregister.Uint(r.Data)
		}
	}
	n.showPortInfo(r, p, reregister)
	if r.Method == mad.Set && status == 0 {
		copy(r.data[:8], p.info[:8]) // the key that was set, which the manager knows
	}
	return status
}

// showPortInfo writes PortInfo of a port as it answers a request: LocalPortNum is the port at which the SMP came in, whichever is asked about.
func (n *Node) showPortInfo(r *request, p *port, reregister uint64) {
	shown, local := p, uint64(r.in.number)
	if n.sw == nil && !r.set() && p.number == uint8(r.Modifier) && n.has(ownNumberOther) {
		shown = n.at(int(p.number%n.config.Ports) + 1)
	}
	if n.has(localPortFixed) {
		local = 1
	}
	copy(r.data, shown.info[:])
	piLocalPort.PutUint(r.data, local)
	if reregister != 0 && !n.has(reregisterLost) {
		piReregister.PutUint(r.data, 1)
	}
	if n.hidesMKey(r, p) {
		piMKey.PutUint(r.data, 0)
	}
}

// hidesMKey reports whether the M_Key is not shown in the answer about a port (rule SMP-MK-002).
func (n *Node) hidesMKey(r *request, p *port) bool {
	m := n.managed(p.number)
	if n.has(mkeyNeverShown) && !r.set() && r.MKey == m.get(piMKey) {
		return true
	}
	return m.get(piMKey) != r.MKey && (m.get(piProtect) != 0 && !n.has(mkeyShown) || n.has(mkeyHidden))
}

// setPortInfo carries out a Set of PortInfo: all of it, or, where a component is illegal, nothing (C13-24).
func (n *Node) setPortInfo(r *request, p *port) mad.Status {
	kind := n.kind(p)
	if n.has(readOnlyChanges) {
		p.put(piHighCap, p.get(piHighCap)^1)
	}
	state, physical := piState.Uint(r.Data), piPhysical.Uint(r.Data)
	if !n.has(illegalStored) {
		for _, c := range written {
			if c.where&kind != 0 && c.legal != nil && !c.legal(n, p, r.Data) {
				return mad.StatusValue
			}
		}
		if kind&onLink != 0 && !p.legalStates(state, physical) {
			return mad.StatusValue
		}
	}
	width, speed := p.get(piWidthOn), p.get(piSpeedOn)
	n.writePortInfo(p, kind, r.Data)
	p.leaseEnd = 0
	if kind&onLink != 0 {
		n.setStates(p, state, physical)
	}
	if kind == onCA && (width != p.get(piWidthOn) || speed != p.get(piSpeedOn)) {
		n.enabledTrap(r.now, p, width != p.get(piWidthOn), speed != p.get(piSpeedOn))
	}
	return 0
}

// writePortInfo stores the components of a Set that a kind of port uses.
func (n *Node) writePortInfo(p *port, kind int, set []byte) {
	split := n.has(mkeySplit) && !piMKey.Same(p.info[:], set)
	for _, c := range written {
		if c.where&kind == 0 || split && (c.Field == piProtect || c.Field == piLease) {
			continue
		}
		v := c.Uint(set)
		if c.store != nil {
			v = c.store(n, p, p.get(c.Field), v)
		}
		p.put(c.Field, v)
	}
	if limit := pi("VLHighLimit"); n.has(otherComponentSet) {
		p.put(limit, p.get(limit)+1)
	}
	if n.has(readOnlyWritten) {
		for _, f := range readOnly {
			p.put(f, f.Uint(set))
		}
	}
}

// legalStates judges PortState and PortPhysicalState of a Set (rules SMP-PI-006 and SMP-PI-007): Initialize is not set, Armed follows Initialize, Active follows
// Armed; the physical state is set together with Down or no change.
func (p *port) legalStates(state, physical uint64) bool {
	was := p.get(piState)
	switch state {
	case 0, Down:
		return physical <= disabled
	case Armed:
		return physical == 0 && (was == Initialize || was == Armed)
	case Active:
		return physical == 0 && (was == Armed || was == Active)
	}
	return false
}

// setStates sets PortState and PortPhysicalState.
func (n *Node) setStates(p *port, state, physical uint64) {
	switch {
	case n.has(stateStuck):
	case physical != 0:
		n.retrain(p, physical)
	case state == Down:
		n.retrain(p, p.get(piDownDefault))
	case state != 0:
		p.put(piState, state)
	}
}

// NeighborMTU returns the MTU of the link of a port, in bytes.
func (n *Node) NeighborMTU(number uint8) uint32 {
	if p := n.at(int(number)); p != nil {
		return 128 << p.get(piMTU)
	}
	return 0
}
