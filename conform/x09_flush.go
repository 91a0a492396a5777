package conform

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// flushTests are those of FLUSH and ATOMIC WRITE at the responder (annex A19).
var flushTests = []*Test{flushes, atomicWrites}

// extending are the attributes of a queue pair that takes FLUSHes and ATOMIC WRITEs too.
func extending(a *qp.Attr) {
	answering(a)
	a.Access |= wqe.RemoteFlush | wqe.RemotePersist
}

// Where regions of their own rights begin.
const (
	visibleVA    = 0x6000_0000
	persistentVA = 0x6100_0000
	readOnlyVA   = 0x6200_0000
)

// flush sends a FLUSH of a range for a placement: bit 0 global visibility, bit 1 persistence.
func (c *conn) flush(placement uint32, rkey uint32, va uint64, n uint32) *packet.Packet {
	return c.ask(packet.Flush, nil, func(p *packet.Packet) { p.FETH, p.RKey, p.VA, p.DMALen = placement, rkey, va, n })
}

// accessRefused judges that a request is refused with NAK Remote Access Error, and that the queue pair goes to ERR.
func (c *conn) accessRefused(code, state string, p *packet.Packet, msn uint32) {
	got := c.answer()
	if !c.nakked(code, p, got, p.PSN, msn, packet.NAKRemoteAccess) {
		return
	}
	c.r.settle()
	c.inError(state, p, got)
}

var flushes = &Test{
	ID: "X09_231", Title: "FLUSH",
	Abstract: "A FLUSH for a placement that its region permits is answered by an empty READ response; one for another placement, or of a range that goes beyond the region, is refused with NAK Remote Access Error.",
	Covers:   []Statement{{"oA19-13", Stated}}, Topology: pairTopology, Needs: Control | Extended,
	Setup: []string{"Register a region that permits FLUSH for global visibility, and one that permits it for persistence too. For each case connect a queue pair of RC that permits both."},
	Procedure: []string{
		"Send a WRITE, and receive its ACK.", "Send a WRITE and FLUSHes that are permitted: for visibility, for persistence, for both. Receive the answers.",
		"On a connection each send a FLUSH for persistence of the first region, and FLUSHes that end a byte after each region. Receive the answer, and query the queue pair.",
	},
	Assertions: []Assertion{
		{"ours#01", "A FLUSH that is permitted is answered by one READ response Only, without payload, with its PSN and an MSN that counts it."},
		{"ours#02", "One that is not is refused with a NAK Remote Access Error with its PSN and an MSN that does not count it."},
		{"ours#03", errorText},
	},
	Decisions: ours,
	run: func(r *run) {
		base := wqe.LocalWrite | wqe.RemoteWrite | wqe.RemoteRead | wqe.RemoteFlush
		visible, persistent := r.registerAt(visibleVA, base), r.registerAt(persistentVA, base|wqe.RemotePersist)
		c := r.connect(extending)
		r.at(1)
		c.begin()
		r.at(2)
		msn := uint32(1)
		for _, x := range []struct {
			placement, rkey uint32
			va              uint64
		}{{1, visible, visibleVA}, {1, persistent, persistentVA}, {2, persistent, persistentVA}, {3, persistent, persistentVA}} {
			sent := []*packet.Packet{
				c.ask(packet.WriteOnly, pattern(1, 64), func(p *packet.Packet) { p.RKey, p.VA, p.AckReq = x.rkey, x.va, false }), c.flush(x.placement, x.rkey, x.va, 64),
			}
			msn += 2
			if !c.inOrder("ours#01", sent, owed(sent[1], msn, 0)) {
				return
			}
		}
		for _, x := range []struct {
			placement, rkey uint32
			va              uint64
			n               uint32
		}{{2, visible, visibleVA, 64}, {3, visible, visibleVA, 64}, {1, visible, visibleVA + 4096 - 63, 64}, {2, persistent, persistentVA, 4097}} {
			c := r.connect(extending)
			r.again(3)
			c.begin()
			c.accessRefused("ours#02", "ours#03", c.flush(x.placement, x.rkey, x.va, x.n), 1)
		}
	},
}

// atomicWrite sends an ATOMIC WRITE of 8 bytes.
func (c *conn) atomicWrite(data []byte, change func(p *packet.Packet)) *packet.Packet {
	return c.ask(packet.AtomicWrite, data, change)
}

var atomicWrites = &Test{
	ID: "X09_232", Title: "ATOMIC WRITE",
	Abstract: "An ATOMIC WRITE is answered by an empty READ response and executed once, also where it is duplicated; one at an address that is no multiple of 8 is refused with NAK Invalid Request, one that its R_Key does not permit with NAK Remote Access Error.",
	Covers:   []Statement{{"oA19-28", Seen}}, Topology: pairTopology, Needs: Control | Memory | Extended,
	Setup: []string{"Register a region that peers may only read. For each case connect a queue pair of RC."},
	Procedure: []string{
		"Send an ATOMIC WRITE, and receive its answer.", "Have the device store another number there, and send the ATOMIC WRITE once more.",
		"On a connection each send one 4 bytes after a multiple of 8, and one of 16 bytes, and receive the answer.", "On a connection each send one to a queue pair that permits no WRITE, one with an R_Key that is none, and one to the region that may only be read. Query the queue pair.",
	},
	Assertions: []Assertion{
		{"ours#01", "It is answered by one READ response Only, without payload, with its PSN and an MSN that counts it once."},
		{"ours#02", "Memory holds what it writes."},
		{"ours#03", "A duplicate is not executed, nor one that the queue pair does not permit."},
		{"ours#04", "The misaligned one and the long one are refused with NAK Invalid Request."},
		{"ours#05", "The ones that are not permitted are refused with NAK Remote Access Error; where it is the queue pair that does not permit it, Invalid Request passes too."},
		{"ours#06", errorText},
	},
	Decisions: ours,
	Breaks:    []string{"FLW-005", "RC-LEN-003"},
	run: func(r *run) {
		c := r.connect(extending)
		data, other := pattern(1, 8), pattern(2, 8)
		r.at(1)
		p := c.atomicWrite(data, nil)
		if !c.inOrder("ours#01", []*packet.Packet{p}, owed(p, 1, 0)) || !c.holds("ours#02", 0, data, p) {
			return
		}
		r.at(2)
		c.fill(0, other)
		p = c.again(p)
		c.inOrder("ours#01", []*packet.Packet{p}, owed(p, 1, 0))
		c.holds("ours#03", 0, other, p)
		for i := range 2 {
			c := r.connect(extending)
			r.again(3)
			c.begin()
			if i == 0 {
				p = c.atomicWrite(data, func(p *packet.Packet) { p.VA += 4 })
			} else {
				p = c.atomicWrite(pattern(3, 16), nil)
			}
			got := c.answer()
			c.nakked("ours#04", p, got, p.PSN, 1, packet.NAKInvalidRequest)
			r.settle()
			c.inError("ours#06", p, got)
		}
		c = r.connect(func(a *qp.Attr) { extending(a); a.Access &^= wqe.RemoteWrite })
		r.at(4)
		c.fill(0, other)
		p = c.atomicWrite(data, nil)
		got := c.answer()
		ok := got != nil && got.PSN == p.PSN && (got.Syndrome == packet.NAKInvalidRequest || got.Syndrome == packet.NAKRemoteAccess)
		r.check("ours#05", ok, fmt.Sprintf("NAK Remote Access Error or Invalid Request, PSN %v", p.PSN), happened(got, nil), p, got)
		c.holds("ours#03", 0, other, p, got)
		readOnly := r.registerAt(readOnlyVA, wqe.LocalWrite|wqe.RemoteRead)
		for i := range 2 {
			c := r.connect(extending)
			r.again(4)
			c.begin()
			c.accessRefused("ours#05", "ours#06", c.atomicWrite(data, func(p *packet.Packet) {
				if p.RKey ^= 0x5500; i == 1 {
					p.RKey, p.VA = readOnly, readOnlyVA
				}
			}), 1)
		}
	},
}
