package incident_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/incident"
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
  - {do: mark, from: a, op: write, psn: +400..+463, count: all}
taps: [b]
`

// TestSlowed: how long its messages took before and after the sender was asked to slow down is told, where it sent for long enough.
func TestSlowed(t *testing.T) {
	told := happened(t, frames(t, congested), agent.Options{Timing: true})
	if !strings.Contains(told, "congestion (proven)") || !strings.Contains(told, "rate: a message of 65,536 bytes took 557µs to be sent until the first CNP, on 1 queue pair, and no longer after it") {
		t.Errorf("told %s", told)
	}
	few := strings.Replace(congested, "+400..+463", "+4..+67", 1)
	if told := happened(t, frames(t, few), agent.Options{Timing: true}); !strings.Contains(told, "congestion (proven)") || strings.Contains(told, "until the first CNP") {
		t.Errorf("from the first packets on no rate before is known: told %s", told)
	}
}

// TestNothingLost: that nothing was retransmitted between the hosts is told; not where something was.
func TestNothingLost(t *testing.T) {
	const lost = "lost: nothing: no packet of these connections was retransmitted"
	for more, want := range map[string]bool{"": true, "  - {do: drop, from: a, op: write, psn: +900, where: after}\n": false} {
		if told := happened(t, frames(t, strings.Replace(congested, "taps:", more+"taps:", 1)), agent.Options{}); !strings.Contains(told, "congestion (proven)") || strings.Contains(told, lost) != want {
			t.Errorf("%q: told %s", more, told)
		}
	}
}

// TestSlight: a few marks that the receiver answers are what congestion control is for: nothing is told of them; of those that it does not answer something is.
func TestSlight(t *testing.T) {
	few := strings.Replace(congested, "+463", "+410", 1)
	if told := happened(t, frames(t, few), agent.Options{}); strings.Contains(told, "congestion") {
		t.Errorf("told %s", told)
	}
	if told := happened(t, frames(t, strings.Replace(few, ", cnp: per-qp, cnp_interval: 20us", "", 1)), agent.Options{}); !strings.Contains(told, "marked 11 packets from 10.0.0.1 to 10.0.0.2 as having met congestion, and no notification") {
		t.Errorf("unanswered: told %s", told)
	}
}

// TestSenders: congestion on the way to one receiver is told once, with who sent how much; one that sends far more than the others, though most CNPs go to it, may not react.
func TestSenders(t *testing.T) {
	told := func(bytes ...uint64) string {
		r := &agent.Result{First: second(1), Last: second(2)}
		b := packet.IPv4Addr([]byte{10, 0, 0, 9})
		for n, sent := range bytes {
			a := packet.IPv4Addr([]byte{10, 0, 0, byte(n + 1)})
			c := agent.Connection{Service: packet.RC, First: second(1), FirstFrame: uint64(n + 1), Timing: &timing.Connection{}}
			c.Timing.Ends[0].Series = timing.Series{Start: second(1), Width: int64(100 * time.Millisecond), Slots: slices.Repeat([]timing.Slot{{Bytes: sent}}, 10)}
			c.Timing.Ends[0].Marked = 11 // one more than there are events
			c.Ends[0], c.Ends[1] = agent.End{Addr: a, Packets: 99, Last: second(2)}, agent.End{Addr: b, Packets: 9, Last: second(2)}
			r.Connections = append(r.Connections, c)
			for k := range int64(10) {
				marked := rule.Finding{Rule: rule.EvCE, Class: rule.Event, Time: second(1) + k*1e8, Frame: uint64(100*n) + uint64(k) + 10, Accused: rule.Endpoint{Addr: a}, Peer: rule.Endpoint{Addr: b}}
				notified := marked
				notified.Rule, notified.Accused, notified.Peer = rule.EvCNP, marked.Peer, marked.Accused
				if r.Findings = append(r.Findings, marked); n == 1 || k == 0 {
					r.Findings = append(r.Findings, notified)
				}
			}
		}
		var s strings.Builder
		for _, i := range incident.Of(r) {
			s.WriteString(i.What + "\n" + strings.Join(i.FitsWith, "; ") + "\n")
			for _, f := range i.Facts {
				s.WriteString(f.Label + ": " + f.Text + "\n")
			}
		}
		return s.String()
	}
	const what = "The network marked 33 packets from 3 hosts to 10.0.0.9 as having met congestion, and 10.0.0.9 asked them to slow down with 12 CNPs."
	got := told(1e6, 9e6, 1e6)
	for _, want := range []string{what, "senders: 10.0.0.2 (11 marked, 10 CNPs, 720 Mbit/s), 10.0.0.1 (11 marked, 1 CNP, 80 Mbit/s) and 10.0.0.3 (", "share: 10.0.0.2 sent 82 % of it, and 10 of the 12 CNPs went to it", "a sender that does not react: congestion control of 10.0.0.2"} {
		if !strings.Contains(got, want) {
			t.Errorf("told %s\nwant %q", got, want)
		}
	}
	if got := told(1e6, 1e6, 1e6); !strings.Contains(got, what) || strings.Contains(got, "share: ") || strings.Contains(got, "does not react") {
		t.Errorf("a fair share: %s", got)
	}
}

// TestReaction: a sender that sends as fast while CNPs come is told not to react, and one that sends slower then, or got few, is not; nor is one that sent in bursts, or of which that is not
// known: no rate is told then. What it sends after the last is told apart.
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
		none  = "reaction: none of 10.0.0.1 that the rate shows"
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
	if got := told(1e6, 40, gaps(time.Millisecond), busy...); !strings.Contains(got, rates) || !strings.Contains(got, none) {
		t.Errorf("as fast: %s", got)
	}
	if got := told(1e5, 40, gaps(time.Millisecond), busy...); !strings.Contains(got, ", 800 kbit/s while they came, and 7.2 Mbit/s after the last") || strings.Contains(got, none) {
		t.Errorf("slower: %s", got)
	}
	if got := told(1e6, 3, gaps(time.Millisecond), busy...); strings.Contains(got, none) {
		t.Errorf("few: %s", got)
	}
	for name, got := range map[string]string{
		"in bursts":          told(1e6, 40, gaps(200*time.Millisecond), busy...),
		"silent for a while": told(1e6, 40, gaps(time.Millisecond), silent...),
		"gaps not known":     told(1e6, 40, nil, busy...),
	} {
		if strings.Contains(got, "rate: ") || strings.Contains(got, none) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
