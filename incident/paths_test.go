package incident

import (
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
		lossy, steady int
		rounds        uint32 // of each
		want          string
	}{
		{"one of four", 1, 3, 3, "1 of 4 queue pairs from 10.0.0.1 to 10.0.0.2 had to retransmit (UDP source port 50000): it may be one path of several"},
		{"two of six", 2, 4, 2, "2 of 6 queue pairs from 10.0.0.1 to 10.0.0.2 had to retransmit (UDP source ports 50000, 50001): it may be one path of several"},
		{"all", 3, 0, 1, "all 3 queue pairs from 10.0.0.1 to 10.0.0.2 had to retransmit, so that it is not one path of several"},
		{"most", 3, 1, 4, ""},
		{"one of two", 1, 1, 4, ""},
		{"by chance", 1, 9, 1, ""},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		for n := range k.lossy + k.steady {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
			from := n % 2 // who began does not matter
			for e, host := range []byte{1, 2} {
				at := (from + e) % 2
				c.Ends[at] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, host}), QPN: uint32(n + 16), QPNKnown: true, Packets: 100, Messages: 100 * uint64(2-host), Last: int64(time.Second)}
				if host == 1 {
					c.Ends[at].Path = agent.Path{Known: true, Port: uint16(50000 + n)}
					if n < k.lossy {
						c.Ends[at].Trouble = &qp.Trouble{Sum: qp.Stalls{Count: 1, Rounds: [qp.NumCauses]uint32{k.rounds}, Begun: 5, Last: 9}}
					}
				}
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
	}
}
