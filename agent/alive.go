package agent

import "ibwitness/rule"

// withdrawMisdirected doubts that a request went to a wrong QP where that one, of a connection that leaves, goes on after it with packets of its own (rule BTH-011): one
// PSN after the other, rather than now and then a misdirected one too.
func (t *Transport) withdrawMisdirected() {
	misdirected := map[uint64]int{} // findings by frame
	for i := range t.Rec.Findings {
		if f := &t.Rec.Findings[i]; f.Rule == rule.BTH011 && f.Class == rule.Violation {
			misdirected[f.Frame] = i
		}
	}
	if len(misdirected) == 0 {
		return
	}
	for c := range t.table.All() {
		i, ok := misdirected[c.FirstFrame]
		if !ok || !c.Leaving() || c.FirstTap != t.Rec.Findings[i].Tap {
			continue
		}
		if on := c.Ends[0].SQ.High.Diff(c.FirstPSN()); c.Paired || on > 1 && on <= int(c.Ends[0].Packets()) {
			t.Rec.Doubt(i, "its DestQP has a packet stream of its own: the missing packet may have been lost before the tap")
		}
	}
}
