package incident_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/timing"
	"ibwitness/verifier"
)

// congested are WRITEs over a path that marks packets which wait, to a receiver that asks their sender to slow down.
const congested = `
about: marks and notifications
link: {rate: 1000000000}
hcas:
  a: 10.0.0.1
  b: {address: 10.0.0.2, cnp: per-qp, cnp_interval: 20us}
attributes: {traffic_class: 2, timeout: 18}
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1}
work:
  - {qp: a1, op: write, length: 65536, repeat: 40}
errors:
  - {do: mark, from: a, op: write, psn: +400, count: 8}
taps: [b]
`

// TestSlowed: what the sender sent before and after it was asked to slow down is told, where it sent for long enough.
func TestSlowed(t *testing.T) {
	told := happened(t, frames(t, congested), agent.Options{})
	if !strings.Contains(told, "congestion (proven)") || !strings.Contains(told, "10.0.0.1 sent ") || !strings.Contains(told, "bit/s on 1 queue pair until the first CNP to each, and ") {
		t.Errorf("told %s", told)
	}
	few := strings.Replace(congested, "+400", "+4", 1)
	if told := happened(t, frames(t, few), agent.Options{}); !strings.Contains(told, "congestion (proven)") || strings.Contains(told, "until the first CNP") {
		t.Errorf("from the first packets on no rate before is known: told %s", told)
	}
}

// TestReaction: a sender that sends as fast while CNPs come is told not to react, and one that sends slower then, or got few, is not; nor is one that sent in bursts, or of which that is not
// known. What it sends after the last is told apart.
func TestReaction(t *testing.T) {
	told := func(during uint64, cnps uint64, gaps *verifier.Histogram, slots ...timing.Slot) string {
		c := agent.Connection{Service: packet.RC, First: second(1), FirstFrame: 1, Timing: &timing.Connection{}}
		c.Timing.Ends[0].Gaps, c.Timing.Ends[0].Series = gaps, timing.Series{Start: second(1), Width: int64(20 * time.Millisecond), Slots: slots}
		c.Ends[0] = agent.End{
			Addr: packet.IPv4Addr([]byte{10, 0, 0, 1}), Packets: 9, Messages: 3, Last: second(4), Bytes: 1e6 + during + 9e5,
			Trouble: &qp.Trouble{Notified: &qp.Notified{Count: cnps, First: second(2), Last: second(3), Bytes: 1e6, Until: 1e6 + during}},
		}
		c.Ends[1] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, 2}), Packets: 9, Last: second(4)}
		f := rule.Finding{Rule: rule.EvCNP, Class: rule.Event, Time: second(2), Frame: 7, Accused: rule.Endpoint{Addr: c.Ends[1].Addr}, Peer: rule.Endpoint{Addr: c.Ends[0].Addr}}
		return toldOf(&agent.Result{Last: second(4), Connections: []agent.Connection{c}, Findings: []rule.Finding{f}})
	}
	const (
		none  = "reaction: none that the rate shows"
		means = ": on average, times without traffic counted too"
		rates = "10.0.0.1 sent 8 Mbit/s on 1 queue pair until the first CNP to each, 8 Mbit/s while they came, and 7.2 Mbit/s after the last"
	)
	gaps := func(each time.Duration) *verifier.Histogram {
		h := &verifier.Histogram{}
		h.Observe(each)
		h.Observe(each)
		return h
	}
	busy := slices.Repeat([]timing.Slot{{Bytes: 1000}}, 50)
	silent := slices.Clone(busy)
	silent[20].Bytes = 0
	if got := told(1e6, 40, gaps(time.Millisecond), busy...); !strings.Contains(got, rates) || !strings.Contains(got, none) || strings.Contains(got, means) {
		t.Errorf("as fast: %s", got)
	}
	if got := told(1e5, 40, gaps(time.Millisecond), busy...); !strings.Contains(got, ", 800 kbit/s while they came, and 7.2 Mbit/s after the last") || strings.Contains(got, none) {
		t.Errorf("slower: %s", got)
	}
	if got := told(1e6, 3, gaps(time.Millisecond), busy...); strings.Contains(got, none) {
		t.Errorf("few: %s", got)
	}
	if got := told(1e6, 40, gaps(200*time.Millisecond), busy...); !strings.Contains(got, rates+means) || strings.Contains(got, none) {
		t.Errorf("in bursts: %s", got)
	}
	if got := told(1e6, 40, gaps(time.Millisecond), silent...); !strings.Contains(got, rates+means) || strings.Contains(got, none) {
		t.Errorf("silent for a while: %s", got)
	}
	if got := told(1e6, 40, nil, busy...); !strings.Contains(got, rates+means) || strings.Contains(got, none) {
		t.Errorf("gaps not known: %s", got)
	}
}
