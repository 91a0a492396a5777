package rc

import (
	"testing"

	"ibwitness/qp"
)

// TestNakAsked: the wait after an RNR NAK excuses what comes before its end.
func TestNakAsked(t *testing.T) {
	d := qp.NewDirection()
	q, r := &d.SQ, &d.Peer
	q.WaitTo(100)
	if !nakExplains(q, r, 99) || nakExplains(q, r, 100) {
		t.Errorf("at 99: %t, at 100: %t", nakExplains(q, r, 99), nakExplains(q, r, 100))
	}
}
