// Package verifier holds what the message verifiers of all services share: how a finding is made and what it is compared with, what a tap proves (Verifier.Near),
// what devices do on purpose (Profile), and Service, what the transport agent asks of the verifier of a service.
//
// Verifiers are pure state machines, a packet in, findings out: there is no goroutine, no clock and no I/O; time is the packet's time. Each packet is judged three
// times: as bytes (package header), as what its sender may send, and as what its receiver now owes or has got (packages rc, uc, xrc, ud and rd). What requests of RC
// and UC have in common is in package stream, congestion control in package congestion, management in packages cm, gmp and smp.
//
// It is the engine's own, without a promise to others, but for Profile and Latencies, which package agent names: these types are kept stable.
package verifier

import (
	"ibwitness/coverage"
	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// Verifier is what the verifiers of one shard share.
type Verifier struct {
	Rec *rule.Recorder
	// Shown counts what of the protocol the packets have shown.
	Shown *coverage.Counts
	// Near reports which endpoints the tap is near.
	Near func(packet.Addr) bool
	// Untouched reports whether the tap that saw a packet is near its sender, so that the network has not changed it yet. One of several taps may be elsewhere.
	Untouched func(*packet.Packet) bool
	// Broken says that the newest packet whose headers were judged broke a rule: its receiver may have dropped it.
	Broken bool
	// Posted, where not nil, tells which send request of a queue pair a PSN is of, as its events show: see cq.States.
	Posted func(a packet.Addr, qpn uint32, psn packet.PSN, payload int, into *cq.Posted) (i int, ok bool)
	// Migration, where not nil, tells which migration state a queue pair is in now, as its events show.
	Migration func(a packet.Addr, qpn uint32) (state qp.MigState, ok bool)
	// Thorough takes no fast path, to compare it with the verifiers proper.
	Thorough bool
	// Profile is what the devices do otherwise than the standard, on purpose.
	Profile Profile
	// Skipped counts, by reason, the packets of which something could not be judged.
	Skipped [NumSkips]uint64
	Copies  Copies
	// Suspect, where not nil, is told of packets of which there is something to say: they may be copies.
	Suspect func(p *packet.Packet)
	// SecondOnly, where not nil, reports whether a packet that came after later ones may be the second of two that mirrored ports show, of which the
	// capture lost the first.
	SecondOnly func(p *packet.Packet) bool
}

// New returns a verifier that reports to rec.
func New(rec *rule.Recorder, near func(packet.Addr) bool) *Verifier {
	return &Verifier{Rec: rec, Shown: new(coverage.Counts), Near: near, Untouched: func(p *packet.Packet) bool { return near(p.Src) }}
}

// Skip is a reason why something was not judged.
type Skip uint8

// The reasons.
const (
	SkipUnpaired   Skip = iota // response whose connection is not learned
	SkipUnseen                 // response to a request that the capture does not hold
	SkipPMTU                   // length that depends on a path MTU not yet known
	SkipMSN                    // MSN of a connection joined in mid-stream: no MSN baseline yet
	SkipCut                    // snap length cut the packet: payload and ICRC
	SkipService                // service that is decoded but not followed (raw, reserved)
	SkipManagement             // vendor opcode
	SkipDiscard                // its receiver may drop it
	SkipGap                    // request that the capture has missed
	SkipMRCWrite               // fits MRC: see Multipath
	SkipMRCAck
	SkipMRCSACK
	SkipMRCNACK
	SkipMRCProbe
	SkipMRCEndpoint
	NumSkips
)

// fitsMRC is what is said of packets that fit MRC.
const fitsMRC = " packets, as manufacturer-specific opcode and headers fit MRC (OCP Multipath Reliable Connection): only the ICRC judged"

func (s Skip) String() string {
	return [...]string{
		"responses of a connection whose two directions could not be paired: not compared with requests",
		"responses to requests sent before the capture began: not compared with requests",
		"packets whose lengths depend on a path MTU not yet learned",
		"responses without an MSN baseline: the capture started mid-connection",
		"packets cut by the snap length: payload and ICRC not judged",
		"packets of services that are decoded, headers judged, but not followed (raw, reserved)",
		"packets with manufacturer-specific opcodes: only the headers judged",
		"packets that count as not received, whatever their ICRC: wrong IPv4 header checksum, hop limit 0, or the Ethernet address of another station",
		"gaps of the capture: missing requests that the responder acknowledges and its MSN counts",
		"RDMA WRITE" + fitsMRC,
		"ACK" + fitsMRC,
		"SACK" + fitsMRC,
		"NACK" + fitsMRC,
		"reliability probe" + fitsMRC,
		"endpoint request and response" + fitsMRC,
	}[s]
}

// Covered counts that a rule was exercised.
func (v *Verifier) Covered(id rule.ID) { v.Rec.Cover[id].Exercised++ }

// Show counts packet p in what the packets have shown, unless its receiver may have dropped it: an AETH that it has to ignore it has received.
func (v *Verifier) Show(p *packet.Packet) {
	if !v.Broken || p.Has&packet.HasAETH != 0 && p.Syndrome.Reserved() && p.ICRCState == packet.CRCGood {
		v.Shown.Packet(p)
	}
}

// Trace is the trace of the newest packet. One that broke a header rule may be retransmitted without the fault: its trace shows nothing.
func (v *Verifier) Trace(p *packet.Packet) packet.Trace {
	t := p.Trace()
	if v.Broken {
		t.Flags &^= packet.TraceSealed
	}
	return t
}

// Report makes a finding on packet p of connection c, sent by end from, against its sender.
func (v *Verifier) Report(c *qp.Pair, from int, p *packet.Packet, d rule.Verdict) {
	v.report(c, from, p, &d)
}

func (v *Verifier) report(c *qp.Pair, from int, p *packet.Packet, d *rule.Verdict) {
	if d.Role == rule.Responder && d.Class == rule.Violation && inOrder[d.Rule] && LeftBefore(p, c.RQ(from).Last.ID) {
		v.Distrust(c, "by the IPv4 identifications, the capture holds packets of this endpoint in another order than they were sent")
		d.Doubt("by its IPv4 identification it was sent before the response that it follows here")
	}
	if d.Class == rule.Unproven && (d.Role == rule.Responder && inOrder[d.Rule] || arrival[d.Rule]) && v.Unordered(c, from) {
		return
	}
	if d.Class == rule.Unproven && d.Detail == "" {
		d.Detail = farDetail(c, from, "the network may have lost or reordered packets before the tap")
	}
	v.accuse(c, from, p, d)
}

// inOrder are the rules on responses that hold of the order in which they leave.
var inOrder = [rule.NumRules]bool{
	rule.RCRES001: true, rule.RCRSP003: true, rule.RCRSP006: true, rule.RCRSP007: true, rule.RCRSP013: true, rule.RCRSP014: true,
	rule.RCRSP017: true, rule.RCRSP018: true, rule.RCRSP029: true, rule.RCRSP043: true, rule.RCACK003: true,
}

// InOrder reports whether a rule on responses holds of the order in which they leave.
func InOrder(id rule.ID) bool { return inOrder[id] }

// arrival are the rules on requests that hold of the order in which they leave, and are judged by that in which they come.
var arrival = [rule.NumRules]bool{
	rule.RCRTY006: true, rule.UCPSN001: true, rule.UCPSN002: true, rule.UCSEQ001: true, rule.UCLEN002: true,
}

// LeftBefore reports whether p seems to have left just before the packet with IPv4 identification id: most senders number theirs.
func LeftBefore(p *packet.Packet, id uint16) bool {
	lag := int16(id - p.IPID)
	return p.Encap == packet.RoCEv2IPv4 && lag > 0 && lag < 64
}

// LeftAfter reports whether p seems to have left just after the packet with IPv4 identification id.
func LeftAfter(p *packet.Packet, id uint16) bool {
	lag := int16(p.IPID - id)
	return p.Encap == packet.RoCEv2IPv4 && lag > 0 && lag < 64
}

// Numbered reports whether the sender of p numbers its packets, so that a copy which the network made can be distinguished from another packet.
func Numbered(p *packet.Packet) bool { return p.Encap == packet.RoCEv2IPv4 && p.IPID != 0 }

// CMCut is why what CM said proves nothing.
const CMCut = "the snap length cut the CM exchange of the connection, so its ICRC was not judged"

// Accuse makes a finding on packet p against one end of c.
func (v *Verifier) Accuse(c *qp.Pair, accused int, p *packet.Packet, d rule.Verdict) {
	v.accuse(c, accused, p, &d)
}

func (v *Verifier) accuse(c *qp.Pair, accused int, p *packet.Packet, d *rule.Verdict) {
	if v.Suspect != nil {
		v.Suspect(p)
	}
	if v.Profile.excuses(d.Rule) {
		return
	}
	if d.Class == rule.Violation {
		doubtBasis(c, d)
	}
	if v.surplus(d, p, c.Ends[accused].Addr, c.Ends[1-accused].Addr) {
		return
	}
	if p.Cut {
		d.Doubt(rule.CutShort)
	}
	if d.Class == rule.Violation {
		d.Assumes = c.Assumptions()
	}
	if v.Rec.Compares(d.Rule, d.Class, c.Ends[accused].Addr, c.Ends[1-accused].Addr, p.Time) {
		d.Comparison = v.Compare(c, accused, p, *d)
	}
	f := d.On(p, Endpoint(&c.Ends[accused]), Endpoint(&c.Ends[1-accused]))
	f.Cut = p.Cut
	if held(c, accused, &f) {
		return
	}
	v.Rec.Add(f)
}

// doubtBasis doubts a violation that rests on more than the bytes of its packet, where the capture does not prove as much.
func doubtBasis(c *qp.Pair, d *rule.Verdict) {
	switch {
	case d.Basis == rule.OnPacket && c.CMCut():
		d.Doubt(CMCut)
	case d.Basis == rule.OnStream && c.Cut():
		d.Doubt("the snap length cut frames of the connection before it, so their ICRCs were not judged")
	case d.Basis != rule.OnBytes && guessed(c, d.Rule):
		d.Doubt("a single PSN told, among those of very many connections, that the two directions of this one belong together")
	}
}

// Full reports whether a finding against one end of c will not be kept, so that it needs no texts.
func (v *Verifier) Full(c *qp.Pair, accused int, d *rule.Verdict) bool {
	return v.Rec.Full(d.Rule, d.Class, c.Ends[accused].Addr, c.Ends[1-accused].Addr)
}

// surplus counts a finding that will not be kept, in place of making it, where nothing looks for it while its packet is verified.
func (v *Verifier) surplus(d *rule.Verdict, p *packet.Packet, accused, peer packet.Addr) bool {
	return (d.Class == rule.Event || byItself[d.Rule]) && !p.Cut && v.Rec.Surplus(d.Rule, d.Class, d.Role, accused, peer)
}

// Surplus is surplus for a verdict on the stream of an end of c that has yet to be made: false says that Report is to be given it.
func (v *Verifier) Surplus(c *qp.Pair, accused int, p *packet.Packet, id rule.ID, class rule.Class, role rule.Role) bool {
	if !byItself[id] || p.Cut || class == rule.Violation && (c.Cut() || guessed(c, id)) {
		return false
	}
	return v.Rec.Surplus(id, class, role, c.Ends[accused].Addr, c.Ends[1-accused].Addr)
}

// SurplusBytes is surplus for a verdict of a header rule that has yet to be made: false says that ReportBytes is to be given it.
func (v *Verifier) SurplusBytes(c *qp.Pair, from int, p *packet.Packet, id rule.ID, class rule.Class, role rule.Role) bool {
	if p.Cut {
		return false
	}
	accused, peer := p.Src, p.Dst
	if c != nil {
		accused, peer = c.Ends[from].Addr, c.Ends[1-from].Addr
	}
	return v.Rec.Surplus(id, class, role, accused, peer)
}

// byItself are the rules that a flood can break with each packet, whose findings nothing looks for soon.
var byItself = [rule.NumRules]bool{rule.RCPSN001: true, rule.RCPSN004: true, rule.CNGCNP002: true, rule.CNGCNP003: true}

// Event counts a legal thing that packet p of c shows of one of its ends.
func (v *Verifier) Event(c *qp.Pair, who int, role rule.Role, p *packet.Packet, id rule.ID, detail string) {
	if !p.Cut && !v.Profile.excuses(id) && v.Rec.Surplus(id, rule.Event, role, c.Ends[who].Addr, c.Ends[1-who].Addr) {
		if v.Suspect != nil {
			v.Suspect(p)
		}
		return // as Accuse would, without a verdict
	}
	v.Accuse(c, who, p, rule.Verdict{Rule: id, Class: rule.Event, Role: role, Detail: detail})
}

// Endpoint is how a finding names an end of a connection.
func Endpoint(q *qp.QP) rule.Endpoint {
	return rule.Endpoint{Addr: q.Addr, QPN: q.Number, QPNKnown: q.Numbered}
}

// ReportBytes makes a finding only on the bytes of a packet, against its sender or, as the sender is not known on RC and UC by its
// QPN, the endpoint that the connection gives. c may be nil.
func (v *Verifier) ReportBytes(c *qp.Pair, from int, p *packet.Packet, d rule.Verdict) {
	if c == nil {
		v.ReportUnpaired(p, d)
		return
	}
	d.Basis = rule.OnBytes
	v.Report(c, from, p, d)
}

// ReportUnpaired is ReportBytes for a packet of no connection.
func (v *Verifier) ReportUnpaired(p *packet.Packet, d rule.Verdict) {
	if v.surplus(&d, p, p.Src, p.Dst) {
		return
	}
	if v.Rec.Compares(d.Rule, d.Class, p.Src, p.Dst, p.Time) {
		d.Comparison = v.Compare(nil, 0, p, d)
	}
	accused := rule.Endpoint{Addr: p.Src}
	if p.Has&packet.HasDETH != 0 {
		accused.QPN, accused.QPNKnown = p.SrcQP, true
	}
	v.Rec.Report(p, d, accused, rule.Endpoint{Addr: p.Dst, QPN: p.DestQP, QPNKnown: p.Has&packet.HasBTH != 0})
}

// held reports whether f, which accuses an end of c, waits for the next request of the other end.
func held(c *qp.Pair, accused int, f *rule.Finding) bool {
	d := c.Ends[1-accused].SQ.ReadDispute()
	if d == nil || f.Class == rule.Event {
		return false
	}
	switch f.Rule {
	case rule.RCRES001, rule.RCRES002, rule.RCRSP006, rule.RCRSP007, rule.RCRSP013, rule.RCRSP014, rule.RCACK003:
		d.Hold(*f)
		return true
	}
	return false
}
