package agent

import (
	"testing"
	"time"

	"ibwitness/packet"
	"ibwitness/rule"
)

// TestWithdrawDamaged: a request is not left out that came just before, damaged, so that it names another queue pair; another packet that is damaged does not explain a gap.
func TestWithdrawDamaged(t *testing.T) {
	a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	gap := func() rule.Finding {
		return rule.Finding{
			Rule: rule.RCPSN004, Class: rule.Unproven, PSN: 0, Gap: rule.GapAt(packet.PSNMask), Frame: 9, Time: 9000, Accused: rule.Endpoint{Addr: a}, Peer: rule.Endpoint{Addr: b, QPN: 0x8bb, QPNKnown: true},
		}
	}
	damaged := func() rule.Finding {
		return rule.Finding{Rule: rule.ROCV2019, Class: rule.Unproven, PSN: packet.PSNMask, Frame: 8, Time: 8000, Accused: rule.Endpoint{Addr: a}, Peer: rule.Endpoint{Addr: b, QPN: 0x28bb, QPNKnown: true}}
	}
	for name, tt := range map[string]struct {
		change func(gap, damaged *rule.Finding)
		stays  bool
	}{
		"the packet that is missing":  {func(_, _ *rule.Finding) {}, false},
		"two bits of the QPN":         {func(_, d *rule.Finding) { d.Peer.QPN = 0x28b9 }, false},
		"another QPN":                 {func(_, d *rule.Finding) { d.Peer.QPN = 0x1234 }, true},
		"the same QPN":                {func(_, d *rule.Finding) { d.Peer.QPN = 0x8bb }, true},
		"another PSN":                 {func(_, d *rule.Finding) { d.PSN = 7 }, true},
		"another host":                {func(_, d *rule.Finding) { d.Accused.Addr = packet.IPv4Addr([]byte{10, 0, 0, 3}) }, true},
		"after it":                    {func(_, d *rule.Finding) { d.Frame, d.Time = 10, 10000 }, true},
		"long before":                 {func(g, _ *rule.Finding) { g.Time += int64(time.Second) }, true},
		"another rule":                {func(_, d *rule.Finding) { d.Rule = rule.ROCV2018 }, true},
		"more is missing than it was": {func(g, _ *rule.Finding) { g.PSN = 1 }, true},
	} {
		r := rule.Recorder{Findings: []rule.Finding{damaged(), gap()}}
		r.Cover[rule.RCPSN004].Unproven = 1
		tt.change(&r.Findings[1], &r.Findings[0])
		withdrawDamaged(&r)
		if stays := len(r.Findings) == 2; stays != tt.stays || (r.Cover[rule.RCPSN004].Unproven == 1) != stays {
			t.Errorf("%s: %+v", name, r.Findings)
		}
	}
}
