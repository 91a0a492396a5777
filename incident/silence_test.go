package incident_test

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
)

// silent stops the capture of a list of frames before one of them for a second: without is how many frames come meanwhile, and are missing.
func silent(list []fabricagent.Frame, at, without int) []fabricagent.Frame {
	out := append([]fabricagent.Frame{}, list[:at]...)
	for _, f := range list[at+without:] {
		f.Time += int64(time.Second)
		out = append(out, f)
	}
	return out
}

// TestSilence tells a capture that stopped from a host that did.
func TestSilence(t *testing.T) {
	pairs := func(peer string) string {
		return `
about: READs of two connections
hcas:
  a: 10.0.0.1
  b: 10.0.0.2
  c: 10.0.0.3
  d: 10.0.0.4
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1}
  c1: {hca: ` + peer + `, peer: d1}
  d1: {hca: d, peer: c1}
taps: [middle]
work:
  - {qp: a1, op: read, length: 8000, repeat: 4}
  - {qp: c1, op: read, length: 8000, repeat: 4}
`
	}
	tests := []struct {
		name string
		list []fabricagent.Frame
		want string
		not  string
	}{
		{"no silence", frames(t, pairs("c")), "frames: 0", ""},
		{"two connections without a host in common", silent(frames(t, pairs("c")), 30, 0), "capture (likely): For 1s the capture holds no frame of any host; then 2 connections of 4 hosts went on that had waited for as long.", "interrupted"},
		{"two connections of one host", silent(frames(t, pairs("a")), 30, 0), "interrupted (proven): Connections of 10.0.0.1 with 2 hosts made no progress at the same time: 10.0.0.1", "no frame of any host"},
		{"what was sent meanwhile is missing", silent(frames(t, pairs("a")), 30, 20), "capture (likely): For 1s the capture holds no frame of any host; then 2 connections of 3 hosts went on, 2 with a later PSN: what was sent meanwhile is missing.", "interrupted"},
		{"one connection, and what was sent meanwhile is missing", silent(frames(t, strings.Replace(writes, "op: write", "op: read", 1)), 13, 9), "interrupted (likely): The capture shows nothing between 10.0.0.1 QP 0x9bc and 10.0.0.2 QP 0xa32 for 1s; then 10.0.0.2 went on with a later PSN.", "capture ("},
	}
	for _, tt := range tests {
		got := happened(t, tt.list, agent.Options{})
		if !strings.Contains(got, tt.want) || tt.not != "" && strings.Contains(got, tt.not) {
			t.Errorf("%s: %s\nwant %q, and not %q", tt.name, got, tt.want, tt.not)
		}
	}
}
