package rule

import (
	"testing"

	"ibwitness/packet"
)

// TestBeyond: of very many findings that are alike the first ones are kept, and the rest counted: by rule, class and hosts. Those that leave make room.
func TestBeyond(t *testing.T) {
	const more = 1000
	var r Recorder
	a, b := packet.Addr{Lo: 1}, packet.Addr{Lo: 2}
	add := func(id ID, class Class, n int) {
		for range n {
			r.Add(Finding{Rule: id, Class: class, Accused: Endpoint{Role: Responder, Addr: a}, Peer: Endpoint{Addr: b}})
		}
	}
	add(RCRSP006, Violation, mostAlike)
	if r.Full(RCRSP006, Unproven, a, b) || !r.Full(RCRSP006, Violation, b, a) || r.Full(RCRSP007, Violation, a, b) {
		t.Error("full")
	}
	add(RCRSP006, Violation, more)
	add(RCRSP006, Unproven, 3)
	add(RCRSP007, Violation, 3)
	if f := r.Findings[mostAlike]; !f.Beyond || len(r.Findings) != mostAlike+more+6 {
		t.Errorf("%d findings", len(r.Findings))
	}
	r.Doubt(mostAlike, "") // stays as it was counted
	add(EvCNP, Event, 1)
	r.Alike(More{Rule: EvCNP, Class: Event, Accused: a})
	if c := r.Cover[RCRSP006]; c.Violated != mostAlike+more || c.Unproven != 3 || r.Cover[EvCNP].Exercised != 2 {
		t.Errorf("%+v", c)
	}
	counts := map[More]uint64{}
	for _, m := range r.More() {
		n := m.Count
		m.Count = 0
		counts[m] = n
	}
	if len(counts) != 2 || counts[More{Rule: RCRSP006, Class: Violation, Role: Responder, Accused: a}] != more || len(r.Findings) != mostAlike+7 {
		t.Errorf("%v, %d findings stay", counts, len(r.Findings))
	}
	if list := r.More(); list != nil {
		t.Errorf("told twice: %v", list)
	}

	r.Doubt(0, "") // is one of the unproven now
	r.Remove(1)
	add(RCRSP006, Violation, 3)
	if list := r.More(); len(list) != 1 || list[0].Count != 1 {
		t.Errorf("%v", list)
	}
	r.Take(1)
	if add(RCRSP006, Violation, mostAlike); len(r.More()) != 0 || len(r.Findings) != mostAlike {
		t.Errorf("%d findings after all were told", len(r.Findings))
	}

	// Findings beyond leave in time where nobody asks.
	add(RCRSP006, Violation, mostAlike)
	if r.Trim(); len(r.Findings) != 2*mostAlike {
		t.Errorf("%d findings", len(r.Findings))
	}
	add(RCRSP006, Violation, 1)
	if r.Trim(); len(r.Findings) != mostAlike {
		t.Errorf("%d findings", len(r.Findings))
	}
}
