package sim

import "ibwitness/link"

// Admit has a device say what of subnet management and of the packet receiver is its own and not the link's: admit judges whether a packet that has come, with what ended
// it, is right. The port then drops others, and goes from Armed to Active only by SetState. It comes before Attach.
func (l *Link) Admit(port int, admit func(m link.Mark, data []byte) bool) {
	p := l.ports[port]
	p.admit, p.told = admit, true
}

// Train brings the link up as far as it comes by itself: both ports from Down to Initialize.
func (l *Link) Train() { l.rise(portInitialize) }

// State returns PortState of a port: 1 Down, 2 Initialize, 3 Armed, 4 Active (PortInfo, section 14.2.5.6).
func (l *Link) State(port int) int { return l.ports[port].state + 1 }

// SetState takes a port that is up to Armed or Active, or one of these to the other, as subnet management does.
func (l *Link) SetState(port, state int) {
	p := l.ports[port]
	if p.state != portDown && state > portInitialize && state-1 != p.state {
		p.become(state - 1)
	}
}

// SendOn has a port send a packet on a lane, whatever its service level.
func (l *Link) SendOn(port int, vl uint8, data []byte) {
	p := l.ports[port]
	p.link.busy = p.link.clock.now
	p.queue(data, vl)
}

// SetMTU gives a port the MTU of the link, as subnet management sets it (PortInfo:NeighborMTU): it sends no packet that is longer.
func (l *Link) SetMTU(port int, mtu uint32) { l.ports[port].mtu = mtu }

// SetLife has a port discard packets that have waited on a data lane for so long, in nanoseconds, as a switch does (HOQLife and LifeTimeValue); 0: none. expired is told of
// each.
func (l *Link) SetLife(port int, life int64, expired func()) {
	l.ports[port].life, l.ports[port].expired = life, expired
}

// age has a packet that waits be discarded when its life is over.
func (p *linkPort) age(q *packets, data []byte) {
	if p.life <= 0 {
		return
	}
	p.link.clock.After(p.life, func() {
		if q.remove(data) {
			p.waiting--
			p.expired()
		}
	})
}
