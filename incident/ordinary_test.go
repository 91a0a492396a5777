package incident

import (
	"testing"
	"time"
)

// TestOrdinary: marks, packets that came late at no cost, short pauses, what is wrong with the capture and a client that was accepted in the end are
// ordinary; what costs, or is exploited, is not, nor is anything that was lost.
func TestOrdinary(t *testing.T) {
	for _, k := range []struct {
		name string
		i    Incident
		want bool
	}{
		{"marks", Incident{Kind: Congestion}, true},
		{"marks that one sender exploits", Incident{Kind: Congestion, unequal: true}, false},
		{"marks that a receiver does not answer", Incident{Kind: Congestion, unanswered: true}, false},
		{"late at no cost", Incident{Kind: Reordered, harmless: true}, true},
		{"late, and asked for", Incident{Kind: Reordered}, false},
		{"a short pause", Incident{Kind: Paused, Lost: 100 * time.Microsecond}, true},
		{"a long pause", Incident{Kind: Paused, Lost: 100 * time.Millisecond}, false},
		{"copies", Incident{Kind: Untrusted}, true},
		{"refused, then accepted", Incident{Kind: Rejected, accepted: true}, true},
		{"refused", Incident{Kind: Rejected}, false},
		{"lost", Incident{Kind: Loss}, false},
	} {
		if got := k.i.Ordinary(); got != k.want {
			t.Errorf("%s: %t", k.name, got)
		}
	}
}
