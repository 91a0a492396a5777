package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/incident"
)

// TestLostTails: where the ends of messages are lost after the tap, as NAKs for them show that come only with the next message, it is told that packets are lost in bursts, and nothing fits
// but a queue. Not so where one packet in the midst of each is lost, where a packet is only late, or where all answers take so long.
func TestLostTails(t *testing.T) {
	const scene = `
about: WRITEs every 30 ms
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024, timeout: 16, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: write, length: 16384, repeat: 30, every: 30ms}
taps: [middle]
errors:
`
	const tails, queue, cable, overtaken = "lost: in bursts: 4 of 4 times from the packet asked for to the end of its message at least, 4 in a row, as the NAK came only with a later message, 30ms after it: so a full queue loses packets",
		"a queue that drops", "a bad cable", "packets that overtake one another after the tap"
	for _, x := range []struct {
		name, link, what string
		nth              []string
		tails            bool
	}{
		{"ends", "20us", "do: drop, count: 4", []string{"45", "125", "205", "285"}, true},
		{"midst", "20us", "do: drop, count: 1", []string{"40", "120", "200", "280"}, false},
		{"late", "20us", "do: delay, delay: 5us, count: 1", []string{"40", "120", "200", "280"}, false},
		{"far away", "15ms", "do: drop, count: 4", []string{"45", "125", "205", "285"}, false},
	} {
		text := strings.Replace(scene, "taps:", "link: {delay: "+x.link+"}\ntaps:", 1)
		for _, nth := range x.nth {
			text += "  - {" + x.what + ", from: a, op: write, nth: " + nth + ", where: after}\n"
		}
		got := reasonsOf(incident.Of(judged(t, frames(t, text), agent.Options{Timing: true})))
		if strings.Contains(got, tails) != x.tails || strings.Contains(got, cable) == x.tails || strings.Contains(got, overtaken) && x.tails || x.tails && !strings.Contains(got, queue) {
			t.Errorf("%s: %s", x.name, got)
		}
	}
}
