package rule

import (
	"strings"
	"testing"

	"ibwitness/packet"
)

// TestWaivers: a waiver is of a rule, and of one address where it names that.
func TestWaivers(t *testing.T) {
	const list = `[{"rule": "BTH-002", "why": "all"}, {"rule": "BTH-003", "accused": "10.0.0.1", "why": "one"}]`
	for _, text := range []string{list, `{"taps": [{"name": "a"}], "waive": ` + list + `}`} {
		read, err := ReadWaivers([]byte(text))
		if err != nil || len(read) != 2 {
			t.Fatalf("%s: %v, %v", text, read, err)
		}
		w, err := NewWaivers(read)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []struct {
			rule ID
			last byte
			why  string
		}{{BTH002, 1, "all"}, {BTH002, 2, "all"}, {BTH003, 1, "one"}, {BTH003, 2, ""}, {BTH006, 1, ""}} {
			f := &Finding{Rule: k.rule, Accused: Endpoint{Addr: packet.IPv4Addr([]byte{10, 0, 0, k.last})}}
			if why, ok := w.Of(f); why != k.why || ok != (k.why != "") {
				t.Errorf("%v by 10.0.0.%d: %q, %t, want %q", k.rule, k.last, why, ok, k.why)
			}
		}
	}
	if _, ok := (Waivers{}).Of(&Finding{}); ok {
		t.Error("no waivers waive")
	}
}

// TestWaiversWrong: a waiver that is wrong says what it wants.
func TestWaiversWrong(t *testing.T) {
	for text, want := range map[string]string{
		`[{"rule": "BTH-999", "why": "x"}]`:                      "there is no rule",
		`[{"rule": "BTH-002"}]`:                                  `has no "why"`,
		`[{"rule": "BTH-002", "why": "x", "accused": "nobody"}]`: `"accused" is "nobody"`,
		`{"taps": []}`: `has no "waive"`,
		`waive`:        "no waivers in JSON",
		`{"waive": 1}`: "no waivers in JSON",
	} {
		list, err := ReadWaivers([]byte(text))
		if err == nil {
			_, err = NewWaivers(list)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
