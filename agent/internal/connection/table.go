// Package connection knows who talks to whom: it finds the connection of each packet, learns which two queue pairs one has, when a queue pair number is used
// again and when a packet went to a wrong one, and forgets what is over (chapter 9.2 gives what a packet names, 12 what communication management tells). What it
// finds on the way goes to a Judge. It is the transport agent's, and not for others.
package connection

import (
	"iter"
	"maps"
	"slices"

	"ibwitness/hcaagent/passive"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier"
	"ibwitness/verifier/congestion"
	"ibwitness/verifier/header"
	"ibwitness/wqe"
)

// Table knows the connections of a transport agent.
type Table struct {
	hosts     hosts
	flows     flows
	routes    routes
	contexts  map[uint64][]uint32 // connections of RD of which one direction is known, by their hosts and the direction: see way
	ahead     pipeline
	pairs     pairs
	admission admission
	match     passive.Matcher
	Judge     Judge
	near      map[packet.Addr]bool
	towards   map[towards]wqe.QP     // connected QPs that an HCA agent reported, by where they send; zero: several do
	reborn    map[wqe.QP]bool        // QPs that an HCA agent reported, which have begun another life and sent no request in it
	resolved  map[attrKey]*knownAttr // QPs that SIDR or an HCA agent reported of
	fresh     map[wqe.QP]bool        // of them, those whose start PSN is known and that have sent nothing yet
	bound     map[wqe.QP]uint32      // QPs that CM connected: connection · 2 + end
	repeats   repeats
	routed    repeats              // packets that may come once more, before or after a router
	mirrors   map[uint32]*mirrored // of directions of pairs of hosts that are looked at or were, by hostSlot.way - 1
	between   crossings
	serials   uint64 // of connections that a survey has seen
	Lossy     bool   // the capture says that it dropped packets
	// Several says that the frames come from several taps, so that a packet may be seen more than once.
	Several bool
	// OneClock says that packets and events are handed over as they happen, by one clock: both began before the queue pairs were at work.
	OneClock bool
	// Thorough has known find nothing, so that each packet is looked at in full.
	Thorough bool
}

// Judge takes what the table finds on the way from a packet to its connection.
type Judge interface {
	// Flow verifies what the packets of one direction have in common, and Message that a packet is the next one of its stream.
	Flow(c *qp.Pair, from int, p *packet.Packet)
	Message(c *Connection, from int, p *packet.Packet)
	// Unfollowed takes a packet that is verified no further.
	Unfollowed(p *packet.Packet)
	// WrongService takes a packet of another service than the connection whose QP it names. after is the frame that shows it.
	WrongService(c *qp.Pair, p *packet.Packet, after uint64)
	// Distrust takes back that the tap is near an end of a connection.
	Distrust(c *qp.Pair, why string)
	// Reconnected takes the first packet of another queue pair that has the number of one of a connection.
	Reconnected(c *qp.Pair, from int, first *packet.Packet)
	// PeerQP holds the destination of a packet against the peer that the QP which sent it was given.
	PeerQP(c *qp.Pair, from int, p *packet.Packet)
	// PathMTU takes what both directions of a connection have shown.
	PathMTU(c *qp.Pair, pmtu uint32)
	// Crossed compares what two taps of a link saw of a packet, and Ordered the order in which they saw it.
	Crossed(p *packet.Packet, before, now *header.Sighting) (changed bool)
	Ordered(p *packet.Packet, before *header.Sighting, last uint64)
	// Merged takes over what is kept of a connection that was merged into another, of which end from has sent what the first end of gone has.
	Merged(to, gone *Connection, from int)
	// LifeAt reports whether a queue pair existed at a time, as its events show.
	LifeAt(a packet.Addr, qpn uint32, at int64) qp.Life
	// Renumber tells that a queue pair is called by another number than CM gave, and QPNMismatch judges that.
	Renumber(a, peer packet.Addr, cmQPN, number uint32)
	QPNMismatch(a, peer packet.Addr, cmQPN, number uint32, frame uint64, sure bool)
}

func New(near []packet.Addr) *Table {
	t := &Table{repeats: repeats{window: repeatWindow}, routed: repeats{window: verifier.CopyTime}, near: map[packet.Addr]bool{}, resolved: map[attrKey]*knownAttr{}, towards: map[towards]wqe.QP{}, fresh: map[wqe.QP]bool{}, reborn: map[wqe.QP]bool{}, bound: map[wqe.QP]uint32{}}
	for _, a := range near {
		t.near[a] = true
	}
	return t
}

// Dropped tells the table that the capture lost packets.
func (t *Table) Dropped() {
	t.Lossy = true
	for i := range t.pairs.n {
		t.pairs.at(i).Lossy = true
	}
}

// Met numbers the pair of hosts of a packet, and the direction of it.
func (t *Table) Met(p *packet.Packet) (host, dir uint32) {
	host, dir = t.hosts.find(p.Src, p.Dst)
	if h := &t.hosts.list[host]; h.first == 0 {
		h.first = p.Time
	}
	return host, dir
}

// Since returns when the first packet between two addresses came.
func (t *Table) Since(a, b packet.Addr) int64 {
	host, _ := t.hosts.find(a, b)
	return t.hosts.list[host].first
}

// Marks returns where the marks of packets from one address to another are kept.
func (t *Table) Marks(from, to packet.Addr) **congestion.Marks {
	host, dir := t.hosts.find(from, to)
	return &t.hosts.list[host].Marks[dir]
}

// Known returns the connection of a packet of RC or UC that goes where those before it went, and the end that sent it; nil where that is not known.
func (t *Table) Known(p *packet.Packet) (*Connection, int) {
	if r := t.routes.find(p, &t.flows); r != nil {
		return r.c, int(r.way & 1)
	}
	if p.Opcode.Service() > packet.UC || t.hosts.used == 0 || t.Thorough {
		return nil, 0
	}
	h := t.hosts.slot(p.Src, p.Dst)
	if h.way == 0 || h.watched > 0 || h.station != p.Station && !t.Several {
		return nil, 0
	}
	f := t.flows.find(uint64(h.way-1)<<24|uint64(p.DestQP), 0)
	if f == nil {
		return nil, 0
	}
	c := t.pairs.at(f.way >> 1)
	t.routes.put(p, &t.flows, f, c)
	return c, int(f.way & 1)
}

// Seen returns the connection of RC or UC that a packet is of, or nil.
func (t *Table) Seen(p *packet.Packet) *Connection {
	if t.hosts.used == 0 {
		return nil
	}
	h := t.hosts.slot(p.Src, p.Dst)
	if h.way == 0 {
		return nil
	}
	f := t.flows.find(uint64(h.way-1)<<24|uint64(p.DestQP), 0)
	if f == nil {
		return nil
	}
	return t.pairs.at(f.way >> 1)
}

// ConnectionTo returns the connection whose QP a packet names, and the end that sent it; nil where there is none.
func (t *Table) ConnectionTo(p *packet.Packet) (*Connection, int) {
	host, dir := t.hosts.find(p.Src, p.Dst)
	return t.Connection(t.Flow(p, host, dir))
}

// Flow returns the flow of a packet of a connected service, until the next call of find, or nil where it is new.
func (t *Table) Flow(p *packet.Packet, host, dir uint32) *Flow {
	return t.flows.find(flowKey(host, dir, p.DestQP), 0)
}

// Connection returns the connection of a flow, and the end that sends it; nil of nil.
func (t *Table) Connection(f *Flow) (*Connection, int) {
	if f == nil {
		return nil, 0
	}
	return t.pairs.at(f.way >> 1), int(f.way & 1)
}

// Find returns the connection that a packet of a connected service, whose flow is f, is of, and the end that sent it: nil where it is of none. It learns who
// talks to whom.
func (t *Table) Find(f *Flow, p *packet.Packet, host, dir uint32) (*Connection, int) {
	key := flowKey(host, dir, p.DestQP)
	var id uint32
	var c *Connection
	ok := f != nil
	if ok {
		id, c = f.way, t.pairs.at(f.way>>1)
	}
	if ok && !c.takes(int(id&1), p) {
		if ok = t.Belongs(c, int(id&1), p); !ok && c.WrongService != nil {
			return nil, 0
		}
	}
	if !ok && c == nil && t.toDatagramQP(key, p) {
		return nil, 0
	}
	if ok && t.BeginsLife(p) {
		delete(t.reborn, t.towards[towards{p.Src, p.Dst, p.DestQP}])
		id, c = t.reuse(&c.Pair, int(id&1), p, host, dir)
	}
	if !ok {
		id, c = t.newConnection(p, host, dir, key)
		t.misdirectedFirst(c, id>>1, p, host, dir)
		c.maySend(int(id&1), p)
	}
	if id, c = t.learn(c, id, p, host, dir, ok); !c.Paired && c.Reliable() {
		id, c = t.pair(c, id, p, host, dir)
	}
	return c, int(id & 1)
}

// takes reports whether a packet is one that end from of a connection may send, by its opcode, where no other service has been seen.
func (c *Connection) takes(from int, p *packet.Packet) bool {
	return c.Service == p.Opcode.Service() && !c.FoundWrongService() && (c.Service != packet.XRC || c.maySend(from, p))
}

// toDatagramQP reports whether a packet of a connected service went to a QP of datagrams, which is reported.
func (t *Table) toDatagramQP(key uint64, p *packet.Packet) bool {
	d, datagrams := t.datagrams(key, p)
	if !datagrams {
		return false
	}
	k := t.pairs.at(d >> 1)
	return !t.Belongs(k, int(d&1), p) && k.WrongService != nil
}

// learn takes what a packet of connection c shows of packets that went to a wrong QP, or of QPNs that CM gave wrongly. known says that c had packets before.
func (t *Table) learn(c *Connection, id uint32, p *packet.Packet, host, dir uint32, known bool) (uint32, *Connection) {
	if c.Beside == nil {
		return id, c
	}
	if c.doubt().rival != 0 {
		t.unpairMisdirected(c, id, p, host, dir)
	}
	if c.doubt().rightful != 0 && known {
		id, c = t.adopt(c, id, p, host, dir)
	}
	if c.doubt().qpnMismatch != nil {
		t.checkQPNMismatch(c, int(id&1), p)
	}
	return id, c
}

// All lists the connections that were not merged into others, in the order in which they began.
func (t *Table) All() iter.Seq[*Connection] {
	return func(yield func(*Connection) bool) {
		for _, c := range t.pairs.list {
			if !c.Dead() && !yield(c) {
				return
			}
		}
	}
}

// Serial returns by which number connection i of List is named as long as it is there.
func (t *Table) Serial(i int) uint64 {
	f := t.pairs.follow(uint32(i))
	if f.number == 0 {
		t.serials++
		f.number = t.serials
	}
	return f.number
}

// Settle notes that so many more packets are to be verified.
func (t *Table) Settle(packets int) { t.pairs.settle(packets) }

// List lists all connections, also those that were merged into others.
func (t *Table) List() []*Connection { return t.pairs.list }

// Hosts lists the pairs of hosts.
func (t *Table) Hosts() iter.Seq[*Host] { return t.hosts.all() }

// HostPair returns what is kept of a pair of hosts, and the direction from one to the other; nil where they have not talked.
func (t *Table) HostPair(from, to packet.Addr) (*Host, uint32) { return t.hosts.get(from, to) }

// Copy reports whether another tap has shown a packet already.
func (t *Table) Copy(p *packet.Packet) bool { return t.repeats.copy(p) }

// FirstECN is the ECN of the first packet like the one that Copy has found to be a copy.
func (t *Table) FirstECN() uint8 { return t.repeats.ecn }

// Uncrossed notes a native packet that no other tap has shown yet.
func (t *Table) Uncrossed(p *packet.Packet) { t.between.first(p) }

// Refused is how many packets were refused, as there was no room for their connection.
func (t *Table) Refused() uint64 { return t.admission.refused }

// AnyNear reports whether the tap is near any endpoint.
func (t *Table) AnyNear() bool { return len(t.near) > 0 }

// NearEnds are the endpoints that the tap is near.
func (t *Table) NearEnds() []packet.Addr { return slices.Collect(maps.Keys(t.near)) }

// IsNear reports whether the tap is near an endpoint.
func (t *Table) IsNear(a packet.Addr) bool { return t.near[a] }

// Waiting is how many connections there are of which one direction was seen, and not the other.
func (t *Table) Waiting() (n int) {
	for h := range t.hosts.all() {
		n += int(h.waiting[0] + h.waiting[1])
	}
	return n
}

// Kept is how much a table holds.
type Kept struct {
	Connections, Hosts, Flows int
	Searched                  int // pairs of contexts that are searched at most for one
	Full                      int // buckets that have no room for a pair of hosts
}

// Kept returns how much the table holds.
func (t *Table) Kept() Kept {
	k := Kept{Connections: int(t.pairs.n), Hosts: len(t.hosts.list), Flows: t.flows.used, Full: t.admission.full}
	for _, list := range t.contexts {
		k.Searched = max(k.Searched, len(list))
	}
	return k
}

// Host returns what is kept of a pair of hosts, by its number.
func (t *Table) Host(i uint32) *Host { return &t.hosts.list[i] }

// Connects reports whether a service connects two QPs, whose packets name only the one that they go to.
func Connects(s packet.Service) bool { return s <= packet.UC || s == packet.XRC }

// newConnection begins a connection with its first packet: only the destination QPN is known.
func (t *Table) newConnection(p *packet.Packet, host, dir uint32, key uint64) (uint32, *Connection) {
	i, c := t.pairs.addOneWay()
	c.Service, c.Encap, c.Lossy = p.Opcode.Service(), p.Encap, t.Lossy || t.Crowded(p)
	if !c.Reliable() {
		c.Both()
	}
	c.begins(p)
	a, b := &c.Ends[0], &c.Ends[1]
	c.Between(p.Src, p.Dst)
	a.Near = t.Near(p.Src, p.SGID)
	b.Near, b.Number, b.Numbered = t.Near(p.Dst, p.DGID), p.DestQP, true
	b.Attr = t.Attr(b.Addr, b.Number, a.Addr, p.Time)
	if len(t.towards) > 0 {
		t.sender(c, p)
	}
	t.flows.put(key, 0, i<<1)
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

// Near reports whether the tap is near an endpoint, by its address or its GID.
func (t *Table) Near(a, gid packet.Addr) bool {
	return len(t.near) > 0 && (t.near[a] || t.near[gid])
}

// Unconnected returns the first packet that host peer has sent to a queue pair of which nothing else is known, with its time, opcode and PSN.
func (t *Table) Unconnected(q wqe.QP, peer packet.Addr) (p packet.Packet, ok bool) {
	host, dir := t.hosts.find(peer, q.Addr)
	way, ok := t.flows.get(flowKey(host, dir, q.QPN), 0)
	if !ok || way&1 != 0 {
		return p, false
	}
	c := t.pairs.at(way >> 1)
	return packet.Packet{
		Encap: c.Encap, Has: packet.HasBTH, Opcode: c.FirstOp(), PSN: c.FirstPSN(), DestQP: q.QPN, Src: peer, Dst: q.Addr,
		Time: c.FirstTime, Frame: c.FirstFrame, Tap: c.FirstTap,
	}, !c.Paired
}

// Named returns the connection or datagram flow whose QP a packet names, and the end that sent it; nil where there is none.
func (t *Table) Named(p *packet.Packet, host, dir uint32) (*Connection, int) {
	key := flowKey(host, dir, p.DestQP)
	id, ok := t.flows.get(key, 0)
	if !ok {
		id, ok = t.datagrams(key, p)
	}
	if !ok {
		return nil, 0
	}
	return t.pairs.at(id >> 1), int(id & 1)
}
