package incident

import (
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// TestDeliveredRefused: where a receiver refuses what one host sends, and is ready all that time for what another sends, the network is said not to be
// it; without the other where that was silent, or was refused, too; not where anything else was retransmitted.
func TestDeliveredRefused(t *testing.T) {
	const came = "each RNR NAK answers a request that had come, and nothing else was retransmitted but what followed those: it is not the network"
	const told = came + "; 10.0.0.9 was ready meanwhile for all that 10.0.0.2 sent"
	at := func(s int64) int64 { return int64(time.Hour) + s*int64(time.Second) }
	client := func(n byte) agent.Connection {
		c := agent.Connection{Service: packet.RC, First: at(0), Timing: &timing.Connection{}}
		for k := range c.Ends {
			c.Ends[k] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, []byte{n, 9}[k]}), QPN: 0x20 + uint32(n), QPNKnown: true, Packets: 100, Messages: 50, Last: at(10)}
			c.Timing.Ends[k].Active = timing.Activity{First: at(0), Last: at(10)}
		}
		c.Timing.Ends[0].Ops[wqe.Send] = new(timing.Operation)
		return c
	}
	trouble := func() *qp.Trouble {
		k := &qp.Trouble{}
		k.Now = qp.Stall{Since: at(2), Last: at(6), NAKs: 7}
		k.RNR.NAKs = 7
		return k
	}
	for _, tt := range []struct {
		name   string
		change func(k *qp.Trouble, other *agent.Connection)
		want   string
	}{
		{"another", func(*qp.Trouble, *agent.Connection) {}, told},
		{"silent meanwhile", func(_ *qp.Trouble, other *agent.Connection) {
			other.Timing.Ends[0].Active.Silences = []timing.Silence{{From: at(2), To: at(6)}}
		}, came},
		{"silent meanwhile, for less long than ever", func(_ *qp.Trouble, other *agent.Connection) {
			for n := range timing.MostSilences {
				other.Timing.Ends[0].Active.Silences = append(other.Timing.Ends[0].Active.Silences, timing.Silence{From: at(-60 + 6*int64(n)), To: at(-55 + 6*int64(n))})
			}
		}, came},
		{"WRITEs only", func(_ *qp.Trouble, other *agent.Connection) {
			other.Timing.Ends[0].Ops = [len(other.Timing.Ends[0].Ops)]*timing.Operation{wqe.Write: new(timing.Operation)}
		}, came},
		{"refused, too", func(_ *qp.Trouble, other *agent.Connection) { other.Ends[0].Trouble = trouble() }, came},
		{"a timer", func(k *qp.Trouble, _ *agent.Connection) { k.Sum.Rounds[qp.TimerExpired] = 1 }, ""},
		{"of the same host", func(_ *qp.Trouble, other *agent.Connection) {
			other.Ends[0].Addr = packet.IPv4Addr([]byte{10, 0, 0, 1})
		}, came},
	} {
		c, other, k := client(1), client(2), trouble()
		c.Ends[0].Trouble = k
		tt.change(k, &other)
		r := &agent.Result{RDMA: 200, First: at(0), Last: at(10), Connections: []agent.Connection{c, other}}
		if got := newTeller(r).deliveredRefused(&r.Connections[0], 0, k); got != tt.want {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}
