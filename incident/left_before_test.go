package incident_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/mad"
)

// TestLeftBefore: a requester that had disconnected before the answer came has not gone on, and what its peer sends late does not say that the
// connection is not over; one that did after that has.
func TestLeftBefore(t *testing.T) {
	const scene = `
about: a WRITE that is answered long after its last retransmission
hcas: {a: 10.0.0.1, b: 10.0.0.2}
attributes: {timeout: 12, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
work:
  - {qp: a1, op: write, length: 100, repeat: 6, every: 10ms}
errors:
  - {do: drop, from: a, psn: 0x100005, count: 3, where: after}
`
	list := frames(t, scene)
	n := len(list) - 1
	list[n].Time += int64(3 * time.Second) // the answer
	byA := func(at int64) []fabricagent.Frame {
		f := asked(t, &mad.DREQ{Header: mad.CMHeader(mad.AttrDREQ, 79), LocalCommID: 0xA0, RemoteCommID: 0xB0, RemoteQPN: decoded(&list[0]).DestQP})[0]
		f.Time = at
		return []fabricagent.Frame{f}
	}
	soon, after := byA(list[n-1].Time+int64(30*time.Millisecond)), byA(list[n].Time+int64(time.Millisecond))
	for _, tt := range []struct {
		name string
		list []fabricagent.Frame
		left bool
	}{
		{"no DREQ", list, false},
		{"before the answer", slices.Concat(list[:n], soon, list[n:]), true},
		{"after the answer", slices.Concat(list, after), false},
	} {
		r := judged(t, tt.list, agent.Options{})
		got := toldOf(r)
		left := strings.Contains(got, "s, until 2.97s after 10.0.0.1 had disconnected.") &&
			strings.Contains(got, "gave up: no further retransmission in 30ms until 10.0.0.1 disconnected, after 3 retries")
		if left != tt.left || strings.Contains(got, "then it went on") == tt.left || tt.left && r.Connections[0].Closed.At == 0 {
			t.Errorf("%s: %+v %s", tt.name, r.Connections[0].Closed, got)
		}
	}
}
