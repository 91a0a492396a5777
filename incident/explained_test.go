package incident

import (
	"slices"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestMostlyOvertaken: a round of retransmission comes after many packets that were overtaken, which it most likely is one of, and before few; where nothing numbers these, no packet came twice, and the
// responder has asked for none, nothing shows that anything was retransmitted.
func TestMostlyOvertaken(t *testing.T) {
	for name, tt := range map[string]struct {
		packets, numbered, twice, naks uint32
		want                           []Kind
	}{
		"few":            {9, 0, 0, 0, []Kind{Loss, Reordered}},
		"many":           {10, 0, 0, 0, []Kind{Reordered}},
		"numbered":       {10, 10, 0, 0, []Kind{Reordered, Loss}},
		"some twice":     {10, 0, 2, 0, []Kind{Reordered, Loss}},
		"some asked for": {10, 0, 0, 1, []Kind{Reordered, Loss}},
	} {
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), QPN: 16, QPNKnown: true, Packets: 100, Last: int64(time.Second)}
		}
		c.Ends[1].Duplicates, c.Ends[1].NAKs = tt.twice, tt.naks
		x := &qp.Trouble{Sum: qp.Stalls{Count: 1, Rounds: [qp.NumCauses]uint32{1}, Begun: 5, Last: 9}}
		x.Overtaking = &qp.Overtaking{Sum: qp.Overtaken{Packets: tt.packets, Numbered: tt.numbered, Depth: 2, First: 5, Last: 9}}
		c.Ends[0].Trouble = x
		var got []Kind
		for _, i := range Of(&agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Connections: []agent.Connection{c}}) {
			got = append(got, i.Kind)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
