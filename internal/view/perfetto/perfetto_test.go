package perfetto

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/internal/view/report"
)

// traced is a trace as a reader sees it.
type traced struct {
	TraceEvents []struct {
		Ph, Name, Cat string
		PID, TID      int
		TS, Dur       float64
		Args          map[string]any
	}
	OtherData struct {
		Start string
		Left  int `json:"messages_left_out"`
	}
}

func trace(t *testing.T, src fabricagent.Source, workers, messages int) ([]byte, *traced, *agent.Result) {
	t.Helper()
	r, err := agent.Run(context.Background(), src, agent.Options{Workers: workers, Timing: true, Messages: messages})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Write(&out, &report.Run{Result: r}); err != nil {
		t.Fatal(err)
	}
	d := new(traced)
	if err := json.Unmarshal(out.Bytes(), d); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), d, r
}

func generated(t *testing.T) fabricagent.Source {
	t.Helper()
	src, err := fabricagent.OpenReader("traffic", bytes.NewReader(traffic.Capture(traffic.Small(40), 20_000)))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// TestTrace: every message is on a track, within which slices nest and do not overlap otherwise; each track and process has a name.
func TestTrace(t *testing.T) {
	src, err := fabricagent.Open([]string{filepath.Join("..", "..", "..", "testdata", "captures", "k6.1_nfs_link_flap.pcap.zst")})
	if err != nil {
		t.Fatal(err)
	}
	for name, src := range map[string]fabricagent.Source{"nfs": src, "generated": generated(t)} {
		_, d, r := trace(t, src, 1, 1<<20)
		want, got := 0, 0
		for i := range r.Connections {
			if k := r.Connections[i].Timing; k != nil {
				want += len(k.Messages)
			}
		}
		type track struct{ pid, tid int }
		type slice struct{ from, to float64 }
		spans, names, kinds := map[track][]slice{}, map[track]bool{}, map[string]int{}
		for _, e := range d.TraceEvents {
			at := track{e.PID, e.TID}
			kinds[e.Ph]++
			switch e.Ph {
			case metadata:
				names[at] = true
			case complete:
				spans[at] = append(spans[at], slice{e.TS, e.TS + e.Dur})
				if e.Cat == "message" {
					got++
				}
				if !names[track{e.PID, 0}] || e.Cat != "incident" && !names[at] {
					t.Fatalf("%s: %+v is on a track without a name", name, e)
				}
			}
		}
		for at, list := range spans {
			slices.SortFunc(list, func(a, b slice) int {
				switch {
				case a.from < b.from || a.from == b.from && a.to > b.to:
					return -1
				case a == b:
					return 0
				}
				return 1
			})
			var open []slice
			for _, s := range list {
				for len(open) > 0 && open[len(open)-1].to <= s.from+0.0005 {
					open = open[:len(open)-1]
				}
				if n := len(open); n > 0 && s.to > open[n-1].to+0.0015 {
					t.Fatalf("%s: track %v: %v overlaps %v", name, at, s, open[n-1])
				}
				open = append(open, s)
			}
		}
		if got+d.OtherData.Left != want || got == 0 || kinds[counter] == 0 {
			t.Errorf("%s: %d messages of %d, %d left out, %v", name, got, want, d.OtherData.Left, kinds)
		}
		if name == "nfs" && (kinds[instant] == 0 || d.TraceEvents[0].Args["name"] != "what happened") {
			t.Errorf("no findings, or nothing of what happened: %v", kinds)
		}
	}
}

// TestFewMessages: a trace has the first messages, says how many it lacks, and is the same whatever the number of workers.
func TestFewMessages(t *testing.T) {
	one, d, r := trace(t, generated(t), 1, 500)
	several, _, _ := trace(t, generated(t), 4, 500)
	if !bytes.Equal(one, several) {
		t.Error("four workers make another trace than one")
	}
	n := 0
	for _, e := range d.TraceEvents {
		if e.Cat == "message" {
			n++
		}
	}
	if n != 500 || uint64(d.OtherData.Left) != r.MessagesDropped || r.MessagesDropped < 1000 {
		t.Errorf("%d messages, %d left out", n, d.OtherData.Left)
	}
}
