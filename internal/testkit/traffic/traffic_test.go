package traffic_test

import (
	"bytes"
	"context"
	"io"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/rule"
)

// TestClean: nothing is broken in the traffic, every connection is paired, and frames are as long as they should be.
func TestClean(t *testing.T) {
	for _, k := range []struct {
		name    string
		shape   traffic.Shape
		packets int
		mean    int
	}{
		{"small", traffic.Small(64), 200_000, 105},
		{"large", traffic.Large(64), 100_000, 881},
		{"many", traffic.Small(2000), 100_000, 105},
		{"two hosts", traffic.Shape{Connections: 500, Hosts: 2, PMTU: 256, Message: 700, Mix: traffic.Mix{Write: 20, Read: 40, Atomic: 20}}, 50_000, 0},
	} {
		t.Run(k.name, func(t *testing.T) {
			k.packets, k.shape.Connections = sample.Part(k.packets, 4), sample.Part(k.shape.Connections, 4)
			raw := traffic.Capture(k.shape, k.packets)
			if mean := (len(raw)-24)/k.packets - 16; k.mean != 0 && (mean < k.mean-k.mean/100 || mean > k.mean+k.mean/100) {
				t.Errorf("frames of %d bytes, want %d", mean, k.mean)
			}
			var out bytes.Buffer
			if err := traffic.Write(&out, k.shape, k.packets); err != nil || !bytes.Equal(out.Bytes(), raw) {
				t.Errorf("Write and Capture differ: %v", err)
			}
			src, err := fabricagent.OpenReader("traffic", bytes.NewReader(raw))
			if err != nil {
				t.Fatal(err)
			}
			r, err := agent.Run(context.Background(), src, agent.Options{Workers: 1})
			if err != nil && err != io.EOF {
				t.Fatal(err)
			}
			for i := range r.Findings {
				if f := &r.Findings[i]; i < 10 || f.Class != rule.Event {
					t.Errorf("frame %d: %v %v: expected %s, actual %s (%s)", f.Frame, f.Rule, f.Opcode, f.Expected, f.Actual, f.Detail)
				}
				if i > 20 {
					break
				}
			}
			if r.RDMA != uint64(k.packets) || len(r.Connections) != k.shape.Connections {
				t.Errorf("%d packets, %d connections", r.RDMA, len(r.Connections))
			}
			for _, c := range r.Connections {
				if c.PairedBy != agent.ByPSN {
					t.Errorf("connection not paired: %+v", c)
					break
				}
			}
			t.Logf("%d of %d rules exercised; not judged: %v", exercised(r), rule.NumRules, r.NotJudged)
		})
	}
}

func exercised(r *agent.Result) (n int) {
	for _, c := range r.Cover {
		if c.Exercised > 0 {
			n++
		}
	}
	return n
}

// TestChurn: nothing is broken in what comes and goes, but what is spoiled.
func TestChurn(t *testing.T) {
	packets := sample.Part(100_000, 10)
	for _, faults := range []int{0, 50} {
		var out bytes.Buffer
		w := fabricagent.NewWriter(&out, "")
		if _, err := w.AddTap(fabricagent.Tap{Link: fabricagent.LinkEthernet}); err != nil {
			t.Fatal(err)
		}
		c := traffic.NewChurn(40, 8, faults, 1)
		for i := range packets {
			b := c.Next(nil)
			if err := w.Write(&fabricagent.Frame{Time: int64(1e18) + int64(i)*1e4, Link: fabricagent.LinkEthernet, Len: uint32(len(b)), Data: b}, ""); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		src, err := fabricagent.OpenReader("churn", &out)
		if err != nil {
			t.Fatal(err)
		}
		r, err := agent.Run(context.Background(), src, agent.Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		n := uint64(0)
		for i := range r.Findings {
			switch f := &r.Findings[i]; {
			case f.Class == rule.Event && (f.Rule == rule.EvConnect || f.Rule == rule.EvDisconnect):
			case f.Class == rule.Violation && f.Rule == rule.BTH009:
				n++
			default:
				t.Errorf("frame %d: %v %v: expected %s, actual %s (%s)", f.Frame, f.Rule, f.Opcode, f.Expected, f.Actual, f.Detail)
			}
		}
		if n != c.Spoiled || (n > 0) != (faults > 0) || c.Closed < uint64(packets*3/100) || r.Undecoded > 0 {
			t.Errorf("%d violations of %d, %d connections closed", n, c.Spoiled, c.Closed)
		}
	}
}
