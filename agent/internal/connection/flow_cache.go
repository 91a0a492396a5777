package connection

import (
	"math/bits"

	"ibwitness/packet"
)

// routes says in one step what hosts and flows say in two, of usual packets (see packet.Packet.Usual) and while connections are few. A packet
// whose place another one has taken is looked up there.
type routes struct {
	slots []route
	shift uint8 // of a hash, to the index of a slot
}

type route struct {
	addrs uint64 // source and destination
	qp    uint64 // destination QPN, and from bit 24 on flows.changes when it was looked up
	c     *Connection
	way   uint64 // the end of c that sends, and from bit 1 on the Ethernet address that it sends to
}

// way is where a packet of an end goes.
func way(p *packet.Packet, from uint32) uint64 { return p.Station<<1 | uint64(from&1) }

// addrs are the IPv4 addresses of a usual packet.
func addrs(p *packet.Packet) uint64 { return p.Src.Lo<<32 | p.Dst.Lo&0xFFFFFFFF }

// at returns the place of a packet, or nil where there are none.
func (r *routes) at(p *packet.Packet) *route {
	i := (addrs(p) ^ uint64(p.DestQP)<<20) * 0x9e3779b97f4a7c15 >> (r.shift & 63)
	if i >= uint64(len(r.slots)) {
		return nil
	}
	return &r.slots[i]
}

// find returns the route of a packet, or nil where it is not known.
func (r *routes) find(p *packet.Packet, f *flows) *route {
	if s := r.at(p); s != nil && s.addrs == addrs(p) && s.qp == uint64(p.DestQP)|uint64(f.changes)<<24 && s.way>>1 == p.Station && p.Usual {
		return s
	}
	return nil
}

// put notes the flow of a packet, and its connection.
func (r *routes) put(p *packet.Packet, f *flows, s *Flow, c *Connection) {
	switch {
	case f.used >= fetched:
		r.slots = nil
		return
	case !p.Usual:
		return
	}
	if len(r.slots) < 4*f.used {
		n := bits.Len(uint(8*f.used + 63))
		r.slots, r.shift = make([]route, 1<<n), uint8(64-n)
	}
	*r.at(p) = route{addrs(p), uint64(p.DestQP) | uint64(f.changes)<<24, c, way(p, s.way)}
}
