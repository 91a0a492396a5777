package connection

import (
	"iter"

	"ibwitness/packet"
	"ibwitness/qp"
)

// How many packets in a row must go to an Ethernet address to make it one of those of their direction: the first, and any other. Damage of one and
// the same bit does not strike so often.
const (
	firstStation = 2
	otherStation = 3
)

// stations are the Ethernet addresses that the packets of one direction of a pair of addresses go to. The ICRC does not cover them, and a host drops
// what goes to another one than its own.
type stations struct {
	known [4]uint64 // newest first; 0: none
	other uint64    // that the newest packet went to which went to none of them
	run   int       // how many in a row did
	end   *qp.QP    // that sent them; nil: not known
	count uint64    // of packets that it had sent before the newest of them
}

// arrives notes where a packet goes, which end sent, and reports whether it is an address of its direction as far as is known.
func (s *stations) arrives(p *packet.Packet, end *qp.QP) bool {
	for _, k := range s.known {
		if k == p.Station {
			return true
		}
	}
	n := uint64(0)
	if end != nil {
		n = end.Packets()
	}
	if p.Station == s.other && (s.known[0] == 0 || end != nil && end == s.end && n == s.count+1) {
		s.run++
	} else {
		s.other, s.run = p.Station, 1
	}
	s.end, s.count = end, n
	least := otherStation
	if s.known[0] == 0 {
		least = firstStation
	}
	if s.run >= least {
		copy(s.known[1:], s.known[:])
		s.known[0] = p.Station
		return true
	}
	return s.known[0] == 0
}

// Discards marks a packet that the host which it is for may drop, whatever its ICRC: it goes to another Ethernet address than the others, or its IPv4
// header checksum is wrong. Where no checksum is right, the capture has them so.
func (t *Table) Discards(c *Connection, from int, p *packet.Packet, h *Host, dir uint32) {
	switch {
	case p.Encap != packet.RoCEv2IPv4:
	case p.Flaws&packet.FlawDiscard == 0:
		h.summed[dir] = true
	case !h.summed[dir]:
		p.Flaws &^= packet.FlawDiscard
	}
	if p.Station == 0 || t.Several || !Connects(p.Opcode.Service()) { // management may go another way
		return
	}
	s := &h.stations[dir]
	if s.known[0] == p.Station && s.known[1] == 0 {
		return // all packets of the direction go there
	}
	var end *qp.QP
	if c != nil {
		end = &c.Ends[from]
	}
	oldest := s.known[len(s.known)-1]
	switch {
	case !s.arrives(p, end):
		p.Flaws, p.Usual = p.Flaws|packet.FlawDiscard, false
	case s.known[0] != 0:
		t.hosts.slot(p.Src, p.Dst).station = p.Station
		if s.known[len(s.known)-1] != oldest { // it is known no longer
			t.flows.changes++
		}
	}
}

// Stations yields the Ethernet addresses that the packets of a pair of hosts go to, and to which of the two.
func (h *Host) Stations() iter.Seq2[uint64, packet.Addr] {
	return func(yield func(uint64, packet.Addr) bool) {
		for dir, to := range [2]packet.Addr{h.b, h.a} {
			for _, at := range h.stations[dir].known {
				if at != 0 && !yield(at, to) {
					return
				}
			}
		}
	}
}
