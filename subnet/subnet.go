// Package subnet is what subnet management packets have told of a subnet: its nodes, their ports, and the tables that a subnet manager
// has given them. It only keeps; package verifier/smp judges the packets and fills it in.
//
// It is the engine's own, without a promise to others.
package subnet

import (
	"slices"
	"time"
)

// NodeType is the kind of a node (NodeInfo, table T12).
type NodeType uint8

// The kinds.
const (
	UnknownNode NodeType = iota
	ChannelAdapter
	Switch
	Router
)

func (t NodeType) String() string {
	switch t {
	case ChannelAdapter:
		return "channel adapter"
	case Switch:
		return "switch"
	case Router:
		return "router"
	}
	return "unknown node"
}

// Known is a set of what is known of a port.
type Known uint16

// What may be known.
const (
	KnowsInfo   Known = 1 << iota // PortInfo: LID, LMC, state, MTU, VLs, capabilities
	KnowsMTU                      // MTU: of a port that is armed or active
	KnowsVLs                      // OperVLs: likewise
	KnowsSLtoVL                   // the mapping of a channel adapter's, a router's or the enhanced port 0
	KnowsPKeys                    // all blocks of the P_Key table
	KnowsGUID
	KnowsGUIDs // all blocks of GUIDInfo, and the prefix
)

// Port is one port of a node.
type Port struct {
	Node   *Node
	Number uint8  // within the node; 0: the management port of a switch, or not known
	GUID   uint64 // of the port
	LID    uint16 // base LID; 0: none
	LMC    uint8
	State  uint8 // 1 Down, 2 Initialize, 3 Armed, 4 Active

	Has            Known
	MTU            uint32 // bytes: NeighborMTU, the most payload of a packet on its link
	MTUCap         uint32 // bytes
	OperVLs        uint8  // data VLs in use: VL 0 to OperVLs-1
	VLCap          uint8  // data VLs that it can have
	CapabilityMask uint32
	SMLID          uint16
	SMSL           uint8
	SubnetTimeout  uint8
	RespTime       uint8
	SLtoVL         [16]uint8
	PKeys          []uint16 // valid entries of the table; meaningful as a whole with KnowsPKeys
	Prefix         uint64   // of its GIDs beside the default one
	GUIDs          []uint64 // those of GUIDInfo that are not 0; meaningful as a whole with KnowsGUIDs

	Time  int64  // when it was last told of
	Frame uint64 // and by which frame

	Changed int64 // when a manager last changed its P_Keys, GUIDs or LIDs
}

// Knows reports whether all of a set is known. A nil port knows nothing.
func (p *Port) Knows(k Known) bool { return p != nil && p.Has&k == k }

// Member reports whether the port has a P_Key with this partition number, and whether as a full member. A nil port has none.
func (p *Port) Member(pkey uint16) (member, full bool) {
	if p == nil {
		return false, false
	}
	for _, k := range p.PKeys {
		if (k^pkey)&0x7FFF == 0 {
			member, full = true, full || k>>15 != 0
		}
	}
	return member, full
}

// settling is how long what was sent before a change may still be on its way.
const settling = int64(time.Second)

// Settled reports whether all that is on its way at a time was sent since the port was changed.
func (p *Port) Settled(now int64) bool { return now-p.Changed > settling }

// Takes reports whether a packet with a P_Key has an entry of the table to match: the same partition, and a full member on one side.
func (p *Port) Takes(pkey uint16) bool {
	member, full := p.Member(pkey)
	return member && (full || pkey>>15 != 0)
}

// HasGID reports whether a GID is one of the port, by the default prefix of a subnet or by its own.
func (p *Port) HasGID(hi, lo uint64) bool {
	return (hi == p.Prefix || hi == linkLocal) && slices.Contains(p.GUIDs, lo)
}

// linkLocal is the GID prefix by which every port is known within its subnet.
const linkLocal = 0xFE80 << 48

// Node is a channel adapter, a switch or a router.
type Node struct {
	GUID         uint64 // 0: not known
	Description  string // NodeDescription; empty: not known
	SystemGUID   uint64
	Type         NodeType
	NumPorts     uint8
	PartitionCap uint16
	Ports        []*Port // in the order in which they became known

	// Of a switch whose SwitchInfo is known.
	HasSwitchInfo   bool
	LinearCap       uint16
	LinearTop       uint16
	RandomCap       uint16
	MulticastCap    uint16
	EnforcementCap  uint16
	EnhancedPort0   bool
	OptimizedSLtoVL bool
	// Linear holds the forwarding table by LID, as far as its blocks are known: see Egress.
	Linear []uint8
	blocks []bool
	Routed int64 // when a manager last changed it
}

// Port returns the port with a number, beginning it where it is not known.
func (n *Node) Port(number uint8) *Port {
	for _, p := range n.Ports {
		if p.Number == number {
			return p
		}
	}
	p := &Port{Node: n, Number: number}
	n.Ports = append(n.Ports, p)
	return p
}

// SetLinear notes one block, 64 entries, of the linear forwarding table.
func (n *Node) SetLinear(block int, ports []byte) {
	for len(n.blocks) <= block {
		n.blocks = append(n.blocks, false)
		n.Linear = append(n.Linear, make([]uint8, 64)...)
	}
	n.blocks[block] = true
	copy(n.Linear[block*64:], ports[:min(64, len(ports))])
}

// ForgetLinear notes that a block may have been changed.
func (n *Node) ForgetLinear(block int) {
	if block < len(n.blocks) {
		n.blocks[block] = false
	}
}

// ForgetAllLinear notes that any block may have been changed.
func (n *Node) ForgetAllLinear() { clear(n.blocks) }

// Egress returns the port out of which a switch sends packets to a unicast LID, 255 for none, and whether that is known.
func (n *Node) Egress(lid uint16) (uint8, bool) {
	b := int(lid) / 64
	if b >= len(n.blocks) || !n.blocks[b] {
		return 0, false
	}
	return n.Linear[lid], true
}

// MaxNodes is how many nodes are kept; a subnet has at most 48 K LIDs.
const MaxNodes = 1 << 16

// Subnet is one subnet. The zero value, and nil, knows nothing.
type Subnet struct {
	Nodes  []*Node
	Newest int64 // when a subnet management packet last came
	byGUID map[uint64]*Node
	byLID  []*Port // by LID, those of a port's LMC too; nil until a LID is known
}

// firstMulticast is the LID after the unicast ones.
const firstMulticast = 0xC000

// Silent is how long no subnet management packet comes, in nanoseconds, for cables to have been moved unseen, or for another subnet to follow in the
// capture: managers look for changes every ten seconds.
const Silent = int64(10500 * time.Millisecond)

// Current reports whether subnet management has gone on until a time, so that what it told of nodes and LIDs holds.
func (s *Subnet) Current(now int64) bool { return now-s.Newest <= Silent && s.Newest-now <= Silent }

// Port returns the port that has a LID, or nil where none is known.
func (s *Subnet) Port(lid uint16) *Port {
	if s == nil || int(lid) >= len(s.byLID) {
		return nil
	}
	return s.byLID[lid]
}

// Known reports whether any port is known by its LID.
func (s *Subnet) Known() bool { return s != nil && s.byLID != nil }

// Node returns the node with a GUID, beginning it where it is not known; nil where there are too many.
func (s *Subnet) Node(guid uint64) *Node {
	if n := s.byGUID[guid]; n != nil {
		return n
	}
	if len(s.Nodes) >= MaxNodes {
		return nil
	}
	if s.byGUID == nil {
		s.byGUID = map[uint64]*Node{}
	}
	n := &Node{GUID: guid}
	s.byGUID[guid] = n
	s.Nodes = append(s.Nodes, n)
	return n
}

// Find returns the node with a GUID, or nil where it is not known. A nil subnet knows none.
func (s *Subnet) Find(guid uint64) *Node {
	if s == nil {
		return nil
	}
	return s.byGUID[guid]
}

// SetLID gives a port its LIDs, and takes those away that it had. It returns another port that has one of them, or nil.
func (s *Subnet) SetLID(p *Port, lid uint16, lmc uint8) (other *Port) {
	if p.LID == lid && p.LMC == lmc && s.Port(lid) == p {
		return nil
	}
	if p.LID != 0 {
		s.each(p.LID, p.LMC, func(at **Port) {
			if *at == p {
				*at = nil
			}
		})
	}
	p.LID, p.LMC = 0, 0
	if lid == 0 || lid >= firstMulticast {
		return nil
	}
	if need := min(int(lid)+1<<(lmc&7), firstMulticast); need > len(s.byLID) { // most subnets are small
		s.byLID = append(s.byLID, make([]*Port, min(max(need, 2*len(s.byLID), 256), firstMulticast)-len(s.byLID))...)
	}
	p.LID, p.LMC = lid, lmc
	s.each(lid, lmc, func(at **Port) {
		if *at != nil && *at != p {
			other = *at
		}
		*at = p
	})
	return other
}

func (s *Subnet) each(lid uint16, lmc uint8, do func(**Port)) {
	for l := int(lid); l < min(int(lid)+1<<(lmc&7), len(s.byLID)); l++ {
		do(&s.byLID[l])
	}
}

// OnlySwitch returns the switch of a subnet that has just one, or nil.
func (s *Subnet) OnlySwitch() *Node {
	is := func(n *Node) bool { return n.Type == Switch }
	i := slices.IndexFunc(s.Nodes, is)
	if i < 0 || slices.ContainsFunc(s.Nodes[i+1:], is) {
		return nil
	}
	return s.Nodes[i]
}
