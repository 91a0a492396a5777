package cm_test

import (
	"testing"

	"ibwitness/mad"
	"ibwitness/verifier/cm"
)

// TestRefusal: what the detail of EV-REJECT says can be read from it again.
func TestRefusal(t *testing.T) {
	for _, tt := range []struct {
		refusal cm.Refusal
		want    string
	}{
		{cm.Refusal{Reason: mad.RejConsumer, Service: "TCP port 18515"}, "consumer reject (reason 28), TCP port 18515"},
		{cm.Refusal{Reason: mad.RejInvalidService}, "invalid service ID (reason 8)"},
		{cm.Refusal{Reason: mad.RejTimeout, ByAsker: true}, "timeout (reason 4), by the side that asked"},
		{cm.Refusal{Reason: 99, Service: "service 0x1000000000040400", ByAsker: true}, "reserved reason 99 (reason 99), service 0x1000000000040400, by the side that asked"},
	} {
		got := tt.refusal.String()
		if again, ok := cm.ParseRefusal(got); got != tt.want || !ok || again != tt.refusal {
			t.Errorf("%q, not %q, and again %v %v", got, tt.want, again, ok)
		}
	}
	for _, none := range []string{"", "consumer reject", "consumer reject (reason x)"} {
		if _, ok := cm.ParseRefusal(none); ok {
			t.Errorf("%q tells a refusal", none)
		}
	}
}
