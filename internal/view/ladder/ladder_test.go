package ladder

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/rule"
)

var update = flag.Bool("update", false, "rewrite the golden files; read them before committing")

// judge verifies a capture.
func judge(t *testing.T, file string) *agent.Result {
	t.Helper()
	src, err := fabricagent.Open([]string{file})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := agent.Run(context.Background(), src, agent.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// collect reads a capture a second time.
func collect(t *testing.T, file string, r *agent.Result, want func(*rule.Finding) bool) (list []*rule.Finding, c *Collector) {
	t.Helper()
	var flows []Flow
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Frame == 0 || !want(f) {
			continue
		}
		w := FlowOf(f)
		for j := range r.Connections {
			e := &r.Connections[j].Ends
			w.Complete(Flow{{Addr: e[0].Addr, QPN: e[0].QPN, QPNKnown: e[0].QPNKnown}, {Addr: e[1].Addr, QPN: e[1].QPN, QPNKnown: e[1].QPNKnown}})
		}
		list, flows = append(list, f), append(flows, w)
	}
	c = NewCollector(list, flows)
	src, err := fabricagent.Open([]string{file})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for {
		b, err := src.Next()
		if b == nil {
			if err == nil {
				continue
			}
			return list, c
		}
		for i := range b.Frames {
			var p packet.Packet
			if fabricagent.Decode(&b.Frames[i], &p).IsRDMA() {
				c.Add(&b.Frames[i], &p)
			}
		}
		b.Release()
	}
}

// draw writes a ladder as text.
func draw(l *Ladder) string {
	var b strings.Builder
	for i, e := range l.Ends {
		qpn := "?"
		if e.QPN != nil {
			qpn = fmt.Sprintf("0x%x", *e.QPN)
		}
		fmt.Fprintf(&b, "%s %s QP %s %s accused=%v\n", []string{"left ", "right"}[i], e.Address, qpn, e.Role, e.Accused)
	}
	for _, r := range l.Rows {
		if r.Skipped > 0 {
			fmt.Fprintf(&b, "            %d left out\n", r.Skipped)
		}
		arrow := []string{"-->", "<--"}[r.From]
		psn := ""
		if r.PSN != nil {
			psn = fmt.Sprintf("0x%06x", *r.PSN)
		}
		fmt.Fprintf(&b, "%5d %12d %s %-9s %s %s (%s) %s\n", r.Frame, r.At, arrow, r.Mark, r.Opcode, psn, r.Note, r.Kind)
	}
	for _, d := range l.Differs {
		fmt.Fprintf(&b, "%s, %s: expected %s, actual %s\n", d.Layer, d.Field, d.Expected, d.Actual)
	}
	return b.String()
}

// TestGolden draws ladders of captures, which were read by eye.
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		name, file string
		rule       rule.ID
		most       int
	}{
		{"nak_duplicate", "../../../testdata/captures/rnr_retry_exceeded.pcap", rule.RCRSP043, 0},
		{"rnr_wait", "../../../testdata/captures/rnr_retry_exceeded.pcap", rule.RCRNR005, 8},
		{"misaligned", "../../testkit/planted/testdata/err_atomic_misaligned.pcap", rule.RCATM001, 0},
		{"datagram", "../../testkit/planted/testdata/cm_rping_ipv6.pcap", rule.BTH015, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := judge(t, c.file)
			list, col := collect(t, c.file, r, func(f *rule.Finding) bool { return f.Rule == c.rule })
			if len(list) == 0 {
				t.Fatalf("%v was not found in %s", c.rule, c.file)
			}
			i := len(list) - 1
			l := Build(list[i], col.wants[i].flow.Flow, col.Frames(i), Options{Most: c.most})
			if l.Missing {
				t.Error("the offending frame is missing")
			}
			got := draw(l)
			for k := range l.Rows {
				if r := &l.Rows[k]; r.Mark == "offending" {
					fields, err := json.MarshalIndent(r.Layers, "", " ")
					if err != nil {
						t.Fatal(err)
					}
					got += compact(string(fields)) + "\n" + r.Hex + "\n"
				}
			}
			golden(t, c.name+".txt", got)
		})
	}
}

// compact puts every field on a line of its own.
func compact(s string) string {
	s = strings.ReplaceAll(s, "\n    ", " ")
	return strings.ReplaceAll(s, "\n   ]", " ]")
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
