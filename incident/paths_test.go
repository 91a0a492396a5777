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

// TestPaths: of several queue pairs between two hosts it is told how many lost packets, and by which ports; of few it is not.
func TestPaths(t *testing.T) {
	for _, k := range []struct {
		name          string
		lossy, steady int    // steady: less than 0 where these begin when the others have lost their packets
		rounds, timer uint32 // of each
		responses     uint32
		want          string
	}{
		{"one of four", 1, 3, 3, 0, 0, "1 of 4 queue pairs from 10.0.0.1 to 10.0.0.2 had to retransmit (UDP source port 50000): it may be one path of several; the others lost none (UDP source ports 50001, 50002, 50003)"},
		{"two of six", 2, 4, 2, 0, 0, "2 of 6 queue pairs from 10.0.0.1 to 10.0.0.2 had to retransmit (UDP source ports 50000, 50001): it may be one path of several"},
		{"one of four, whose timer ran out", 1, 3, 0, 3, 0, "1 of 4 queue pairs from 10.0.0.1 to 10.0.0.2 had to retransmit (UDP source port 50000): it may be one path of several"},
		{"all", 3, 0, 1, 0, 0, "all 3 queue pairs from 10.0.0.1 to 10.0.0.2 had to retransmit, so that it is not one path of several"},
		{"all, and others that began later", 3, -3, 1, 0, 0, "all 3 queue pairs from 10.0.0.1 to 10.0.0.2 had to retransmit, so that it is not one path of several"},
		{"all but one that sent little", 4, 0, 1, 0, 0, "all 4 queue pairs from 10.0.0.1 to 10.0.0.2 but 1 that sent fewer than 64 packets had to retransmit, so that it is not one path of several"},
		{"most", 3, 1, 4, 0, 0, ""},
		{"one of two", 1, 1, 4, 0, 0, ""},
		{"by chance", 1, 9, 1, 0, 0, ""},
		{"responses of one of four", 1, 3, 0, 0, 3, "1 of 4 queue pairs from 10.0.0.1 to 10.0.0.2 had to retransmit (of lost responses: UDP source port 60000): it may be one path of several"},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		for n := range k.lossy + max(k.steady, -k.steady) {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
			if n >= k.lossy && k.steady < 0 {
				c.First = 20
			}
			from := n % 2 // who began does not matter
			for e, host := range []byte{1, 2} {
				at := (from + e) % 2
				c.Ends[at] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, host}), QPN: uint32(n + 16), QPNKnown: true, Packets: 100, Messages: 100 * uint64(2-host), Last: int64(time.Second)}
				c.Ends[at].Path = agent.Path{Known: true, Port: uint16(60000 + n)}
				if host == 1 {
					c.Ends[at].Path.Port = uint16(50000 + n)
					if n < k.lossy {
						c.Ends[at].Trouble = &qp.Trouble{Sum: qp.Stalls{Count: 1, Rounds: [qp.NumCauses]uint32{qp.SequenceAsked: k.rounds, qp.TimerExpired: k.timer, qp.ResponseLost: k.responses}, Begun: 5, Last: 9}}
					}
				}
			}
			if n == 3 && k.lossy == 4 {
				c.Ends[0].Messages, c.Ends[1].Messages = min(c.Ends[0].Messages, 20), min(c.Ends[1].Messages, 20)
				c.Ends[0].Packets, c.Ends[1].Packets = 20, 20
				c.Ends[0].Trouble, c.Ends[1].Trouble = nil, nil
			}
			r.Connections = append(r.Connections, c)
		}
		list := Of(r)
		if len(list) != 1 || list[0].Kind != Loss {
			t.Errorf("%s: %+v", k.name, list)
			continue
		}
		got := ""
		for _, f := range list[0].Facts {
			if f.Label == "paths" {
				got = f.Text
			}
		}
		if !strings.HasPrefix(got, k.want) || k.want == "" && got != "" {
			t.Errorf("%s: %q", k.name, got)
		}
		if one, fits := strings.Contains(got, "it may be one path"), slices.Index(list[0].FitsWith, onePath); one != (fits >= 0) || one && (fits == 0) != (k.timer == 0) {
			t.Errorf("%s: fits %q", k.name, list[0].FitsWith)
		}
	}
}

// TestPathsOfAll: where each pair of hosts has few queue pairs, it tells of paths that some of a pair lost packets and others did not, in several pairs, and that this is not by chance.
func TestPathsOfAll(t *testing.T) {
	for _, k := range []struct {
		name   string
		rounds [][]uint32 // of retransmission of each queue pair, by pair of hosts
		want   string
	}{
		{"one of two in three pairs", [][]uint32{{4, 0}, {0, 4}, {0, 0}}, "2 of 6 queue pairs in 3 pairs of hosts that have several had to retransmit (UDP source port 50000 from 10.0.0.0 to 10.0.1.0; UDP source port 50011 from 10.0.0.1 to 10.0.1.1), and in 2 of these pairs others between the same hosts did not: it may be one path of several"},
		{"two of two in one more", [][]uint32{{4, 0}, {3, 3}, {0, 4}, {0, 0}}, "4 of 8 queue pairs in 4 pairs of hosts that have several had to retransmit (UDP source port 50000 from 10.0.0.0 to 10.0.1.0; UDP source ports 50010, 50011 from 10.0.0.1 to 10.0.1.1; UDP source port 50021 from 10.0.0.2 to 10.0.1.2), and in 2 of these pairs"},
		{"in one pair", [][]uint32{{9, 0}, {0, 0}}, ""},
		{"by chance", [][]uint32{{1, 0}, {0, 2}, {1, 0}, {0, 1}, {0, 1}, {1, 0}}, ""},
		{"most", [][]uint32{{4, 0}, {0, 4}, {4, 4}, {4, 4}}, ""},
		{"whole pairs", [][]uint32{{4, 4}, {0, 0}, {0, 0}}, ""},
		{"one each", [][]uint32{{9}, {0}, {9}}, ""},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		for p, list := range k.rounds {
			for n, rounds := range list {
				c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
				c.Ends[0] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(p)}), QPN: uint32(n + 16), QPNKnown: true, Packets: 100, Messages: 100, Last: int64(time.Second)}
				c.Ends[0].Path = agent.Path{Known: true, Port: uint16(50000 + 10*p + n)}
				c.Ends[1] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 1, byte(p)}), QPN: uint32(n + 16), QPNKnown: true, Packets: 100, Last: int64(time.Second)}
				if rounds > 0 {
					c.Ends[0].Trouble = &qp.Trouble{Sum: qp.Stalls{Count: 1, Rounds: [qp.NumCauses]uint32{qp.SequenceAsked: rounds}, Begun: 5, Last: 9}}
				}
				r.Connections = append(r.Connections, c)
			}
		}
		for _, i := range Of(r) {
			got := ""
			for _, f := range i.Facts {
				if f.Label == "paths" {
					got = f.Text
				}
			}
			if !strings.HasPrefix(got, k.want) || k.want == "" && got != "" {
				t.Errorf("%s: %q", k.name, got)
			}
			if (k.want != "") != (i.FitsWith[0] == onePath) {
				t.Errorf("%s: fits %q", k.name, i.FitsWith)
			}
		}
	}
}
