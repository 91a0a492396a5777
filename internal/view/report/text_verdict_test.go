package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
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
