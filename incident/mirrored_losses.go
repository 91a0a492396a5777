package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// repeats are the events that show that packets were retransmitted, or were to be.
var repeats = []rule.ID{rule.EvRetransmission, rule.EvDuplicate, rule.EvDuplicateResponse, rule.EvTimeout}

// neverAgain reports whether nothing in a run was retransmitted or asked for again, but for what may be copies that another mirrored port shows: what a
// network loses of reliable services is.
func (t *teller) neverAgain() bool {
	seconds := map[Party]bool{} // requesters of which nothing but such came late
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for from := range c.Ends {
			e := &c.Ends[from]
			if c.Service == packet.UD && e.QPNKnown && e.QPN <= 1 {
				continue
			}
			if !c.Service.Reliable() || e.NAKs > 0 || e.Stalled || e.Open > 0 && t.run.Last-e.OpenSince >= patience {
				return false
			}
			if peer := &c.Ends[1-from]; e.Retransmissions == 0 && peer.Duplicates > 0 && peer.Duplicates <= t.shownLate(c, from, false) {
				seconds[party(e)] = true
			}
			if x := e.Trouble; x != nil && x.Sum.Count > 0 && !t.mayBeCopies(c, x.Sum.Last) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(t.run.Findings, func(f rule.Finding) bool {
		return f.Class == rule.Event && slices.Contains(repeats, f.Rule) && !t.ofCopy(&f) && !(f.Rule == rule.EvDuplicate && seconds[Party{f.Accused.Addr, f.Accused.QPN, f.Accused.QPNKnown}])
	})
}

// ofCopy reports whether an event may be of a copy that another mirrored port shows, as that was not known of then.
func (t *teller) ofCopy(f *rule.Finding) bool {
	return slices.ContainsFunc(t.run.Mirrored, func(m agent.Mirrored) bool { return f.Time <= m.Since && m.Between(f.Accused.Addr, f.Peer.Addr) })
}

// lostByCapture says of a capture of mirrored ports in which nothing is retransmitted how many packets it lacks before later ones: it lost them, and
// not the network. What is told by itself is not.
func (t *teller) lostByCapture() string {
	if t.unheld().all() >= fewestUnheld {
		return ""
	}
	requests, responses := uint64(0), uint64(0)
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for from := range c.Ends {
			e := &c.Ends[from]
			if e.Trouble == nil || c.Service != packet.RC {
				continue
			}
			if m := &e.Trouble.Missing; m.PSNs > 0 && e.Trouble.Overtaking.All().Packets == 0 && t.run.Last-m.Newest.Time >= patience {
				requests += uint64(m.PSNs)
			}
			if responsesUnheld(e) {
				responses += uint64(e.Trouble.Missing.Responses.PSNs)
			}
		}
	}
	if requests+responses == 0 {
		return ""
	}
	return fmt.Sprintf("%s of requests and %s to READs before later ones: the capture lost them, too", count(requests, "PSN"), count(responses, "response"))
}
