package verifier_test

import (
	"strings"
	"testing"

	"ibwitness/rule"
)

// TestUnheard: where the capture has many packets of one direction of a connection and none of the other, nothing is suspected of how many READs are outstanding; it is
// where few have come, or one of the other direction.
func TestUnheard(t *testing.T) {
	const (
		opened = "0us A>B CM_REQ rd=2 dest_rd=16\n100us B>A CM_REP rd=16 dest_rd=2\n200us A>B CM_RTU\n300us A>B SEND_ONLY\n"
		reads  = "+1us A>B READ_REQUEST\n+1us A>B READ_REQUEST\n+1us A>B READ_REQUEST\n"
	)
	many := strings.Repeat("+1us A>B SEND_ONLY\n", 128)
	for name, k := range map[string]struct {
		input     string
		suspected bool
	}{
		"one direction":   {opened + many + reads, false},
		"few packets":     {opened + reads, true},
		"both directions": {opened + "+1us B>A ACK\n" + many + reads, true},
	} {
		s := newScenario(&options{pmtu: 1024}, encapByName["v4"])
		if err := s.run(k.input); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		suspected := false
		for _, f := range s.agent.Rec.Findings {
			suspected = suspected || f.Rule == rule.RCRDA002
		}
		if suspected != k.suspected {
			t.Errorf("%s: %t, %v", name, suspected, s.agent.Rec.Findings)
		}
	}
}
