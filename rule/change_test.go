package rule

import "testing"

// TestChanges: what becomes of findings is told under the number of each.
func TestChanges(t *testing.T) {
	var r Recorder
	r.Follow()
	for _, id := range []ID{RCPSN004, RCRSP006, RCTMO002} {
		r.Add(Finding{Rule: id, Class: Violation, Assumes: AssumesNear})
	}
	want := func(text ...string) {
		t.Helper()
		var got []string
		for _, c := range r.Changes() {
			got = append(got, c.Kind.String()+" "+c.Finding.Rule.String())
		}
		if len(got) != len(text) {
			t.Fatalf("%q, not %q", got, text)
		}
		for i := range got {
			if got[i] != text[i] {
				t.Fatalf("%q, not %q", got, text)
			}
		}
	}
	want("found RC-PSN-004", "found RC-RSP-006", "found RC-TMO-002")
	want()
	r.Doubt(0, "why")
	r.Doubt(0, "again") // it is in doubt already
	r.Remove(2)
	want("doubted RC-PSN-004", "withdrawn RC-TMO-002")
	r.Prove(0, "since")
	want("proven RC-PSN-004")
	r.Add(Finding{Rule: RCTMO003, Class: Violation})
	r.Doubt(2, "at once")
	r.Add(Finding{Rule: RCTMO004, Class: Violation})
	r.Remove(3)
	list := r.Changes()
	if len(list) != 1 || list[0].Kind != Found || list[0].Finding.Class != Unproven || list[0].Finding.Seq == 0 {
		t.Errorf("%+v", list)
	}
	r.RemoveAll(map[int]bool{1: true})
	want("withdrawn RC-RSP-006")
}
