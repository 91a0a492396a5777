// Package agent is the transport agent: it takes packets in time order, finds the connection of each, and has the service agent of
// that connection verify it. Run drives it over a source of frames on all cores.
//
// Others may import it: its API is kept stable.
package agent

import (
	"ibwitness/cq"
	"ibwitness/hcaagent/passive"
	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/verifier/cm"
	"ibwitness/verifier/gmp"
	"ibwitness/verifier/smp"
	"ibwitness/wqe"
)

// Transport is the transport agent of one shard of the engine: it owns the QPs of its pairs of addresses and their verifiers. It has
// no goroutine and no clock of its own, and is not safe for concurrent use.
type Transport struct {
	Rec       rule.Recorder
	index     index // of the findings, while strangers are compared with them
	ver       *verifier.Verifier
	services  [8]service
	near      map[packet.Addr]bool
	hosts     hosts
	flows     flows
	routes    routes
	contexts  map[uint64][]uint32 // connections of RD of which one direction is known, by their hosts and the direction: see way
	ahead     pipeline
	pairs     pairs
	newcomers newcomers
	match     passive.Matcher
	cm        *passive.Agent
	gmp       *gmp.Verifier
	talks     *cm.Verifier
	towards   map[towards]wqe.QP     // connected QPs that an HCA agent told of, by where they send; zero: several do
	resolved  map[attrKey]*knownAttr // QPs that SIDR or an HCA agent told of
	fresh     map[wqe.QP]bool        // of them, those whose start PSN is known and that have sent nothing yet
	bound     map[wqe.QP]uint32      // QPs that CM connected: connection · 2 + end
	repeats   repeats
	repeated  uint64
	between   crossings
	short     uint64
	unjudged  uint64 // see Result.Unjudged
	opened    Open
	smp       *smp.Verifier
	shard     int // of how many, each with its own transport agent
	shards    int
	states    *cq.States     // where verbs events are known
	own       *completions   // of an agent that takes events itself, and has no engine to do so
	lossy     bool           // the capture says that it dropped packets
	serials   uint64         // of connections that a survey has seen
	links     *link.Verifier // nil: no tap is on a link
	sent      packet.Packet  // that is compared with pause frames
	changing  bool           // what becomes of findings is noted
	// Several says that the frames come from several taps, so that a packet may be seen more than once.
	Several bool
}

// NewTransport returns a transport agent that knows nothing yet. near are the endpoints that the tap is near.
func NewTransport(near []packet.Addr) *Transport {
	t := &Transport{near: map[packet.Addr]bool{}, cm: passive.New(passive.Options{}), resolved: map[attrKey]*knownAttr{}, towards: map[towards]wqe.QP{}, fresh: map[wqe.QP]bool{}, bound: map[wqe.QP]uint32{}}
	for _, a := range near {
		t.near[a] = true
	}
	t.ver = verifier.New(&t.Rec, func(a packet.Addr) bool { return !t.lossy && t.near[a] })
	t.ver.Untouched = func(p *packet.Packet) bool { return t.ver.Near(p.Src) && (!t.Several || p.Way == packet.WayOut) }
	t.ver.Renew = t.renewed
	t.ver.Unheard = t.unheard
	t.ver.Marks = t.marks
	t.gmp = gmp.New(&t.Rec, func(a, gid packet.Addr) bool { return !t.lossy && t.isNear(a, gid) })
	t.judgeExchanges()
	t.smp = smp.New(&t.Rec, t.ver.Near)
	t.ver.Subnet, t.gmp.Subnet = t.smp.Subnet, t.smp.Subnet
	t.services[packet.RC] = rcAgent{t.ver}
	t.services[packet.UC] = ucAgent{t.ver}
	t.services[packet.UD] = udAgent{t}
	t.services[packet.XRC] = xrcAgent{t.ver}
	return t
}

// SetProfile tells the agent, before the first packet, what the devices do otherwise than the standard.
func (t *Transport) SetProfile(p verifier.Profile) { t.ver.Profile = p }

// Dropped tells the agent that the capture lost packets: nothing is proven by their absence from now on.
func (t *Transport) Dropped() {
	if t.lossy {
		return
	}
	t.lossy, t.smp.Lossy = true, true
	t.ver.Incomplete()
	if t.own != nil {
		t.own.queues.Lossy = true
	}
	if t.links != nil {
		t.links.Dropped()
	}
	for i := range t.pairs.n {
		t.pairs.at(i).Lossy = true
	}
}

// Packet verifies one packet. Its ICRC has been checked.
func (t *Transport) Packet(p *packet.Packet) {
	t.packet(p)
	if t.own != nil {
		t.own.packet(p)
	}
}

// packet verifies a packet, and leaves what events say of it to others.
func (t *Transport) packet(p *packet.Packet) {
	if (t.Several || p.Way != packet.WayUnknown) && t.copy(p) {
		if t.foreign(p) {
			return
		}
		p.Copy = true
		t.repeated++
		if t.Several && len(t.near) > 0 {
			t.twoTaps(p)
		}
		if p.TClass&3 == 3 && t.repeats.ecn != 3 {
			t.remarked(p)
		} else if p.Flaws&packet.FlawOuterMark != 0 {
			t.ver.Unfollowed(p)
		}
		return
	}
	if !t.known(p) {
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
			t.ver.Raw(p)
			return
		}
		t.short++
		t.tooShort(p)
		return
	}
	if t.newcomers.full > 0 && t.turnedAway(p) {
		return
	}
	connections, pairs := t.pairs.n, len(t.hosts.list)
	host, dir := t.hosts.find(p.Src, p.Dst)
	if h := &t.hosts.list[host]; h.first == 0 {
		h.first = p.Time
	}
	t.judge(p, host, dir)
	if t.pairs.n > connections || len(t.hosts.list) > pairs {
		t.begun(p, connections, pairs)
	}
}

// judge has the service agent of a packet verify it.
func (t *Transport) judge(p *packet.Packet, host, dir uint32) {
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
			t.ver.Malformed(p)
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
	c, from := (*connection)(nil), 0
	quoted := *p
	if p = &quoted; p.Has&packet.HasBTH != 0 {
		p.Opcode, p.LNH = packet.Opcode(p.LNH), 0
	}
	if connects(p.Opcode.Service()) {
		host, dir := t.hosts.find(p.Src, p.Dst)
		if f := t.flows.find(flowKey(host, dir, p.DestQP), 0); f != nil {
			c, from = f.c, int(f.way&1)
		}
	}
	t.ver.Refused(c.pair(), from, p)
}

// tooShort judges a packet that has no room for its headers.
func (t *Transport) tooShort(p *packet.Packet) {
	t.unjudged++
	if p.Has&packet.HasBTH != 0 && connects(p.Opcode.Service()) {
		host, dir := t.hosts.find(p.Src, p.Dst)
		if id, ok := t.flows.get(flowKey(host, dir, p.DestQP), 0); ok {
			t.ver.Short(&t.pairs.at(id>>1).Pair, int(id&1), p)
			return
		}
	}
	t.ver.Short(nil, 0, p)
}

// connected verifies a packet of a connected service.
func (t *Transport) connected(p *packet.Packet, host, dir uint32) {
	key := flowKey(host, dir, p.DestQP)
	var id uint32
	var c *connection
	f := t.flows.find(key, 0)
	ok := f != nil
	if ok {
		id, c = f.way, f.c
	}
	if !t.seal(c, int(id&1), p, host, dir) {
		return
	}
	t.tables(p)
	if ok && (c.Service != p.Opcode.Service() || c.Stranger != nil || c.Service == packet.XRC && !c.plays(int(id&1), p)) {
		if ok = t.belongs(c, int(id&1), p); !ok && c.Stranger != nil {
			return
		}
	}
	if !ok && c == nil {
		if d, datagrams := t.datagrams(key, p); datagrams {
			if k := t.pairs.at(d >> 1); !t.belongs(k, int(d&1), p) && k.Stranger != nil {
				return
			}
		}
	}
	if !ok {
		id, c = t.newConnection(p, host, dir, key)
		t.stray(c, id>>1, p, host, dir)
		c.plays(int(id&1), p)
	}
	from := int(id & 1)
	if c.rival != 0 {
		t.retake(c, id, p, host, dir)
	}
	if c.rightful != 0 && ok {
		id, c = t.adopt(c, id, p, host, dir)
		from = int(id & 1)
	}
	if c.mistold != nil {
		t.heed(c, from, p)
	}
	if !c.Paired && c.Reliable() {
		id, c = t.pair(c, id, p, host, dir)
		from = int(id & 1)
	}
	t.verify(c, from, p)
}

// twoTaps deals with a packet that another tap has shown already. Of what one of them shows on its way to a near endpoint, not all need have come
// there: the other may be before what loses it.
func (t *Transport) twoTaps(p *packet.Packet) {
	h := t.hosts.slot(p.Src, p.Dst)
	if h.way == 0 {
		return
	}
	if f := t.flows.find(uint64(h.way-1)<<24|uint64(p.DestQP), 0); f != nil {
		t.ver.Distrust(&f.c.Pair, "several taps saw the connection, and a packet at one of them need not have passed the other; verify only the capture taken at "+
			"the endpoint")
	}
}

// known finds the connection of a packet, and verifies the packet where that is usual. It reports whether it did.
func (t *Transport) known(p *packet.Packet) bool {
	if r := t.routes.find(p, &t.flows); r != nil {
		return t.usual(r.c, int(r.way&1), p)
	}
	if p.Opcode.Service() > packet.UC || t.hosts.used == 0 || t.ver.Thorough {
		return false
	}
	h := t.hosts.slot(p.Src, p.Dst)
	if h.way == 0 || h.station != p.Station && !t.Several {
		return false
	}
	f := t.flows.find(uint64(h.way-1)<<24|uint64(p.DestQP), 0)
	if f == nil {
		return false
	}
	t.routes.put(p, &t.flows, f)
	return t.usual(f.c, int(f.way&1), p)
}

// usual verifies what nearly every packet is, a sound one of a connection that is known, and reports whether it did.
func (t *Transport) usual(c *connection, from int, p *packet.Packet) bool {
	return t.ver.Usual(&c.Pair, from, p) || t.sound(c, from, p)
}

// sound is usual for a packet whose headers have yet to be judged.
func (t *Transport) sound(c *connection, from int, p *packet.Packet) bool {
	if !c.Paired || !c.Sealed[from&1] || c.Service != p.Opcode.Service() || c.Stranger != nil || p.ICRCState != packet.CRCGood ||
		p.Has&packet.HasBTH == 0 || p.Flaws&(packet.FlawShort|packet.FlawDiscard) != 0 || p.Encap == packet.Native {
		return false
	}
	t.Rec.Cover[rule.ROCV2019].Exercised++
	t.verify(c, from, p)
	return true
}

// verify has the verifiers of its connection judge a packet.
func (t *Transport) verify(c *connection, from int, p *packet.Packet) {
	if c.Closed {
		t.afterwards(c, from, p)
	}
	t.count(c, from, p)
	if p.Cut && !whole(p) {
		t.unjudged++
		t.ver.Hidden(&c.Pair, from, p)
		c.Unlean()
		return
	}
	t.ver.Header(&c.Pair, from, p)
	t.ver.Flow(&c.Pair, from, p)
	if c.Service == packet.RC { // a direct call is a fast one
		t.ver.RC(&c.Pair, from, p)
		c.Unlean()
		return
	}
	t.services[c.Service].packet(c, from, p)
	c.Unlean()
}

// whole reports whether all headers of a packet's opcode were captured.
func whole(p *packet.Packet) bool { return p.Has&p.Info().Headers == p.Info().Headers }

// count adds a packet to the sums of its sender.
func (t *Transport) count(c *connection, from int, p *packet.Packet) {
	c.Ends[from].Sums.Add(p)
	if p.Cut {
		c.Lossy, c.Ends[from].Cut = true, true // a damaged packet cannot be told from a good one
	}
}

// newConnection begins a connection with its first packet: only the destination QPN is known.
func (t *Transport) newConnection(p *packet.Packet, host, dir uint32, key uint64) (uint32, *connection) {
	i, c := t.pairs.add()
	c.Service, c.Encap, c.Lossy = p.Opcode.Service(), p.Encap, t.lossy || t.crowded(p)
	c.firstTime, c.firstFrame, c.firstTap, c.firstOp, c.firstPSN = p.Time, p.Frame, p.Tap, p.Opcode, p.PSN
	a, b := &c.Ends[0], &c.Ends[1]
	a.Addr, a.Near = p.Src, t.isNear(p.Src, p.SGID)
	b.Addr, b.Near, b.Number, b.Numbered = p.Dst, t.isNear(p.Dst, p.DGID), p.DestQP, true
	b.Attr = t.attr(b.Addr, b.Number, a.Addr, p.Time)
	if len(t.towards) > 0 {
		t.sender(c, p)
	}
	t.flows.put(key, 0, i<<1, c)
	t.watch(host, dir, i, 0)
	if c.Reliable() {
		t.hosts.list[host].waiting[dir]++
	}
	if c.Reliable() && p.Info().Request && connectable(p.DestQP) {
		if l := &t.hosts.list[host].unpaired[dir]; len(*l) <= 4*searched {
			*l = append(*l, i)
		}
	}
	return i << 1, c
}

// connectable reports whether a QP can be one end of a connection: neither a management QP nor multicast.
func connectable(qpn uint32) bool { return qpn > 1 && qpn != packet.PSNMask }

func (t *Transport) isNear(a, gid packet.Addr) bool {
	return len(t.near) > 0 && (t.near[a] || t.near[gid])
}
