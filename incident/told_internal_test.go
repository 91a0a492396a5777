package incident

import (
	"strings"
	"testing"
)

// toldOf is what incidents of a kind tell: what happened, facts, what fits and what to look at next.
func toldOf(list []Incident, kind Kind) string {
	var b strings.Builder
	for n := range list {
		if i := &list[n]; i.Kind == kind {
			b.WriteString(i.What + "\n")
			for _, f := range i.Facts {
				b.WriteString(f.Label + ": " + f.Text + "\n")
			}
			b.WriteString("fits: " + strings.Join(i.FitsWith, "; or ") + "\nnext: " + strings.Join(i.Next, "; ") + "\n")
		}
	}
	return b.String()
}

// says reports an error unless a text has some parts and lacks others.
func says(t *testing.T, name, got string, want, not []string) {
	t.Helper()
	for _, s := range want {
		if !strings.Contains(got, s) {
			t.Errorf("%s: %s\nwant %q", name, got, s)
		}
	}
	for _, s := range not {
		if strings.Contains(got, s) {
			t.Errorf("%s: %s\nand not %q", name, got, s)
		}
	}
}
