package gmp

import (
	"math/rand/v2"
	"strings"
	"testing"

	"ibwitness/internal/testkit/disturb"
	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/tally"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestBounds holds what is said at the bounds of all fields and times of short conversations.
func TestBounds(t *testing.T) {
	var out strings.Builder
	for i, c := range []struct {
		name string
		say  func(t *talk)
	}{
		{"counters", func(t *talk) { t.counters(administrator, 1) }},
		{"counters cleared", func(t *talk) { t.clears(administrator, 1) }},
		{"a path", func(t *talk) { t.paths(1, 2) }},
		{"a path to a group", func(t *talk) { t.pathToGroup(1) }},
		{"a table asked for again", func(t *talk) { t.tableAgain(1) }},
		{"a table", func(t *talk) { t.table(2) }},
		{"a group", func(t *talk) { t.group(1) }},
		{"a class", func(t *talk) { t.about(1, 2); t.tid++; t.counters(1, 2) }},
		{"a redirection", func(t *talk) { t.moves(1, 2); t.tid++; t.counters(1, 2) }},
		{"a subscription", func(t *talk) { t.subscribes(1); t.tid++; t.creates(1); t.reports(1, 66) }},
		{"paths between several", func(t *talk) { t.several(1) }},
		{"a broken transfer", func(t *talk) { t.broken(1) }},
		{"a service", func(t *talk) { t.serves(1) }},
		{"a refusal", func(t *talk) { t.cannot(1, 2) }},
		{"records", func(t *talk) { t.asks(1); t.tid++; t.asks(1) }},
		{"more records", func(t *talk) { t.asks(1); t.tid++; t.asks(1) }},
	} {
		if i%sample.Stride(4) > 0 {
			continue
		}
		r := rand.New(rand.NewPCG(uint64(i), 6))
		s := fabric(r)
		talk := &talk{r: r, now: 1_000_000_000_000_000_000, tid: 5}
		c.say(talk)
		list := talk.packets(i%3 == 0)
		near := []uint16{1, 2, 3, 4, 5, 6, 7, 8, 9}
		out.WriteString(disturb.Bounds(c.name, list, func(list []packet.Packet) []rule.Finding { return judged(list, s, near).Findings }))
	}
	tally.Text(t, "testdata/bounds.txt", out.String())
}
