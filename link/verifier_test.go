package link_test

import (
	"testing"

	"ibwitness/link"
	"ibwitness/rule"
)

// TestInnocent lets correct ports talk, with damaged packets, and the tap anywhere between them: nobody is accused.
func TestInnocent(t *testing.T) {
	for seed := range uint64(300) {
		v := link.NewVerifier()
		for _, e := range newModel(seed, "").run(2000) {
			v.Event(&e)
		}
		for _, f := range v.Rec.Findings {
			if f.Rule == rule.LNKFCP001 && f.Class == rule.Unproven {
				continue // a damaged flow control packet
			}
			t.Errorf("seed %d: frame %d: %v %v: expected %s, actual %s", seed, f.Frame, f.Rule, f.Class, f.Expected, f.Actual)
		}
		for _, id := range []rule.ID{rule.LNKFCP003, rule.LNKFCP004, rule.LNKFCP005, rule.LNKFCP006, rule.LNKFCP007, rule.LNKFCP008, rule.LNKFCP011, rule.LNKVL006} {
			if c := v.Rec.Cover[id]; seed == 0 && c.Exercised == 0 {
				t.Errorf("%v was not exercised", id)
			}
		}
	}
}

// TestFaults has a port do one thing wrong: that is found, and nothing else.
func TestFaults(t *testing.T) {
	for f, want := range map[fault]rule.ID{
		"counts too little":    rule.LNKFCP004,
		"counts too much":      rule.LNKFCP012,
		"offers too much":      rule.LNKFCP006,
		"takes back":           rule.LNKFCP011,
		"ignores credits":      rule.LNKFCP007,
		"is silent":            rule.LNKFCP008,
		"reserved operand":     rule.LNKFCP002,
		"lane 15":              rule.LNKFCP009,
		"begins again":         rule.LNKFCP003,
		"counts what it drops": rule.LNKFCP005,
		"sends too early":      rule.LNKST002,
		"uses another lane":    rule.LNKVL006,
	} {
		made, found := 0, 0
		var seeds []uint64
		for seed := range uint64(60) {
			m := newModel(seed, f)
			events := m.run(1500)
			if m.done == 0 {
				continue
			}
			made++
			v := link.NewVerifier()
			for _, e := range events {
				v.Event(&e)
			}
			hit := false
			for _, x := range v.Rec.Findings {
				if x.Rule != want {
					t.Errorf("%s, seed %d: frame %d: %v %v: expected %s, actual %s", f, seed, x.Frame, x.Rule, x.Class, x.Expected, x.Actual)
				}
				hit = hit || x.Rule == want
			}
			if hit {
				found++
			} else {
				seeds = append(seeds, seed)
			}
		}
		// A packet that passes the tap just then, ahead of what the port offers, makes up for what it has dropped.
		if made == 0 || found < made && (f != "counts what it drops" || found < made*9/10) {
			t.Errorf("%s: found %d of %d times, not with seeds %d", f, found, made, seeds)
		}
	}
}
