package sim

import (
	"fmt"
	"math/rand/v2"

	"ibwitness/fabricagent"
	"ibwitness/link"
	"ibwitness/packet"
)

// LinkOptions are what a native InfiniBand link is made with.
type LinkOptions struct {
	Seed   uint64
	Number uint16
	Delay  int64  // nanoseconds from port to port; negative: none; 0: DefaultLinkDelay
	Symbol uint16 // how long a symbol takes, in picoseconds; 0: 4000
	Width  int    // bytes in that time; 0: 4
	MTU    uint32 // 0: 4096
	Lanes  int    // operational data lanes; 0: 1
	Update int64  // symbol times after which a port tells of a lane at the latest; 0: three quarters of what the standard allows
	Mute   bool   // the taps do not tell of physical states
	VCRC   bool   // the two bytes of the VCRC count as bytes of the packet's blocks
	Noise  float64
	Ports  [2]LinkPort
}

// LinkPort is one of the two ports of a link.
type LinkPort struct {
	LID      uint16  // 0: not known. Where a fault is known by what subnet management has told, the other port asks for it
	SLtoVL   []uint8 // by service level; nil: the rest of SL by the number of lanes
	Buffer   int     // blocks of each lane's receive buffer; 0: 256
	Drain    int64   // nanoseconds that a block stays in it, up to twice that by chance; those after it wait
	Fault    string  // by name, of LinkFaults; empty: none
	FaultAt  int     // how many occasions to show it pass
	FaultAll bool    // it is shown on each one from then on
	// Strayed, where not nil, takes a frame that shows the fault before it leaves.
	Strayed func(frame []byte)
}

// DefaultLinkDelay is that of eight metres of cable.
const DefaultLinkDelay = 40

func (o *LinkOptions) fill() {
	if o.Delay == 0 {
		o.Delay = DefaultLinkDelay
	}
	o.Symbol, o.Width, o.MTU, o.Lanes = orElse(o.Symbol, 4000), orElse(o.Width, 4), orElse(o.MTU, 4096), orElse(o.Lanes, 1)
	o.Update = orElse(o.Update, 65536*3/4)
	for i := range o.Ports {
		p := &o.Ports[i]
		p.Buffer = orElse(p.Buffer, 256)
		if p.SLtoVL == nil {
			for sl := range 16 {
				p.SLtoVL = append(p.SLtoVL, uint8(sl%o.Lanes))
			}
		}
	}
}

func orElse[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// Link is a native InfiniBand link between two ports, on a fabric of its own whose frames are those of a link tap. Each port has a receive buffer
// for every data lane, and sends as far as the other one gives it credits (7.9.4).
type Link struct {
	*Fabric
	opt   LinkOptions
	ports [2]*linkPort
	busy  int64 // when a packet was last on its way, or waited
}

// The states of a port (7.2.7).
const (
	portDown = iota
	portInitialize
	portArmed
	portActive
)

// How long a link takes to come up: from one state to the next, and how far apart its ports are in that.
const (
	training = 10_000
	apart    = 500
)

// NewLink returns a link whose ports are down. It fails on a fault that is not in the table.
func NewLink(clock *Clock, opt LinkOptions) (*Link, error) {
	opt.fill()
	f := NewFabric(clock, Options{Seed: opt.Seed, Delay: opt.Delay, Link: fabricagent.LinkTap})
	l := &Link{Fabric: f, opt: opt}
	for i := range l.ports {
		p := &linkPort{LinkPort: opt.Ports[i], link: l, index: uint8(i), mtu: opt.MTU, chance: rand.New(rand.NewPCG(opt.Seed, uint64(opt.Number)<<1|uint64(i)))}
		if p.Fault != "" {
			if p.fault = LinkFaults[p.Fault]; p.fault == nil {
				return nil, fmt.Errorf("sim: no fault of a link is called %q; LinkFaults lists them", p.Fault)
			}
			p.left = p.FaultAt
		}
		p.send = f.Attach(l.Addr(i), p.receive)
		f.port(l.Addr(i)).loses = p.loses
		l.ports[i] = p
	}
	for i := range l.ports {
		path := f.Path(l.Addr(i), l.Addr(1-i))
		path.Before.Noise, path.After.Noise = opt.Noise/2, opt.Noise/2
	}
	return l, nil
}

// Addr is the address of a port on the fabric of the link, to tap it and to make errors on its path.
func (l *Link) Addr(port int) packet.Addr { return packet.LinkAddr(l.opt.Number, uint8(port)) }

// Attach joins a device to a port. receive is called with each packet that the port takes from the link, from LRH through VCRC. The device sends
// with the function returned; the port gives its packets their lane and their VCRC, and has them wait for credits.
func (l *Link) Attach(port int, receive func(data []byte)) (send func(data []byte)) {
	p := l.ports[port]
	p.deliver = receive
	return p.enqueue
}

// Room reports whether a device that has the choice shall send its next packet: few wait at its port. When that changes, again is called.
func (l *Link) Room(port int, again func()) func() bool {
	p := l.ports[port]
	p.again = again
	return func() bool { return p.waiting < mostWaiting }
}

// mostWaiting is how many packets of a device wait for credits in its port, where it has the choice.
const mostWaiting = 2

// Up brings the link up: both ports from Down over Initialize and Armed to Active, within some 30 µs.
func (l *Link) Up() {
	l.rise(portActive)
	l.manage()
}

// rise brings both ports from Down to a state, one after the other.
func (l *Link) rise(to int) {
	for i := range l.ports {
		p := l.ports[i]
		p.physical(physicalPolling)
		for state := portInitialize; state <= to; state++ {
			at := training*int64(state) + p.chance.Int64N(apart)
			epoch := p.epoch
			l.clock.After(at, func() {
				if p.epoch == epoch {
					p.become(state)
				}
			})
		}
	}
}

// Down takes the link down: what is on its way is lost, what waits goes on waiting.
func (l *Link) Down() {
	for _, p := range l.ports {
		p.down()
	}
}

// Waits reports whether packets are on their way, or wait, or did so until a moment ago: what happens beside them are flow control packets,
// which have no end.
func (l *Link) Waits() bool {
	for _, p := range l.ports {
		for vl := range p.lanes {
			if !p.lanes[vl].queue.empty() || p.lanes[vl].used > 0 {
				l.busy = l.clock.now
			}
		}
		if p.state != portActive {
			l.busy = l.clock.now
		}
	}
	return l.clock.now-l.busy <= 3*l.update()
}

// ByteRate is how many bytes the link carries in a microsecond.
func (l *Link) ByteRate() int64 { return int64(l.opt.Width) * 1_000_000 / int64(l.opt.Symbol) }

// Timers is how many appointments of the clock are the link's own, however long it lasts.
func (l *Link) Timers() (n int) {
	for _, p := range l.ports {
		if p.ticking {
			n++
		}
	}
	return n
}

// time is how long bytes take, and the two symbols around them.
func (l *Link) time(bytes int) int64 {
	symbols := int64((bytes+l.opt.Width-1)/l.opt.Width + 2)
	return (symbols*int64(l.opt.Symbol) + 999) / 1000
}

// update is how long a lane may be silent, in nanoseconds.
func (l *Link) update() int64 { return l.opt.Update * int64(l.opt.Symbol) / 1000 }

// blocks is how many blocks a packet takes whose LRH has this PktLen.
func (l *Link) blocks(words int) int {
	n := words * 4
	if l.opt.VCRC {
		n += 2
	}
	return link.Blocks(n)
}
