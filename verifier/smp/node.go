package smp

import (
	"ibwitness/mad"
	"ibwitness/subnet"
)

// place is a node as an SMP reaches it, and the port that receives it.
type place struct {
	node   *subnet.Node
	number uint8 // of the port; noPort: not known
	age    int   // of the capture, when it was told
}

const noPort = 255

// route is how a request on a directed route reaches its node from here on; what it has after it tells managers apart.
type route struct {
	tap   uint16
	hop   uint8
	count uint8
	slid  uint16
	dlid  uint16
	path  [64]byte
	back  [64]byte
}

// port is the port that an SMP is for: the one that receives it, or the management port of a switch; nil where it is not known.
func (p place) port() *subnet.Port {
	switch {
	case p.node == nil || p.node.Type == subnet.UnknownNode:
		return nil
	case p.node.Type == subnet.Switch:
		return p.node.Port(0)
	case p.number == noPort:
		return nil
	}
	return p.node.Port(p.number)
}

// known reports whether the node is one that NodeInfo has told of: it is the same on whatever way it is reached.
func (p place) known() bool {
	return p.node != nil && p.node.GUID != 0 && p.node.Type != subnet.UnknownNode
}

// endport reports whether a PortInfo with this modifier is of a port that has LIDs.
func (p place) endport(modifier uint32) bool {
	return p.known() && (p.node.Type != subnet.Switch || modifier&0xFF == 0)
}

// slot is where the place that the request at hand is for is kept; what it points to may be changed where the node is not known by its LID.
func (v *Verifier) slot() *place {
	s := &v.s
	if !s.Directed() {
		lid := v.p.DLID
		if port := v.Subnet.Port(lid); port != nil && v.of(port).age == v.age {
			return &place{port.Node, port.Number, v.age}
		}
		at := v.lids[lid]
		if at == nil {
			at = &place{number: noPort}
			v.lids[lid] = at
		}
		return v.ofAge(at)
	}
	r := v.route()
	at := v.routes[r]
	if at == nil {
		if len(v.routes) >= most {
			clear(v.routes)
			clear(v.returnPaths)
		}
		at = &place{number: noPort}
		v.routes[r] = at
	}
	return v.ofAge(at)
}

// ofAge forgets what a place was in an age before.
func (v *Verifier) ofAge(at *place) *place {
	if at.age != v.age {
		*at = place{nil, noPort, v.age}
		delete(v.returnPaths, at)
	}
	return at
}

// ages begins an age of the capture: cables may have been moved since, or it is the capture of another subnet that goes on.
func (v *Verifier) ages() {
	now := v.p.Time
	if !v.Subnet.Current(now) {
		v.age++
		v.order = v.order[:0]
		clear(v.open)
	}
	v.Subnet.Newest = now
}

// route is the directed route of the request at hand.
func (v *Verifier) route() route {
	s := &v.s
	r := route{tap: v.p.Tap, hop: uint8(s.HopPointer()), count: uint8(s.HopCount()), slid: s.DrSLID, dlid: s.DrDLID}
	copy(r.path[:], hopsOf(s.Initial, s.HopCount()))
	copy(r.back[:], hopsOf(s.Return, s.HopPointer()-1))
	return r
}

// moved notes which node is at the place of an exchange, and the port that receives there.
func (v *Verifier) moved(x *exchange, n *subnet.Node, number uint8) {
	another := x.slot.known() && x.slot.node != n
	*x.slot = place{n, number, v.age}
	x.at = *x.slot
	if x.Class != mad.ClassSubnetLID {
		if another {
			v.forgetRoutes(x)
		}
		return
	}
	switch port := v.Subnet.Port(x.dst); {
	case port == nil:
	case port.Node == n:
		v.of(port).age = v.age
	default:
		v.Subnet.SetLID(port, 0, 0) // another node has the LID now
		v.lids[x.dst] = x.slot
	}
}

// forgetRoutes forgets which nodes the directed routes lead to that go through the node of an exchange, which is another one now.
func (v *Verifier) forgetRoutes(x *exchange) {
	hops := int(x.ClassSpecific & 0xFF)
	for r, at := range v.routes {
		if r.tap == x.tap && int(r.count) > hops && r.slid == x.drSLID && string(r.path[:hops]) == string(hopsOf(x.initial[:], hops)) {
			*at = place{nil, noPort, v.age}
			delete(v.returnPaths, at)
		}
	}
}

// port is what the verifier keeps of a port beside what everybody may look up.
type port struct {
	info     [mad.SMPDataSize]byte // newest PortInfo
	age      int                   // of the capture, when it had its LIDs
	has      bool
	frame    uint64
	keyKnown bool
	key      uint64
	protect  uint8
	lease    uint16
	held     int64 // when it was told last

	wrongs     int    // SMPs with a wrong M_Key since the violations were read
	wrongFrame uint64 // of the newest
	began      int64  // when the lease period began to run; 0: it does not
	expired    bool
	blocks     map[uint16][32]uint16 // of the P_Key table
	maskWas    uint32                // CapabilityMask before one that was reported
	given      bool                  // a manager was seen to set it
	guids      map[uint8][8]uint64   // blocks of GUIDInfo

	restartedAt int64 // when it was seen down, or not in use yet; see restarted

	changed     int64 // when a Set changed only the M_Key; 0: none did
	changeFrame uint64
}

// of returns what is kept of a port, beginning it.
func (v *Verifier) of(p *subnet.Port) *port {
	k := v.ports[p]
	if k == nil {
		if len(v.ports) >= most {
			clear(v.ports)
		}
		k = &port{}
		v.ports[p] = k
	}
	return k
}
