package cm_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent/sim"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// world is a few hosts, the network between them, and the taps of a capture.
type world struct {
	*rand.Rand
	*sim.Clock
	hosts []*simHost
	encap packet.Encap
	taps  []int // the host that each tap is near; inMiddle: none
	begin int64 // of the capture
	seen  []shot
	// How likely a packet is lost, and a message of CM is doubled, held up or damaged, on each of the two stretches of its way. What is lost between
	// a tap and the host that it is near is lost after it.
	loss, double, hold, damage float64
	fault                      *planted
}

const inMiddle = -1

// shot is a frame as a tap saw it.
type shot struct {
	at   int64
	tap  int
	b    []byte
	text string
}

// run lets time pass until nothing is left to happen.
func (w *world) run(t *testing.T) {
	for n := 0; w.Step(); n++ {
		if n > 200_000 {
			t.Fatal("the simulation does not end")
		}
	}
}

func (w *world) chance(p float64) bool { return w.Float64() < p }

// between is a random time.
func (w *world) between(least, most int64) int64 { return least + w.Int64N(most-least+1) }

// send puts a packet on its way.
func (w *world) send(from, to *simHost, p *packet.Packet, text string) {
	p.Encap, p.Src, p.Dst, p.SrcPort, p.IPID = w.encap, from.addr, to.addr, 0xC000, from.ipid
	from.ipid++
	p.Complete()
	b := p.Append(nil)
	text = fmt.Sprintf("%s>%s %s", from.name, to.name, text)
	w.tap(from.n, b, text)
	w.leg(p, b, func(b []byte) {
		w.tap(inMiddle, b, text)
		w.leg(p, b, func(b []byte) {
			w.tap(to.n, b, text)
			if q := w.decode(b); q.ICRCState == packet.CRCGood {
				to.receive(from, q)
			}
		})
	})
}

// leg takes a packet over one of the two stretches of its way. Those of a connection stay in order.
func (w *world) leg(p *packet.Packet, b []byte, arrive func([]byte)) {
	delay := int64(20_000)
	if p.Opcode.Service() == packet.UD {
		delay += w.between(0, 20_000)
		if w.chance(w.hold) {
			delay += w.between(0, 10_000_000)
		}
		if w.chance(w.double) {
			w.After(delay+w.between(0, 500_000), func() { arrive(b) })
		}
		if w.chance(w.damage) {
			b = slices.Clone(b)
			b[len(b)-40] ^= 1
		}
	}
	if !w.chance(w.loss) {
		w.After(delay, func() { arrive(b) })
	}
}

func (w *world) tap(at int, b []byte, text string) {
	for i, near := range w.taps {
		if near == at && w.Now() >= w.begin {
			w.seen = append(w.seen, shot{w.Now(), i, b, text})
		}
	}
}

func (w *world) decode(b []byte) *packet.Packet {
	p, ok := new(packet.Packet), false
	if w.encap == packet.Native {
		ok = packet.DecodeInfiniBand(p, b, len(b))
	} else {
		ok = packet.DecodeIP(p, b, len(b))
	}
	if !ok {
		panic("a packet of the simulation does not decode")
	}
	p.CheckICRC()
	if p.Has&packet.HasVCRC != 0 {
		p.CheckVCRC()
	}
	return p
}

// judge verifies what the taps saw.
func (w *world) judge() []rule.Finding { return w.recorded().Findings }

// recorded is what is said of it.
func (w *world) recorded() *rule.Recorder {
	var near []packet.Addr
	for _, n := range w.taps {
		if n != inMiddle {
			near = append(near, w.hosts[n].addr)
		}
	}
	t := agent.NewTransport(near)
	t.SetSeveral(len(w.taps) > 1)
	for i, s := range w.seen {
		p := w.decode(slices.Clone(s.b))
		p.Time, p.Frame, p.Tap = s.at, uint64(i+1), uint16(s.tap)
		t.Packet(p)
	}
	t.Finish(w.Now())
	agent.Reconcile(t)
	return &t.Rec
}

// simHost is a host with its communication manager.
type simHost struct {
	*world
	n     int
	name  string
	addr  packet.Addr
	gid   packet.Addr
	guid  uint64
	delay uint8 // ACK delay of the channel adapter
	style style
	ipid  uint16
	psn   packet.PSN // of QP1
	ids   []uint32   // communication IDs that are free
	qpns  []uint32   // queue pairs that are free
	tids  uint64
	serve bool // somebody listens
	conns []*conn
	sidrs map[uint32]*sidr
	sent  map[mad.Attribute]int
}

// style is what communication managers do in different ways.
type style struct {
	milliseconds bool // 4.096 µs · 2^n is taken for 2^(n-8) ms
	oneTID       bool // the transaction ID is that of the communication ID, in every message
	replies      bool // a retransmitted REQ is answered by the REP
	quits        bool // a side that gives up says so
}

// wait is how long a sender waits for what should come within 4.096 µs · 2^code.
func (h *simHost) wait(code uint8) int64 {
	if h.style.milliseconds {
		return 1_000_000 << max(int(code)-8, 0)
	}
	return 4096 << code
}

func (h *simHost) tid(id uint32) uint64 {
	if h.style.oneTID {
		return h.guid<<32 | uint64(id)
	}
	h.tids++
	return h.guid<<40 | h.tids
}

// take takes something from a pool of which the first has been free for the longest.
func take[T any](pool *[]T) (x T, ok bool) {
	if len(*pool) == 0 {
		return x, false
	}
	x, *pool = (*pool)[0], (*pool)[1:]
	return x, true
}

// message sends a message of CM.
func (h *simHost) message(to *simHost, m mad.Message, text string) {
	b := make([]byte, mad.Size)
	if err := m.Encode(b); err != nil {
		panic(err)
	}
	h.datagram(to, b, text)
}

func (h *simHost) datagram(to *simHost, b []byte, text string) {
	h.psn = h.psn.Add(1)
	h.send(h, to, &packet.Packet{
		Opcode: packet.Op(packet.UD, packet.SendOnly), PKey: 0xFFFF, DestQP: 1, SrcQP: 1, QKey: 0x80010000, PSN: h.psn, Payload: b,
	}, text)
}

// receive takes a packet that arrived.
func (h *simHost) receive(from *simHost, p *packet.Packet) {
	if p.Opcode.Service() == packet.UD {
		h.manage(from, p.Payload)
		return
	}
	for _, c := range h.conns {
		if c.qpn == p.DestQP && c.peer == from && c.alive() {
			c.data(p)
			return
		}
	}
}

// newWorld makes hosts that can talk.
func newWorld(r *rand.Rand, hosts int) *world {
	w := &world{Rand: r, Clock: sim.NewClock(1 << 40), encap: []packet.Encap{packet.RoCEv2IPv4, packet.RoCEv2IPv4, packet.RoCEv2IPv6, packet.Native}[r.IntN(4)]}
	for n := range hosts {
		h := &simHost{
			world: w, n: n, name: string(rune('A' + n)), gid: packet.Addr{Hi: 0xfd00 << 48, Lo: uint64(n + 1)}, guid: uint64(0x900 + r.IntN(90)*10 + n), delay: uint8(8 + r.IntN(7)),
			style: style{r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0}, ipid: uint16(r.Uint32()), psn: packet.PSN(r.Uint32N(1 << 24)),
			tids: r.Uint64N(1 << 20), serve: r.IntN(8) > 0, sidrs: map[uint32]*sidr{}, sent: map[mad.Attribute]int{},
		}
		switch w.encap {
		case packet.RoCEv2IPv4:
			h.addr = packet.IPv4Addr([]byte{10, 0, 0, byte(n + 1)})
			h.gid = h.addr
		case packet.RoCEv2IPv6:
			h.addr = h.gid
		default:
			h.addr = packet.LIDAddr(uint16(n + 1))
		}
		first := r.Uint32N(1<<31) + 1
		for i := range uint32(2 + r.IntN(12)) {
			h.ids = append(h.ids, first+i*uint32(1+r.IntN(3)))
			h.qpns = append(h.qpns, 0x11+0x100*uint32(n)+i)
		}
		slices.Sort(h.ids)
		h.ids = slices.Compact(h.ids)
		w.hosts = append(w.hosts, h)
	}
	return w
}

// internet is the private data of a request for the RDMA IP CM service.
func (h *simHost) internet(peer *simHost) []byte {
	m := mad.IPHeader{IPVersion: 6, SourcePort: 0x8000, SourceWord: h.gid, DestinationWord: peer.gid}
	if h.encap == packet.RoCEv2IPv4 {
		m.IPVersion, m.SourceWord, m.DestinationWord = 4, packet.Addr{Lo: h.gid.Lo & 0xFFFFFFFF}, packet.Addr{Lo: peer.gid.Lo & 0xFFFFFFFF}
	}
	b := make([]byte, mad.IPHeaderSize)
	if err := m.Encode(b); err != nil {
		panic(err)
	}
	return b
}
