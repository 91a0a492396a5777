package incident

import (
	"testing"

	"ibwitness/agent"
	"ibwitness/qp"
)

// TestWaiting: requests wait for an answer while their connection is there, and had none when it was over.
func TestWaiting(t *testing.T) {
	k := &qp.Stall{Packets: 3, Bytes: 40}
	for still, want := range map[bool]string{
		true:  "2 requests in all wait for an answer; 3 packets retransmitted in vain, 40 bytes of payload",
		false: "2 requests in all had no answer; 3 packets retransmitted in vain, 40 bytes of payload",
	} {
		if got := waiting(&agent.End{Open: 2}, k, "", still); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
