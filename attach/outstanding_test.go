package attach_test

import (
	"strings"
	"testing"

	"ibwitness/attach"
	"ibwitness/fabricagent"
	"ibwitness/hcaagent/eventlog"
)

// TestOutstandingNote: what is outstanding says where its requester may wait for it no more, because it has retransmitted and nothing tells how often it may; before that it does not.
func TestOutstandingNote(t *testing.T) {
	const folder = "../internal/testkit/planted/testdata/hardware/"
	log, err := eventlog.ReadFile(folder + "surf_blackhole.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	src, err := fabricagent.Open([]string{folder + "surf_blackhole.pcap"})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := attach.Open([]byte(`{"time": "unix", "taps": [{"name": "wire", "near": "` + log.Addr.String() + `"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var without, with int
	for {
		b, err := src.Next()
		if b != nil {
			for i := range b.Frames {
				f := &b.Frames[i]
				if _, err := r.Frame(0, f.Way, uint64(f.Time), f.Data, int(f.Len)); err != nil {
					t.Fatal(err)
				}
				for _, o := range r.Outstanding() {
					switch json := string(o.JSON()); {
					case o.Note == "" && with == 0 && !strings.Contains(json, `"note"`):
						without++
					case strings.HasPrefix(o.Note, "the requester may have given up") && strings.Contains(json, `"note":"the requester may have given up`):
						with++
					default:
						t.Errorf("after frame %d: %s", f.Number, json)
					}
				}
			}
			b.Release()
		}
		if err != nil {
			break
		}
	}
	if without == 0 || with == 0 {
		t.Errorf("outstanding without the note %d times, with it %d times", without, with)
	}
}
