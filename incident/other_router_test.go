package incident_test

import (
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/mad"
	"ibwitness/packet"
)

// TestOtherRouter: REPs that go to another Ethernet address than the one from which the REQs came, and by which another host is reached, are told so;
// not where they go to that, nor where others are reached by the former too.
func TestOtherRouter(t *testing.T) {
	const told = "route: the REP goes to the Ethernet address 02:00:00:00:00:09, and the REQ came from 02:00:00:00:00:08, to which packets of 10.0.0.2 to 10.0.0.1 go; nothing else of it goes to the former"
	list := asked(t, &mad.REQ{Header: mad.CMHeader(mad.AttrREQ, 77), LocalCommID: 0xA0, ServiceID: 0x1061144, LocalQPN: 0x11, PathMTU: 3, MaxCMRetries: 15, RemoteCMTimeout: 20, LocalCMTimeout: 20},
		&mad.REP{Header: mad.CMHeader(mad.AttrREP, 77), LocalCommID: 0xB0, RemoteCommID: 0xA0, LocalQPN: 0x22})
	story := func(went, other byte) (all []fabricagent.Frame) {
		q := new(queue)
		for n := range 40 {
			q.send(n&1, make([]byte, 64))
		}
		all = q.list
		for n := range all {
			if all[n].Data[29] == 2 { // of 10.0.0.2
				copy(all[n].Data, []byte{2, 0, 0, 0, 0, 8})
			}
		}
		if other != 0 {
			p := new(queue)
			for range 40 {
				p.send(1, make([]byte, 64))
			}
			for _, f := range p.list {
				changed(&f, func(p *packet.Packet) {
					for _, a := range []*packet.Addr{&p.Src, &p.Dst} {
						if *a == packet.IPv4Addr([]byte{10, 0, 0, 1}) {
							*a = packet.IPv4Addr([]byte{10, 0, 0, 4})
						}
					}
				})
				if f.Data[29] == 2 {
					copy(f.Data, []byte{2, 0, 0, 0, 0, other})
				}
				f.Time += int64(time.Second)
				all = append(all, f)
			}
		}
		client := packet.IPv4Addr([]byte{10, 0, 0, 3})
		for n := range 6 {
			f := list[n%2]
			changed(&f, func(p *packet.Packet) {
				p.Src, p.Dst = client, packet.IPv4Addr([]byte{10, 0, 0, 2})
				if n%2 == 1 {
					p.Src, p.Dst = p.Dst, p.Src
				}
				p.IPID = uint16(0x4000 + n)
			})
			f.Data = append([]byte(nil), f.Data...)
			copy(f.Data, []byte{2, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0, 8})
			if n%2 == 1 {
				copy(f.Data, []byte{2, 0, 0, 0, 0, went, 2, 0, 0, 0, 0, 7})
			}
			f.Time = all[0].Time + int64(2*time.Second) + int64(n/2)*int64(4300*time.Millisecond) + int64(n%2)*int64(time.Millisecond)
			all = append(all, f)
		}
		return all
	}
	contains(t, "another router", happened(t, story(9, 0), agent.Options{}), []string{"(REP) 3 times", told}, nil)
	contains(t, "the same", happened(t, story(8, 0), agent.Options{}), []string{"(REP) 3 times"}, []string{"route: "})
	contains(t, "two that lead on", happened(t, story(9, 9), agent.Options{}), []string{"(REP) 3 times"}, []string{"route: "})
}
