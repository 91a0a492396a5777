package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestStarved: in captures of virtual machines that are stopped for long, nobody is accused but of what docs/departures.md describes.
func TestStarved(t *testing.T) {
	for _, c := range []struct{ name, near, want string }{
		// Nobody has seen the READ of frames 2319 and 2323 answered in time: the answer had just passed the tap.
		{"k612_stop_responder.ra", "10.88.0.1", "RC-RTY-001@250"},
		// The READ that frame 3633 answers came in frame 3609, before the NAK for it, and frame 1526 goes back for the NAK in frame 1438.
		{"k612_many_faults.gb", "10.88.0.2", ""},
		// The requester sent frame 290 before it took the fatal NAK, and frame 409 20 µs after the answer passed the tap.
		{"k612_delay_over_timeout.ra", "10.88.0.1", "RC-RTY-004@234 RC-SEQ-003@244 RC-RTY-004@247"},
		{"k612_delay_over_timeout.ra", "", "RC-RTY-004@234 RC-SEQ-003@244 RC-RTY-004@247"},
	} {
		src, err := fabricagent.Open([]string{"../testdata/captures/" + c.name + ".pcap.gz"})
		if err != nil {
			t.Fatal(err)
		}
		var opt agent.Options
		if c.near != "" {
			a, err := packet.ParseAddr(c.near)
			if err != nil {
				t.Fatal(err)
			}
			opt.Near = []packet.Addr{a}
		}
		r, err := agent.Run(context.Background(), src, opt)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range r.Findings {
			if f := &r.Findings[i]; f.Class == rule.Violation && f.Rule.Row().Severity == rule.Error {
				got = append(got, fmt.Sprintf("%v@%d", f.Rule, f.Frame))
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s, near %q: %s; want %s", c.name, c.near, s, c.want)
		}
	}
}
