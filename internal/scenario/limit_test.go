package scenario

import (
	"context"
	"errors"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/hcaagent/soft"
	"ibwitness/internal/testkit/sample"
	"ibwitness/rule"
)

// endless is a sender that posts itself the same message again and again.
const endless = `hcas:
  a: {address: 10.0.0.1, fault: message-repeated, fault_always: true}
  b: 10.0.0.2
attributes: {type: UC}
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1}
work:
  - {qp: b1, op: receive, length: 1000, repeat: 10}
  - {qp: a1, op: send, length: 100, repeat: 4}
`

// TestLimit: a run without end is ended, judged, and it is said what repeats.
func TestLimit(t *testing.T) {
	for _, c := range []struct {
		text    string
		packets uint64
		want    string
	}{
		{"packets: 5000\n" + endless, 5000, `ended after 5000 packets, where its work takes about 4: of the last 1000, 1000 are UC SEND Only from a to b1. It was judged up to there; the cause may be the fault message-repeated of a; if more are to come, give packets: in the scenario, or --packets`},
		{
			"packets: 3000\n" + strings.NewReplacer("type: UC", "min_rnr_timer: 1", ", fault: message-repeated, fault_always: true", "", "repeat: 10", "repeat: 1").Replace(endless), 3000,
			`ended after 3000 packets, where its work takes about 8: of the last 1000, 750 are RC SEND Only from a to b1, 250 are RC Acknowledge from b to a1. It was judged up to there; if more`,
		},
	} {
		s, err := Read("x.yaml", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Start(Options{Live: true})
		if err != nil {
			t.Fatal(err)
		}
		res, err := agent.Run(context.Background(), r.Source, agent.Options{Near: r.NearAddrs(), Events: r.Logs()})
		if err != nil {
			t.Fatal(err)
		}
		var limit *LimitError
		if err = r.Exceeded(); !errors.As(err, &limit) || limit.Packets != c.packets || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %d packets, %s", err, c.packets, c.want)
		}
		if !r.Unfinished() || res.RDMA < c.packets-10 {
			t.Errorf("%d packets verified, unfinished: %v", res.RDMA, r.Unfinished())
		}
		if faulty := strings.Contains(c.text, "fault:"); faulty != (len(res.Findings) > 0 && res.Findings[0].Class == rule.Violation) {
			t.Errorf("a fault: %v; findings: %v", faulty, res.Findings)
		}
	}
}

// TestLimitSpares: what ends on its own has no limit to fear.
func TestLimitSpares(t *testing.T) {
	sample.Skip(t, "nothing runs beside it")
	s, err := Read("x.yaml", []byte(load))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Start(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if most := uint64(leastLimit + perPacket*340_000); r.meter.most != most {
		t.Errorf("%d packets may be sent, want %d", r.meter.most, most)
	}
	if r.Finish(); r.Exceeded() != nil || r.Unfinished() {
		t.Errorf("%v; %d packets sent of %d that the work takes", r.Exceeded(), r.meter.sent, s.takes())
	}
	if sent := r.meter.sent; sent > s.takes() {
		t.Errorf("%d packets sent where the work takes %d", sent, s.takes())
	}
}

// TestFaultsEnd: no fault keeps a run from its end for good, however often it shows.
func TestFaultsEnd(t *testing.T) {
	if raced {
		t.Skip(oneRoutine)
	}
	for _, typ := range []string{"RC", "UC", "UD"} {
		for i, name := range soft.FaultNames() {
			if i%sample.Stride(8) > 0 {
				continue
			}
			if f := soft.Faults[name]; f.Service.String() != typ && typ != "RC" {
				continue
			}
			for _, end := range []string{"a", "b"} {
				text := strings.NewReplacer("type: UC", "retry_cnt: 1, rnr_retry: 1, type: "+typ, "a: {address: 10.0.0.1, fault: message-repeated, fault_always: true}", "a: 10.0.0.1").Replace(endless)
				addr := map[string]string{"a": "10.0.0.1", "b": "10.0.0.2"}[end]
				text = strings.Replace(text, end+": "+addr, end+": {address: "+addr+", memory: 4096, fault: "+name+", fault_always: true}", 1)
				if typ == "UD" {
					text = strings.NewReplacer(", peer: b1", "", ", peer: a1", "", "op: send,", "op: send, to: b1,").Replace(text)
				} else {
					text += "  - {qp: a1, op: write, length: 3000, signaled: false}\n"
				}
				if typ == "RC" {
					text += "  - {qp: a1, op: read, length: 3000}\n  - {qp: a1, op: fetch_add}\n"
				}
				s, err := Read("x.yaml", []byte("packets: 20000\n"+text))
				if err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				r, err := s.Start(Options{})
				if err != nil {
					t.Fatal(err)
				}
				if r.Finish(); r.Exceeded() != nil && name != "message-repeated" {
					t.Errorf("%s on %s at %s: %v", name, typ, end, r.Exceeded())
				}
			}
		}
	}
}
