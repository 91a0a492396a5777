package verifier_test

import (
	"testing"

	"ibwitness/rule"
)

// TestAnswersLacking: a READ that is retransmitted a second time, after the answers to the first retransmission have passed a tap that is not near its requester, is not suspected: they do not arrive.
func TestAnswersLacking(t *testing.T) {
	const (
		asks    = "A>B READ_REQUEST psn=100 dma=1024 va=0x10000\n"
		asked   = "0us " + asks + "3us B>A READ_ONLY psn=100\n"
		round   = "+500ms " + asks + "+3us B>A READ_ONLY psn=100\n"
		soon    = "+10us " + asks
		another = "+10us A>B READ_REQUEST psn=101 dma=1024 va=0x20000\n+3us B>A READ_ONLY psn=101\n"
	)
	for _, k := range []struct {
		name, input, near string
		suspected         bool
	}{
		{"once", asked + round, "", true},
		{"twice", asked + round + round, "", false},
		{"three times", asked + round + round + round, "", false},
		{"twice, of which the second met the answer", asked + round + soon, "", true},
		{"once each of two", asked + round + another + "+500ms A>B READ_REQUEST psn=101 dma=1024 va=0x20000\n", "", true},
		{"twice, near its requester", asked + round + round, "A", true},
	} {
		o := options{pmtu: 1024}
		if k.near != "" {
			o.near = []string{k.near}
		}
		s := newScenario(&o, encapByName["v4"])
		if err := s.run(k.input); err != nil {
			t.Fatalf("%s: %v", k.name, err)
		}
		suspected := false
		for _, f := range s.agent.Rec.Findings {
			suspected = suspected || f.Rule == rule.RCRTY008
		}
		if suspected != k.suspected {
			t.Errorf("%s: %t, %v", k.name, suspected, s.agent.Rec.Findings)
		}
	}
}
