package sma

import (
	"ibwitness/mad"
	"ibwitness/subnet"
)

// newSwitch makes what only a switch has.
func (n *Node) newSwitch() {
	c := &n.config
	n.sw = &switchState{linear: make([]uint8, c.LinearCap), random: make([]uint32, c.RandomCap), multicast: make([][16]uint16, c.MulticastCap)}
	for i := range n.sw.linear {
		n.sw.linear[i] = noPort
	}
	put := func(f mad.Field, v uint64) { f.PutUint(n.sw.info[:], v) }
	put(si("linearFDBCap"), uint64(c.LinearCap))
	put(si("randomFDBCap"), uint64(c.RandomCap))
	if c.LinearCap != 0 && n.has(bothTables) {
		put(si("randomFDBCap"), 64)
	}
	if c.RandomCap != 0 {
		put(siDefault, noPort)
	}
	put(si("multicastFDBCap"), uint64(c.MulticastCap))
	put(si("partitionEnforcementCap"), uint64(c.Enforcement))
	if c.Enforcement != 0 {
		put(si("inboundEnforcementCap"), 1)
		put(si("outboundEnforcementCap"), 1)
	}
	if c.EnhancedPort0 {
		put(siEnhancedPort0, 1)
	}
	if c.Optimized {
		put(siOptimized, optimizedSupported)
	}
}

const (
	noPort             = 255 // of a forwarding table: packets are discarded
	optimizedSupported = 1   // of OptimizedSLtoVLMappingProgramming
)

// switchInfo is SwitchInfo (section 14.2.5.4).
func (n *Node) switchInfo(r *request) mad.Status {
	if r.Modifier != 0 && n.badModifier() != 0 {
		return n.badModifier()
	}
	if r.set() {
		if lids := si("LIDsPerPort"); n.has(readOnlyChanges) {
			lids.PutUint(n.sw.info[:], lids.Uint(n.sw.info[:])^1)
		}
		if n.has(setNotStored) {
			return 0
		}
		if !n.legalSwitchInfo(r.Data) && !n.has(illegalStored) {
			copy(r.data, n.sw.info[:])
			return mad.StatusValue
		}
		n.writeSwitchInfo(r.Data)
	}
	copy(r.data, n.sw.info[:])
	return 0
}

// writeSwitchInfo stores the read-write components of a Set.
func (n *Node) writeSwitchInfo(set []byte) {
	for _, f := range []mad.Field{siLinearTop, siDefault, siPrimary, siNotPrimary, siLifeTime, siMulticastTop} {
		f.PutUint(n.sw.info[:], f.Uint(set))
	}
	if n.has(otherComponentSet) {
		siLifeTime.PutUint(n.sw.info[:], siLifeTime.Uint(n.sw.info[:])+1)
	}
	if n.has(readOnlyWritten) {
		for _, f := range []mad.Field{si("linearFDBCap"), si("multicastFDBCap"), si("partitionEnforcementCap"), siEnhancedPort0} {
			f.PutUint(n.sw.info[:], f.Uint(set))
		}
	}
	if siChange.Uint(set) == 1 || n.has(stateChangeAnySet) { // writing 1 clears it
		siChange.PutUint(n.sw.info[:], 0)
	}
}

// legalSwitchInfo judges a Set of SwitchInfo (rule SMP-SI-002): LinearFDBTop within LinearFDBCap, ports that the switch has, MulticastFDBTop 0 or a LID of
// the table.
func (n *Node) legalSwitchInfo(set []byte) bool {
	c := &n.config
	top, mtop := siLinearTop.Uint(set), siMulticastTop.Uint(set)
	for _, f := range []mad.Field{siDefault, siPrimary, siNotPrimary} {
		if v := f.Uint(set); v > uint64(c.Ports) && v != noPort {
			return false
		}
	}
	return (top == 0 || top < uint64(c.LinearCap)) && (mtop == 0 || mtop >= firstMulticast-1 && mtop < firstMulticast+uint64(c.MulticastCap))
}

// PortStateChange reports whether a switch says that a port has changed its state (SwitchInfo, section 14.2.5.4).
func (n *Node) PortStateChange() bool { return n.sw != nil && siChange.Uint(n.sw.info[:]) == 1 }

// Type is the kind of the node.
func (n *Node) Type() subnet.NodeType { return n.config.Type }
