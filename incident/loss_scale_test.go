package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestNAKsOfAll: what hosts sent is told with how many NAKs asked for it, though not each had a round of its own.
func TestNAKsOfAll(t *testing.T) {
	for _, more := range []uint32{0, 1} {
		s := []lossScene{{1, 2, 10, 0, 0, 900, nil}, {1, 2, 10, 0, 0, 900, nil}, {1, 3, 0, 0, 0, 900, nil}}
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		for n := range s {
			r.Connections = append(r.Connections, s[n].connection(n))
		}
		r.Connections[0].Ends[1].SequenceNAKs = 10 + more
		want := map[uint32]string{0: "(20 PSN sequence NAKs)", 1: "(21 PSN sequence NAKs)"}[more]
		if list := Of(r); !strings.Contains(list[0].What, want) {
			t.Errorf("%d more: %s", more, list[0].What)
		}
	}
}

// TestOfOne: an incident of several connections says which numbers are of one, and the goodput of all where much was retransmitted on each.
func TestOfOne(t *testing.T) {
	const ms = int64(time.Millisecond)
	for _, k := range []struct {
		on   uint64 // connections in all
		want string
	}{
		{2, "2.4 Mbit/s of new payload on 2 connections in up to 100ms, where 4 Mbit/s was sent"},
		{3, "QP 0x7: as found"},
	} {
		i := &Incident{Local: Party{packet.IPv4Addr([]byte{10, 0, 0, 1}), 7, true}, Facts: []Fact{{"each", "few"}, {"goodput", "as found"}, {"cost", "much"}}}
		i.ofOne(&stormSum{on: 2, fresh: 300000 / 1e9, sent: 500000 / 1e9, longest: 100 * ms}, k.on)
		if i.Facts[1].Text != k.want || i.Facts[0].Text != "QP 0x7: few" || i.Facts[2].Text != "much" {
			t.Errorf("%d: %q", k.on, i.Facts)
		}
	}
}

// TestRoundsByNAKs: where some of the NAKs had no round of their own, both numbers are told; else one.
func TestRoundsByNAKs(t *testing.T) {
	for naks, want := range map[uint32]string{214: "(214 PSN sequence NAKs, 15 timeouts)", 222: "(214 rounds of retransmission by 222 PSN sequence NAKs, 15 timeouts)"} {
		i := &Incident{}
		i.costOfLosses(&lossSum{before: 229, lossy: 10, naks: 214, sentNAKs: naks, timers: 15}, false)
		if lost := i.Facts[1].Text; !strings.HasSuffix(lost, want) {
			t.Errorf("%d NAKs: %s", naks, lost)
		}
	}
}

// TestReorderedCounts: what an incident of packets that came late counts itself is not among its findings once more; where it counts no NAKs, it is.
func TestReorderedCounts(t *testing.T) {
	for _, naks := range []uint64{0, 33} {
		i := &Incident{Kind: Reordered, late: late{naks: naks}}
		f := &rule.Finding{Rule: rule.EvSeqNAK, Class: rule.Event}
		if i.counts(f) != (naks > 0) || i.counts(&rule.Finding{Rule: rule.EvDuplicate, Class: rule.Event}) {
			t.Errorf("%d NAKs", naks)
		}
	}
}
