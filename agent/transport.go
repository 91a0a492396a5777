// Package agent is the transport agent: it takes packets in time order, finds the connection of each, and has the service agent of
// that connection verify it. Run drives it over a source of frames on all cores.
//
// Others may import it: its API is kept stable.
package agent

import (
	"ibwitness/agent/internal/connection"
	"ibwitness/coverage"
	"ibwitness/cq"
	"ibwitness/hcaagent/passive"
	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/verifier/cm"
	"ibwitness/verifier/congestion"
	"ibwitness/verifier/gmp"
	"ibwitness/verifier/header"
	"ibwitness/verifier/rc"
	"ibwitness/verifier/rd"
	"ibwitness/verifier/smp"
	"ibwitness/verifier/uc"
	"ibwitness/verifier/ud"
	"ibwitness/verifier/xrc"
	"ibwitness/wqe"
)

// Transport is the transport agent of one shard of the engine: it owns the QPs of its pairs of addresses and their verifiers. It has
// no goroutine and no clock of its own, and is not safe for concurrent use.
type Transport struct {
	Rec        rule.Recorder
	index      index              // of the findings, while one-way connections are compared with them
	ver        *verifier.Verifier // what the verifiers of all services share
	header     *header.Verifier
	congestion *congestion.Verifier
	rc         *rc.Verifier
	uc         *uc.Verifier
	xrc        *xrc.Verifier
	ud         *ud.Verifier
	rd         *rd.Verifier
	services   [8]verifier.Service // the service agents
	table      connection.Table
	cm         *passive.Agent
	gmp        *gmp.Verifier
	talks      *cm.Verifier
	repeated   uint64
	short      uint64
	strange    strange
	unjudged   uint64 // see Result.Unjudged
	opened     Open
	smp        *smp.Verifier
	shard      int // of how many, each with its own transport agent
	shards     int
	states     *cq.States      // where verbs events are known
	lives      map[wqe.QP]bool // queue pairs that have had another life, which no packet is known to begin
	own        *completions    // of an agent that takes events itself, and has no engine to do so
	links      *link.Verifier  // nil: no tap is on a link
	sent       packet.Packet   // that is compared with pause frames
	reached    reached
	tapCounts  tapCounts
	lastShown  lastShown
	entries    entries
	paused     link.Pauses                        // by the pause frames of all taps, where the agent is the first
	former     map[*connection.Connection]*former // of those that were made between the queue pairs of others that were over; nil: none were
	uppers     uppers                             // the protocols above the transport
	timings    *timings                           // nil: not measured
	looks      *looks                             // nil: what ends leave undone is judged at the end
	beside     bool                               // usual packets are of use beside their connection: for several taps, former, timings or looks
	changing   bool                               // what becomes of findings is noted
	Shown      *coverage.Counts                   // what else of the protocol the packets have shown, by Finish
}

// NewTransport returns a transport agent that knows nothing yet. near are the endpoints that the tap is near.
func NewTransport(near []packet.Addr) *Transport {
	t := &Transport{reached: reached{}, tapCounts: tapCounts{}, lastShown: lastShown{}, cm: passive.New(passive.Options{}), table: *connection.New(near)}
	t.ver = verifier.New(&t.Rec, func(a packet.Addr) bool { return !t.table.Lossy && t.table.IsNear(a) })
	t.Shown = t.ver.Shown
	t.congestion = congestion.New(t.ver)
	t.header = header.New(t.ver, t.congestion)
	t.rc, t.ud, t.rd = rc.New(t.ver, t.congestion), ud.New(t.ver), rd.New(t.ver)
	t.xrc = xrc.New(t.rc)
	t.uc = uc.New(t.ver, t.congestion)
	t.services = [...]verifier.Service{packet.RC: t.rc, packet.UC: t.uc, packet.RD: t.rd, packet.UD: t.ud, packet.XRC: t.xrc, 7: nil}
	t.table.Judge = judge{t.header, t}
	t.ver.Suspect, t.ver.SecondOnly = t.table.Suspect, t.table.SecondOnly
	t.ver.Untouched = func(p *packet.Packet) bool { return t.ver.Near(p.Src) && (!t.table.Several || p.Way == packet.WayOut) }
	t.rc.Reuse, t.uc.Reuse = t.table.Reused, t.table.Reused
	t.rc.Unanswered = t.table.NeverAnswered
	t.congestion.Marks = t.table.Marks
	t.gmp = gmp.New(&t.Rec, func(a, gid packet.Addr) bool { return !t.table.Lossy && t.table.Near(a, gid) })
	t.judgeExchanges()
	t.smp = smp.New(&t.Rec, t.ver.Near)
	t.header.Subnet, t.gmp.Subnet = t.smp.Subnet, t.smp.Subnet
	t.rd.Attr = t.table.Attr
	return t
}

// SetSeveral tells the agent whether the frames come from several taps, so that a packet may be seen more than once.
func (t *Transport) SetSeveral(several bool) {
	t.table.Several = several
	t.beside = t.beside || several
}

// measure has the agent keep so many messages of each connection with their times.
func (t *Transport) measure(messages int) { t.timings, t.beside = newTimings(messages), true }

// SetProfile tells the agent, before the first packet, what the devices do otherwise than the standard.
func (t *Transport) SetProfile(p verifier.Profile) { t.ver.Profile = p }

// Attributes tells the agent what an HCA agent knows of a QP. It holds for connections that begin later.
func (t *Transport) Attributes(a packet.Addr, qpn uint32, attr qp.Attr) {
	t.table.Attributes(a, qpn, attr)
}

// Dropped tells the agent that the capture lost packets: nothing is proven by their absence from now on.
func (t *Transport) Dropped() {
	if t.table.Lossy {
		return
	}
	t.table.Dropped()
	t.smp.Lossy = true
	t.Rec.Incomplete()
	if t.own != nil {
		t.own.incomplete()
	}
	if t.links != nil {
		t.links.Dropped()
	}
}

// Packet verifies one packet. Its ICRC has been checked.
func (t *Transport) Packet(p *packet.Packet) {
	t.packet(p)
	if t.own != nil {
		t.own.packet(p)
	}
}

// packet verifies a packet, of which Part may be decoded, and leaves what events say of it to others.
func (t *Transport) packet(p *packet.Packet) {
	if t.beside || p.Way != packet.WayUnknown {
		t.packetBeside(p)
		return
	}
	if c, from := t.table.Known(p); c == nil || !t.usual(c, from, p) && !t.sound(c, from, p) {
		p.Rest()
		t.unknown(p)
	}
}

// packetBeside is packet where others than the verifiers look at packets too.
func (t *Transport) packetBeside(p *packet.Packet) {
	if t.table.Several {
		t.reached.packet(p)
	}
	copied := (t.table.Several || p.Way != packet.WayUnknown) && t.shownByOtherTap(p)
	if t.table.Several && !t.foreign(p) {
		t.atTaps(p, copied)
	}
	if copied {
		if t.foreign(p) {
			return
		}
		t.repeated++
		if t.table.Several && t.table.AnyNear() {
			t.twoTaps(p)
		}
		t.seenAgain(p)
		return
	}
	if c, from := t.table.Known(p); c == nil || !t.usualBeside(c, from, p) {
		p.Rest()
		t.unknown(p)
	}
}

// unknown verifies a packet of which something is out of the ordinary.
func (t *Transport) unknown(p *packet.Packet) {
	if t.foreign(p) {
		t.smp.Packet(p, false)
		return
	}
	if p.Has&(packet.HasBTH|packet.HasQuote) != packet.HasBTH || p.Flaws&packet.FlawShort != 0 {
		if p.Has&packet.HasQuote != 0 {
			t.refused(p)
			return
		}
		if p.Has&packet.HasLRH != 0 && p.LNH < packet.LNHLocal {
			t.unjudged++
			t.header.Raw(p)
			return
		}
		t.short++
		t.strange.packet(p, true)
		t.tooShort(p)
		return
	}
	if p.ICRCState == packet.CRCBad {
		t.strange.packet(p, false)
	}
	if t.table.Refuse(p) {
		t.unjudged++
		return
	}
	before := t.table.Size()
	host, dir := t.table.Met(p)
	if t.routed(p, host, dir) {
		return
	}
	t.serve(p, host, dir)
	t.table.Begun(p, before)
}

// serve has the service agent of a packet verify it.
func (t *Transport) serve(p *packet.Packet, host, dir uint32) {
	switch p.Opcode.Service() {
	case packet.RC, packet.UC, packet.XRC:
		t.connected(p, host, dir)
	case packet.UD:
		if p.Has&packet.HasDETH == 0 { // a reserved opcode, or cut off: the sending QP is not known
			t.other(p, host, dir)
			return
		}
		t.datagram(p, host, dir)
	case packet.RD:
		if !whole(p) || !p.Info().Defined {
			t.rd.Malformed(p)
			t.other(p, host, dir)
			return
		}
		t.reliable(p, host, dir)
	default:
		t.other(p, host, dir)
	}
}

// refused judges a packet that a router found too big for the path.
func (t *Transport) refused(p *packet.Packet) {
	c, from := (*connection.Connection)(nil), 0
	quoted := *p
	if p = &quoted; p.Has&packet.HasBTH != 0 {
		p.Opcode, p.LNH = packet.Opcode(p.LNH), 0
	}
	if connection.Connects(p.Opcode.Service()) {
		c, from = t.table.ConnectionTo(p)
	}
	t.header.Refused(c.QPs(), from, p)
}

// tooShort judges a packet that has no room for its headers.
func (t *Transport) tooShort(p *packet.Packet) {
	t.unjudged++
	c, from := (*connection.Connection)(nil), 0
	if p.Has&packet.HasBTH != 0 && connection.Connects(p.Opcode.Service()) {
		c, from = t.table.ConnectionTo(p)
	}
	if t.header.Trimmed(c.QPs(), from, p) {
		return
	}
	t.header.Short(c.QPs(), from, p)
	if !p.Cut && p.Has&packet.HasBTH != 0 && p.Opcode.Service() == packet.RD {
		t.rd.Malformed(p)
	}
}

// connected verifies a packet of a connected service.
func (t *Transport) connected(p *packet.Packet, host, dir uint32) {
	f := t.table.Flow(p, host, dir)
	c, from := t.table.Connection(f)
	if !t.seal(c, from, p, host, dir) {
		return
	}
	t.tables(p)
	if c, from = t.table.Find(f, p, host, dir); c != nil {
		t.verify(c, from, p)
	}
}

// twoTaps deals with a packet that another tap has shown already. Of what one of them shows on its way to a near endpoint, not all need have come
// there: the other may be before what loses it.
func (t *Transport) twoTaps(p *packet.Packet) {
	if c := t.table.Seen(p); c != nil {
		t.ver.Distrust(&c.Pair, "several taps saw the connection, and a packet at one of them need not have passed the other; verify only the capture taken at "+
			"the endpoint")
	}
}

// usual verifies what nearly every packet is, a sound one of a connection that is known, and reports whether it did.
func (t *Transport) usual(c *connection.Connection, from int, p *packet.Packet) bool {
	pair := connection.QPs(c)
	if !t.header.UsualFlow(pair, from, p) {
		return false
	}
	end := &pair.Ends[from&1]
	end.Direction.CountPacket(p.PayloadLen)
	t.rc.Packet(pair, from, p)
	if end.Packets()%entrySample == 0 || end.SQ.Next != end.SQ.High {
		t.entries.packet(p)
	}
	if headed(c, end, p.Opcode) {
		t.head(c, from, p)
	}
	return true
}

// usualBeside is usual and sound where others than the verifiers look at packets too.
func (t *Transport) usualBeside(c *connection.Connection, from int, p *packet.Packet) bool {
	switch {
	case t.table.BeginsLife(p):
		return false
	case t.former != nil && t.late(c, from, p):
		return true
	case !t.usual(c, from, p):
		return t.sound(c, from, p)
	}
	if t.timings != nil {
		t.timings.packet(c, from, p)
	}
	if t.looks != nil && !c.Looked() {
		t.look(c, p.Time)
	}
	return true
}

// sound is usual for a packet whose headers have yet to be judged.
func (t *Transport) sound(c *connection.Connection, from int, p *packet.Packet) bool {
	p.Rest()
	if !c.Paired || !c.Sealed(from&1) || c.Service != p.Opcode.Service() || c.FoundWrongService() || p.ICRCState != packet.CRCGood ||
		p.Has&packet.HasBTH == 0 || p.Flaws&(packet.FlawShort|packet.FlawDiscard) != 0 || p.Encap == packet.Native {
		return false
	}
	t.Rec.Cover[rule.ROCV2019].Exercised++
	t.verify(c, from, p)
	return true
}

// verify has the verifiers of its connection judge a packet.
func (t *Transport) verify(c *connection.Connection, from int, p *packet.Packet) {
	if t.former != nil && t.late(c, from, p) {
		return
	}
	if c.Closed && !c.WentOn(from, p) {
		t.afterDisconnect(c, from, p)
	}
	c.Count(from, p)
	t.entries.packet(p)
	if p.Cut && !whole(p) {
		t.unjudged++
		t.ver.Skipped[verifier.SkipCut]++
		t.congestion.Unfollowed(p)
		t.services[c.Service].Gap(&c.Pair, from, p)
		c.ClearAssumed()
		return
	}
	if !t.header.SameFlow(&c.Pair, from, p) {
		t.header.Packet(&c.Pair, from, p)
		t.header.Flow(&c.Pair, from, p)
	}
	t.services[c.Service].Packet(&c.Pair, from, p)
	c.ClearAssumed()
	if c.Service == packet.RC && headed(c, &c.Ends[from&1], p.Opcode) {
		t.head(c, from, p)
	}
	if t.timings != nil {
		t.timings.packet(c, from, p)
	}
	if t.looks != nil && !c.Looked() {
		t.look(c, p.Time)
	}
}

// whole reports whether all headers of a packet's opcode were captured.
func whole(p *packet.Packet) bool { return p.Has&p.Info().Headers == p.Info().Headers }

// shownByOtherTap reports whether another tap has shown a packet already.
func (t *Transport) shownByOtherTap(p *packet.Packet) bool {
	p.Rest()
	again := t.table.Copy(p)
	if p.Encap == packet.Native && p.Has&packet.HasICRC != 0 && !t.foreign(p) {
		if again {
			t.table.Crossed(p)
			if p.Link != 0 && p.DestQP != 0 && p.ICRCState != packet.CRCBad {
				t.smp.Leaves(p)
			}
		} else {
			t.table.Uncrossed(p)
		}
	}
	return again
}
