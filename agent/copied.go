package agent

import (
	"strings"

	"ibwitness/agent/internal/connection"
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

// Mirrored is packets from one host to another that are in the capture twice, and are judged once.
type Mirrored = connection.Mirrored

// leaveToMirrors takes back the suspicions of hosts whose packets another mirrored port shows once more, as long as that was not known. What is proven is not, then.
func leaveToMirrors(agents []*Transport) {
	for _, t := range agents {
		list := t.table.Mirrored()
		if len(list) == 0 {
			continue
		}
		gone := map[int]bool{}
		for i := range t.Rec.Findings {
			f := &t.Rec.Findings[i]
			for k := range list {
				if m := &list[k]; f.Time > m.Since || !onSequence(f.Rule) || !m.Between(f.Accused.Addr, f.Peer.Addr) {
					continue
				}
				if f.Class == rule.Unproven {
					gone[i] = true
				} else {
					t.Rec.Doubt(i, "the capture shows packets between these hosts twice: it may be a copy")
				}
				break
			}
		}
		t.Rec.RemoveAll(gone)
	}
}

// onSequence reports whether a rule is on which packets follow one another, which copies look like breaking.
func onSequence(id rule.ID) bool {
	for _, of := range []string{"-PSN-", "-RTY-", "-RSP-", "-SEQ-", "-ACK-", "-TMO-", "-RNR-", "-ATM-"} {
		if strings.Contains(id.String(), of) {
			return true
		}
	}
	return false
}
