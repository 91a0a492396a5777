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
