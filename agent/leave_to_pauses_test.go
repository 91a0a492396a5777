package agent

import (
	"testing"
	"time"

	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestLeaveToPauses: what comes after an acknowledgment as a pause had held it is no needless retransmission. What comes long after the pause, goes to another host, or would have been held too shortly is
// suspected still.
func TestLeaveToPauses(t *testing.T) {
	const ms = int64(time.Millisecond)
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	for _, k := range []struct {
		name    string
		at      int64
		to      byte
		longest time.Duration
		class   rule.Class
		stays   bool
	}{
		{"right after it", 401 * ms, 2, 100 * time.Millisecond, rule.Unproven, false},
		{"right after the longest", 201 * ms, 2, 100 * time.Millisecond, rule.Unproven, false},
		{"in it", 390 * ms, 2, 100 * time.Millisecond, rule.Unproven, false},
		{"between two", 250 * ms, 2, 100 * time.Millisecond, rule.Unproven, true},
		{"long after it", 500 * ms, 2, 100 * time.Millisecond, rule.Unproven, true},
		{"to another host", 401 * ms, 3, 100 * time.Millisecond, rule.Unproven, true},
		{"a short one", 401 * ms, 2, 100 * time.Microsecond, rule.Unproven, true},
		{"where it is proven", 401 * ms, 2, 100 * time.Millisecond, rule.Violation, true},
	} {
		r := &Result{Paused: []link.Paused{{Hosts: []packet.Addr{host(2)}, Time: 100 * ms, LastTime: 400 * ms, Longest: k.longest, LongestSince: 100 * ms}}}
		r.Findings = []rule.Finding{{Rule: rule.RCRTY010, Class: k.class, Time: k.at, Accused: rule.Endpoint{Addr: host(1)}, Peer: rule.Endpoint{Addr: host(k.to)}}}
		r.Cover[rule.RCRTY010].Unproven = 1
		leaveToPauses(r)
		if stays := len(r.Findings) == 1; stays != k.stays || stays != (r.Cover[rule.RCRTY010].Unproven == 1) {
			t.Errorf("%s: stays %v", k.name, stays)
		}
	}
}
