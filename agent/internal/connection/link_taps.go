package connection

import (
	"encoding/binary"

	"ibwitness/packet"
	"ibwitness/verifier/header"
)

// crossings remembers native packets that one tap saw, until another one sees them: what lies between may not change them, nor their order.
type crossings struct {
	slots []crossing
	flows []flowOrder
}

// crossing is a packet as it was first seen.
type crossing struct {
	id    uint64
	seen  header.Sighting
	again bool // it was sent more than once
}

// flowOrder is the newest packet of a flow that was seen at one tap and then at another, by its frame at the first.
type flowOrder struct {
	key   uint64
	frame uint64
	time  int64
}

const crossingSlots = 1 << 12

// sighting is what must not change on the way through a switch: all but VL and FECN.
func sighting(p *packet.Packet) header.Sighting {
	s := header.Sighting{Tap: p.Tap, Frame: p.Frame, Time: p.Time, SL: p.SL, Whole: p.ICRCState == packet.CRCGood, Sound: p.VCRCState == packet.CRCGood}
	s.Fields[0] = uint64(p.LVer)<<56 | uint64(p.LNH)<<48 | uint64(p.LRHRes)<<40 | uint64(p.PktLen)
	s.Fields[1] = uint64(p.Resv8a) << 1
	if p.BECN {
		s.Fields[1] |= 1
	}
	if p.Has&packet.HasGRH != 0 {
		s.Fields[2] = 1<<63 | uint64(p.TClass)<<40 | uint64(p.FlowLabel)<<8 | uint64(p.HopLmt)
	}
	return s
}

// first notes a packet that no other tap has shown yet. One that was damaged there tells nothing.
func (c *crossings) first(p *packet.Packet) {
	if p.VCRCState == packet.CRCBad {
		return
	}
	if c.slots == nil {
		c.slots, c.flows = make([]crossing, crossingSlots), make([]flowOrder, crossingSlots)
	}
	id := identity(p)
	s := &c.slots[mix(id)%crossingSlots]
	again := s.id == id && p.Time-s.seen.Time < repeatWindow
	*s = crossing{id, sighting(p), again}
}

// Crossed judges a packet that another tap has shown already.
func (t *Table) Crossed(p *packet.Packet) {
	c := &t.between
	if c.slots == nil || p.VCRCState == packet.CRCBad {
		return
	}
	id := identity(p)
	s := &c.slots[mix(id)%crossingSlots]
	if s.id != id || s.seen.Tap == p.Tap {
		return
	}
	now := sighting(p)
	if t.Judge.Crossed(p, &s.seen, &now) || s.again {
		return
	}
	var k [8]byte
	binary.BigEndian.PutUint16(k[0:], s.seen.Tap)
	binary.BigEndian.PutUint16(k[2:], p.Tap)
	binary.BigEndian.PutUint16(k[4:], p.SLID)
	binary.BigEndian.PutUint16(k[6:], p.DLID)
	key := binary.BigEndian.Uint64(k[:]) ^ mix(uint64(p.SL))
	f := &c.flows[mix(key)%crossingSlots]
	if f.key == key && p.Time-f.time < repeatWindow {
		t.Judge.Ordered(p, &s.seen, f.frame)
	}
	if f.key != key || s.seen.Frame > f.frame || p.Time-f.time >= repeatWindow {
		*f = flowOrder{key, s.seen.Frame, p.Time}
	}
}
