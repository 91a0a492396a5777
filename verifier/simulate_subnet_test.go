package verifier_test

import (
	"container/heap"
	"encoding/binary"
	"math/rand/v2"

	"ibwitness/mad"
	"ibwitness/packet"
)

// simNet is a small native subnet in virtual time: switches in a row, channel adapters at them, and one subnet manager on the first adapter. All are
// correct. A datagram goes from link to link; taps record what passes theirs.
type simNet struct {
	r     *rand.Rand
	now   int64
	queue simQueue
	order int
	nodes []*simNode
	sm    *simManager
	loss  float64
	taps  map[*simPort]uint16 // of a link, by either port
	seen  []simSeen
	psn   uint32
	wide  bool // traps are sent, and attributes asked for that few managers ask for
}

type simSeen struct {
	time int64
	tap  uint16
	link uint32 // and which end of the link sent it
	p    packet.Packet
}

type simEvent struct {
	time  int64
	order int
	do    func()
}

type simQueue []simEvent

func (q simQueue) Len() int { return len(q) }
func (q simQueue) Less(i, j int) bool {
	return q[i].time < q[j].time || q[i].time == q[j].time && q[i].order < q[j].order
}
func (q simQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *simQueue) Push(x any)   { *q = append(*q, x.(simEvent)) }
func (q *simQueue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}

func (n *simNet) after(d int64, do func()) {
	n.order++
	heap.Push(&n.queue, simEvent{n.now + d, n.order, do})
}

// run lets the subnet go on for a time.
func (n *simNet) run(d int64) {
	for end := n.now + d; len(n.queue) > 0 && n.queue[0].time <= end; {
		e := heap.Pop(&n.queue).(simEvent)
		n.now = e.time
		e.do()
	}
}

type simNode struct {
	net      *simNet
	guid     uint64
	isSw     bool
	ports    []*simPort // by number; 0 is the management port of a switch, nil on an adapter
	free     int64      // when its agent is ready for the next packet
	linear   []byte
	tables   map[simTable][]byte
	path     []byte // from the manager
	back     []byte
	trapping uint64 // transaction of the trap that it sends; 0: none
}

type simTable struct {
	port     uint8 // that received the request; 0 on a switch
	attr     mad.Attribute
	modifier uint32
}

type simPort struct {
	node   *simNode
	number uint8
	peer   *simPort
	info   []byte // PortInfo
	mkey   uint64
	lease  int64 // when the lease of the M_Key runs out; 0: it does not
	up     bool
	busy   int64 // when the last packet left
}

func (p *simPort) field(name string) uint64 { return mad.LayoutPortInfo.Field(name).Uint(p.info) }
func (p *simPort) put(name string, v uint64) {
	mad.LayoutPortInfo.Field(name).PutUint(p.info, v)
}

func (n *simNet) node(isSw bool, ports int) *simNode {
	x := &simNode{net: n, guid: uint64(0x1000 + 16*len(n.nodes)), isSw: isSw}
	for i := range ports + 1 {
		if i == 0 && !isSw {
			x.ports = append(x.ports, nil)
			continue
		}
		x.ports = append(x.ports, &simPort{node: x, number: uint8(i), info: make([]byte, 64), up: i == 0})
	}
	n.nodes = append(n.nodes, x)
	x.reset()
	return x
}

// reset is what a node does when it is switched on.
func (x *simNode) reset() {
	x.tables, x.linear = map[simTable][]byte{}, nil
	for i, p := range x.ports {
		if p == nil {
			continue
		}
		clear(p.info)
		p.mkey = 0
		for name, v := range map[string]uint64{
			"GIDPrefix": 0xfe80 << 48, "capabilityMask": 0x02510868, "localPortNum": uint64(i), "linkWidthEnabled": 3, "linkWidthSupported": 3, "linkWidthActive": 2,
			"linkSpeedEnabled": 7, "linkSpeedSupported": 7, "linkSpeedActive": 4, "neighborMTU": 5, "MTUCap": 5, "VLCap": 3, "operationalVLs": 3, "GUIDCap": 16,
			"VLArbitrationHighCap": 8, "VLArbitrationLowCap": 8, "respTimeValue": 18, "portState": 1, "portPhysicalState": 2,
		} {
			p.put(name, v)
		}
		if x == x.net.nodes[0] || x.manages() {
			p.put("capabilityMask", 0x0251086a)
		}
		if i == 0 {
			p.put("portState", 4)
		} else if p.up {
			p.put("portState", 2)
			p.put("portPhysicalState", 5)
		}
	}
}

func (n *simNet) connect(a, b *simPort) {
	a.peer, b.peer, a.up, b.up = b, a, true, true
	for _, p := range []*simPort{a, b} {
		p.put("portState", 2)
		p.put("portPhysicalState", 5)
	}
}

// flight is a datagram on its way.
type flight struct {
	slid, dlid uint16
	sl, vl     uint8
	pkey       uint16
	qkey       uint32
	sq, dq     uint32
	b          []byte
}

// leave sends a datagram out of a port. Packets leave it in order, those of VL 15 and the others alike.
func (n *simNet) leave(p *simPort, f *flight) {
	if p == nil || p.peer == nil || !p.up {
		return
	}
	at := max(n.now, p.busy) + 500
	p.busy = at
	if p.peer.node != n.nodes[0] && p.node != n.nodes[0] && n.r.Float64() < n.loss { // a tap at the manager misses nothing of it
		n.lost(p, f, at)
		return
	}
	n.record(p, f, at)
	n.after(at-n.now+200+n.r.Int64N(400), func() { n.arrive(p.peer, f) })
}

// lost records a datagram that is lost after the tap, or before it.
func (n *simNet) lost(p *simPort, f *flight, at int64) {
	if p.node.isSw == p.peer.node.isSw || n.r.IntN(2) == 0 == !p.node.isSw {
		return
	}
	if !p.node.isSw { // it has left the adapter, to which the tap is near
		n.record(p, f, at)
	}
}

func (n *simNet) record(p *simPort, f *flight, at int64) {
	tap, ok := n.taps[p]
	if !ok {
		tap, ok = n.taps[p.peer]
	}
	if !ok {
		return
	}
	n.psn++
	s := simSeen{time: at + 100, tap: tap, link: 1 + 2*uint32(tap)}
	if _, ok := n.taps[p]; !ok {
		s.link++
	}
	s.p = packet.Packet{
		Encap: packet.Native, Opcode: packet.Op(packet.UD, packet.SendOnly), PKey: f.pkey, PSN: packet.PSN(binary.BigEndian.Uint32(f.b[8:]) & 0xFFFFFF), Payload: append([]byte(nil), f.b...),
		VL: f.vl, SL: f.sl, DestQP: f.dq, SrcQP: f.sq, QKey: f.qkey, Src: packet.LIDAddr(f.slid), Dst: packet.LIDAddr(f.dlid),
	}
	n.seen = append(n.seen, s)
}

// arrive takes a datagram that came to a port.
func (n *simNet) arrive(p *simPort, f *flight) {
	x := p.node
	if f.dq == 0 && f.b[1] == 0x81 {
		n.directed(p, f)
		return
	}
	if f.vl != 15 && p.field("portState") == 3 && !x.isSw {
		p.put("portState", 4)
	}
	if x.isSw && f.dlid != uint16(x.ports[0].field("LID")) {
		if int(f.dlid) < len(x.linear) && x.linear[f.dlid] != 255 && int(x.linear[f.dlid]) < len(x.ports) {
			n.leave(x.ports[x.linear[f.dlid]], f)
		}
		return
	}
	if !x.isSw && f.dlid != uint16(p.field("LID")) {
		return
	}
	if f.dq == 0 {
		n.managed(p, f)
		return
	}
}

// directed moves a datagram along its directed route.
func (n *simNet) directed(p *simPort, f *flight) {
	x := p.node
	f = &flight{f.slid, f.dlid, f.sl, f.vl, f.pkey, f.qkey, f.sq, f.dq, append([]byte(nil), f.b...)}
	hp, hc := int(f.b[6]), int(f.b[7])
	if f.b[4]&0x80 == 0 {
		f.b[192+hp] = p.number
		if f.b[6]++; hp < hc {
			if x.isSw && int(f.b[128+hp+1]) < len(x.ports) {
				n.leave(x.ports[f.b[128+hp+1]], f)
			}
			return
		}
		n.managed(p, f)
		return
	}
	if f.b[6]--; hp > 1 {
		if x.isSw {
			n.leave(x.ports[f.b[192+hp-1]], f)
		}
		return
	}
	n.managed(p, f)
}

// managed gives a subnet management packet to the agent, or the manager, of a node.
func (n *simNet) managed(p *simPort, f *flight) {
	if m := mad.Method(f.b[3]); m == mad.TrapRepress {
		p.node.trapping = 0
		return
	} else if m == mad.GetResp || m == mad.Trap {
		if p.node == n.nodes[0] {
			n.sm.managed(f)
		}
		return
	}
	x := p.node
	x.free = max(x.free, n.now) + 1000 + n.r.Int64N(20_000)
	n.after(x.free-n.now, func() {
		b := x.agent(p, f.b)
		if b == nil {
			return
		}
		out := &flight{f.dlid, f.slid, f.sl, 15, f.pkey, 0, 0, 0, b}
		if b[1] == 0x81 {
			b[4] |= 0x80
			b[6]--
			n.leave(x.ports[b[192+int(b[7])]], out)
			return
		}
		n.route(x, p, out)
	})
}

// route sends a datagram that a node has made by its LIDs.
func (n *simNet) route(x *simNode, p *simPort, f *flight) {
	if x.isSw {
		if int(f.dlid) >= len(x.linear) || x.linear[f.dlid] == 255 {
			return
		}
		p = x.ports[x.linear[f.dlid]]
	}
	n.leave(p, f)
}
