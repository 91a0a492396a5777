package sma

import (
	"bytes"
	"encoding/binary"
	"slices"

	"ibwitness/packet"
	"ibwitness/subnet"
)

// Way is how a router reaches a subnet: the port out of which packets leave, and the LID of the port in that subnet to which they go.
type Way struct {
	Prefix uint64 // upper half of its GIDs
	Port   uint8
	LID    uint16
}

const (
	hopLimitAt   = lrhSize + 7 // in a packet with a GRH (section 8.3)
	linkLocalTop = 0xFE80 >> 6 // the upper 10 bits of link-local GIDs (section 4.1.1)
)

// Routed says what leaves a router for a packet, LRH through VCRC, that has come in at a port, for whose LID it is: by the DGID of its GRH (section 19.2.4). false: the packet
// is not for another subnet, or is discarded.
func (n *Node) Routed(in uint8, data []byte) (c Copy, ok bool) {
	var p packet.Packet
	if n.config.Type != subnet.Router || !packet.DecodeInfiniBand(&p, data, len(data)) || p.LNH != packet.LNHGlobal {
		return c, false
	}
	way, ok := n.way(in, &p)
	if !ok || p.VL == managementVL && !n.has(smpRouted) || p.HopLmt <= 1 && !n.has(hopLimitIgnored) {
		return c, false
	}
	out := n.at(int(way.Port))
	if out == nil || out.get(piState) != Active {
		n.Count(way.Port, XmitDiscards, 1)
		return c, false
	}
	b := bytes.Clone(data)
	if b[hopLimitAt]--; n.has(hopLimitKept) {
		b[hopLimitAt]++
	}
	binary.BigEndian.PutUint16(b[2:], way.LID)
	if !n.has(slidKept) {
		binary.BigEndian.PutUint16(b[6:], uint16(out.get(piLID)))
	}
	return Copy{way.Port, n.VL(0, way.Port, p.SL), n.rewritten(b)}, true
}

// way is the one to the subnet of the DGID of a packet.
func (n *Node) way(in uint8, p *packet.Packet) (w Way, ok bool) {
	if p.DGID.Hi>>54 == linkLocalTop {
		if !n.has(localRouted) {
			return w, false
		}
		i := slices.IndexFunc(n.config.Ways, func(w Way) bool { return w.Port != in })
		return n.config.Ways[max(i, 0)], i >= 0
	}
	i := slices.IndexFunc(n.config.Ways, func(w Way) bool { return w.Prefix == p.DGID.Hi })
	if i < 0 {
		return w, false
	}
	if w = n.config.Ways[i]; n.has(misrouted) {
		w.Port = w.Port%n.config.Ports + 1
	}
	return w, true
}
