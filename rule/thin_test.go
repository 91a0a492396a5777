package rule

import (
	"testing"

	"ibwitness/packet"
)

// TestThin: of many findings half stay, each of those that is like no other among them, and the coverage counts all.
func TestThin(t *testing.T) {
	const many = 20_000
	var r Recorder
	r.Add(Finding{Rule: RCRSP006, Class: Violation, Frame: 1})
	for i := range many {
		r.Add(Finding{Rule: EvRetransmission, Class: Event, Frame: uint64(2 + 2*i)})
		r.Add(Finding{Rule: RCRTY006, Class: Unproven, Frame: uint64(3 + 2*i)})
	}
	r.Add(Finding{Rule: RCRSP006, Class: Violation, Frame: 3 * many, Accused: Endpoint{QPN: 7}})
	findings, events := r.Thin()
	if findings+events+uint64(len(r.Findings)) != 2*many+2 || events != many-100 || findings != many-100 || len(r.Findings) != 202 {
		t.Errorf("%d findings and %d events dropped, %d stay", findings, events, len(r.Findings))
	}
	if first, last := r.Findings[0], r.Findings[len(r.Findings)-1]; first.Rule != RCRSP006 || last.Rule != RCRSP006 {
		t.Errorf("a finding like no other is gone: %v, %v", first.Rule, last.Rule)
	}
	if c := r.Cover[RCRTY006]; c.Unproven != many {
		t.Errorf("%d counted of %d", c.Unproven, many)
	}
	if findings, events = r.Thin(); findings+events != 0 {
		t.Errorf("of few %d are dropped", findings+events)
	}

	// Of findings unlike each other the first ones of each rule stay, the only violation among them, although it is the last.
	r = Recorder{}
	for i := range many {
		r.Add(Finding{Rule: RCRTY006, Class: Unproven, Frame: uint64(i), Accused: Endpoint{Addr: packet.Addr{Lo: uint64(i)}}})
	}
	r.Add(Finding{Rule: RCRSP006, Class: Violation, Frame: many})
	if findings, _ = r.Thin(); findings+uint64(len(r.Findings)) != many+1 || len(r.Findings) > many/2+1 || r.Findings[0].Frame != 0 {
		t.Errorf("of findings unlike each other %d are dropped, %d stay", findings, len(r.Findings))
	}
	if last := r.Findings[len(r.Findings)-1]; last.Class != Violation {
		t.Errorf("the violation is gone: the last one is %+v", last)
	}
}
