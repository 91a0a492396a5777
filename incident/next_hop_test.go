package incident_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/packet"
)

// TestNextHop: a queue pair that keeps sending to an Ethernet address from which the next hop has moved to another one is told before all else. Not where nothing but the packets of the peer shows it, the address before
// is that of a virtual router, still sends, or is that of the peer itself.
func TestNextHop(t *testing.T) {
	const (
		scene = `
about: a next hop that fails over
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
work:
  - {qp: a1, op: write, length: 1000, repeat: 3, every: 1ms}
  - {qp: b1, op: write, length: 100, at: 30ms}
errors:
  - {do: drop, from: a, to: b, psn: 0x100002, count: all, where: after}
  - {do: drop, from: a, to: b, op: ack, psn: 0x200000, count: all, where: after}
`
		was, is, virtual = 0x021100000001, 0x021100000002, 0x00005E000107
		said             = "10.1.0.1 QP 0x9bc kept sending to the Ethernet address 02:11:00:00:00:01 after its next hop 10.1.0.9 had moved to 02:11:00:00:00:02."
		turned           = int64(20 * time.Millisecond)
	)
	list := frames(t, scene)
	first := list[0].Time
	routed := func(was uint64) (out []fabricagent.Frame) {
		for _, f := range list {
			var p packet.Packet
			f.Data = append([]byte(nil), f.Data...)
			if !packet.DecodeIP(&p, f.Data[14:], int(f.Len)-14) {
				t.Fatal("no RoCEv2 packet")
			}
			at, of := was, 0
			if p.Src.String() == "10.1.0.2" {
				if of = 6; f.Time > first+turned {
					at = is
				}
			}
			binary.BigEndian.PutUint16(f.Data[of:], uint16(at>>32))
			binary.BigEndian.PutUint32(f.Data[of+2:], uint32(at))
			out = append(out, f)
		}
		return out
	}
	arp := func(ms int64, host byte, station uint64) agent.Sign {
		a := packet.IPv4Addr([]byte{10, 1, 0, host})
		return agent.Sign{Presence: fabricagent.Presence{Host: a, To: a, Station: station, By: fabricagent.ByARP}, At: first + ms*int64(time.Millisecond), Frame: 5}
	}
	tcp := func(ms int64, station uint64) agent.Sign {
		s := arp(ms, 7, station)
		s.By, s.To = fabricagent.ByTCP, packet.IPv4Addr([]byte{10, 1, 0, 1})
		return s
	}
	for name, tt := range map[string]struct {
		was   uint64
		signs []agent.Sign
		told  bool
	}{
		"gratuitous ARP":             {was, []agent.Sign{arp(19, 9, is)}, true},
		"ARP of both":                {was, []agent.Sign{arp(1, 9, was), arp(19, 9, is)}, true},
		"nothing else":               {was, nil, false},
		"a virtual router":           {virtual, []agent.Sign{arp(19, 9, is)}, false},
		"ARP of another address":     {was, []agent.Sign{arp(19, 9, 0x021100000003)}, false},
		"the former sends":           {was, []agent.Sign{tcp(1, was), arp(19, 9, is), tcp(300, was)}, false},
		"the former sent until then": {was, []agent.Sign{tcp(1, was), arp(19, 9, is)}, true},
		"the peer moves":             {was, []agent.Sign{arp(1, 2, was), arp(19, 2, is), arp(20, 9, is)}, false},
	} {
		r := judged(t, routed(tt.was), agent.Options{})
		r.Signs = tt.signs
		got, i := toldOf(r), incident.Of(r)[0]
		if strings.Contains(got, said) != tt.told || strings.Contains(i.FitsWith[0], "a next hop that failed over") != tt.told || strings.Contains(got, "next hop: ") != tt.told {
			t.Errorf("%s: %s\n%q", name, got, i.FitsWith)
		}
	}
}
