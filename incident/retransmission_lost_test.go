package incident_test

import (
	"strings"
	"testing"
)

// TestRetransmissionLost: where a PSN sequence NAK has asked for a packet, and what was retransmitted for it is lost or damaged too, that is why only the timer brings it; where that NAK is lost,
// none is told. It is not told as the end of what was sent, which nothing followed.
func TestRetransmissionLost(t *testing.T) {
	const scene = `
about: WRITEs a packet of one of which is lost, and once more when it is retransmitted
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024, timeout: 16, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: write, length: 8192, repeat: 20, every: 5ms}
taps: [middle]
errors:
`
	const tail, asked = "fits: the end of what was sent", "a PSN sequence NAK had asked for it, and a receiver asks once, so that only the timer brought it"
	const damaged = "10.1.0.1 QP 0x9bc made no progress for up to 483ms, until its timer expired."
	for errors, want := range map[string]string{
		"  - {do: drop, from: a, psn: 0x10004a, count: 2}\n":                                     "a retransmission that was lost too, before the tap: " + asked,
		"  - {do: corrupt, from: a, psn: 0x10004a, count: 2, flip: 1}\n":                         damaged,
		"  - {do: corrupt, from: a, psn: 0x100048, flip: 1}\n  - {do: drop, from: b, op: nak}\n": "a packet that came damaged or not at all until the timer had it retransmitted, and that no PSN sequence NAK in the capture asks for",
		"  - {do: drop, from: a, psn: 0x100048}\n  - {do: drop, from: b, op: nak}\n":             "a packet that the tap has not seen before it was retransmitted by timer: it was lost before the tap, and the capture shows no PSN sequence NAK for it",
	} {
		got := reasons(t, scene+errors)
		if strings.Contains(got, "interrupted (proven)") == (want == damaged) || want == damaged && strings.Contains(got, "RC-RTY-005") || !strings.Contains(got, want) || strings.Contains(got, tail) {
			t.Errorf("%q: %s", errors, got)
		}
	}
}

// TestRetransmissionLostMeanwhile: a requester that goes on with new requests while its receiver waits for one that it had asked for makes no progress since that NAK; where what it retransmits comes,
// it does.
func TestRetransmissionLostMeanwhile(t *testing.T) {
	const scene = `
about: WRITEs a packet of one of which is damaged, while others follow
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024, timeout: 13, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: write, length: 8192, repeat: 20, every: 5ms}
taps: [middle]
errors:
  - {do: corrupt, from: a, psn: 0x10004a, flip: 1, count: `
	const waits = "10.1.0.1 QP 0x9bc made no progress for up to 104ms, until its timer expired."
	for count, want := range map[string]bool{"2}\n": true, "1}\n": false} {
		if got := reasons(t, scene+count); !strings.Contains(got, "damage (proven)") || strings.Contains(got, waits) != want {
			t.Errorf("%q: %s", count, got)
		}
	}
}

// TestRetransmittedWithOthers: a request that is lost again when what came before it is retransmitted, too, was sent once more often than its own timer has it; where only its first copy is lost, it was sent twice.
func TestRetransmittedWithOthers(t *testing.T) {
	const scene = `
about: WRITEs the last of which is lost
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024, timeout: 16, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: write, length: 1024, repeat: 40}
taps: [a]
errors:
`
	for errors, want := range map[string]string{
		"  - {do: drop, from: a, psn: 0x100024}\n  - {do: drop, from: a, psn: 0x100027, count: 2}\n": ", sent at least 3 times\n",
		"  - {do: drop, from: a, psn: 0x100024, count: 2}\n":                                         ", sent 3 times\n",
		"  - {do: drop, from: a, psn: 0x100027}\n":                                                   ", sent twice\n",
	} {
		if got := reasons(t, scene+errors); !strings.Contains(got, want) {
			t.Errorf("%q: %s", errors, got)
		}
	}
}
