package conform

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/hcaagent"
	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// The two ends of the wire.
var (
	testerAddr = packet.IPv4Addr([]byte{10, 0, 0, 2})
	deviceAddr = packet.IPv4Addr([]byte{10, 0, 0, 1})
	// strangerAddr is what the tester takes for an address of nobody's.
	strangerAddr = packet.IPv4Addr([]byte{10, 0, 0, 3})
	testerMAC    = [6]byte{0x02, 0, 10, 0, 0, 2}
	deviceMAC    = [6]byte{0x02, 0, 10, 0, 0, 1}
)

// wireDelay is how long a frame is on the wire, in nanoseconds.
const wireDelay = 1000

// tester is the tester's end of the wire: it sends packets as a test makes them, and keeps those that come until the test takes them.
type tester struct {
	r              *run
	mac, deviceMAC [6]byte
	tap            uint16          // at the device, or at the tester where that is real
	sent           map[uint64]bool // the frames of the tester
	ipID           uint16
	managed        []*packet.Packet // that have come to its QP1
	astray         []*packet.Packet // that came otherwise than its queue pair expects them
}

// build puts tester and device on a wire, with a tap at the device.
func (r *run) build(target *Target) {
	t := &tester{r: r, mac: testerMAC, deviceMAC: deviceMAC, sent: map[uint64]bool{}}
	r.tester = t
	first, port := r.ways.ipv4, Port{MAC: deviceMAC, GIDs: gids, Clock: r.clock, Seed: r.seed, Send: t.departs, Event: r.hears}
	r.result.Link = fabricagent.LinkEthernet
	if r.test.native {
		first, port.GIDs = onLink, []wqe.GID{{Addr: onLink.gids[1]}, {Addr: onLink.other}}
		r.result.Link = fabricagent.LinkInfiniBand
	}
	port.Addr = first.device
	t.watched("device", target.Profile, first.device, r.ways.ipv6.device, r.ways.ipv4.other)
	device, err := target.Make(port)
	r.can(err)
	r.cm, _ = device.(Communicator)
	r.has(device, first)
}

// watched has the rules judge what a tap sees that is near some addresses.
func (t *tester) watched(at string, profile verifier.Profile, near ...packet.Addr) {
	r := t.r
	r.mine = func(f *rule.Finding) bool {
		a := f.Accused.Addr
		return t.is(a) || !t.isDevice(a) && t.sent[f.Frame] // what is damaged on its way may have any address
	}
	r.profile = profile
	r.session = agent.NewSession(agent.Options{Near: near, Profile: profile})
	var err error
	t.tap, err = r.session.Tap(fabricagent.Tap{File: r.test.ID, Interface: at, Link: r.result.Link})
	r.can(err)
}

// has has a device be under test, which is reached by a network first.
func (r *run) has(device Device, first network) {
	r.device = device
	r.limits, r.sides = device.Limits(), map[packet.Addr]*side{}
	r.use(first)
}

// regionSize is how many bytes the region of the device has.
const regionSize = 96 << 10

// register gives the device its memory, filled with bytes by chance.
func (r *run) register(m *region) {
	r.memory = m
	var err error
	m.pd, err = r.dev.CreatePD(ctx)
	r.must(err)
	m.va = 0x1000_0000
	_, m.lkey, m.rkey, err = r.dev.RegisterMR(ctx, hcaagent.NewMR{
		PD: m.pd, VA: m.va, Length: regionSize, Access: wqe.LocalWrite | wqe.RemoteWrite | wqe.RemoteRead | wqe.RemoteAtomic,
	})
	r.must(err)
	r.must(r.dev.SetMemory(ctx, r.memoryAt(0, regionSize), pattern(r.seed, regionSize)))
}

// closedVA is where the region without remote access begins.
const closedVA = 0x7000_0000

// registerClosed registers a region that no peer may access, and returns its R_Key.
func (r *run) registerClosed() uint32 { return r.registerAt(closedVA, wqe.LocalWrite) }

// registerAt registers a region of 4096 bytes, and returns its R_Key.
func (r *run) registerAt(va uint64, access wqe.Access) uint32 {
	_, _, rkey, err := r.dev.RegisterMR(ctx, hcaagent.NewMR{PD: r.memory.pd, VA: va, Length: 4096, Access: access})
	r.must(err)
	return rkey
}

// memoryAt names a range of the region of the device.
func (r *run) memoryAt(offset uint64, n int) wqe.Memory {
	return wqe.Memory{Key: wqe.Key{Addr: r.net.device, Key: r.memory.lkey, Local: true}, VA: r.memory.va + offset, Length: uint64(n)}
}

// pattern is n bytes that follow from a seed.
func pattern(seed uint64, n int) []byte {
	b := make([]byte, n+7)
	chance := rand.NewPCG(seed, 0xDA7A)
	for i := 0; i < n; i += 8 {
		binary.LittleEndian.PutUint64(b[i:], chance.Uint64())
	}
	return b[:n:n]
}

// is reports whether an address is one that the tester sends from.
func (t *tester) is(a packet.Addr) bool {
	w := &t.r.ways
	for _, n := range []*network{&w.ipv4, &w.ipv6, &onLink} {
		if !a.IsZero() && (a == n.tester || a == n.stranger) {
			return true
		}
	}
	return false
}

// isDevice reports whether an address is one of the device.
func (t *tester) isDevice(a packet.Addr) bool {
	w := &t.r.ways
	for _, n := range []*network{&w.ipv4, &w.ipv6, &onLink} {
		if !a.IsZero() && (a == n.device || n != &onLink && a == n.other) {
			return true
		}
	}
	return false
}

// seen is what the tap at the device sees: the rules judge it, and the run keeps it.
func (t *tester) seen(frame []byte) fabricagent.Frame {
	f := fabricagent.Frame{Time: t.r.now(), Tap: t.tap, Link: t.r.result.Link, Len: uint32(len(frame)), Data: frame}
	t.r.record(&f)
	return f
}

// departs takes a frame of the device to the tester.
func (t *tester) departs(frame []byte) {
	f := t.seen(frame)
	t.r.clock.After(wireDelay, func() {
		f.Time, f.Tap = t.r.now(), 0
		t.receive(f)
	})
}

// wire takes a frame of the tester to the device.
func (t *tester) wire(p *packet.Packet, frame []byte) {
	if t.r.manager != nil {
		t.r.manager.cable.sends(link.Data, link.Mark{}, frame, p)
		return
	}
	if t.r.live != nil {
		t.r.live.send(p, frame)
		return
	}
	t.r.clock.After(wireDelay, func() {
		p.Frame = t.seen(frame).Number
		t.sent[p.Frame] = true
		t.r.device.Receive(frame)
	})
}

// receive takes a frame of the device.
func (t *tester) receive(f fabricagent.Frame) {
	p := new(packet.Packet)
	if fabricagent.Decode(&f, p) != fabricagent.RDMA {
		t.r.note("<- frame %d: no packet of RDMA", f.Number)
		return
	}
	t.r.note("<- frame %d: %s", p.Frame, told(p))
	p.CheckICRC()
	t.takes(p)
}

// takes takes a packet of the device.
func (t *tester) takes(p *packet.Packet) {
	if n := &t.r.net; p.DestQP == gsiQP && p.ICRCState == packet.CRCGood && p.Encap == n.encap && p.Src == n.device && p.Dst == n.tester {
		t.managed = append(t.managed, p)
		return
	}
	for _, c := range t.r.conns {
		if c.qpn != p.DestQP {
			continue
		}
		switch n := &c.net; {
		case p.ICRCState != packet.CRCGood || p.Encap != n.encap:
			t.r.note("the tester drops it: %v, ICRC %v", p.Encap, p.ICRCState)
			t.astray = append(t.astray, p)
		case p.Src != n.device || p.Dst != n.tester:
			t.r.note("the tester drops it: from %v to %v", p.Src, p.Dst)
			t.astray = append(t.astray, p)
		default:
			c.arrived = append(c.arrived, p)
		}
		return
	}
}

// send has a packet leave the tester now; spoil, where not nil, changes it when all its fields are there.
func (t *tester) send(p *packet.Packet, spoil func(p *packet.Packet)) *packet.Packet {
	p.Src = t.r.net.tester
	return t.forward(p, spoil, 0)
}

// forward is send for a packet from any address, without so many bytes at its end.
func (t *tester) forward(p *packet.Packet, spoil func(p *packet.Packet), cut int) *packet.Packet {
	return t.forwardTo(p, t.r.net.device, t.deviceMAC, spoil, cut)
}

// forwardTo is forward to any address.
func (t *tester) forwardTo(p *packet.Packet, to packet.Addr, mac [6]byte, spoil func(p *packet.Packet), cut int) *packet.Packet {
	t.complete(p, to)
	if spoil != nil {
		spoil(p)
	}
	frame := p.Append(nil)
	if p.Encap != packet.Native {
		frame = p.AppendEthernet(nil, t.mac, mac)
	}
	return t.leave(p, frame[:len(frame)-cut])
}

// complete gives a packet all that a right one has; one that is to be carried otherwise than the network has it says so.
func (t *tester) complete(p *packet.Packet, to packet.Addr) {
	if t.ipID++; p.Encap == packet.NoEncap {
		p.Encap = t.r.net.encap
	}
	if p.HopLmt == 0 {
		p.HopLmt = 64
	}
	p.Dst, p.IPID = to, t.ipID
	p.Complete()
}

// leave has the frame of a packet leave.
func (t *tester) leave(p *packet.Packet, frame []byte) *packet.Packet {
	if t.r.live != nil {
		t.r.live.catchUp()
	}
	p.Time = t.r.now()
	t.r.note("-> %s", told(p))
	t.r.sent = append(t.r.sent, sentLine{len(t.r.result.Log) - 1, p})
	t.wire(p, frame)
	return p
}

// badICRC makes the ICRC of a packet wrong.
func badICRC(p *packet.Packet) { p.ICRC ^= 0xFF << 24 }

// sealed is a change of a packet after which lengths and checksums are right.
func sealed(change func(p *packet.Packet)) func(p *packet.Packet) {
	return func(p *packet.Packet) {
		change(p)
		p.FitLengths()
		p.SealIPv4()
		p.SealICRC()
	}
}

// told is a packet in the log.
func told(p *packet.Packet) string {
	s := fmt.Sprintf("%v, PSN %v", p.Opcode, p.PSN)
	if p.Has&packet.HasAETH != 0 {
		s += fmt.Sprintf(", %v, MSN %d", p.Syndrome, p.MSN)
	}
	if p.Has&packet.HasRETH != 0 {
		s += fmt.Sprintf(", VA %#x, R_Key %#x, DMALen %d", p.VA, p.RKey, p.DMALen)
	}
	if p.Has&packet.HasAtomicETH != 0 {
		s += fmt.Sprintf(", VA %#x, R_Key %#x", p.VA, p.RKey)
	}
	if p.PayloadLen > 0 {
		s += fmt.Sprintf(", %d bytes", p.PayloadLen)
	}
	return s
}
