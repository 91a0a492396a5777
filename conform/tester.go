package conform

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"ibwitness/agent"
	"ibwitness/cq"
	"ibwitness/fabricagent"
	"ibwitness/fabricagent/sim"
	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/rule"
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

// tester is the tester's end of the wire: it sends packets as a test makes them, and keeps those that come until the test takes them.
type tester struct {
	r       *run
	wire    func(frame []byte)
	ipID    uint16
	flying  []*packet.Packet // sent, and not at the device: the tap there numbers them
	managed []*packet.Packet // that have come to its QP1
	numbers []uint64         // of the frames of the device that have not arrived
}

// build puts tester and device on a wire, with a tap at the device.
func (r *run) build(target *Target) {
	fabric := sim.NewFabric(r.clock, sim.Options{Seed: r.seed})
	t := &tester{r: r}
	r.tester = t
	r.result.Link = fabricagent.LinkEthernet
	r.mine = func(f *rule.Finding) bool { return f.Accused.Addr == testerAddr || f.Accused.Addr == strangerAddr }
	r.session = agent.NewSession(agent.Options{Near: []packet.Addr{deviceAddr}})
	if err := fabric.TapEnd(deviceAddr, "device", t); err != nil {
		r.problem = err
		panic(halted{})
	}
	t.wire = fabric.Attach(testerAddr, t.receive)
	var send func([]byte)
	device, err := target.Make(Port{
		Addr: deviceAddr, MAC: deviceMAC, Clock: r.clock, Seed: r.seed, Send: func(f []byte) { send(f) },
		Event: func(e *cq.Event) { r.hears(e) },
	})
	if err != nil {
		r.problem = err
		panic(halted{})
	}
	send = fabric.Attach(deviceAddr, device.Receive)
	r.cm, _ = device.(Communicator)
	r.dev = agent.NewDevice(agent.DeviceOptions{
		Addr: deviceAddr, Now: r.clock.Now, Control: device, Query: device, Event: r.event, Payload: regionSize, Limits: device.Limits(),
	})
	r.limits = device.Limits()
	r.register()
}

// regionSize is how many bytes the region of the device has.
const regionSize = 96 << 10

// register gives the device its memory, filled with bytes by chance.
func (r *run) register() {
	m := &r.memory
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
	return wqe.Memory{Key: wqe.Key{Addr: deviceAddr, Key: r.memory.lkey, Local: true}, VA: r.memory.va + offset, Length: uint64(n)}
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

// Tap takes the tap at the device.
func (t *tester) Tap(tap fabricagent.Tap) (uint16, error) {
	tap.File = t.r.test.ID
	return t.r.session.Tap(tap)
}

// Frame takes what the tap sees: the rules judge it, and the run keeps it.
func (t *tester) Frame(f *fabricagent.Frame, _ string) {
	x := *f
	t.r.record(&x)
	if len(x.Data) > 11 && [6]byte(x.Data[6:12]) == testerMAC && len(t.flying) > 0 {
		t.flying[0].Frame = x.Number
		t.flying = t.flying[1:]
		return
	}
	t.numbers = append(t.numbers, x.Number)
}

// receive takes a frame of the device.
func (t *tester) receive(frame []byte) {
	p := new(packet.Packet)
	f := fabricagent.Frame{Time: t.r.now(), Link: fabricagent.LinkEthernet, Len: uint32(len(frame)), Data: frame}
	if len(t.numbers) > 0 {
		f.Number, t.numbers = t.numbers[0], t.numbers[1:]
	}
	if fabricagent.Decode(&f, p) != fabricagent.RDMA {
		t.r.note("<- frame %d: no packet of RDMA", f.Number)
		return
	}
	t.r.note("<- frame %d: %s", p.Frame, told(p))
	if p.CheckICRC(); p.ICRCState != packet.CRCGood || p.Encap != packet.RoCEv2IPv4 {
		t.r.note("the tester drops it: %v, ICRC %v", p.Encap, p.ICRCState)
		return
	}
	if p.Src != deviceAddr || p.Dst != testerAddr {
		t.r.note("the tester drops it: from %v to %v", p.Src, p.Dst)
		return
	}
	if p.DestQP == gsiQP {
		t.managed = append(t.managed, p)
		return
	}
	for _, c := range t.r.conns {
		if c.qpn == p.DestQP {
			c.arrived = append(c.arrived, p)
			return
		}
	}
}

// send has a packet leave the tester now; spoil, where not nil, changes it when all its fields are there.
func (t *tester) send(p *packet.Packet, spoil func(p *packet.Packet)) *packet.Packet {
	p.Src = testerAddr
	return t.forward(p, spoil, 0)
}

// forward is send for a packet from any address, without so many bytes at its end.
func (t *tester) forward(p *packet.Packet, spoil func(p *packet.Packet), cut int) *packet.Packet {
	return t.forwardTo(p, deviceAddr, deviceMAC, spoil, cut)
}

// forwardTo is forward to any address.
func (t *tester) forwardTo(p *packet.Packet, to packet.Addr, mac [6]byte, spoil func(p *packet.Packet), cut int) *packet.Packet {
	t.ipID++
	p.Encap, p.Dst, p.IPID, p.HopLmt = packet.RoCEv2IPv4, to, t.ipID, 64
	p.Complete()
	if spoil != nil {
		spoil(p)
	}
	frame := p.AppendEthernet(nil, testerMAC, mac)
	frame = frame[:len(frame)-cut]
	p.Time = t.r.now()
	t.flying = append(t.flying, p)
	t.r.note("-> %s", told(p))
	t.r.sent = append(t.r.sent, sentLine{len(t.r.result.Log) - 1, p})
	t.wire(frame)
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
