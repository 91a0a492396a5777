package sim

import "encoding/binary"

// Weight is an entry of a VLArbitrationTable (section 14.2.5.9): so many units of 64 bytes for a lane.
type Weight struct{ VL, Weight uint8 }

// arbiter chooses among the data lanes of a port by its two tables (section 7.6.9).
type arbiter struct {
	high, low arbitration
	limit     uint8 // 4096 bytes of the high table before one packet of the low one; 255: no limit
	spent     int   // bytes of the high table since
}

// arbitration is one table, and where it is.
type arbitration struct {
	entries []Weight
	at      int
	left    int // bytes of the entry
}

// Arbitrate has a port choose among its data lanes by VLArbitrationTables, as subnet management sets them. Without entries its lanes take turns.
func (l *Link) Arbitrate(port int, high, low []Weight, limit uint8) {
	p := l.ports[port]
	if p.arb = nil; len(high)+len(low) > 0 {
		p.arb = &arbiter{high: begun(high), low: begun(low), limit: limit}
	}
}

func begun(entries []Weight) (a arbitration) {
	if a.entries = entries; len(entries) > 0 {
		a.left = int(entries[0].Weight) * 64
	}
	return a
}

// choose returns the lane whose turn it is of those that are ready.
func (a *arbiter) choose(ready func(vl int) bool, size func(vl int) int) (vl int, ok bool) {
	high, low := a.high.peek(ready), a.low.peek(ready)
	spent := a.limit != 255 && a.spent > 0 && a.spent >= int(a.limit)*4096
	switch {
	case high && !(spent && low):
		vl = a.high.take(size)
		a.spent += size(vl)
	case low:
		vl = a.low.take(size)
		a.spent = 0
	}
	return vl, high || low
}

// peek goes to the next entry that may send, and reports whether there is one.
func (a *arbitration) peek(ready func(vl int) bool) bool {
	for range len(a.entries) + 1 {
		if e := a.entries; len(e) == 0 {
			return false
		}
		if a.left > 0 && ready(int(a.entries[a.at].VL)) {
			return true
		}
		a.at = (a.at + 1) % len(a.entries)
		a.left = int(a.entries[a.at].Weight) * 64
	}
	return false
}

// take takes a packet of the entry.
func (a *arbitration) take(size func(vl int) int) int {
	vl := int(a.entries[a.at].VL)
	a.left -= size(vl)
	return vl
}

// nextLane returns the data lane that sends next; false: none may.
func (p *linkPort) nextLane() (int, bool) {
	ready := func(vl int) bool {
		if vl >= p.link.opt.Lanes {
			return false
		}
		l := &p.lanes[vl]
		return !l.queue.empty() && (p.maySend(l) || p.mustNot(l))
	}
	if p.arb != nil {
		return p.arb.choose(ready, func(vl int) int {
			return int(binary.BigEndian.Uint16(p.lanes[vl].queue.first()[4:])&0x7FF) * 4
		})
	}
	for i := range p.link.opt.Lanes {
		if vl := (p.next + i) % p.link.opt.Lanes; ready(vl) {
			p.next = vl + 1
			return vl, true
		}
	}
	return 0, false
}
