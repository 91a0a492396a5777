package incident

import (
	"slices"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestRefusedQueuePairs: where CM tells that all queue pairs for which a receiver was not ready receive from a shared receive queue, and that their requesters retry without end, that is told in place of what may be; not
// where it tells it of some. Where something was lost too, it is not told that nothing was. The connections are told for which the receiver was ready.
func TestRefusedQueuePairs(t *testing.T) {
	const shared, endless, clean, ready = "a shared receive queue of 10.0.0.9 that is empty, as its program posts receives too late or too few: CM says that these 2 queue pairs receive from one",
		"without end, so that nothing fails: rnr_retry is 7 on all 2 queue pairs, as 10.0.0.9 asked for in its REP", "nothing was lost on these 2 connections: only RNR NAKs had anything retransmitted",
		"10.0.0.9 took all that came on 1 other connection with the same hosts meanwhile (50 messages)"
	for _, k := range []struct {
		name string
		set  func(list []agent.Connection)
		not  []string
	}{
		{"all", func([]agent.Connection) {}, nil},
		{"one is not shared", func(list []agent.Connection) { list[1].Ends[1].SRQ = false }, []string{shared}},
		{"not by CM", func(list []agent.Connection) { list[0].PairedBy = agent.ByPSN }, []string{shared, endless}},
		{"one retries 6 times", func(list []agent.Connection) { list[1].Ends[0].RNRRetry = 6 }, []string{endless}},
		{"one lost something", func(list []agent.Connection) { list[1].Ends[0].Trouble.Sum.Rounds[qp.TimerExpired] = 1 }, []string{clean}},
		{"the other was idle", func(list []agent.Connection) { list[2].Ends[0].Last = 20 }, []string{ready}},
	} {
		list := make([]agent.Connection, 3)
		for n := range list {
			c := &list[n]
			*c = agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, PairedBy: agent.ByCM}
			c.Ends[0] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, 1}), QPN: uint32(0x10 + n), QPNKnown: true, Packets: 100, Messages: 50, Last: 900, Settings: agent.Settings{Known: qp.KnowsRNRRetry, RNRRetry: 7}}
			c.Ends[1] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, 9}), QPN: uint32(0x20 + n), QPNKnown: true, Packets: 50, Last: 900, Settings: agent.Settings{SRQ: true}}
			if n == 2 {
				continue
			}
			c.Ends[0].Trouble = &qp.Trouble{
				Sum: qp.Stalls{Count: 1, Rounds: [qp.NumCauses]uint32{qp.NotReady: 20}, Begun: 100, Last: 700}, Refused: qp.Sums{Packets: 20, Bytes: 200},
				RNR: qp.RNRSums{NAKs: 20, Least: 1, Most: 1, Waits: 20, MostForRequest: 20, First: 100, Last: 700},
			}
			c.Ends[1].RNRNAKs = 20
		}
		k.set(list)
		all := Of(&agent.Result{RDMA: 500, Packets: 500, First: 1, Last: 1000, Connections: list})
		at := slices.IndexFunc(all, func(i Incident) bool { return i.Kind == NotReady })
		if at < 0 {
			t.Fatalf("%s: %+v", k.name, all)
		}
		i := &all[at]
		told := strings.Join(i.FitsWith, "; ")
		for _, f := range i.Facts {
			told += "\n" + f.Text
		}
		for _, want := range []string{shared, endless, clean, ready} {
			if strings.Contains(told, want) == slices.Contains(k.not, want) {
				t.Errorf("%s: %q\n%s", k.name, want, told)
			}
		}
		if hedged := slices.Contains(i.FitsWith, fewReceives); hedged != slices.Contains(k.not, shared) || slices.Contains(i.Next, rnrSettings(i)) != slices.Contains(k.not, endless) {
			t.Errorf("%s: %q %q", k.name, i.FitsWith, i.Next)
		}
	}
}
