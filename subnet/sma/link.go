package sma

// retrain takes a port down as subnet management asks; where its physical state is polling its link is to train.
func (n *Node) retrain(p *port, physical uint64) {
	if p.get(piState) != Down {
		p.put(piState, Down)
		n.Count(p.number, LinkDowned, 1)
	}
	p.put(piPhysical, physical)
	n.training = append(n.training, p.number)
}

// Training returns the ports that subnet management has taken down since the last call. Their links are down: who knows the links is to Cut the other end, and
// to Join both where Polls says that they train.
func (n *Node) Training() []uint8 {
	t := n.training
	n.training = nil
	return t
}

// Polls reports whether a port is to train: it is down and not disabled (PortPhysicalState, section 14.2.5.6).
func (n *Node) Polls(number uint8) bool {
	p := n.at(int(number))
	return p != nil && number != 0 && p.get(piState) == Down && p.get(piPhysical) == polling
}

// State returns PortState of a port; 0 where there is no such port.
func (n *Node) State(number uint8) uint8 {
	p := n.at(int(number))
	if p == nil {
		return 0
	}
	return uint8(p.get(piState))
}

// Join says that the link between two ports has trained: both go from Down to Initialize (section 7.2.7), with the greatest width and speed that both have enabled.
// It reports false, and does nothing, where a port does not train or they have none in common.
func Join(now int64, a *Node, aPort uint8, b *Node, bPort uint8) bool {
	if !a.Polls(aPort) || !b.Polls(bPort) {
		return false
	}
	p, q := &a.ports[aPort], &b.ports[bPort]
	width := highest(p.get(piWidthOn) & q.get(piWidthOn))
	speed := highest(p.get(piSpeedOn) & q.get(piSpeedOn))
	if width == 0 || speed == 0 {
		return false
	}
	for _, e := range []*port{p, q} {
		e.put(piWidth, width)
		e.put(piSpeed, speed)
		e.put(piState, Initialize)
		e.put(piPhysical, linkUp)
	}
	if a.has(armedAtOnce) {
		p.put(piState, Armed)
	}
	if b.has(armedAtOnce) {
		q.put(piState, Armed)
	}
	a.changed(now)
	b.changed(now)
	return true
}

// highest is the highest bit of a mask.
func highest(v uint64) (bit uint64) {
	for bit = 1 << 8; bit != 0 && v&bit == 0; bit >>= 1 {
	}
	return bit
}

// Cut says that the link of a port is lost: it goes Down, and trains.
func (n *Node) Cut(now int64, number uint8) {
	p := n.at(int(number))
	if p == nil || number == 0 || p.get(piState) == Down || n.has(stateKept) {
		return
	}
	p.stuck = false
	p.put(piState, Down)
	p.put(piPhysical, polling)
	n.Count(number, LinkDowned, 1)
	n.changed(now)
}

// changed notes that the link of a port has gone up or down by itself: a switch sets PortStateChange and sends trap 128 (sections 14.2.5.4 and 14.2.5.1).
func (n *Node) changed(now int64) {
	if n.sw == nil {
		return
	}
	if !n.has(stateChangeLost) {
		siChange.PutUint(n.sw.info[:], 1)
	}
	n.linkTrap(now)
}
