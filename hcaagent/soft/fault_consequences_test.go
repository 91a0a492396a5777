package soft

import "testing"

// TestConsequences: what comes with faults comes with those that there are.
func TestConsequences(t *testing.T) {
	for name, also := range consequences {
		f := Faults[name]
		if f == nil {
			t.Errorf("no fault is called %s", name)
			continue
		}
		for id, why := range also {
			if id == f.Rule || why == "" {
				t.Errorf("%s: %s comes with it: %q", name, id, why)
			}
		}
	}
}
