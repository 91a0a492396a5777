package agent

import (
	"ibwitness/rule"
	"ibwitness/verifier"
)

// leaveToCopies takes the suspicions back that responses came in another order than they are to leave, where the capture holds a large part of the packets twice: copies that come among other packets look like that.
func leaveToCopies(agents []*Transport, rdma uint64) {
	var copies verifier.Copies
	again := uint64(0)
	for _, t := range agents {
		copies.Add(&t.ver.Copies)
		again += t.repeated
	}
	if again += copies.Count; !copies.Distort(rdma - min(rdma, again)) {
		return
	}
	for _, t := range agents {
		gone := map[int]bool{}
		for i := range t.Rec.Findings {
			if f := &t.Rec.Findings[i]; f.Class == rule.Unproven && f.Accused.Role == rule.Responder && verifier.InOrder(f.Rule) {
				gone[i] = true
			}
		}
		t.Rec.RemoveAll(gone)
	}
}
