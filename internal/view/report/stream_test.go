package report

import (
	"bytes"
	"strings"
	"testing"

	"ibwitness/packet"
	"ibwitness/rule"
)

// TestStreamWords: a reader at a terminal is told what is a violation, and what a warning or a note.
func TestStreamWords(t *testing.T) {
	var out bytes.Buffer
	s := NewStream(&out, StreamOptions{Terminal: true, Most: 1})
	for _, severity := range []rule.Severity{rule.Error, rule.Warning, rule.Info} {
		for _, id := range rule.Rules() {
			if id.Row().Severity == severity && !id.IsEvent() {
				s.Found([]rule.Finding{{Rule: id, Class: rule.Violation, Frame: 1}, {Rule: id, Class: rule.Violation, Frame: 2}, {Rule: id, Class: rule.Unproven, Frame: 3}})
				break
			}
		}
	}
	s.Flush()
	for word, want := range map[string]int{"violation": 2, "warning": 2, "note": 2, "unproven": 3} {
		if n := strings.Count(out.String(), word); n != want {
			t.Errorf("%q is there %d times, want %d:\n%s", word, n, want, out.String())
		}
	}
}

// TestStreamBounded: findings of ever other endpoints do not add up.
func TestStreamBounded(t *testing.T) {
	var out bytes.Buffer
	s := NewStream(&out, StreamOptions{Most: 1})
	for i := range uint32(3 * mostSeen) {
		s.Found([]rule.Finding{{Rule: rule.RCPSN004, Class: rule.Violation, Frame: uint64(i), Accused: rule.Endpoint{Addr: packet.LIDAddr(1), QPN: i, QPNKnown: true}}})
	}
	if len(s.seen) > mostSeen {
		t.Errorf("%d are kept", len(s.seen))
	}
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != 3*mostSeen {
		t.Errorf("%d lines", n)
	}
}
