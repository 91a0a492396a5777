package verifier_test

import (
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"ibwitness/rule"
)

// TestFirstSent: a finding on a request that was left without an answer shows the frame of the request and its time, and not that of its retransmission.
func TestFirstSent(t *testing.T) {
	for name, tt := range map[string]struct {
		input string
		frame uint64
		at    time.Duration
	}{
		"the newest request": {`
0us   A>B  SEND_ONLY  psn=100 ackreq
3us   B>A  ACK
10us  A>B  SEND_ONLY  psn=101 ackreq
70ms  A>B  SEND_ONLY  psn=101 ackreq
71ms  B>A  ACK        psn=101
`, 3, 10 * time.Microsecond},
		"one before the newest": {`
0us   A>B  SEND_ONLY  psn=100 ackreq
3us   B>A  ACK
10us  A>B  SEND_ONLY  psn=101 ackreq
20us  A>B  SEND_ONLY  psn=102
70ms  A>B  SEND_ONLY  psn=101 ackreq
71ms  B>A  ACK        psn=101
`, 3, 10 * time.Microsecond},
		"one before another that asks": {`
0us   A>B  SEND_ONLY  psn=100 ackreq
3us   B>A  ACK
10us  A>B  SEND_ONLY  psn=101 ackreq
500us A>B  SEND_ONLY  psn=102 ackreq
70ms  A>B  SEND_ONLY  psn=101 ackreq
71ms  B>A  ACK        psn=101
`, 3, 10 * time.Microsecond},
	} {
		opt, err := parseOptions(&datadriven.TestData{Cmd: "trace"})
		if err != nil {
			t.Fatal(err)
		}
		s := newScenario(opt, opt.encaps[0])
		if err := s.run(tt.input); err != nil {
			t.Fatal(err)
		}
		n := slices.IndexFunc(s.agent.Rec.Findings, func(f rule.Finding) bool { return f.Rule == rule.RCRSP005 })
		if n < 0 {
			t.Errorf("%s: no finding", name)
			continue
		}
		f := s.agent.Rec.Findings[n]
		if d := time.Duration(f.Time-epoch) - tt.at; f.Frame != tt.frame || d > 32 || d < -32 {
			t.Errorf("%s: frame %d at %v, not frame %d at %v", name, f.Frame, time.Duration(f.Time-epoch), tt.frame, tt.at)
		}
	}
}
