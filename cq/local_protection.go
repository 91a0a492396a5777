package cq

import (
	"fmt"

	"ibwitness/rule"
	"ibwitness/wqe"
)

// localRegion is what an L_Key opens to the device itself.
type localRegion struct {
	wqe.Region
	n    int    // of the event that registered it
	gone *Event // that deregistered it; nil: none did
	last int    // of that
	over bool   // the key was another region's before
}

// registered takes over the L_Key of a region.
func (s *Source) registered(e *Event) {
	s.untoldLKeys = s.untoldLKeys || e.Region.LKey == 0
	s.untoldRKeys = s.untoldRKeys || e.Region.RKey == 0 && e.Region.Access&(wqe.RemoteWrite|wqe.RemoteRead|wqe.RemoteAtomic) != 0 // else it needs none
	k := e.Region.LKey
	s.lkeys[k] = &localRegion{Region: *e.Region, n: s.n, over: s.lkeys[k] != nil}
}

// deregistered takes over that a region is no more. A log names it by one of its keys, or its number.
func (s *Source) deregistered(e *Event) {
	gone := func(r *localRegion) { r.gone, r.last = e, s.n }
	switch r := s.lkeys[e.Region.LKey]; {
	case e.Region.LKey != 0 && r != nil:
		gone(r)
	case e.Region.LKey != 0:
	default:
		for _, r := range s.lkeys {
			if r.gone == nil && (e.Region.MR != 0 && r.MR == e.Region.MR || e.Region.MR == 0 && e.Region.RKey != 0 && r.RKey == e.Region.RKey) {
				gone(r)
			}
		}
	}
}

// denied says why no region opens a data segment of a request, that event n has posted, to the device; "" if one does, or if that is not certain. pd is the protection
// domain of its queue, 0 where that is not known; writes says that the device is to put data there.
func (s *Source) denied(g *wqe.Segment, pd wqe.PD, posted *Event, n int, writes bool) string {
	if g.Length == 0 || g.LKey == 0 {
		return ""
	}
	r := s.lkeys[g.LKey]
	switch {
	case r == nil && (len(s.lkeys) == 0 || s.lost || s.joined || s.untoldLKeys): // the log does not tell of all regions
		return ""
	case r == nil:
		return fmt.Sprintf("L_Key %#x is not registered", g.LKey)
	case r.n > n: // it may have been, as the region that had the key before
		return ""
	case r.goneBefore(posted, n):
		return fmt.Sprintf("the region of L_Key %#x is no more", g.LKey)
	case r.gone != nil:
		return ""
	case foreign(r.PD, pd):
		return fmt.Sprintf("L_Key %#x belongs to another protection domain", g.LKey)
	case !r.holds(g):
		return fmt.Sprintf("%d bytes from %#x are not inside the region of L_Key %#x", g.Length, g.VA, g.LKey)
	case writes && r.Access&wqe.LocalWrite == 0:
		return fmt.Sprintf("L_Key %#x does not permit the device to write", g.LKey)
	}
	return ""
}

// goneBefore reports whether a region was deregistered before a request was posted, by event n. Of two lines of one time that is not certain.
func (r *localRegion) goneBefore(posted *Event, n int) bool {
	return r.gone != nil && r.last < n && (r.gone.Time < posted.Time || posted.Line == 0)
}

// holds reports whether a data segment is inside a region. Of a zero-based region, and where one of their addresses is not told, that is taken to be so.
func (r *localRegion) holds(g *wqe.Segment) bool {
	return r.Access&wqe.ZeroBased != 0 || g.VA == 0 || r.VA == 0 || inside(g.VA, uint64(g.Length), r.VA, r.Length)
}

// inside reports whether n bytes from an address are inside the length bytes of a region from another.
func inside(va, n, region, length uint64) bool {
	return va >= region && n <= length && va-region <= length-n
}

// denies says why a send request cannot read or write its data segments; "" if it can, or if that is not certain (rule CPL-STS-017). Inline data needs no key.
func (q *queuePair) denies(w *sendRequest) string {
	r := w.req()
	writes := fetches(r.Op)
	switch {
	case writes:
	case r.Op == wqe.OpLocalInv, r.Op == wqe.OpBindMW, r.Op == wqe.OpFlush, r.Flags&wqe.Inline != 0:
		return ""
	}
	for i := range r.Segments {
		if why := q.src.denied(&r.Segments[i], q.pd(), w.event, w.n, writes); why != "" {
			return why
		}
	}
	return ""
}

// unprotected reports a send request that has succeeded, and that no region lets do so. then is the end of the sentence that says so.
func (a *Agent) unprotected(q *queuePair, v, w *sendRequest, then string) {
	if why := q.denies(v); why != "" {
		a.verb(q, rule.CPLSTS017, w.done, "LOC_PROT_ERR or an immediate error: "+why, fmt.Sprintf("request %d succeeded%s", v.req().ID, then))
	}
}

// unreadable judges a completion of a SEND or WRITE which says that the device could not send its data (rule CPL-STS-018). One that was retransmitted may have failed
// when the device read its data once more, and so may one whose ACK came after the completion.
func (a *Agent) unreadable(q *queuePair, w *sendRequest) {
	r := w.req()
	if w.response() || r.Op == wqe.OpFlush || q.denies(w) != "" {
		return
	}
	a.covered(rule.CPLSTS018)
	m, at := q.out.Find(w.first), q.answered(w)
	if m == nil || at == nil || m.Partial || m.First != w.first || q.out.tries(w) > 1 || q.src.clock.before(w.done.Time, at.Time) {
		return
	}
	class, why := a.provenAt(q), ""
	switch {
	case class == rule.Unproven:
		why = "; the ACK may have been lost after the tap"
	case !q.src.clock.after(w.done.Time, at.Time):
		class, why = rule.Unproven, "; it may have come after the completion"
	}
	a.accuse(q, verdict{
		Verdict: rule.Verdict{
			Rule: rule.CPLSTS018, Class: class, Role: rule.Requester,
			Expected: "success: the message was sent whole, and is acknowledged", Actual: w.done.Completion.Status.String(),
			Detail: fmt.Sprintf("request %d%s", r.ID, why), Evidence: []uint64{m.End.Frame},
		},
		at: *at, event: w.done,
	})
	if class == rule.Violation {
		q.unfounded(w)
	}
}
