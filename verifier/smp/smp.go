// Package smp verifies subnet management packets: a pure state machine, a packet in, findings out. What it learns of nodes and ports it keeps in
// a subnet.Subnet, where rules on data packets look it up.
//
// It is the engine's own, without a promise to others.
package smp

import (
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/subnet"
)

// Verifier judges the subnet management packets that one shard sees: it is to see all of them, in the order of the capture, whichever shard
// reports on them.
type Verifier struct {
	Rec    *rule.Recorder
	Subnet *subnet.Subnet
	Near   func(packet.Addr) bool
	// Lossy says that the capture lost packets: nothing is proven by an exchange that does not fit.
	Lossy bool

	p     *packet.Packet // at hand
	s     mad.SMP        // of it
	mine  bool           // the findings on it are for this shard to report
	leans bool           // what is found rests on the capture having lost nothing
	from  *subnet.Port   // that sent it, by the exchange; nil: not known

	open        map[uint64]*exchange   // by TID; exchanges of one TID are linked
	order       []*exchange            // oldest first
	asking      map[question]*exchange // the newest request for each that has no answer yet
	routes      map[route]*place
	returnPaths map[*place]returnPath // of routes
	oneLink     map[uint16]int        // by tap, how many answers on directed routes were seen at the hop of their request; negative: it shows several links
	lids        map[uint16]*place     // of LIDs whose port is not known
	ports       map[*subnet.Port]*port
	tables      map[tableKey]*table
	wide        map[*subnet.Node]int64 // until when a Set of all its SLtoVLMappingTables at once may have its effects
	traps       map[trapSource]*trapSender
	toQP0       map[uint16]toQP0 // by LID
	managers    []*manager       // by their GUIDs: which of them is blamed does not depend on the order in which they came
	guids       map[uint64]*subnet.Port

	// Of taps on links: the nodes by their routes, and which port sends on which side of a link.
	origins map[origin]*subnet.Node
	senders map[uint32]place

	begun         int64       // time of the first packet
	age           int         // what was told of places in another one is not known any more
	unmatched     []unmatched // oldest first
	neverAnswered forgotten
	asked         packet.Addr             // who is accused in place of the sender, where not zero
	unasked       bool                    // the finding at hand rests on there being no other request
	serial        uint64                  // of the newest exchange
	unplaced      map[mad.Attribute]int64 // when a node that is not known was set last
	nobody        map[mad.Attribute]bool  // nothing was learned since
}

// New returns a verifier that reports to rec.
func New(rec *rule.Recorder, near func(packet.Addr) bool) *Verifier {
	return &Verifier{
		Rec: rec, Subnet: new(subnet.Subnet), Near: near,
		open: map[uint64]*exchange{}, asking: map[question]*exchange{}, routes: map[route]*place{}, returnPaths: map[*place]returnPath{}, oneLink: map[uint16]int{}, lids: map[uint16]*place{}, ports: map[*subnet.Port]*port{},
		tables: map[tableKey]*table{}, wide: map[*subnet.Node]int64{}, traps: map[trapSource]*trapSender{}, toQP0: map[uint16]toQP0{}, guids: map[uint64]*subnet.Port{},
		origins: map[origin]*subnet.Node{}, senders: map[uint32]place{},
		unplaced: map[mad.Attribute]int64{}, nobody: map[mad.Attribute]bool{},
	}
}

// most bounds what is kept of routes, ports and blocks of tables each: a subnet of the greatest size, and its managers.
const most = 1 << 17

var sendOnly = packet.Op(packet.UD, packet.SendOnly)

// Is reports whether a packet is for this verifier: a whole datagram from or to QP0 of an InfiniBand link.
func Is(p *packet.Packet) bool {
	return p.Encap == packet.Native && p.Opcode == sendOnly && (p.DestQP == 0 || p.SrcQP == 0) && p.Has&packet.HasDETH != 0 && p.PayloadLen == mad.Size &&
		len(p.Payload) == mad.Size
}

// Packet judges a packet for which Is holds and whose ICRC is not known to be wrong. mine says whether to report.
func (v *Verifier) Packet(p *packet.Packet, mine bool) {
	v.settle(p.Time)
	v.p, v.mine, v.from, v.leans = p, mine, nil, false
	if v.begun == 0 {
		v.begun = p.Time
	}
	v.ages()
	if p.DestQP == 0 {
		v.noteQP0()
	}
	if v.s.Decode(p.Payload) != nil {
		return
	}
	if !v.format() {
		for x := v.open[v.s.TID]; x != nil; x = x.next {
			x.asked++ // the node may take it for a retransmission
		}
		return
	}
	v.expire()
	if v.s.Directed() && !v.directedRoute() {
		return
	}
	switch v.s.Method {
	case mad.Get, mad.Set:
		v.request()
	case mad.GetResp:
		v.response()
	case mad.Trap:
		v.trap()
	case mad.TrapRepress:
		v.repress()
	}
}

// breaks counts that a rule was exercised, and returns whether it was broken.
func (v *Verifier) breaks(id rule.ID, broken bool) bool {
	if v.mine {
		v.Rec.Cover[id].Exercised++
	}
	return broken
}

// report makes a finding on the packet at hand against its sender.
func (v *Verifier) report(id rule.ID, class rule.Class, role rule.Role, expected, actual string, evidence ...uint64) {
	if !v.mine {
		return
	}
	accused := rule.Endpoint{Addr: v.p.Src, QPN: v.p.SrcQP, QPNKnown: v.p.Has&packet.HasDETH != 0}
	if !v.asked.IsZero() {
		accused.Addr = v.asked
	}
	d := rule.Verdict{Rule: id, Class: class, Role: role, Expected: expected, Actual: actual, Evidence: evidence}
	if v.leans {
		d.Assumes = rule.AssumesWhole
	}
	f := d.On(v.p, accused, rule.Endpoint{Addr: v.p.Dst, QPN: v.p.DestQP, QPNKnown: true})
	v.routeNodes(&f)
	if v.s.Directed() && v.s.HopCount() <= mad.MaxHops {
		f.Detail = "directed route " + pathText(v.s.Initial, v.s.HopCount())
	}
	if class == rule.Unproven {
		f.Detail = joined(f.Detail, v.doubt())
	}
	v.Rec.Add(f)
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// doubt says why a finding is not proven.
func (v *Verifier) doubt() string {
	if v.Lossy {
		return "the capture lost packets"
	}
	if v.unasked {
		return "its request may have been sent before the capture began, or lost before the tap"
	}
	return "packets that the capture does not hold may have changed the attribute, or the node may have restarted"
}

// paired is the class of what a request and its answer prove by themselves.
func (v *Verifier) paired() rule.Class {
	if v.Lossy {
		return rule.Unproven
	}
	v.leans = true
	return rule.Violation
}

// lasting is the class of what only holds while nobody has told the sender something else: the tap must be near it.
func (v *Verifier) lasting() rule.Class {
	if v.near() {
		return rule.Violation
	}
	return rule.Unproven
}

// near reports whether the tap is near the sender. On a directed route that has no LID but the one that its port is known by.
func (v *Verifier) near() bool {
	v.leans = true
	return v.Near(v.p.Src) || v.s.Directed() && v.from != nil && v.from.LID != 0 && v.Near(packet.LIDAddr(v.from.LID))
}

// nearEither reports whether the tap is near the sender of a response or near who asked: the master manager, where a request on a directed route had left it.
func (v *Verifier) nearEither(x *exchange) bool {
	return v.near() || v.Near(v.p.Dst) || v.s.Directed() && x.hop <= 1 && v.from != nil && v.from.SMLID != 0 && v.Near(packet.LIDAddr(v.from.SMLID))
}
