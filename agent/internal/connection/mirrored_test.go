package connection

import (
	"testing"
	"time"

	"ibwitness/packet"
)

// TestSuspect: after a packet that may be a copy the packets of its hosts go the long way for a short time where none is, and for longer where one is.
func TestSuspect(t *testing.T) {
	for _, k := range []struct {
		name        string
		every       time.Duration
		copied      int // one packet in so many; 0: none
		least, most int
	}{
		{"seldom", time.Millisecond, 0, suspectWatched, suspectWatched},
		{"often", 20 * time.Microsecond, 0, 500, 500 + suspectWatched},
		{"copied", time.Millisecond, 10, laterWatched, laterWatched + suspectWatched},
	} {
		table := New(nil)
		p := &packet.Packet{
			Src: packet.IPv4Addr([]byte{10, 0, 0, 1}), Dst: packet.IPv4Addr([]byte{10, 0, 0, 2}), Station: 1, Has: packet.HasBTH | packet.HasIPv4,
			Encap: packet.RoCEv2IPv4, Opcode: packet.Op(packet.RC, packet.SendOnly), DestQP: 17, ICRCState: packet.CRCGood,
		}
		n := 0
		for i := range 4 * laterWatched {
			host, dir := table.Met(p)
			if i == 2*firstWatched {
				table.Suspect(p)
			}
			h := table.hosts.slot(p.Src, p.Dst)
			if table.Routed(p, host, dir); i >= 2*firstWatched && h.watched > 0 {
				n++
			}
			if p.Time += k.every.Nanoseconds(); k.copied == 0 || i%k.copied > 0 {
				p.PSN, p.IPID = p.PSN.Add(1), p.IPID+1
			}
		}
		if n++; n < k.least || n > k.most {
			t.Errorf("%s: %d packets", k.name, n)
		}
	}
}
