package soft

import (
	"ibwitness/wqe"
)

// invalidate takes an R_Key back, for a SEND with Invalidate or a local invalidate (o10-37.2.26).
func (h *HCA) invalidate(q *queuePair, rkey uint32) bool {
	r := h.keys[rkey>>8]
	if r == nil || !r.valid || r.RKey != rkey || r.pd != q.pd || r.Window == 1 || r.qp != 0 && r.qp != q.num || r.bound > 0 {
		return false
	}
	r.valid = false
	r.release()
	return true
}

// release ends the binding of a window.
func (r *region) release() {
	if r.parent != nil {
		r.parent.bound--
		r.parent = nil
	}
}

// bind binds a memory window (section 10.6.6); it reports whether that is allowed.
func (h *HCA) bind(q *queuePair, b *wqe.Bind) bool {
	if b == nil {
		return false
	}
	w, r := h.mws[b.MW], h.mrs[b.MR]
	if !q.names(b, w, r) || !h.permitsBind(q, b, w, r) {
		return false
	}
	w.release()
	w.VA, w.Length, w.Access, w.valid = b.VA, b.Length, b.Access, b.Length > 0 && !r.outside(b)
	if w.Window == 2 {
		w.RKey, w.qp = b.RKey, q.num
	} else {
		w.RKey = w.RKey&^0xFF | (w.RKey+1)&0xFF
	}
	if r != nil && w.valid {
		w.buf, w.parent, w.base = r.buf, r, b.VA-r.buf.va
		if b.Access&wqe.ZeroBased != 0 {
			w.VA = 0
		}
		r.bound++
	}
	return true
}

// names reports whether a Bind names window w, by an R_Key of its index where that is of type 2, and a region r of the protection domain where it binds any bytes.
func (q *queuePair) names(b *wqe.Bind, w, r *region) bool {
	if w == nil || w.Window == 2 && b.RKey>>8 != w.RKey>>8 {
		return false
	}
	if r == nil {
		return b.Length == 0
	}
	return r.valid && r.pd == q.pd
}

// permitsBind reports whether the specification permits the binding of window w to region r, which is nil where nothing is bound.
func (h *HCA) permitsBind(q *queuePair, b *wqe.Bind, w, r *region) bool {
	const change = wqe.RemoteWrite | wqe.RemoteAtomic
	zero, two := b.Access&wqe.ZeroBased != 0, w.Window == 2
	for _, c := range [...]struct {
		bad   bool
		fault string // that lets it pass
	}{
		{zero && !two, "binds-zero-based"},                                                      // o10-36.2.2
		{two && w.valid, "binds-bound"},                                                         // o10-37.2.30
		{w.pd != q.pd, "binds-other-domain"},                                                    // C10-72
		{two && b.Length == 0, "binds-nothing"},                                                 // o10-37.2.40
		{r != nil && r.Access&wqe.BindWindow == 0, "binds-unbindable"},                          // C10-73
		{r != nil && b.Access&change != 0 && r.Access&wqe.LocalWrite == 0, "binds-more-rights"}, // C10-74
		{r.outside(b), "binds-outside"},                                                         // C10-75
	} {
		if c.bad && !h.breaks(c.fault) {
			return false
		}
	}
	return true
}

// outside reports whether a binding reaches beyond its region, where it has one.
func (r *region) outside(b *wqe.Bind) bool {
	return r != nil && (b.VA < r.VA || b.VA+b.Length < b.VA || b.VA+b.Length > r.VA+r.Length)
}
