package ibsim

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/subnet"
	"ibwitness/subnet/sma"
)

// End is a port of a node: one end of a link.
type End struct {
	Node *sma.Node
	Port uint8
}

func (e End) String() string {
	if e.Node == nil {
		return "no port"
	}
	return fmt.Sprintf("%q[%d]", e.Node.Config().Description, e.Port)
}

// Passed is a MAD as it passes a link, hop pointer and paths of a directed route as they are there.
type Passed struct {
	Time          int64 // nanoseconds
	From, To      End
	SLID, DLID    uint16
	SrcQP, DestQP uint32
	SL, VL        uint8
	PKey          uint16 // 0: 0xFFFF
	Len           int    // bytes of the MAD that a program gave (Datagram.Len)
	MAD           []byte // 256 bytes; a view for the time of the call
}

// Fabric is nodes and the links between them. It is a pure state machine like the nodes: not for use by several goroutines at once.
type Fabric struct {
	Observe func(Passed) // nil, or told of every MAD that passes a link

	nodes  []*sma.Node
	cables map[End]*cable
}

// cable is what joins two ports; up says that its link has trained.
type cable struct {
	ends [2]End
	up   bool
}

func (c *cable) other(e End) End {
	if c.ends[0] == e {
		return c.ends[1]
	}
	return c.ends[0]
}

// Add adds a node. The error wraps ErrFabric: the GUID, or the description by which clients choose their node, is taken.
func (f *Fabric) Add(n *sma.Node) error {
	for _, o := range f.nodes {
		if a, b := n.Config(), o.Config(); a.GUID == b.GUID || a.Description == b.Description {
			return fmt.Errorf("%w: %q and %q have the same GUID or description; give each node its own", ErrFabric, a.Description, b.Description)
		}
	}
	f.nodes = append(f.nodes, n)
	return nil
}

// Nodes returns the nodes in the order in which they were added.
func (f *Fabric) Nodes() []*sma.Node { return f.nodes }

// Node returns the node with a description, or nil.
func (f *Fabric) Node(description string) *sma.Node {
	for _, n := range f.nodes {
		if n.Config().Description == description {
			return n
		}
	}
	return nil
}

// Link plugs a cable in; the link trains at once. The error wraps ErrFabric.
func (f *Fabric) Link(now int64, a, b End) error {
	if f.cables == nil {
		f.cables = map[End]*cable{}
	}
	for _, e := range []End{a, b} {
		switch {
		case e.Node == nil || e.Port == 0 || e.Port > e.Node.Config().Ports:
			return fmt.Errorf("%w: no port %v; give one from 1 to the node's number of ports", ErrFabric, e)
		case f.cables[e] != nil:
			return fmt.Errorf("%w: %v is linked already; unlink it first", ErrFabric, e)
		}
	}
	if a == b {
		return fmt.Errorf("%w: %v linked with itself; give two ports", ErrFabric, a)
	}
	c := &cable{ends: [2]End{a, b}}
	f.cables[a], f.cables[b] = c, c
	c.train(now)
	return nil
}

// Unlink unplugs the cable of a port. The error wraps ErrFabric.
func (f *Fabric) Unlink(now int64, e End) error {
	c := f.cables[e]
	if c == nil {
		return fmt.Errorf("%w: %v is not linked", ErrFabric, e)
	}
	for _, e := range c.ends {
		delete(f.cables, e)
		e.Node.Cut(now, e.Port)
	}
	return nil
}

// Peer returns the other end of a port's link; false where it has none that is up.
func (f *Fabric) Peer(e End) (End, bool) {
	c := f.cables[e]
	if c == nil || !c.up {
		return End{}, false
	}
	return c.other(e), true
}

func (c *cable) train(now int64) {
	c.up = sma.Join(now, c.ends[0].Node, c.ends[0].Port, c.ends[1].Node, c.ends[1].Port)
}

// settle takes down the links whose ports subnet management has taken down, and lets them train.
func (f *Fabric) settle(now int64) {
	for _, n := range f.nodes {
		for _, number := range n.Training() {
			e := End{n, number}
			c := f.cables[e]
			if c == nil {
				continue
			}
			o := c.other(e)
			o.Node.Cut(now, o.Port)
			c.train(now)
		}
	}
}

// mostHops bounds a way: two directed routes of greatest length, or a loop in forwarding tables.
const mostHops = 2 * mad.MaxHops

// packetOverhead is what a MAD has around it in a packet, without VCRC: LRH, BTH, DETH, ICRC. Counters count words of 4 bytes (section 16.1.3.5).
const packetOverhead = 32

// Carry takes a MAD from the port from, at whose node it begins, along its directed route or by its DLID, and returns the port at which it was delivered; false where it
// was lost. Hop pointer and return path are written into it.
func (f *Fabric) Carry(now int64, from End, d *Datagram) (at End, ok bool) {
	return f.carry(now, from, d, 0)
}

// Inject has a port send a MAD as it is, whatever its directed route or its DLID says, and takes it on from the other end of the link as Carry does.
func (f *Fabric) Inject(now int64, from End, d *Datagram) (at End, ok bool) {
	to, up := f.Peer(from)
	if !up {
		return End{}, false
	}
	vl := uint8(0)
	if mad.Class(d.MAD[1]).Subnet() {
		vl = managementVL
	}
	f.pass(now, from, to, vl, d)
	return f.carry(now, to, d, 1)
}

// Offer has a port send a packet to the node at the other end of its link, and returns the port that takes it; false where the link is down or the port discards it
// (see sma.Node.Takes). Nothing is relayed, and Observe is not told.
func (f *Fabric) Offer(from End, a *sma.Arrival) (at End, ok bool) {
	to, up := f.Peer(from)
	if !up || a.VL != managementVL && from.Node.State(from.Port) != sma.Active {
		return End{}, false
	}
	count(from, to, uint64(len(a.MAD)+packetOverhead)/4)
	return to, to.Node.Takes(to.Port, a)
}

// carry is Carry from a port at which a MAD is after some hops.
func (f *Fabric) carry(now int64, at End, d *Datagram, first int) (End, bool) {
	for hop := first; hop < mostHops; hop++ {
		route, out := f.route(at, hop == 0, d)
		switch route {
		case sma.Deliver:
			return at, true
		case sma.Discard:
			if hop > 0 {
				at.Node.Count(at.Port, sma.RcvSwitchRelayErrors, 1)
			}
			return End{}, false
		}
		leaves := End{at.Node, out}
		to, up := f.Peer(leaves)
		if !up || !mad.Class(d.MAD[1]).Subnet() && (leaves.Node.State(out) != sma.Active || to.Node.State(to.Port) < sma.Armed) {
			leaves.Node.Count(out, sma.XmitDiscards, 1)
			return End{}, false
		}
		vl := lane(at, hop == 0, out, d)
		if vl == managementVL && !mad.Class(d.MAD[1]).Subnet() { // its SL has no lane (section 7.6.6)
			leaves.Node.Count(out, sma.XmitDiscards, 1)
			return End{}, false
		}
		f.pass(now, leaves, to, vl, d)
		at = to
	}
	return End{}, false
}

// lane is the virtual lane on which a MAD leaves a node that it came to at a port, or, own, that sends it.
func lane(at End, own bool, out uint8, d *Datagram) uint8 {
	in := at.Port
	switch {
	case mad.Class(d.MAD[1]).Subnet():
		return managementVL
	case own:
		in = 0
	}
	return at.Node.VL(in, out, d.SL)
}

// managementVL is the lane of subnet management (section 7.6.3); in an SLtoVLMappingTable it means that packets are dropped.
const managementVL = 15

// pass counts a MAD at both ends of a link and shows it to who observes.
func (f *Fabric) pass(now int64, from, to End, vl uint8, d *Datagram) {
	count(from, to, (mad.Size+packetOverhead)/4)
	if f.Observe != nil {
		f.Observe(Passed{Time: now, From: from, To: to, SLID: d.SLID, DLID: d.DLID, SrcQP: d.SrcQP, DestQP: d.DestQP, SL: d.SL, VL: vl, PKey: d.PKey, Len: d.Len, MAD: d.MAD[:]})
	}
}

// count counts a packet of so many words at both ends of a link.
func count(from, to End, words uint64) {
	from.Node.Count(from.Port, sma.XmitPkts, 1)
	from.Node.Count(from.Port, sma.UnicastXmitPkts, 1)
	from.Node.Count(from.Port, sma.XmitData, words)
	to.Node.Count(to.Port, sma.RcvPkts, 1)
	to.Node.Count(to.Port, sma.UnicastRcvPkts, 1)
	to.Node.Count(to.Port, sma.RcvData, words)
}

// route says where a MAD goes on from a port at which it is. Where a directed route ends with a part by LIDs, its DLID becomes the one of that part.
func (f *Fabric) route(at End, own bool, d *Datagram) (sma.Route, uint8) {
	if mad.Class(d.MAD[1]) != mad.ClassSubnetDirected {
		return at.Node.Unicast(at.Port, own, d.DLID)
	}
	if d.DLID != mad.PermissiveLID {
		if route, out := at.Node.Unicast(at.Port, own, d.DLID); route != sma.Deliver {
			return route, out
		}
	}
	route, out := at.Node.Relay(at.Port, own, d.MAD[:])
	if route != sma.ByLID {
		return route, out
	}
	var s mad.SMP
	_ = s.Decode(d.MAD[:])
	if d.DLID = s.DrDLID; s.Backward() {
		d.DLID = s.DrSLID
	}
	return at.Node.Unicast(at.Port, own, d.DLID)
}

// host is the port at which a client is attached that names a node, or, with an empty name, the first node that is no switch.
func (f *Fabric) host(name string) (End, bool) {
	for _, n := range f.nodes {
		if c := n.Config(); c.Description == name || name == "" && c.Type != subnet.Switch {
			return f.attached(n), true
		}
	}
	if name == "" && len(f.nodes) > 0 {
		return f.attached(f.nodes[0]), true
	}
	return End{}, false
}

// attached is the port by which programs at a node send: port 0 of a switch, else the first that is linked.
func (f *Fabric) attached(n *sma.Node) End {
	c := n.Config()
	if c.Type == subnet.Switch {
		return End{n, 0}
	}
	for i := uint8(1); i <= c.Ports; i++ {
		if f.cables[End{n, i}] != nil {
			return End{n, i}
		}
	}
	return End{n, 1}
}
