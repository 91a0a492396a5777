// Package sim is a simulated fabric on virtual time: a link between ports whose every direction has a network verification layer
// mechanism of its own, which drops, duplicates, reorders, delays and corrupts packets, and taps at the ends and in the middle. All of it
// follows from the seed and from what is sent: there is no other clock, no goroutine and no other source of chance.
//
// Others may import it: its API is kept stable.
package sim

import (
	"encoding/binary"

	"ibwitness/fabricagent"
	"ibwitness/link"
	"ibwitness/packet"
)

// Options are what the paths of a fabric have in common, unless one is changed.
type Options struct {
	Seed  uint64
	Delay int64 // nanoseconds from end to end; negative: none; 0: DefaultDelay
	Rate  int64 // bits a second that a path carries; 0: any number
	// Link is what frames begin with: LinkTap where the paths are those of native links, whose ports are at packet.LinkAddr. 0: LinkEthernet.
	Link fabricagent.LinkType
}

// DefaultDelay is how long a packet is on its way, in nanoseconds.
const DefaultDelay = 1000

// Fabric joins ports. It is not safe for several goroutines.
type Fabric struct {
	clock *Clock
	opt   Options
	ports map[packet.Addr]*port
	order []*port
	mid   []*Tap
	idle  []*flight

	intact bool // the frame that arrives is as it was sent, but for its ECN bits

	// Astray counts the frames that were sent to an address that no port has, or that are neither IP nor RoCE.
	Astray uint64
}

type port struct {
	addr    packet.Addr
	receive func(frame []byte)
	loses   func(frame []byte) bool // where not nil, says that what comes now does not arrive, and no tap sees it
	taps    []*Tap
	blocks  blocks
	paths   map[packet.Addr]*Path // from this port, by destination
	lastTo  packet.Addr
	last    *Path
}

// NewFabric returns a fabric without ports.
func NewFabric(clock *Clock, opt Options) *Fabric {
	if opt.Delay == 0 {
		opt.Delay = DefaultDelay
	}
	opt.Delay = max(opt.Delay, 0)
	if opt.Link == 0 {
		opt.Link = fabricagent.LinkEthernet
	}
	return &Fabric{clock: clock, opt: opt, ports: map[packet.Addr]*port{}}
}

// Attach adds the port with this address. The fabric calls receive with each frame that arrives; it may be kept, unless it is in room of Room, and not be
// changed. The port sends with the function returned, which keeps the frame: from then on nobody may change it. Frames are whole Ethernet frames
// without FCS of RoCEv2 or RoCEv1, whose network headers say where they go, or those of a link tap.
func (f *Fabric) Attach(addr packet.Addr, receive func(frame []byte)) (send func(frame []byte)) {
	p := f.port(addr)
	p.receive = receive
	return func(frame []byte) { f.send(p, frame) }
}

// Room returns a function that returns an empty buffer with a capacity of size bytes for the next frame of the port with this address, or nil where size is too large. The function returns
// the same buffer until the port has sent a frame from its beginning; the fabric uses the buffer again when the frame has arrived and its batch was released.
func (f *Fabric) Room(addr packet.Addr) func(size int) []byte { return f.port(addr).blocks.room }

// Intact reports, while a port receives a frame, whether the fabric has changed no more of the frame than its ECN bits: then its ICRC is the one that its sender computed.
func (f *Fabric) Intact() bool { return f.intact }

func (f *Fabric) port(addr packet.Addr) *port {
	p := f.ports[addr]
	if p == nil {
		p = &port{addr: addr, paths: map[packet.Addr]*Path{}}
		f.ports[addr] = p
		f.order = append(f.order, p)
	}
	return p
}

// Path returns the direction from one port to another.
func (f *Fabric) Path(from, to packet.Addr) *Path {
	p := f.port(from)
	path := p.paths[to]
	if path == nil {
		path = newPath(f, p, f.port(to))
		p.paths[to] = path
	}
	return path
}

// send puts a frame on its path.
func (f *Fabric) send(from *port, frame []byte) {
	in := from.blocks.take(frame)
	if len(from.taps) > 0 {
		f.see(from.taps, frame, in, packet.WayOut)
	}
	to, ok := f.destination(frame)
	if ok && to.IsMulticast() {
		f.flood(from, frame, in)
		return
	}
	if ok && (from.last == nil || from.lastTo != to) {
		p := f.ports[to]
		if ok = p != nil && p.receive != nil; ok {
			from.last, from.lastTo = f.Path(from.addr, to), to
		}
	}
	if !ok {
		f.Astray++
		return
	}
	from.last.enter(frame, in)
}

// flood puts a frame to a multicast address on the paths to all other ports, in the order in which they were attached.
func (f *Fabric) flood(from *port, frame []byte, in *block) {
	for _, to := range f.order {
		if to != from && to.receive != nil {
			f.Path(from.addr, to.addr).enter(frame, in)
		}
	}
}

const etherSize = 14

// destination returns the network address that a frame goes to.
func (f *Fabric) destination(frame []byte) (packet.Addr, bool) {
	if f.opt.Link == fabricagent.LinkTap {
		_, m, ok := link.DecodeHeader(frame)
		return packet.LinkAddr(m.Link, 1-m.Port), ok
	}
	if len(frame) < etherSize {
		return packet.Addr{}, false
	}
	b := frame[etherSize:]
	switch binary.BigEndian.Uint16(frame[12:]) {
	case 0x0800:
		if len(b) >= 20 {
			return packet.IPv4Addr(b[16:20]), true
		}
	case 0x86dd, 0x8915:
		if len(b) >= 40 {
			return packet.GIDAddr(b[24:40]), true
		}
	}
	return packet.Addr{}, false
}

// see shows a frame to taps. Its direction is given only on native links: not every Ethernet port gives it.
func (f *Fabric) see(taps []*Tap, data []byte, in *block, way packet.Way) {
	if f.opt.Link != fabricagent.LinkTap {
		way = packet.WayUnknown
	}
	for _, t := range taps {
		if in != nil {
			t.hold(in)
		}
		frame := fabricagent.Frame{Time: f.clock.now, Tap: t.index, Link: f.opt.Link, Way: way, Len: uint32(len(data)), Data: data}
		if t.recorder != nil {
			t.recorder.Frame(&frame, "")
			continue
		}
		t.frame = frame
		t.sink.Frame(&t.frame, "")
	}
}
