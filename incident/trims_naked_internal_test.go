package incident

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// TestOnlyTrimsNaked: losses are those of trimmed packets where each NAK asks for such, and what had passed the tap whole was taken without a retransmission; where one asks for another packet, or for what was not taken so, others were lost.
func TestOnlyTrimsNaked(t *testing.T) {
	a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	for name, k := range map[string]struct {
		naks, after, late uint32
		want              bool
	}{
		"none of what had passed": {3, 0, 0, true},
		"taken":                   {2, 1, 1, true},
		"not taken":               {2, 1, 0, false},
		"of another packet":       {3, 1, 1, false},
	} {
		r := &agent.Result{First: 1, Last: 2}
		add := func(id rule.ID, from, to packet.Addr, qpn, peer uint32, psn packet.PSN) {
			n := len(r.Findings) + 1
			r.Findings = append(r.Findings, rule.Finding{Rule: id, Class: rule.Event, Accused: rule.Endpoint{Addr: from, QPN: qpn}, Peer: rule.Endpoint{Addr: to, QPN: peer}, PSN: psn, Frame: uint64(n), Time: int64(n)})
		}
		add(rule.EvTrimmed, a, b, 7, 9, 20)
		add(rule.EvSeqNAK, b, a, 9, 7, 20)
		add(rule.EvRetransmission, a, b, 7, 9, 20)
		add(rule.EvSeqNAK, b, a, 9, 7, 20)
		tell := newTeller(r)
		tell.cut = map[way]bool{{a, b}: true}
		c := &agent.Connection{}
		c.Ends[0].Addr, c.Ends[0].QPN, c.Ends[0].QPNKnown, c.Ends[1].Addr = a, 7, true, b
		c.Ends[1].SequenceNAKs = k.naks
		x := &qp.Trouble{}
		x.Asked.After, x.Asked.Late = k.after, k.late
		if got := tell.onlyTrimsNaked(c, 0, x); got != k.want {
			t.Errorf("%s: %t", name, got)
		}
		if s := tell.repairsTo(b).asksForTrims(uint64(k.naks)); strings.HasPrefix(s, "all of its 2 PSN sequence NAKs, for 1 PSN, ask") != (k.naks == 2) {
			t.Errorf("%s: %s", name, s)
		}
	}
}
