package agent

import (
	"ibwitness/agent/internal/connection"
	"ibwitness/packet"
)

// Of how many queue pairs it is kept at most which tap showed the newest requests last, and of how many of these.
const (
	mostShown = 1024
	shownPSNs = 256
)

// lastShown is, of a capture of several taps, which of them showed each of the newest requests last, by the queue pair that they go to: where a PSN sequence NAK asks for one, it was lost after that tap.
type lastShown map[shownKey]*[shownPSNs]shown

type shownKey struct {
	src, dst packet.Addr
	qpn      uint32
}

type shown struct {
	psn  packet.PSN
	tap  uint16
	dscp uint8
	set  bool
}

// request takes a request; copied says that another tap has shown it before.
func (m lastShown) request(p *packet.Packet, copied bool) {
	k := shownKey{p.Src, p.Dst, p.DestQP}
	ring := m[k]
	if ring == nil {
		if len(m) > mostShown { // then that of none is told
			return
		}
		ring = new([shownPSNs]shown)
		m[k] = ring
	}
	if s := &ring[p.PSN%shownPSNs]; !copied || !s.set || s.psn == p.PSN {
		*s = shown{p.PSN, p.Tap, p.TClass >> 2, true}
	}
}

// asked returns which tap showed a request last that a NAK asks for, and its DSCP; false: that is not known.
func (m lastShown) asked(from, to packet.Addr, qpn uint32, psn packet.PSN) (s shown, known bool) {
	ring := m[shownKey{from, to, qpn}]
	if ring == nil {
		return s, false
	}
	s = ring[psn%shownPSNs]
	return s, s.set && s.psn == psn
}

// atTaps counts a packet at its tap, and what a PSN sequence NAK asks for at the one that showed it last.
func (t *Transport) atTaps(p *packet.Packet, copied bool) {
	t.tapCounts.packet(p, copied)
	if p.Has&packet.HasBTH == 0 || p.Opcode.Service() != packet.RC || p.Tap >= countedTaps {
		return
	}
	if !p.Opcode.Info().Response {
		t.lastShown.request(p, copied)
		return
	}
	if copied || p.Has&packet.HasAETH == 0 || p.Syndrome != packet.NAKSequence {
		return
	}
	c, from := t.table.Known(p)
	if c == nil || !connection.QPs(c).Ends[from].Numbered {
		return
	}
	if s, known := t.lastShown.asked(p.Dst, p.Src, connection.QPs(c).Ends[from].Number, p.PSN); known {
		if n := t.tapCounts.of(p.Dst, p.Src, s.dscp); n != nil {
			n.Asked[s.tap]++
		}
	}
}
