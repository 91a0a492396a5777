// Package gmp verifies general management datagrams: their headers, requests against their responses, subnet administration, multi-packet
// transfers, performance management and event forwarding. It is a pure state machine: a datagram in, findings out.
//
// A request and its response are of one pair of addresses, so that an agent of one pair sees both. What another pair would have to tell (other
// requesters that changed what this one asks for) makes a finding unproven.
//
// It is the engine's own, without a promise to others.
package gmp

import (
	"math"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/subnet"
)

// Verifier judges the general management datagrams of one shard, and the headers of all management datagrams.
type Verifier struct {
	rec *rule.Recorder
	// sees reports whether the tap misses nothing that an endpoint sends or gets: it is near it, and the capture lost nothing.
	sees    func(a, gid packet.Addr) bool
	leans   bool // what is found on the datagram at hand rests on the tap position
	peers   map[pair]*peer
	list    []*peer // of peers, as they came
	now     int64   // time of the datagram at hand
	Skipped [NumSkips]uint64
	// Subnet, where not nil, is what subnet management has shown of the ports.
	Subnet *subnet.Subnet
}

// New returns a verifier that reports to rec. sees tells what the tap can prove, see Verifier.
func New(rec *rule.Recorder, sees func(a, gid packet.Addr) bool) *Verifier {
	v := &Verifier{rec: rec, peers: map[pair]*peer{}}
	v.sees = func(a, gid packet.Addr) bool {
		near := sees(a, gid)
		v.leans = v.leans || near
		return near
	}
	return v
}

// Skip is a reason why a management datagram was not judged.
type Skip uint8

// The reasons.
const (
	SkipUnreadable Skip = iota // not 256 bytes, or cut in the header
	SkipClass                  // of a class whose attributes are not followed
	SkipUnasked                // response to a request that the capture does not hold
	SkipCut                    // contents cut by the snap length
	NumSkips
)

func (s Skip) String() string {
	return [...]string{
		"management datagrams that are not 256 bytes long, or with a cut header: not judged",
		"management datagrams of classes whose attributes are not followed (vendor, application, SNMP, baseboard, device): only headers and pairing judged",
		"management responses whose requests the capture does not hold: not compared with requests",
		"management datagrams cut by the snap length: contents not judged",
	}[s]
}

// datagram is one management datagram on its way through the verifier.
type datagram struct {
	p *packet.Packet
	h mad.Header
	b []byte // as far as captured
	r mad.RMPP
	s mad.SA
}

// response reports whether the R bit is set.
func (d *datagram) response() bool { return d.h.Method&0x80 != 0 }

// status is the status without the direction of a directed-route SMP.
func (d *datagram) status() mad.Status {
	if d.h.Class == mad.ClassSubnetDirected {
		return mad.Status(d.h.Status &^ 0x8000)
	}
	return mad.Status(d.h.Status)
}

// whole reports whether all of the datagram was captured.
func (d *datagram) whole() bool { return len(d.b) == mad.Size }

// part is what was captured of the bytes from one to another.
func (d *datagram) part(from, to int) []byte {
	if from > len(d.b) {
		return nil
	}
	return d.b[from:min(to, len(d.b))]
}

// Management reports whether a packet is a management datagram: to or from QP 0 or 1.
func Management(p *packet.Packet) bool {
	return p.Opcode == packet.Op(packet.UD, packet.SendOnly) && p.Has&packet.HasDETH != 0 && (p.DestQP <= 1 || p.SrcQP <= 1)
}

// Datagram judges a management datagram, of which Management holds and whose ICRC is not bad.
func (v *Verifier) Datagram(p *packet.Packet) {
	v.now = p.Time
	if p.PayloadLen != mad.Size || len(p.Payload) < mad.HeaderSize {
		v.Skipped[SkipUnreadable]++
		return
	}
	if p.DestQP == 0 && p.Encap != packet.Native {
		return // there is no QP0 on RoCE: UD-QP1-002
	}
	d := datagram{p: p, b: p.Payload}
	if mad.DecodeHeader(d.b, &d.h) != nil {
		return
	}
	v.header(&d)
	if d.ofSubnet() || p.DestQP == 0 {
		return
	}
	v.skip(&d)
	v.settle(v.peer(p.Src, p.Dst), p.Time)
	v.settle(v.peer(p.Dst, p.Src), p.Time)
	v.leans = false
	if !v.classHeader(&d) {
		return
	}
	switch m := d.h.Method; {
	case d.response():
		v.response(&d)
	case m == mad.Send || m == mad.TrapRepress:
	case m == mad.Trap:
		v.notice(&d)
	default:
		v.request(&d)
	}
}

// ofSubnet reports whether a datagram is one of subnet management, which has a verifier of its own.
func (d *datagram) ofSubnet() bool {
	return d.h.Class == mad.ClassSubnetLID || d.h.Class == mad.ClassSubnetDirected
}

// skip counts a datagram of which not everything is judged.
func (v *Verifier) skip(d *datagram) {
	switch c := d.h.Class; {
	case !d.whole():
		v.Skipped[SkipCut]++
	case c == mad.ClassSubnetAdmin || c == mad.ClassPerformance || c == mad.ClassCM || d.h.Attribute == mad.AttrClassPortInfo:
	default:
		v.Skipped[SkipClass]++
	}
}

// classHeader judges the headers of RMPP and of subnet administration, where the class has them. It reports whether the datagram is a request or a response.
func (v *Verifier) classHeader(d *datagram) bool {
	admin := d.h.Class == mad.ClassSubnetAdmin
	if admin {
		v.saVersion(d)
	}
	if !mad.HasRMPP(d.h.Class) || !d.whole() {
		return true
	}
	if d.r.Decode(d.b) == nil && !v.rmpp(d) {
		return false
	}
	if admin && d.s.Decode(d.b) == nil {
		v.saHeader(d)
	}
	return true
}

// Finish judges what is open when the capture ends, at time end.
func (v *Verifier) Finish(end int64) {
	for _, q := range v.list {
		v.end(q, end)
	}
}

// end judges what is open on a pair of which nothing more comes, at time now.
func (v *Verifier) end(q *peer, now int64) {
	v.settle(q, math.MaxInt64)
	v.unanswered(q, now)
	v.missingReports(q, now)
}

// Forget drops what is known: the capture has missed something, and what follows is judged again.
func (v *Verifier) Forget() {
	clear(v.peers)
	v.list = nil
}

// covered counts that a rule was exercised.
func (v *Verifier) covered(id rule.ID) { v.rec.Cover[id].Exercised++ }

// Why a finding is not proven.
const (
	whyTap    = "the tap is not known to be at this endpoint: a datagram missing here may have been lost before the tap"
	whyReused = "another request with this transaction ID may have been lost before the tap"
	whyTaps   = "the segments were seen at several taps: one of an earlier transfer with this transaction ID may be among them"
	whyOthers = "another requester, whose datagrams take another path, may have caused it"
)

// full reports whether a finding against the sender of a datagram will not be kept, so that it needs no texts.
func (v *Verifier) full(id rule.ID, p *packet.Packet) bool {
	return v.rec.Full(id, rule.Violation, p.Src, p.Dst)
}

// assumesNear is what a verdict assumes, where yes: the tap position.
func assumesNear(yes bool) rule.Assumption {
	if yes {
		return rule.AssumesNear
	}
	return 0
}

// report makes a finding against the sender of a datagram.
func (v *Verifier) report(p *packet.Packet, d rule.Verdict) { v.accuse(p.Src, p, d) }

// accuse makes a finding on a datagram, which shows it, against the host at an address.
func (v *Verifier) accuse(accused packet.Addr, p *packet.Packet, d rule.Verdict) {
	if p.Cut {
		d.Doubt(rule.CutShort)
	}
	if v.rec.Surplus(d.Rule, d.Class, d.Role, accused, p.Dst) {
		return
	}
	d.Assumes |= assumesNear(v.leans)
	v.rec.Add(d.On(p, rule.Endpoint{Addr: accused, QPN: p.SrcQP, QPNKnown: true}, rule.Endpoint{Addr: p.Dst, QPN: p.DestQP, QPNKnown: true}))
}
