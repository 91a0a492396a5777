package verbs

import (
	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// requests are the requests of a queue whose completion the consumer has not polled, oldest first.
type requests struct {
	list []request
	most int // that the queue holds
}

// request is a request that the device has taken.
type request struct {
	id       uint64
	signaled bool
	segments []wqe.Segment
	inv      uint32    // R_Key that a local invalidate takes back
	bind     *wqe.Bind // of a window, as it is when the request completes
	to       *region   // that the window is bound to; nil: to none
	window   int       // its type
}

// add adds a request. Where the queue was full its oldest request has completed: the device took another one.
func (q *requests) add(r request) {
	if len(q.list) >= max(q.most, 1) {
		q.list = append(q.list[:0], q.list[1:]...)
	}
	q.list = append(q.list, r)
}

// take takes the oldest request with an ID, one that is not signaled only where it failed. Of a queue whose requests complete in their order, those before it that are not
// signaled have completed.
func (q *requests) take(id uint64, failed, ordered bool) (r request, ok bool) {
	for i := range q.list {
		if x := &q.list[i]; x.id != id || !x.signaled && !failed {
			continue
		}
		r = q.list[i]
		kept := q.list[:0]
		for k := range q.list {
			if k != i && (k > i || !ordered || q.list[k].signaled) {
				kept = append(kept, q.list[k])
			}
		}
		clear(q.list[len(kept):])
		q.list = kept
		return r, true
	}
	return r, false
}

// find returns the data segments of the oldest request with an ID.
func (q *requests) find(id uint64) ([]wqe.Segment, bool) {
	for i := range q.list {
		if q.list[i].id == id {
			return q.list[i].segments, true
		}
	}
	return nil, false
}

// grhLength is how many bytes before a received datagram hold its GRH.
const grhLength = 40

// contents says what a request that has completed with success has put into memory.
func (m *memory) contents(c cq.Completion, r *request, service packet.Service) hcaagent.Completed {
	done, all := hcaagent.Completed{Completion: c}, length(r.segments)
	switch {
	case c.Op == cq.DoneRead || c.Op == cq.DoneCmpSwap || c.Op == cq.DoneFetchAdd:
		done.Sum, done.Summed = m.sum(r.segments, 0, all)
	case c.Op != cq.DoneRecv:
	case service != packet.UD:
		done.Sum, done.Summed = m.sum(r.segments, 0, min(uint64(c.ByteLen), all))
	case c.ByteLen >= grhLength && all >= grhLength:
		if done.Sum, done.Summed = m.sum(r.segments, grhLength, min(uint64(c.ByteLen), all)); done.Summed {
			m.each(r.segments, 0, grhLength, func(b []byte) { done.Head = append(done.Head, b...) })
		}
	}
	return done
}

// rekey has memory follow a request that has completed with success, where that changes keys.
func (m *memory) rekey(c *cq.Completion, r *request) {
	switch {
	case c.Flags&cq.WithInv != 0:
		m.invalidate(c.InvKey)
	case r.inv != 0:
		m.invalidate(r.inv)
	case r.bind != nil && r.to != nil && r.bind.Length > 0:
		m.bind(r.to, r.bind, r.window, c.QP.QPN)
	case r.bind != nil:
		m.unbind(r.bind.MW)
	}
}

// invalidate takes the R_Key of a window back.
func (m *memory) invalidate(rkey uint32) {
	if r := m.regions[key{rkey, false}]; r != nil && r.Window != 0 {
		m.unbind(r.MW)
	}
}
