// Package sma is the management agents of a node, a channel adapter, a switch or a router: the subnet management agent (chapter 14), the relay of
// directed routes, and the performance management agent (chapter 16). It is a pure state machine: a MAD and a time in, a MAD out; no goroutine, no
// clock, no I/O. Times are nanoseconds.
//
// It is the engine's own, without a promise to others.
package sma

import (
	"errors"
	"fmt"

	"ibwitness/mad"
	"ibwitness/subnet"
)

// ErrConfig means that a node cannot be as its Config says; the text tells what to change.
var ErrConfig = errors.New("sma: no such node")

// Bits of PortInfo:CapabilityMask (section 14.2.5.6) that nodes have here.
const (
	CapSM           = 1 << 1
	CapTrap         = 1 << 3
	CapSLtoVL       = 1 << 6
	CapLed          = 1 << 9
	capSMDisabled   = 1 << 10
	CapSystemGUID   = 1 << 11
	CapExternalPKey = 1 << 12
	CapReregister   = 1 << 25
)

// Config is what a node is. The zero value of a component means what its comment says.
type Config struct {
	Type          subnet.NodeType
	GUID          uint64 // of the node; ports of a channel adapter or router have the GUIDs that follow it, a switch has it at its port 0
	SystemGUID    uint64 // 0: GUID
	Description   string // at most 64 bytes (section 14.2.5.2)
	Ports         uint8  // external ones, 1 to 254
	EnhancedPort0 bool   // of a switch (section 18.2.4)
	NoSLtoVL      bool   // SLtoVLMappingTable is not supported, CapabilityMask bit 6 is 0: so it is of nodes with one data lane, and only of these
	Optimized     bool   // of a switch: one SMP sets the SLtoVLMappingTables of all ports (modifier bits 16 and 17)
	VLCap         uint8  // code 1 to 5: 1, 2, 4, 8, 15 data lanes; 0: code 4, with NoSLtoVL code 1
	MTUCap        uint8  // code 1 to 5: 256 to 4096 bytes; 0: code 5
	VLArbitration uint8  // entries of the high and of the low priority table, at most 64; 0: 8
	PartitionCap  uint16 // P_Keys of a port, port 0 of a switch; 0: 32
	Enforcement   uint16 // of a switch: P_Keys of an external port; 0: no P_Key enforcement
	LinearCap     uint16 // of a switch: LIDs of the LinearForwardingTable, at most 0xC000; 0: none
	RandomCap     uint16 // of a switch without it: entries of the RandomForwardingTable; 0: none
	MulticastCap  uint16 // of a switch: LIDs of the MulticastForwardingTable, at most 0x3FFF; 0: none
	GUIDCap       uint8  // GUIDs of a port; 0: 8
	NoTraps       bool   // CapabilityMask bit 3 is 0
	Ways          []Way  // of a router, to other subnets
	Led           bool   // LedInfo is supported
	RespTime      uint8  // code: 4.096 µs · 2^code; 0: code 16, 0.27 s
	Busy          uint8  // requests that are answered with status busy before each one that is carried out (section 13.4.7)

	Faults []string // names of Faults: how the node departs from the specification
}

// SwitchConfig is a switch as subnet managers expect it: 48 K LIDs, 1 K multicast LIDs, P_Key enforcement.
func SwitchConfig(guid uint64, description string, ports uint8) Config {
	return Config{Type: subnet.Switch, GUID: guid, Description: description, Ports: ports, LinearCap: 0xC000, MulticastCap: 0x400, Enforcement: 32}
}

// Node is a node with its agents. It is not for use by several goroutines at once.
type Node struct {
	config Config
	faults faultSet
	ports  []port // of a switch from 0 on; else ports[0] is not used
	sw     *switchState
	sm     SM
	hasSM  bool
	traps  []*trap
	tid    uint64 // of the latest trap

	training []uint8

	first   mad.Header // of the requests that came at a time
	firstAt int64

	busy       uint8 // so many requests more are answered with busy
	refusal    refusal
	halved     bool   // the latest violation was not counted, by a faulty node that counts each second one
	refusedSet uint32 // modifier, and 1, of the latest Set of SLtoVLMappingTable that a faulty node has refused and kept; 0: none
}

// port is the state of a port; 64-byte blocks are attributes as on the wire.
type port struct {
	number   uint8
	info     [mad.SMPDataSize]byte // PortInfo
	guids    []uint64
	pkeys    []uint16
	sltovl   [][16]uint8 // of a switch by input port, this is the output; else one
	arb      [4][32]uint16
	led      bool
	stuck    bool  // its packet receiver has discarded a packet, and takes none after it, as a faulty node does
	leaseEnd int64 // when the lease of the M_Key runs out; 0: its timer does not run. Only ports that check M_Keys have one
	trapAt   int64 // when the latest trap was sent
	trapSent bool
	counters [numCounters]uint64
}

// switchState is what only a switch has.
type switchState struct {
	info      [mad.SMPDataSize]byte // SwitchInfo
	linear    []uint8               // by LID
	random    []uint32              // entries of 4 bytes
	multicast [][16]uint16          // by LID - 0xC000, then by position
	kept      []Copy                // of a faulty switch: what the next packet is to overtake
}

// New returns a node whose links are down. The error wraps ErrConfig or ErrFault.
func New(c Config) (*Node, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	f, err := faultsOf(c.Faults)
	if err != nil {
		return nil, err
	}
	n := &Node{config: c, faults: f, busy: c.Busy, ports: make([]port, int(c.Ports)+1)}
	if c.Type == subnet.Switch {
		n.newSwitch()
	}
	for i := range n.ports {
		if i > 0 || c.Type == subnet.Switch {
			n.newPort(&n.ports[i], uint8(i))
		}
	}
	return n, nil
}

// complete checks a configuration and fills in what was left out.
func (c *Config) complete() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrConfig}, args...)...)
	}
	if c.NoSLtoVL {
		defaults(&c.VLCap, 1)
	}
	defaults(&c.VLCap, 4)
	defaults(&c.MTUCap, 5)
	defaults(&c.VLArbitration, 8)
	defaults(&c.PartitionCap, 32)
	defaults(&c.GUIDCap, 8)
	defaults(&c.RespTime, 16)
	defaults(&c.SystemGUID, c.GUID)
	c.NoSLtoVL = c.NoSLtoVL || c.VLCap == 1 // rule SMP-SV-002
	isSwitch := c.Type == subnet.Switch
	switch {
	case c.Type < subnet.ChannelAdapter || c.Type > subnet.Router:
		return bad("Type is %d; give ChannelAdapter, Switch or Router", c.Type)
	case c.GUID == 0:
		return bad("GUID is 0; give one that no other node has")
	case len(c.Description) > mad.SMPDataSize:
		return bad("Description has %d bytes; give at most %d", len(c.Description), mad.SMPDataSize)
	case c.Ports == 0 || c.Ports == 255:
		return bad("%d ports; give 1 to 254", c.Ports)
	case !isSwitch && (c.EnhancedPort0 || c.Optimized || c.LinearCap != 0 || c.RandomCap != 0 || c.MulticastCap != 0 || c.Enforcement != 0):
		return bad("EnhancedPort0, Optimized, LinearCap, RandomCap, MulticastCap and Enforcement are for switches; set Type to Switch or leave them out")
	case c.Type != subnet.Router && len(c.Ways) > 0:
		return bad("Ways are for routers; set Type to Router or leave them out")
	case c.VLCap > 5 || c.MTUCap > 5:
		return bad("VLCap %d, MTUCap %d; give codes 1 to 5", c.VLCap, c.MTUCap)
	case c.NoSLtoVL && c.VLCap > 1:
		return bad("NoSLtoVL with VLCap %d; several data lanes need SLtoVLMappingTable: give VLCap 1", c.VLCap)
	case c.VLArbitration > 64:
		return bad("%d entries of VLArbitration; give at most 64", c.VLArbitration)
	case c.LinearCap > firstMulticast || c.MulticastCap > 0x3FFF:
		return bad("LinearCap 0x%x, MulticastCap 0x%x; give at most 0xC000 and 0x3FFF", c.LinearCap, c.MulticastCap)
	case c.LinearCap != 0 && c.RandomCap != 0:
		return bad("LinearCap and RandomCap; a switch has one of the two tables: give one")
	case c.RespTime > 31:
		return bad("RespTime %d; give a code of at most 31", c.RespTime)
	}
	return nil
}

func defaults[T uint8 | uint16 | uint64](v *T, value T) {
	if *v == 0 {
		*v = value
	}
}

// firstMulticast is the LID after the unicast ones.
const firstMulticast = 0xC000

// newPort sets a port as it is at power on: default values, no LID, the link down.
func (n *Node) newPort(p *port, number uint8) {
	c := &n.config
	external := n.external(number)
	p.number = number
	put := func(f mad.Field, v uint64) { f.PutUint(p.info[:], v) }
	put(piLocalPort, uint64(number))
	put(piWidthOn, 3) // 1x and 4x
	put(piWidthCap, 3)
	put(piSpeedCap, 7) // SDR, DDR, QDR
	put(piSpeedOn, 7)
	put(piState, Down)
	put(piPhysical, polling)
	put(piDownDefault, polling)
	put(piMTU, uint64(c.MTUCap))
	put(piMTUCap, uint64(c.MTUCap))
	put(piVLCap, uint64(c.VLCap))
	put(piVLs, uint64(c.VLCap))
	if c.NoSLtoVL && n.has(vlcapMany) {
		put(piVLCap, 4)
	}
	if c.NoSLtoVL && n.has(operationalVLsMany) {
		put(piVLs, 2)
	}
	if n.has(vlcapReserved) {
		put(piVLCap, 6)
	}
	if c.VLCap > 1 {
		put(piHighCap, uint64(c.VLArbitration))
		put(piLowCap, uint64(c.VLArbitration))
		p.arb[0][0] = 1 // VL 0, weight 1
	}
	keys := c.PartitionCap
	if external {
		keys = c.Enforcement
	} else {
		put(piPrefix, 0xFE80<<48)
		put(piCapability, n.capabilities())
		put(piRespTime, uint64(c.RespTime))
		put(piGUIDCap, uint64(c.GUIDCap))
		p.guids = make([]uint64, c.GUIDCap)
		p.guids[0] = n.portGUID(number)
	}
	if p.pkeys = make([]uint16, keys); keys > 0 {
		p.pkeys[0] = 0xFFFF
	}
	if number == 0 {
		put(piState, Active)
		put(piPhysical, linkUp)
		put(piWidth, 2)
		put(piSpeed, 4)
	}
	inputs := 1
	if n.sw != nil {
		inputs = len(n.ports)
	}
	p.sltovl = make([][16]uint8, inputs)
}

func (n *Node) capabilities() uint64 {
	c := &n.config
	v := uint64(CapSystemGUID | CapReregister)
	if !c.NoSLtoVL {
		v |= CapSLtoVL
	}
	if !c.NoTraps {
		v |= CapTrap
	}
	if c.Led {
		v |= CapLed
	}
	if n.hasSM && !n.has(isSMLost) || n.has(isSMSet) {
		v |= CapSM
	}
	if n.has(isSMDisabled) {
		v |= CapSM | capSMDisabled
	}
	return v
}

// external reports whether a port is an external one of a switch.
func (n *Node) external(number uint8) bool { return n.sw != nil && number != 0 }

// portGUID is the GUID of a port: all of a switch are known by that of port 0.
func (n *Node) portGUID(number uint8) uint64 {
	if n.sw != nil {
		return n.config.GUID
	}
	return n.config.GUID + uint64(number)
}

// at returns the port with a number, or nil where there is none.
func (n *Node) at(number int) *port {
	if number >= len(n.ports) || number < 0 || number == 0 && n.sw == nil {
		return nil
	}
	return &n.ports[number]
}

// managed is the port whose M_Key, LID and manager are those of a port: port 0 of a switch.
func (n *Node) managed(number uint8) *port {
	if n.sw != nil {
		return &n.ports[0]
	}
	return n.at(int(number))
}

// Config returns what the node is, with what New has filled in.
func (n *Node) Config() Config { return n.config }

// LID returns the LID and LMC of a port (table T12); for a port of a switch those of port 0.
func (n *Node) LID(number uint8) (lid uint16, lmc uint8) {
	p := n.managed(number)
	if p == nil {
		return 0, 0
	}
	return uint16(p.get(piLID)), uint8(p.get(piLMC))
}

// Owns reports whether a unicast LID is one of a port: its base LID or one of its LMC.
func (n *Node) Owns(number uint8, lid uint16) bool {
	base, lmc := n.LID(number)
	return base != 0 && lid>>lmc == base>>lmc
}

// PortInfo returns PortInfo of a port, 64 bytes (table T12); nil where there is no such port.
func (n *Node) PortInfo(number uint8) []byte {
	p := n.at(int(number))
	if p == nil {
		return nil
	}
	b := p.info
	return b[:]
}

// NodeInfo returns NodeInfo, 64 bytes, as a port answers it (section 14.2.5.3).
func (n *Node) NodeInfo(number uint8) []byte {
	b := make([]byte, mad.SMPDataSize)
	n.nodeInfo(b, number)
	return b
}

// PKeys returns the P_Key table of a port.
func (n *Node) PKeys(number uint8) []uint16 {
	p := n.at(int(number))
	if p == nil {
		return nil
	}
	return append([]uint16(nil), p.pkeys...)
}

// Egress returns the port out of which a switch forwards packets to a unicast LID (section 18.2.4.3), or, false, that it discards them.
func (n *Node) Egress(lid uint16) (number uint8, ok bool) {
	if n.sw != nil && len(n.sw.random) > 0 {
		return n.randomEgress(lid)
	}
	if n.sw == nil || int(lid) >= len(n.sw.linear) || uint64(lid) > siLinearTop.Uint(n.sw.info[:]) {
		return 0, false
	}
	number = n.sw.linear[lid]
	return number, n.at(int(number)) != nil
}

func (p *port) get(f mad.Field) uint64 { return f.Uint(p.info[:]) }

func (p *port) put(f mad.Field, v uint64) { f.PutUint(p.info[:], v) }
