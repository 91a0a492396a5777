package incident

import (
	"fmt"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestGather: a finding belongs to the incident that consists of such, or else to the first one of its queue pairs, or hosts, while that lasted.
func TestGather(t *testing.T) {
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	party := func(n byte, qpn uint32) Party { return Party{Addr: addr(n), QPN: qpn, QPNKnown: qpn != 0} }
	end := func(n byte, qpn uint32) rule.Endpoint {
		return rule.Endpoint{Addr: addr(n), QPN: qpn, QPNKnown: qpn != 0}
	}
	list := []Incident{
		{Kind: Refused, Local: party(1, 0x11), Peer: party(2, 0x22), Connections: 1, Begin: 100, End: 100},
		{Kind: Loss, Local: party(2, 0x24), Peer: party(1, 0x13), Connections: 1, Begin: 50, End: 200},
		{Kind: Loss, Local: party(1, 0x15), Peer: party(3, 0x25), Connections: 4, Begin: 50, End: 200},
		{Kind: Congestion, Local: party(1, 0), Peer: party(2, 0), Begin: 0, End: 500},
		{Kind: Untrusted, Begin: 0, End: 500},
	}
	list = append(list, Incident{Kind: Trimmed, Local: party(1, 0), Peer: party(2, 0), Begin: 0, End: 500})
	list = append(list, Incident{Kind: Exhausted, Local: party(1, 0x19), Peer: party(4, 0x29), Connections: 1, Begin: 100, End: 200})
	gather(list, []rule.Finding{
		{Rule: rule.RCRSP043, Class: rule.Violation, Accused: end(4, 0x29), Peer: end(1, 0x19), Time: 210, Frame: 14}, // after the last retry
		{Rule: rule.RCRSP043, Class: rule.Violation, Accused: end(2, 0x22), Peer: end(1, 0x11), Time: 300, Frame: 1},  // after the NAK
		{Rule: rule.RCRSP043, Class: rule.Violation, Accused: end(2, 0x22), Peer: end(1, 0x11), Time: 310, Frame: 2},
		{Rule: rule.EvRetransmission, Accused: end(1, 0x11), Peer: end(2, 0x22), Time: 99, Frame: 3}, // before it
		{Rule: rule.EvDuplicateResponse, Accused: end(1, 0x13), Peer: end(2, 0), Time: 60, Frame: 4},
		{Rule: rule.EvDuplicateResponse, Accused: end(1, 0x77), Peer: end(2, 0x78), Time: 60, Frame: 5},  // another connection
		{Rule: rule.EvDuplicateResponse, Accused: end(1, 0x16), Peer: end(3, 0x26), Time: 60, Frame: 6},  // one of four
		{Rule: rule.EvDuplicateResponse, Accused: end(1, 0x16), Peer: end(3, 0x26), Time: 201, Frame: 7}, // later
		{Rule: rule.EvRetransmission, Accused: end(1, 0x13), Peer: end(2, 0), Time: 61, Frame: 9},        // which the incident counts itself
		{Rule: rule.EvSeqNAK, Accused: end(2, 0), Peer: end(1, 0x13), Time: 62, Frame: 10},
		{Rule: rule.RCRSP003, Accused: end(2, 0), Peer: end(1, 0x13), Time: 63, Frame: 11, Class: rule.Unproven},
		{Rule: rule.EvCNP, Accused: end(2, 0), Peer: end(1, 0x77), Time: 400, Frame: 8},
		{Rule: rule.EvTrimmed, Accused: end(1, 0x13), Peer: end(2, 0x24), Time: 100, Frame: 12}, // while the loss lasted
		{Rule: rule.EvTrimmed, Accused: end(1, 0x13), Peer: end(2, 0x24), Time: 300, Frame: 13},
	})
	var got []string
	for i := range list {
		s := list[i].Kind.String()
		for _, f := range list[i].Found {
			s += fmt.Sprintf(" %v %v %d@%d", f.Rule, f.Class, f.Count, f.Frame)
		}
		got = append(got, s)
	}
	want := []string{"refused RC-RSP-043 violation 2@1", "loss RC-RSP-003 unproven 1@11 EV-DUPLICATE-RESPONSE event 1@4", "loss EV-DUPLICATE-RESPONSE event 1@6", "congestion EV-CNP event 1@8", "capture", "trimmed EV-TRIMMED event 2@12", "not-ready-exhausted RC-RSP-043 violation 1@14"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

// TestCountAll: where not all findings are kept, those of a rule whose kept ones all belong to an incident are counted; of others there may be more. Where all are kept, nothing changes.
func TestCountAll(t *testing.T) {
	for forgotten, want := range map[uint64]string{0: "[{2 false} {2 false} {1 false}]", 9: "[{11 false} {2 true} {1 false}]"} {
		r := &agent.Result{Forgotten: agent.Forgotten{Events: forgotten}}
		for n, of := range []rule.ID{rule.EvCE, rule.EvCE, rule.EvCNP, rule.EvCNP, rule.EvCNP, rule.EvTimeout} {
			r.Findings = append(r.Findings, rule.Finding{Rule: of, Class: rule.Event, Frame: uint64(n)})
			r.Cover[of].Exercised++
		}
		r.Cover[rule.EvCE].Exercised, r.Cover[rule.EvCNP].Exercised = 2+forgotten, 3+forgotten
		list := []Incident{{Found: []Found{{Rule: rule.EvCE, Class: rule.Event, Count: 2}, {Rule: rule.EvCNP, Class: rule.Event, Count: 2}, {Rule: rule.EvTimeout, Class: rule.Event, Count: 1}}}}
		countAll(list, r)
		type said struct {
			n     uint64
			least bool
		}
		var got []said
		for _, f := range list[0].Found {
			got = append(got, said{f.Count, f.Least})
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%d forgotten: %v", forgotten, got)
		}
	}
}
