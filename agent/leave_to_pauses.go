package agent

import (
	"slices"
	"time"

	"ibwitness/link"
	"ibwitness/rule"
)

const (
	// holding is for how long a port has to have the other end of its link pause for timers to run out meanwhile.
	holding = time.Millisecond
	// draining is for how long what was held comes after a pause.
	draining = int64(10 * time.Millisecond)
)

// leaveToPauses takes the suspicions back that requesters retransmitted what they knew to be acknowledged, where a pause held what they sent: it was sent before the acknowledgment, and comes after it.
func leaveToPauses(r *Result) {
	if len(r.Paused) == 0 {
		return
	}
	r.Findings = slices.DeleteFunc(r.Findings, func(f rule.Finding) bool {
		held := f.Rule == rule.RCRTY010 && f.Class == rule.Unproven && !f.Beyond && slices.ContainsFunc(r.Paused, func(p link.Paused) bool { return holds(&p, &f) })
		if held {
			r.Cover[f.Rule].Unproven--
		}
		return held
	})
}

// holds reports whether a pause held what is sent to the peer of who is accused until a finding, or shortly before it.
func holds(p *link.Paused, f *rule.Finding) bool {
	if p.Longest < holding || p.Tap != f.Tap || !slices.Contains(p.Hosts, f.Peer.Addr) {
		return false
	}
	since := func(end int64) bool { return f.Time >= end-int64(p.Longest) && f.Time <= end+draining }
	return since(p.LastTime) || since(p.LongestSince+int64(p.Longest))
}
