package agent

import (
	"testing"

	"ibwitness/packet"
)

// TestTapCounts: what taps show is counted by hosts and DSCP, whoever of several agents sees it, and of each what no other had shown before; not what is no InfiniBand, goes to many, or comes at a tap after the first eight.
func TestTapCounts(t *testing.T) {
	agents := make([]*Transport, 2)
	for k := range agents {
		agents[k] = &Transport{tapCounts: tapCounts{}}
	}
	at := func(agent int, tap uint16, tclass, dst byte, copied bool) {
		p := packet.Packet{Tap: tap, TClass: tclass, Has: packet.HasBTH, Src: packet.IPv4Addr([]byte{10, 0, 0, 1}), Dst: packet.IPv4Addr([]byte{10, 0, 0, dst})}
		if dst > 200 {
			p.Dst = packet.IPv4Addr([]byte{239, 0, 0, dst})
		} else if dst > 100 {
			p.Has = 0
		}
		agents[agent].tapCounts.packet(&p, copied)
	}
	at(0, 0, 0x68, 2, false)
	at(1, 1, 0x6b, 2, true)
	at(1, 0, 0x68, 2, false)
	at(0, 0, 0, 2, false)
	at(0, 0, 0, 201, false)
	at(0, 0, 0, 101, false)
	at(0, 8, 0, 2, false)
	got := tapCountsOf(agents)
	if len(got) != 2 || got[0].DSCP != 0 || got[0].Packets != [8]uint64{1} || got[1].DSCP != 26 || got[1].Packets != [8]uint64{2, 1} || got[1].First != [8]uint64{2} {
		t.Errorf("%+v", got)
	}
}

// TestLastShown: a request that a NAK asks for is the one that a tap showed last, of the newest to its queue pair; a retransmission begins at the first tap once more.
func TestLastShown(t *testing.T) {
	m := lastShown{}
	src, dst := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	at := func(psn packet.PSN, tap uint16, copied bool) {
		m.request(&packet.Packet{Src: src, Dst: dst, DestQP: 7, PSN: psn, Tap: tap, TClass: 0x68}, copied)
	}
	asked := func(qpn uint32, psn packet.PSN) int {
		s, known := m.asked(src, dst, qpn, psn)
		if !known {
			return -1
		}
		return int(s.tap)
	}
	at(5, 0, false)
	at(5, 1, true)
	at(6, 0, false)
	if asked(7, 5) != 1 || asked(7, 6) != 0 || asked(8, 5) != -1 || asked(7, 7) != -1 {
		t.Error(asked(7, 5), asked(7, 6), asked(8, 5), asked(7, 7))
	}
	at(5, 0, false)
	at(6+shownPSNs, 1, false)
	at(6, 1, true) // of one that a later PSN has taken the place of
	if asked(7, 5) != 0 || asked(7, 6) != -1 || asked(7, 6+shownPSNs) != 1 {
		t.Error(asked(7, 5), asked(7, 6), asked(7, 6+shownPSNs))
	}
}
