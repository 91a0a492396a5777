package incident

import (
	"testing"

	"ibwitness/packet"
)

// TestUnderHoles: an incident in which larger packets vanish on a way tells of what was lost on it; not of what was lost the other way, with others, or in both directions.
func TestUnderHoles(t *testing.T) {
	a, b, c := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2}), packet.IPv4Addr([]byte{10, 0, 0, 3})
	for _, k := range []struct {
		name string
		sum  lossSum
		want bool
	}{
		{"to the receiver", lossSum{host: b, to: true, others: []packet.Addr{a}, after: 32, against: 2}, true},
		{"from the sender", lossSum{host: a, others: []packet.Addr{b}, after: 32}, true},
		{"the other way", lossSum{host: a, to: true, others: []packet.Addr{b}, after: 32}, false},
		{"with others", lossSum{host: b, to: true, others: []packet.Addr{a, c}, after: 32}, false},
		{"in both directions", lossSum{host: b, to: true, others: []packet.Addr{a}, after: 32, against: 20}, false},
	} {
		hole := Incident{Kind: Unanswered, hole: hole{way: way{a, b}, most: 184}, Begin: 10, End: 20}
		lost := Incident{Kind: Loss, sum: &k.sum, Begin: 5, End: 30, Facts: []Fact{{"cost", "37.5s"}, {"paths", "all"}}}
		list := underHoles([]Incident{hole, lost})
		if got := len(list) == 1 && list[0].Begin == 5 && list[0].End == 30 && list[0].says("cost") && !list[0].says("paths"); got != k.want || len(list) == 2 == k.want {
			t.Errorf("%s: %+v", k.name, list)
		}
	}
}
