package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestPathOfHost: where most queue pairs of a host with several others lose nothing, and that is no chance, its link is not what they have in common, and one path of several is told of once for all.
func TestPathOfHost(t *testing.T) {
	const path = "hosts to 10.0.0.1 had to retransmit (UDP source ports"
	const common = "the link, adapter or switch port of 10.0.0.1: it is what they have in common"
	type rounds struct {
		asked, timer, back, backAsked uint32 // of a queue pair; back: of what the host itself sends on it
		few                           bool   // packets
	}
	for _, k := range []struct {
		name  string
		hosts [][]rounds // by other host, its queue pairs
		want  string     // how the fact begins; empty: that there is none, and the host is in common
		ends  string
	}{
		{"two of eight of two hosts", [][]rounds{{{asked: 5}, {asked: 6}, {}, {}, {}, {}, {}, {}}, {{}, {}, {}, {asked: 6}, {asked: 5}, {}, {}, {}}}, "4 of 16 queue pairs of 2 " + path, "not what all of them pass"},
		{"two of four, and answers on the same", [][]rounds{{{asked: 12, back: 2}, {}, {}, {}}, {{}, {}, {}, {asked: 12}}}, "2 of 8 queue pairs of 2 " + path, "on 1 of these 2, which answers that were lost on that path fit"},
		{"one by a timer only", [][]rounds{{{asked: 9}, {timer: 1}, {}, {}, {}, {}, {}, {}}, {{}, {}, {}, {asked: 9}, {}, {}, {}, {}}}, "3 of 16 queue pairs of 2 " + path + " 50000, 50013; 50001 once, by a timer only: its answer may have been lost), in 19 rounds", "not what all of them pass"},
		{"one often, by timers", [][]rounds{{{asked: 9}, {timer: 3}, {}, {}, {}, {}, {}, {}}, {{}, {}, {}, {asked: 9}, {}, {}, {}, {}}}, "3 of 16 queue pairs of 2 " + path + " 50000, 50001, 50013), in 21 rounds", "not what all of them pass"},
		{"answers on others", [][]rounds{{{asked: 12}, {back: 2}, {}, {}}, {{}, {}, {}, {asked: 12}}}, "2 of 8 queue pairs of 2 " + path, "not what all of them pass"},
		{"requests of the host on the same", [][]rounds{{{asked: 12, backAsked: 2}, {}, {}, {}}, {{}, {}, {}, {asked: 12}}}, "2 of 8 queue pairs of 2 " + path, "not what all of them pass"},
		{"two of eight of two hosts, and two that sent few", [][]rounds{{{asked: 5}, {asked: 6}, {}, {}, {}, {}, {}, {}, {few: true}}, {{}, {}, {}, {asked: 6}, {asked: 5}, {}, {}, {}, {few: true}}}, "4 of 16 queue pairs of 2 " + path, "not what all of them pass"},
		{"all", [][]rounds{{{asked: 5}, {asked: 6}, {asked: 4}, {asked: 5}}, {{asked: 3}, {asked: 6}, {asked: 5}, {asked: 7}}}, "", ""},
		{"few that may have lost none by chance", [][]rounds{{{asked: 2}, {asked: 2}, {asked: 2}, {}}, {{asked: 3}, {}, {}, {}}}, "", ""},
		{"some that sent few", [][]rounds{{{asked: 25}, {}, {asked: 29}, {}, {asked: 1, few: true}, {few: true}, {timer: 1, few: true}, {few: true}}, {{}, {asked: 12}}}, "3 of 6 queue pairs of 2 " + path, "2 more (UDP source ports 50004, 50006), with few packets, likewise, in 2 rounds"},
		{"all but some that sent few", [][]rounds{{{asked: 25}, {asked: 29}, {asked: 1, few: true}, {few: true}, {few: true}, {few: true}}, {{asked: 12}, {few: true}}}, "", ""},
		{"most", [][]rounds{{{asked: 9}, {asked: 9}, {asked: 9}, {}}, {{asked: 9}, {asked: 9}, {}, {}}}, "", ""},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		for h, list := range k.hosts {
			for n, x := range list {
				c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
				at := n % 2 // who began does not matter
				trouble := func(asked, timer uint32) *qp.Trouble {
					if asked+timer == 0 {
						return nil
					}
					x := &qp.Trouble{Sum: qp.Stalls{Count: asked + timer, Rounds: [qp.NumCauses]uint32{qp.SequenceAsked: asked, qp.TimerExpired: timer}, Begun: 5, Last: 9}}
					if len(list) == 9 { // the side of the tap is known
						x.Asked.After = asked
					}
					return x
				}
				packets := uint64(1000)
				if x.few {
					packets = 60
				}
				end := func(host byte, port int, k *qp.Trouble) agent.End {
					return agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, host}), QPN: uint32(16*h + n + 16), QPNKnown: true, Packets: packets, Messages: packets, Last: int64(time.Second), Path: agent.Path{Known: true, Port: uint16(port)}, Trouble: k}
				}
				c.Ends[at] = end(byte(2+h), 50000+10*h+n, trouble(x.asked, x.timer))
				c.Ends[1-at] = end(1, 60000+10*h+n, trouble(x.backAsked, x.back))
				r.Connections = append(r.Connections, c)
			}
		}
		list := Of(r)
		i := &list[0]
		n := slices.IndexFunc(i.Facts, func(f Fact) bool { return f.Label == "paths" && strings.Contains(f.Text, "queue pairs of ") })
		if n >= 0 != (k.want != "") || n >= 0 && (!strings.HasPrefix(i.Facts[n].Text, k.want) || !strings.HasSuffix(i.Facts[n].Text, k.ends) || i.FitsWith[0] != onePath || i.Next[0] != hashedTo) {
			t.Errorf("%s: %+v", k.name, i)
		}
		if len(k.hosts[0]) == 9 && !strings.Contains(i.What, "on 4 of 18 connections") { // all between these hosts
			t.Errorf("%s: %s", k.name, i.What)
		}
		if slices.Contains(i.FitsWith, common) != (k.want == "") {
			t.Errorf("%s: fits %q", k.name, i.FitsWith)
		}
	}
}

// TestAnswersPath: answers may take the path that loses other packets of the same end.
func TestAnswersPath(t *testing.T) {
	for _, k := range []struct {
		name         string
		lossy        uint32 // rounds of the connection on which the answers may have been lost
		timer, asked uint32
		want         bool
	}{
		{"on the same connection", 12, 1, 0, true},
		{"on another", 0, 1, 0, false},
		{"asked for", 12, 1, 1, false},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		for n := range 6 {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
			for e := range c.Ends {
				c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(1 + e)}), QPN: uint32(n + 16), QPNKnown: true, Packets: 100, Messages: 100, Last: int64(time.Second), Path: agent.Path{Known: true, Port: uint16(50000 + n)}}
			}
			if n == 0 {
				c.Ends[0].Trouble = &qp.Trouble{Sum: qp.Stalls{Count: 1, Rounds: [qp.NumCauses]uint32{qp.SequenceAsked: k.asked, qp.TimerExpired: k.timer}, Begun: 5, Last: 9}}
				if k.lossy > 0 {
					c.Ends[1].Trouble = &qp.Trouble{Sum: qp.Stalls{Count: 1, Rounds: [qp.NumCauses]uint32{qp.SequenceAsked: k.lossy}, Begun: 20, Last: 29}}
				}
			}
			if n == 1 && k.lossy == 0 {
				c.Ends[1].Trouble = &qp.Trouble{Sum: qp.Stalls{Count: 1, Rounds: [qp.NumCauses]uint32{qp.SequenceAsked: 12}, Begun: 20, Last: 29}}
			}
			r.Connections = append(r.Connections, c)
		}
		for _, i := range Of(r) {
			if i.Local.Addr != packet.IPv4Addr([]byte{10, 0, 0, 1}) {
				continue
			}
			said := slices.ContainsFunc(i.Facts, func(f Fact) bool {
				return strings.HasSuffix(f.Text, "the answers that this one waited for take the way of one of them")
			})
			if said != k.want || (i.FitsWith[0] == onePath) != k.want {
				t.Errorf("%s: %+v", k.name, i)
			}
		}
	}
}
