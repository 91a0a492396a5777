package soft

import (
	"fmt"
	"slices"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// defaultPrefix is the upper half of a GID whose subnet prefix is the default one.
const defaultPrefix = 0xFE80 << 48

// source returns the entry of the port's table of GIDs that packets to an address come from: the one that is asked for or, where none is, the first
// that suits. On a native link it has the GID of the GRH.
func (h *HCA) source(asked wqe.GID, dest packet.Addr) wqe.GID {
	if asked.Addr != (packet.Addr{}) {
		return asked
	}
	for _, g := range h.gids {
		if !g.RoCEv1 && g.Addr.IsIPv4() == dest.IsIPv4() {
			return g
		}
	}
	return h.gids[0]
}

// carried is how packets from an entry of the table are carried.
func (h *HCA) carried(g wqe.GID) packet.Encap {
	switch {
	case h.opt.Addr.IsLID():
		return packet.Native
	case g.RoCEv1:
		return packet.RoCEv1
	case g.Addr.IsIPv4():
		return packet.RoCEv2IPv4
	}
	return packet.RoCEv2IPv6
}

// from gives a packet the source that an entry of the table has. On IP only the network says that there is congestion.
func (h *HCA) from(p *packet.Packet, g wqe.GID, global bool, dest packet.Addr, label uint32) {
	p.Src, p.Encap = g.Addr, h.carried(g)
	if p.Encap != packet.RoCEv2IPv4 {
		p.FlowLabel = label
	}
	if p.Encap.OnIP() && p.TClass&3 == 3 {
		p.TClass &^= 1
	}
	if p.Encap == packet.Native {
		p.Src = h.opt.Addr
		if global {
			p.Has, p.SGID, p.DGID = packet.HasGRH, g.Addr, dest
		}
	}
}

// locate finds the entry of the table that a queue pair sends from.
func (q *queuePair) locate() {
	q.gid = q.h.source(wqe.GID{Addr: q.attr.SourceAddr, RoCEv1: q.attr.RoCEv1}, q.attr.DestAddr)
}

// validSource checks that the table has an entry.
func (h *HCA) validSource(a *qp.Attr) error {
	if g := (wqe.GID{Addr: a.SourceAddr, RoCEv1: a.RoCEv1}); a.Known&qp.KnowsSourceAddr != 0 && !slices.Contains(h.gids, g) {
		return fmt.Errorf("soft: source %v, RoCEv1 %t: the table of GIDs has no such entry", g.Addr, g.RoCEv1)
	}
	return nil
}

// owns reports whether an address is one of the port.
func (h *HCA) owns(a packet.Addr) bool {
	return a == h.opt.Addr || slices.ContainsFunc(h.gids, func(g wqe.GID) bool { return g.Addr == a })
}

// enters reports whether a packet is to an entry of the table, of its type. On a native link that is its LID, and the GID where it has a GRH.
func (h *HCA) enters(p *packet.Packet) bool {
	if p.Encap == packet.Native {
		return p.Dst == h.opt.Addr && unicast(p.SLID) || h.breaks("lid-unchecked")
	}
	if p.Dst == h.opt.Addr && p.Encap != packet.RoCEv1 {
		return true
	}
	return slices.Contains(h.gids, wqe.GID{Addr: p.Dst, RoCEv1: p.Encap == packet.RoCEv1})
}

// unicast reports whether a LID is one of a port (section 4.1.3).
func unicast(lid uint16) bool { return lid > 0 && lid < 0xC000 }

// onPath reports whether the network header of a packet is that of the queue pair's path (section 9.6.1.2): one of a connection is as the address vector has it.
func (q *queuePair) onPath(p *packet.Packet) bool {
	if !q.connected() {
		return q.forPort(p)
	}
	if p.Encap == packet.Native {
		return q.global(p)
	}
	return (p.Encap == q.h.carried(q.gid) || q.h.breaks("gid-type-ignored")) && (p.Dst == q.gid.Addr || q.h.breaks("dgid-ignored"))
}

// global reports whether a packet on a native link has a GRH just where the address vector does, with the GIDs of the connection (C9-43.1.1, C9-43.1.2).
func (q *queuePair) global(p *packet.Packet) bool {
	has := p.Has&packet.HasGRH != 0
	if has != q.attr.GRH {
		return q.h.breaks("grh-ignored")
	}
	if !has {
		return true
	}
	return p.SGID == q.attr.DestGID && sameGID(p.DGID, q.gid.Addr) || q.h.breaks("dgid-ignored")
}

// forPort reports whether a datagram is for the port: its GID, where it has a GRH, is one of the table.
func (q *queuePair) forPort(p *packet.Packet) bool {
	switch {
	case p.Encap == packet.RoCEv1:
		return !q.h.breaks("ud-one-version")
	case p.Encap != packet.Native || p.Has&packet.HasGRH == 0:
		return true
	}
	return slices.ContainsFunc(q.h.gids, func(g wqe.GID) bool { return sameGID(p.DGID, g.Addr) }) || q.h.breaks("dgid-ignored")
}

// sameGID reports whether a GID is one of the port's, with its own prefix or the default one.
func sameGID(a, own packet.Addr) bool {
	return a == own || a == (packet.Addr{Hi: defaultPrefix, Lo: own.Lo})
}
