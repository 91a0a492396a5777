package cq

import (
	"fmt"

	"ibwitness/rule"
	"ibwitness/wqe"
)

// memoryWindow is a memory window.
type memoryWindow struct {
	wqe.Region
	bound uint32 // the R_Key that a type 2 window is bound with; 0: it is free, or may be
	by    *queuePair
}

// rebound is a window that was bound again: it is wrong unless its R_Key was invalidated meanwhile, which the packets show.
type rebound struct {
	q    *queuePair
	e    *Event
	rkey uint32
}

// objects keeps regions and windows by their numbers.
func (s *Source) objects(e *Event) {
	switch r := e.Region; e.Kind {
	case EvRegisterMR:
		s.mrs[r.MR] = r
	case EvAllocateMW:
		s.mws[r.MW] = &memoryWindow{Region: *r}
	case EvDeregisterMR:
		delete(s.mrs, r.MR)
	case EvDeallocateMW:
		delete(s.mws, r.MW)
	}
}

// free ends the binding of a type 2 window.
func (s *Source) free(rkey uint32) {
	for _, w := range s.mws {
		if w.bound == rkey {
			w.bound = 0
		}
	}
}

// bound judges that a window was bound.
func (a *Agent) bound(q *queuePair, e *Event, b *wqe.Bind) {
	s := q.src
	w, r := s.mws[b.MW], s.mrs[b.MR]
	if b.MW == 0 || w == nil {
		return
	}
	two := w.Window == 2
	if b.MR == 0 {
		r = nil // not known
	}
	judge := func(id rule.ID, known, wrong bool, expected, actual string) {
		if !known {
			return
		}
		a.covered(id)
		if wrong {
			a.verb(q, id, e, "MW_BIND_ERR or an immediate error: "+expected, actual)
		}
	}
	judge(rule.CPLMW001, !two, b.Access&wqe.ZeroBased != 0, "a window of type 1 is not zero based", "it was bound zero based")
	judge(rule.CPLMW003, two && w.PD != 0 && q.made != nil && q.made.PD != 0, q.made != nil && w.PD != q.made.PD,
		"window and queue pair belong to one protection domain", "a window of another one was bound")
	judge(rule.CPLMW004, two, b.Length == 0, "a window of type 2 has a length", "it was bound to 0 bytes")
	if r != nil {
		judge(rule.CPLMW005, true, r.Access&wqe.BindWindow == 0, "the region does not permit windows", "one was bound to it")
		const change = wqe.RemoteWrite | wqe.RemoteAtomic
		judge(rule.CPLMW006, true, b.Access&change != 0 && r.Access&wqe.LocalWrite == 0,
			"a window that lets peers write needs a region that lets the consumer", "it was bound to another one")
		judge(rule.CPLMW007, b.Length > 0, !inside(b.VA, b.Length, r.VA, r.Length),
			fmt.Sprintf("%d bytes from %#x are not inside the region", b.Length, b.VA), "the window was bound")
	}
	if !two {
		return
	}
	a.covered(rule.CPLMW002)
	if w.bound != 0 {
		s.rebinds = append(s.rebinds, rebound{q, e, w.bound})
	}
	w.bound, w.by = b.RKey, q
}

// unbound ends the bindings that a queue pair has made.
func (q *queuePair) unbound() {
	for _, w := range q.src.mws {
		if w.by == q {
			w.bound = 0
		}
	}
}

// boundAgain judges the windows that were bound while they were bound, when the packets have passed that.
func (a *Agent) boundAgain(s *Source) {
	left := s.rebinds[:0]
	for _, x := range s.rebinds {
		switch {
		case s.uncertain || s.invalidated[x.rkey]:
		case !a.passed(s, x.e.Time) && !a.ended:
			left = append(left, x)
		default:
			a.verb(x.q, rule.CPLMW002, x.e, "MW_BIND_ERR or an immediate error: the window is bound", "it was bound again")
		}
	}
	s.rebinds = left
}

// invalidates takes over what a message to a queue pair says of keys.
func (s *Source) invalidates(m *Message) {
	s.uncertain = s.uncertain || m.Partial
	if m.HasInv {
		if s.invalidated == nil {
			s.invalidated = map[uint32]bool{}
		}
		s.invalidated[m.InvRKey] = true
	}
}
