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
)

// TestVerdictOfIncident: where a connection ended by a NAK, or packets were retransmitted, the text does not begin with CLEAN, though the verdict is that.
func TestVerdictOfIncident(t *testing.T) {
	refused := &pair.Trouble{Refusal: pair.Refusal{Code: packet.NAKRemoteAccess, Time: 2, Frame: 2}}
	lost := &pair.Trouble{Sum: pair.Stalls{Count: 1, Rounds: [pair.NumCauses]uint32{1}, Begun: 1, Last: 2}}
	costly := &pair.Trouble{Sum: pair.Stalls{Count: 1, Rounds: [pair.NumCauses]uint32{1}, Lost: int64(time.Second), Begun: 1, Last: 2}}
	for _, k := range []struct {
		trouble *pair.Trouble
		want    string
	}{{nil, "CLEAN  nothing violated; "}, {lost, "INCIDENT  nothing violated, but 1 incident; "}, {costly, "INCIDENT  nothing violated, but 1 incident; "}, {refused, "INCIDENT  nothing violated, but 1 incident; "}} {
		r := &agent.Result{RDMA: 4, Packets: 4, First: 1, Last: int64(time.Second), Connections: []agent.Connection{{Service: packet.RC, First: 1, FirstFrame: 1}}}
		for e := range r.Connections[0].Ends {
			r.Connections[0].Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), Packets: 2, Last: 2}
		}
		r.Connections[0].Ends[0].Trouble = k.trouble
		run := &Run{Result: r}
		var out bytes.Buffer
		if err := (&text{}).Report(&out, run); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.String(), k.want) || run.Verdict() != Clean {
			t.Errorf("%v: %s, want %q", run.Verdict(), out.String(), k.want)
		}
	}
}

// TestAmid: the verdict line ends with what happened where all violations were found while that lasted, and not where one came later.
func TestAmid(t *testing.T) {
	for _, k := range []struct {
		at   int64
		want string
	}{{5, " by 10.0.0.2, while packets were retransmitted (see below)\n"}, {50, " by 10.0.0.2\n"}} {
		r := &agent.Result{RDMA: 4, Packets: 4, First: 1, Last: int64(time.Second), Connections: []agent.Connection{{Service: packet.RC, First: 1, FirstFrame: 1}}}
		for e := range r.Connections[0].Ends {
			r.Connections[0].Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), QPN: 0x20, QPNKnown: true, Packets: 2, Last: 2}
		}
		r.Connections[0].Ends[0].Trouble = &pair.Trouble{Sum: pair.Stalls{Count: 1, Rounds: [pair.NumCauses]uint32{1}, Begun: 1, Last: 10}}
		a := func(n byte) rule.Endpoint {
			return rule.Endpoint{Addr: packet.IPv4Addr([]byte{10, 0, 0, n}), QPN: 0x20, QPNKnown: true}
		}
		r.Findings = []rule.Finding{{Rule: rule.RCRES001, Class: rule.Violation, Time: k.at, Frame: 3, Accused: a(2), Peer: a(1)}}
		var out bytes.Buffer
		if err := (&text{}).Report(&out, &Run{Result: r}); err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(out.String(), "\n\n")
		if head = strings.Join(strings.Fields(head), " ") + "\n"; !strings.HasPrefix(head, "VIOLATED 1 violation of RC-RES-001") || !strings.HasSuffix(head, k.want) {
			t.Errorf("%s, want %q", out.String(), k.want)
		}
	}
}

// TestFormOnly: the verdict line begins with a sender that does not heed CNPs where all that is violated is the form of these; not where another rule is, too, or no incident has such a headline.
func TestFormOnly(t *testing.T) {
	const first = "10.0.0.1 QP 0x12 does not slow down at CNPs"
	breach := func(id rule.ID) rule.Finding {
		return rule.Finding{Rule: id, Class: rule.Violation, Frame: 3, Accused: rule.Endpoint{Addr: packet.IPv4Addr([]byte{10, 0, 0, 2})}}
	}
	for _, k := range []struct {
		name, headline string
		rules          []rule.ID
		told           bool
	}{
		{"form only", first, []rule.ID{rule.CNGCNP003}, true},
		{"and another rule", first, []rule.ID{rule.CNGCNP003, rule.RCRES001}, false},
		{"no headline", "", []rule.ID{rule.CNGCNP003}, false},
	} {
		r := &agent.Result{RDMA: 4, Packets: 4}
		for _, id := range k.rules {
			r.Findings = append(r.Findings, breach(id))
		}
		run := &Run{Result: r, told: true, incidents: []incident.Incident{{Kind: incident.Congestion, Headline: k.headline}}}
		if _, got := run.Head(); strings.HasPrefix(got, first+" (told first); beside that, 1 violation of CNG-CNP-003") != k.told || strings.Contains(got, "told first") != k.told {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
