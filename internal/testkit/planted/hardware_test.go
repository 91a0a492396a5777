package planted

import (
	"fmt"
	"maps"
	"os"
	"testing"

	"ibwitness/hcaagent"
	"ibwitness/hcaagent/eventlog"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestHardware verifies captures of RDMA hardware in simulation, with the tap at 10.0.0.1: exactly what is wrong with it is found.
func TestHardware(t *testing.T) {
	for name, want := range map[string]map[string]int{
		"surf_clean": {"BTH-012": 4},
		// The timer starts with the first packet of a burst, and the completion has RESP_TIMEOUT_ERR.
		"surf_blackhole": {"BTH-012": 8, "RC-TMO-002": 2, "CPL-STS-006": 1},
		"fns_clean":      {},
		"fns_loss":       {},
		"fns_ackloss":    {},
		"fns_odd":        {"BTH-006": 1}, // it never pads
	} {
		t.Run(name, func(t *testing.T) {
			var logs []*hcaagent.Log
			if log := "testdata/hardware/" + name + ".jsonl"; exists(log) {
				l, err := eventlog.ReadFile(log)
				if err != nil {
					t.Fatal(err)
				}
				logs = append(logs, l)
			}
			r := judge(t, "testdata/hardware/"+name+".pcap", nil, logs, packet.IPv4Addr([]byte{10, 0, 0, 1}))
			found := map[string]int{}
			for i := range r.Findings {
				if f := &r.Findings[i]; f.Class != rule.Event {
					id := f.Rule.String()
					if f.Class == rule.Unproven {
						id += " unproven"
					}
					found[id]++
				}
			}
			if !maps.Equal(found, want) {
				t.Errorf("found %v, want %v", fmt.Sprint(found), fmt.Sprint(want))
			}
		})
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
