package agent

import "ibwitness/wqe"

// postedQueue is the requests of a queue whose completion the consumer has not polled, oldest first.
type postedQueue struct {
	list  []postedRequest
	first int // of list, that is still there
	most  int // that the queue holds; 0: not known
}

// postedRequest is a work request. Its segments are nobody's to change.
type postedRequest struct {
	id       uint64
	op       wqe.SendOp
	signaled bool
	done     bool
	segments []wqe.Segment
}

// mostPosted is how many requests are kept of a queue that does not say how many it holds.
const mostPosted = 1 << 14

// keeps reports whether requests are kept until they complete, for what they put into memory: not where Query tells of that, or nobody asks.
func (d *device) keeps() bool { return d.opt.Event != nil && d.opt.Query != nil && !d.observes }

// forget drops the requests that are kept.
func (d *device) forget() {
	for _, m := range d.qps {
		m.send.clear()
		m.receive.clear()
	}
	for _, s := range d.srqs {
		s.receive.clear()
	}
}

// add adds a request. Where the queue was full, its oldest request has completed: the device took another one.
func (p *postedQueue) add(r postedRequest) {
	most := p.most
	if most <= 0 {
		most = mostPosted
	}
	if len(p.list)-p.first >= most {
		p.first++
	}
	if len(p.list) == cap(p.list) && p.first > len(p.list)/2 {
		p.list = p.list[:copy(p.list, p.list[p.first:])]
		p.first = 0
	}
	p.list = append(p.list, r)
}

// take takes the oldest request with an ID, one that is not signaled only where failed says so. Those before it that are not signaled have completed.
func (p *postedQueue) take(id uint64, failed bool) (r postedRequest, ok bool) {
	if p == nil {
		return r, false
	}
	for i := p.first; i < len(p.list) && !ok; i++ {
		if x := &p.list[i]; x.id == id && !x.done && (x.signaled || failed) {
			r, ok, x.done = *x, true, true
			for k := p.first; k < i; k++ {
				p.list[k].done = p.list[k].done || !p.list[k].signaled
			}
		}
	}
	for p.first < len(p.list) && p.list[p.first].done {
		p.first++
	}
	return r, ok
}

func (p *postedQueue) clear() { p.list, p.first = nil, 0 }
