package incident_test

import (
	"strings"
	"testing"

	"ibwitness/packet"
)

// TestLongTailLost: however long the end of a message is that only comes after the timer has run out, it was lost before the tap where nothing before it asks for an acknowledgment, for which the timer runs;
// where each packet does, the requester may not have sent more yet.
func TestLongTailLost(t *testing.T) {
	const scene = `
about: WRITEs the long end of one of which is lost
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024, timeout: 13, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: write, length: 20480, repeat: 20, every: 200ms}
taps: [middle]
errors:
  - {do: drop, from: a, psn: +68..+79, count: 12}
`
	for _, each := range []bool{false, true} {
		list := frames(t, scene)
		for k := range list {
			changed(&list[k], func(p *packet.Packet) { p.AckReq = p.AckReq || each && p.Info().Request })
		}
		got := toldReasons(t, list)
		for want, is := range map[string]bool{
			"where: once before the tap, which had not seen what was then retransmitted by timer": !each, "retransmitted 20 of 408 packets": !each,
			"where: once after the tap, on the way to the receiver or there": each, "retransmitted 8 of 408 packets": each,
			"a responder that answers later than the requester's ACK timeout": each,
		} {
			if strings.Contains(got, want) != is {
				t.Errorf("each asks %v: %q is not %v: %s", each, want, is, got)
			}
		}
	}
}
