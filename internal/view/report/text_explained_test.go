package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/packet"
	pair "ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier/rc"
)

// TestExcuse: where NAKs show that packets of the same requester to the same responder were lost after the tap, the verdict line says that this would explain why the responder did not answer; where there are
// losses in the capture, and all that is suspected is what losses would explain, it says so, but not of an endpoint next to the tap.
func TestExcuse(t *testing.T) {
	const asked, lost, damaged = "which would explain that", "; packets that were lost or late would explain that", "; packets that were damaged, lost or late would explain that"
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	suspicion := func(r rule.ID, qpn uint32) rule.Finding {
		return rule.Finding{Rule: r, Class: rule.Unproven, Time: 2, Frame: 2, Accused: rule.Endpoint{Role: rule.Responder, Addr: addr(2), QPN: qpn + 16, QPNKnown: true}, Peer: rule.Endpoint{Addr: addr(1), QPN: qpn, QPNKnown: true}}
	}
	for _, k := range []struct {
		name     string
		after    uint32 // of the first connection
		near     bool
		findings []rule.Finding
		want     string
	}{
		{"lost after the tap", 2, false, []rule.Finding{suspicion(rule.RCRSP005, 1)}, asked},
		{"not known where", 0, false, []rule.Finding{suspicion(rule.RCRSP005, 1)}, lost},
		{"lost of another requester", 2, false, []rule.Finding{suspicion(rule.RCRSP005, 2)}, lost},
		{"lost of one of two", 2, false, []rule.Finding{suspicion(rule.RCRSP005, 1), suspicion(rule.RCRSP005, 2)}, lost},
		{"a gap", 2, false, []rule.Finding{suspicion(rule.RCRSP005, 1), suspicion(rule.RCPSN004, 1)}, lost},
		{"damage", 2, false, []rule.Finding{suspicion(rule.ROCV2019, 1), suspicion(rule.RCPSN004, 1)}, damaged},
		{"another rule", 2, false, []rule.Finding{suspicion(rule.RCRSP005, 1), suspicion(rule.RCRSP006, 1)}, ""}, // of which only the second is named
		{"the tap is at the responder", 2, true, []rule.Finding{suspicion(rule.RCRSP005, 1)}, ""},
	} {
		r := &agent.Result{RDMA: 4, Packets: 4, First: 1, Last: int64(time.Second), Findings: k.findings}
		for n := range uint32(2) {
			c := agent.Connection{Service: packet.RC, First: 1, FirstFrame: 1}
			for e := range c.Ends {
				c.Ends[e] = agent.End{Addr: addr(byte(1 + e)), QPN: n + 1 + 16*uint32(e), QPNKnown: true, Near: k.near && e == 1, Packets: 200, Last: 2}
			}
			if n == 0 {
				c.Ends[0].Trouble = &pair.Trouble{Sum: pair.Stalls{Count: 1, Rounds: [pair.NumCauses]uint32{pair.SequenceAsked: 2}, Begun: 1, Last: 2}}
				c.Ends[0].Trouble.Asked.After = k.after
			}
			r.Connections = append(r.Connections, c)
		}
		var out bytes.Buffer
		if err := (&text{}).Report(&out, &Run{Result: r}); err != nil {
			t.Fatal(err)
		}
		verdict, _, _ := strings.Cut(out.String(), "What happened")
		line := strings.Join(strings.Fields(verdict), " ")
		for _, excuse := range []string{asked, lost, damaged} {
			head := "INCIDENT no violation is proven, but 1 incident; "
			if k.want == "" || k.want == damaged {
				head = "NOT PROVEN no violation is proven, but 1 incident; open: "
			}
			if strings.Contains(line, excuse) != (k.want == excuse) || !strings.HasPrefix(line, head) || strings.Contains(line, " against ") != (k.want == "" || k.want == damaged) {
				t.Errorf("%s: %s", k.name, verdict)
			}
		}
	}
}

// TestExcuseOfOrder: where an incident shows that packets between two hosts came after later ones, the verdict line says that this would explain what is suspected of these hosts for the order of packets, but not
// of others, of an endpoint next to the tap, or for something else.
func TestExcuseOfOrder(t *testing.T) {
	const late = "; packets that came late would explain that"
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	suspicion := func(r rule.ID, of byte) rule.Finding {
		return rule.Finding{Rule: r, Class: rule.Unproven, Time: 2, Frame: 2, Accused: rule.Endpoint{Addr: addr(of), QPN: 17, QPNKnown: true}, Peer: rule.Endpoint{Addr: addr(1), QPN: 1, QPNKnown: true}}
	}
	for _, k := range []struct {
		name     string
		kind     incident.Kind
		near     bool
		findings []rule.Finding
		want     bool
	}{
		{"order", incident.Reordered, false, []rule.Finding{suspicion(rule.RCPSN004, 2), suspicion(rule.RCRSP006, 2), suspicion(rule.RCRSP013, 2), suspicion(rule.RCRSP017, 2)}, true},
		{"NAKs", incident.Reordered, false, []rule.Finding{suspicion(rule.RCRSP002, 2), suspicion(rule.RCRSP003, 2)}, true},
		{"NAKs of losses", incident.Loss, false, []rule.Finding{suspicion(rule.RCRSP002, 2)}, false},
		{"between other hosts", incident.Reordered, false, []rule.Finding{suspicion(rule.RCPSN004, 2), suspicion(rule.RCRSP006, 3)}, false},
		{"something else", incident.Reordered, false, []rule.Finding{suspicion(rule.RCPSN004, 2), suspicion(rule.RCRSP016, 2)}, false},
		{"near", incident.Reordered, true, []rule.Finding{suspicion(rule.RCRSP006, 2)}, false},
		{"of losses", incident.Loss, false, []rule.Finding{suspicion(rule.RCRSP006, 2)}, false},
	} {
		r := &agent.Result{Findings: k.findings, Connections: []agent.Connection{{Ends: [2]agent.End{{Addr: addr(1)}, {Addr: addr(2), Near: k.near}}}}}
		shown := &text{res: r, run: &Run{Result: r, told: true}}
		shown.run.incidents = []incident.Incident{{Kind: k.kind, Local: incident.Party{Addr: addr(1)}, Peer: incident.Party{Addr: addr(2)}}}
		if got := shown.excuse(); (got == late) != k.want {
			t.Errorf("%s: %q", k.name, got)
		}
	}
}

// TestExcuseUnheld: where the capture lost packets, and nothing shows that the network did, the verdict line says that this would explain responses to requests which the tap may have missed; not where the capture lost none, the
// network lost some, or another suspicion is among these.
func TestExcuseUnheld(t *testing.T) {
	const unheld = "; packets that the capture lost would explain that"
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	suspicion := func(r rule.ID, detail string) rule.Finding {
		return rule.Finding{Rule: r, Class: rule.Unproven, Time: 2, Frame: 2, Accused: rule.Endpoint{Role: rule.Responder, Addr: addr(2), QPN: 17, QPNKnown: true}, Peer: rule.Endpoint{Addr: addr(1), QPN: 1, QPNKnown: true}, Detail: detail}
	}
	for _, k := range []struct {
		name     string
		dropped  uint64
		lost     uint32 // by the network, of the connection
		findings []rule.Finding
		want     bool
	}{
		{"the capture lost some", 20, 0, []rule.Finding{suspicion(rule.RCRSP006, rc.TapMissed), suspicion(rule.RCRES001, "")}, true},
		{"the capture lost none", 0, 0, []rule.Finding{suspicion(rule.RCRSP006, rc.TapMissed)}, false},
		{"the network lost some too", 20, 1, []rule.Finding{suspicion(rule.RCRSP006, rc.TapMissed)}, false},
		{"the request may be older", 20, 0, []rule.Finding{suspicion(rule.RCRSP006, "the request may have arrived before the capture began")}, false},
		{"damage", 20, 0, []rule.Finding{suspicion(rule.RCRSP006, rc.TapMissed), suspicion(rule.ROCV2019, "")}, false},
	} {
		r := &agent.Result{RDMA: 4000, Packets: 4000, First: 1, Last: int64(time.Second), Findings: k.findings, Dropped: k.dropped}
		c := agent.Connection{Service: packet.RC, First: 1, FirstFrame: 1}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: addr(byte(1 + e)), QPN: 1 + 16*uint32(e), QPNKnown: true, Packets: 200, Last: 2}
		}
		if k.lost > 0 {
			c.Ends[0].Trouble = &pair.Trouble{Sum: pair.Stalls{Count: 1, Rounds: [pair.NumCauses]uint32{pair.SequenceAsked: k.lost}, Begun: 1, Last: 2}}
		}
		r.Connections = append(r.Connections, c)
		var out bytes.Buffer
		if err := (&text{}).Report(&out, &Run{Result: r}); err != nil {
			t.Fatal(err)
		}
		verdict, _, _ := strings.Cut(out.String(), "What happened")
		if line := strings.Join(strings.Fields(verdict), " "); strings.Contains(line, unheld) != k.want || strings.HasPrefix(line, "NOT PROVEN") != (k.dropped == 0 || k.findings[0].Detail != rc.TapMissed || k.name == "damage") {
			t.Errorf("%s: %s", k.name, verdict)
		}
	}
}

// TestExplainedByIncident: what a host seems to have done in an incident that tells of it does not lead the verdict: an ACK after the NAK that ended a connection, a message beyond the credits of a receiver that was not
// ready. Another suspicion, or one of another time or host, does.
func TestExplainedByIncident(t *testing.T) {
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	for _, k := range []struct {
		kind incident.Kind
		rule rule.ID
		of   byte
		at   int64
		want bool
	}{
		{incident.Refused, rule.RCRSP027, 2, 2, true},
		{incident.Refused, rule.RCRSP027, 3, 2, false},
		{incident.Refused, rule.RCRSP027, 2, int64(time.Minute), false},
		{incident.Refused, rule.RCCRD001, 2, 2, false},
		{incident.NotReady, rule.RCCRD001, 2, 2, true},
		{incident.Exhausted, rule.RCCRD001, 2, 2, true},
		{incident.NotReady, rule.RCRSP027, 2, 2, false},
		{incident.Slow, rule.RCCRD001, 2, 2, false}, // its peer may have posted receives
	} {
		f := rule.Finding{Rule: k.rule, Class: rule.Unproven, Time: k.at, Accused: rule.Endpoint{Addr: addr(k.of)}, Peer: rule.Endpoint{Addr: addr(1)}}
		r := &agent.Result{}
		shown := &text{res: r, run: &Run{Result: r, told: true}}
		shown.run.incidents = []incident.Incident{{Kind: k.kind, Local: incident.Party{Addr: addr(1)}, Peer: incident.Party{Addr: addr(2)}, Begin: 1, End: 3}}
		if got := shown.explained(&f, nil); got != k.want {
			t.Errorf("%v, %v of %v at %d: %t", k.kind, k.rule, f.Accused.Addr, k.at, got)
		}
	}
}
