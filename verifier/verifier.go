// Package verifier holds the incoming and outgoing message verifiers of each service: pure state machines, a packet in, findings out.
//
// Each packet is judged three times: as bytes (header.go, link.go, network.go), as what its sender may send (outgoing: rc_request.go,
// rc_response.go, uc.go, ud.go), and as what its receiver now owes or has got (incoming: rc_responder.go). There is no goroutine, no
// clock and no I/O: time is the packet's time.
//
// It is the engine's own, without a promise to others.
package verifier

import (
	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/subnet"
)

// Verifier judges the packets of one shard. Near reports which endpoints the tap is near.
type Verifier struct {
	Rec  *rule.Recorder
	Near func(packet.Addr) bool
	// Untouched reports whether the tap that saw a packet is near its sender, so that the network has not changed it yet. One of several taps may be elsewhere.
	Untouched func(*packet.Packet) bool
	// Renew, where not nil, is asked when a packet seems to be of another connection of its QP (see Renews): it reports whether it has verified it as
	// one of another connection.
	Renew func(c *qp.Pair, from int, p *packet.Packet) bool
	// Unheard, where not nil, reports whether nothing has come that may answer the requests of a connection whose responses are not known.
	Unheard func(*qp.Pair) bool
	// LifeAt, where not nil, reports whether a queue pair existed at a time and was not in error, as its events show.
	LifeAt func(a packet.Addr, qpn uint32, at int64) qp.Life
	// Stopped is when the capture last went on after a pause: the host of the tap may have been stopped.
	Stopped int64
	// Posted, where not nil, tells which send request of a queue pair a PSN is of, as its events show: see cq.States.
	Posted func(a packet.Addr, qpn uint32, psn packet.PSN, payload int, into *cq.Posted) (i int, ok bool)
	// Marks returns where the marks of packets from one address to another are kept.
	Marks func(from, to packet.Addr) **Marks
	// headers counts the packets whose headers were judged, by encapsulation and opcode, for the coverage of the header rules.
	headers [5][256]uint64
	// unjudged counts the packets that were not compared with a header rule, as it is one of their source.
	unjudged map[rule.ID]uint64
	// broken says that the newest packet whose headers were judged broke a rule: its receiver may have dropped it.
	broken bool
	// expected counts the packets that the fast path took, by opcode, for the coverage of the RC rules.
	expected [256]uint64
	// asked is when the request that is retransmitted was sent, where it asked for an answer: see stamp.
	asked uint32
	// abandoned says that the packet at hand broke off an open message.
	abandoned bool
	// cng is the state of congestion control.
	cng congestion
	// Profile is what the devices do otherwise than the standard, on purpose.
	Profile  Profile
	xrcAsked map[xrcAsked]bool // REQs for XRC
	// Attr, where not nil, returns what is known of a QP that peer sends to, or nil.
	Attr func(a packet.Addr, qpn uint32, peer packet.Addr, at int64) *qp.Attr
	// malformed is of RD.
	malformed  malformed
	groups     groups
	narrow     map[narrowKey]narrow
	brokenSMPs map[uint64]brokenSMP // malformed subnet management packets, by their transaction
	// Thorough takes no fast path, to compare it with the verifiers proper.
	Thorough bool
	// Latencies, where not nil, takes how long answers take.
	Latencies *Latencies
	// Subnet, where not nil, is what management packets have shown of the ports: look there for a port by its LID.
	Subnet   *subnet.Subnet
	compared compared
	spare    *packet.Packet // for the next one whose PSN is far from its stream
	// follow, of a service that acknowledges, judges a request of end from in its stream, which goes on from one that was far from it.
	follow func(c *qp.Pair, from int, p *packet.Packet)
	// sized, of a service that has READs, takes how many PSNs the i-th message of end from takes, a READ. p, which may be nil, shows it.
	sized func(c *qp.Pair, from int, p *packet.Packet, i, n int)
	// Skipped counts, by reason, the packets of which something could not be judged.
	Skipped [NumSkips]uint64
}

// New returns a verifier that reports to rec.
func New(rec *rule.Recorder, near func(packet.Addr) bool) *Verifier {
	v := &Verifier{Rec: rec, Near: near, unjudged: map[rule.ID]uint64{}, Untouched: func(p *packet.Packet) bool { return near(p.Src) }}
	v.follow, v.sized = v.leapFollows, v.rcSized
	return v
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
	NumSkips
)

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
	}[s]
}

// covered counts that a rule was exercised.
func (v *Verifier) covered(id rule.ID) { v.Rec.Cover[id].Exercised++ }

// trace is the trace of the newest packet. One that broke a header rule may be retransmitted without the fault: its trace shows nothing.
func (v *Verifier) trace(p *packet.Packet) packet.Trace {
	t := p.Trace()
	if v.broken {
		t.Flags &^= packet.TraceSealed
	}
	return t
}

// report makes a finding on packet p of connection c, sent by end from, against its sender.
func (v *Verifier) report(c *qp.Pair, from int, p *packet.Packet, d rule.Verdict) {
	if d.Role == rule.Responder && d.Class == rule.Violation && inOrder[d.Rule] && leftBefore(p, c.Ends[from].RQ.LastID) {
		v.Distrust(c, "by the IPv4 identifications, the capture holds packets of this endpoint in another order than they were sent")
		d.Doubt("by its IPv4 identification it was sent before the response that it follows here")
	}
	if d.Class == rule.Unproven && (d.Role == rule.Responder && inOrder[d.Rule] || arrival[d.Rule]) && v.unordered(c, from) {
		return
	}
	v.accuse(c, from, p, d)
}

// inOrder are the rules on responses that hold of the order in which they leave.
var inOrder = map[rule.ID]bool{
	rule.RCRES001: true, rule.RCRSP003: true, rule.RCRSP006: true, rule.RCRSP007: true, rule.RCRSP013: true, rule.RCRSP014: true,
	rule.RCRSP017: true, rule.RCRSP018: true, rule.RCRSP029: true, rule.RCRSP043: true, rule.RCACK003: true,
}

// arrival are the rules on requests that hold of the order in which they leave, and are judged by that in which they come.
var arrival = map[rule.ID]bool{
	rule.RCRTY006: true, rule.UCPSN001: true, rule.UCPSN002: true, rule.UCSEQ001: true, rule.UCLEN002: true,
}

// leftBefore reports whether p seems to have left just before the packet with IPv4 identification id: most senders number theirs.
func leftBefore(p *packet.Packet, id uint16) bool {
	lag := int16(id - p.IPID)
	return p.Encap == packet.RoCEv2IPv4 && lag > 0 && lag < 64
}

// numbered reports whether the sender of p numbers its packets, so that a copy which the network made can be distinguished from another packet.
func numbered(p *packet.Packet) bool { return p.Encap == packet.RoCEv2IPv4 && p.IPID != 0 }

// toldCut is why what CM told proves nothing.
const toldCut = "the snap length cut the CM exchange of the connection, so its ICRC was not judged"

// accuse makes a finding on packet p against one end of c.
func (v *Verifier) accuse(c *qp.Pair, accused int, p *packet.Packet, d rule.Verdict) {
	if v.Profile.excuses(d.Rule) {
		return
	}
	if d.Class == rule.Violation && d.Basis == rule.OnPacket && c.ToldCut() {
		d.Doubt(toldCut)
	}
	if d.Class == rule.Violation && d.Basis == rule.OnStream && c.Cut() {
		d.Doubt("the snap length cut frames of the connection before it, so their ICRCs were not judged")
	}
	if d.Class == rule.Violation && d.Basis != rule.OnBytes && guessed(c, d.Rule) {
		d.Doubt("a single PSN told, among those of very many connections, that the two directions of this one belong together")
	}
	if v.surplus(&d, p, c.Ends[accused].Addr, c.Ends[1-accused].Addr) {
		return
	}
	if p.Cut {
		d.Doubt(rule.CutShort)
	}
	if d.Class == rule.Violation {
		d.Leans = c.Leaned()
	}
	if v.Rec.Compares(d.Rule, d.Class, c.Ends[accused].Addr, c.Ends[1-accused].Addr, p.Time) {
		d.Comparison = v.compare(c, accused, p, &d)
	}
	f := d.On(p, endpoint(&c.Ends[accused]), endpoint(&c.Ends[1-accused]))
	f.Cut = p.Cut
	if held(c, accused, &f) {
		return
	}
	v.Rec.Add(f)
}

// full reports whether a finding against one end of c will not be kept, so that it needs no texts.
func (v *Verifier) full(c *qp.Pair, accused int, d *rule.Verdict) bool {
	return v.Rec.Full(d.Rule, d.Class, c.Ends[accused].Addr, c.Ends[1-accused].Addr)
}

// surplus counts a finding that will not be kept, in place of making it, where nothing looks for it while its packet is verified.
func (v *Verifier) surplus(d *rule.Verdict, p *packet.Packet, accused, peer packet.Addr) bool {
	return (d.Class == rule.Event || byItself[d.Rule]) && !p.Cut && v.Rec.Surplus(d, accused, peer)
}

// byItself are the rules that a flood can break with each packet, whose findings nothing looks for soon.
var byItself = [rule.NumRules]bool{rule.RCPSN001: true, rule.RCPSN004: true, rule.CNGCNP002: true, rule.CNGCNP003: true}

// Event counts a legal thing that packet p of c shows of one of its ends.
func (v *Verifier) Event(c *qp.Pair, who int, role rule.Role, p *packet.Packet, id rule.ID, detail string) {
	v.accuse(c, who, p, rule.Verdict{Rule: id, Class: rule.Event, Role: role, Detail: detail})
}

func endpoint(q *qp.QP) rule.Endpoint {
	return rule.Endpoint{Addr: q.Addr, QPN: q.Number, QPNKnown: q.Numbered}
}

// bytewise makes a finding only on the bytes of a packet, against its sender or, as the sender is not known on RC and UC by its
// QPN, the endpoint that the connection gives. c may be nil.
func (v *Verifier) bytewise(c *qp.Pair, from int, p *packet.Packet, d rule.Verdict) {
	if c == nil {
		v.unpaired(p, d)
		return
	}
	d.Basis = rule.OnBytes
	v.report(c, from, p, d)
}

// unpaired is bytewise for a packet of no connection.
func (v *Verifier) unpaired(p *packet.Packet, d rule.Verdict) {
	if v.surplus(&d, p, p.Src, p.Dst) {
		return
	}
	if v.Rec.Compares(d.Rule, d.Class, p.Src, p.Dst, p.Time) {
		d.Comparison = v.compare(nil, 0, p, &d)
	}
	accused := rule.Endpoint{Addr: p.Src}
	if p.Has&packet.HasDETH != 0 {
		accused.QPN, accused.QPNKnown = p.SrcQP, true
	}
	v.Rec.Report(p, d, accused, rule.Endpoint{Addr: p.Dst, QPN: p.DestQP, QPNKnown: p.Has&packet.HasBTH != 0})
}
