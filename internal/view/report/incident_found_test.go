package report

import (
	"testing"

	"ibwitness/incident"
	"ibwitness/rule"
)

// TestFoundWith: what the verdict calls a warning is no violation beside an incident either.
func TestFoundWith(t *testing.T) {
	got := foundWith([]incident.Found{
		{Rule: rule.BTH015, Class: rule.Violation, Count: 4},
		{Rule: rule.RCRSP003, Class: rule.Violation, Count: 2},
		{Rule: rule.RCRSP005, Class: rule.Unproven, Count: 1},
		{Rule: rule.EvRetransmission, Class: rule.Event, Count: 1234},
		{Rule: rule.EvTimeout, Class: rule.Event, Count: 12, Least: true},
	})
	if want := "violations: RC-RSP-003 sequence-nak-repeated 2; warnings: BTH-015 bth-ackreq-misplaced 4; not proven: RC-RSP-005 ack-missing 1; events: retransmission 1,234, timeout at least 12"; got != want {
		t.Errorf("%s\nnot %s", got, want)
	}
}
