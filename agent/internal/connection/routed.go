package connection

import (
	"time"

	"ibwitness/packet"
	"ibwitness/verifier"
)

// A mirror of several ports of a router, or a tap on each side of one, shows a packet before it and after it: with the same ICRC, which leaves out what a router
// changes, and with another hop limit, to another Ethernet address, soon after. A packet that was sent once more goes the way of the first.

const (
	// firstWatched is how many packets of a direction are looked at from its first on: so many may come before the first copy.
	firstWatched = 8
	// laterWatched is how many are from a copy on, or from a packet that goes to another Ethernet address.
	laterWatched = 1024
	// unnumbered is how soon the copy of a packet comes whose sender does not number its packets, so that one which is retransmitted may be like it.
	unnumbered = int64(100 * time.Microsecond)
)

// Copy is what a packet is a copy of.
type Copy uint8

const (
	NoCopy       Copy = iota
	RoutedCopy        // of one that was seen before a router or after it
	MirroredCopy      // of one that another mirrored port showed: see Mirrored
)

// Routed reports whether a packet of a direction is one that was seen already, before a router or after it, or at another mirrored port, and of the former how long before and with which hop limit that was. It is to be
// asked of each packet that Known finds no connection of.
func (t *Table) Routed(p *packet.Packet, host, dir uint32) (since int64, hop uint8, is Copy) {
	h := t.hosts.slot(p.Src, p.Dst)
	switch {
	case p.Station == 0 || t.Several || p.Has&(packet.HasIPv4|packet.HasIPv6) == 0:
		t.watchNoMore(h, host, dir)
		return 0, 0, NoCopy
	case p.ICRCState == packet.CRCBad:
		return 0, 0, NoCopy
	case h.station != 0 && h.station != p.Station:
		t.watchRouted(h, host, dir, p.Time)
	}
	if h.watched == 0 {
		return 0, 0, NoCopy
	}
	h.watched--
	if t.mirroredCopy(p, h) {
		return 0, 0, MirroredCopy
	}
	s := t.sighting(p, h, host, dir)
	since, hop = p.Time-s.time, s.hop
	if !s.first(p, int(p.HopLmt)%len(s.seen)) && s.station != uint32(p.Station) {
		t.routed.again(s, p)
		t.repeats.ecn = t.routed.ecn
		t.watchRouted(h, host, dir, p.Time)
		return since, hop, RoutedCopy
	}
	if h.watched == 0 && !t.watchMirrored(h, p.Time) {
		t.watchNoMore(h, host, dir)
	}
	return 0, 0, NoCopy
}

// sighting returns what is kept of packets like p.
func (t *Table) sighting(p *packet.Packet, h *hostSlot, host, dir uint32) *repeat {
	window := unnumbered
	if verifier.Numbered(p) {
		window = verifier.CopyTime
	}
	if h.settled {
		return t.routed.of(p, window)
	}
	list := &t.hosts.list[host].early[dir]
	id := identity(p)
	for i := range *list {
		if s := &(*list)[i]; s.id == id {
			s.forget(p.Time, window)
			return s
		}
	}
	if *list == nil {
		*list = make([]repeat, 0, firstWatched)
	}
	*list = append(*list, repeat{id: id})
	return &(*list)[len(*list)-1]
}

// watchRouted has the next packets of a direction looked at.
func (t *Table) watchRouted(h *hostSlot, host, dir uint32, now int64) {
	if h.watched == 0 {
		t.flows.changes++ // what was found without looking at the host is not found any more
	}
	t.routed.take(t.hosts.list[host].early[dir], now)
	t.watchNoMore(h, host, dir)
	h.watched = laterWatched
}

// watchNoMore ends that the packets of a direction are looked at.
func (t *Table) watchNoMore(h *hostSlot, host, dir uint32) {
	h.watched, h.settled = 0, true
	t.hosts.list[host].early[dir] = nil
}
