package conform

import (
	"fmt"
	"time"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// retried waits for the retry after an RNR NAK. It judges the wait, that the retry is the same, and that the request does not complete before, under these ids. Where
// no retry comes the result is nil.
func (c *conn) retried(first, nak *packet.Packet, code uint8, wait, same, pending string) *packet.Packet {
	r := c.r
	limit := int64(packet.RNRTimer(code))
	had := len(c.completions)
	retry := c.receiveOr(r.present()+longWindow, had)
	if len(c.completions) > had {
		r.check(pending, false, "no completion before the retry", statuses(c.completions[had:]), first, nak)
	} else {
		r.check(pending, true, "", "no completion in the wait", first, nak)
	}
	if retry == nil {
		why := "no retry came in 20 s"
		if len(c.completions) > had {
			why = "the request completed, and no retry came"
		}
		r.open(wait, why, first, nak)
		r.note("the rest of the procedure needs a retry")
		r.why = why
		return nil
	}
	took := retry.Time - nak.Time
	r.check(wait, took >= limit, fmt.Sprintf("at least %v (code %d)", time.Duration(limit), code), fmt.Sprintf("%s after the RNR NAK, code %d", exact(took), code), first, nak, retry)
	if took > 4*limit+int64(time.Second) {
		r.note("warning: the retry comes later than 4 times the time and 1 s")
	}
	d := differ(first, retry)
	r.check(same, d == "", "the request as it was first sent", actually(d, "equal to the first try"), first, retry)
	return retry
}

// exceeded waits for the end of a request whose retries are used up: no try more, one completion with this status. Where a try more comes the completion is open, and the
// result false.
func (c *conn) exceeded(first, nak *packet.Packet, status cq.Status, code uint8, tries, end string) bool {
	r := c.r
	had := len(c.completions)
	until := r.present() + endWindow
	if more := c.receiveOr(until, had); more != nil {
		r.check(tries, false, "no further try", fmt.Sprintf("one more, %s after the NAK", exact(more.Time-nak.Time)), first, nak, more)
		r.open(end, "the device tries again in place of giving up", more)
		r.why = "the device goes on trying"
		return false
	}
	c.completed(had+1, until)
	r.wait(2*int64(packet.RNRTimer(code)) + r.window)
	list := c.completions[had:]
	more := []*packet.Packet{first, nak}
	if len(c.arrived) > 0 {
		more = append(more, c.arrived[0])
	}
	r.check(tries, len(c.arrived) == 0, "no further try", fmt.Sprintf("%d further", len(c.arrived)), more...)
	c.once(end, list, status, first, nak)
	return true
}

// once judges that completions are one, with a status.
func (c *conn) once(id string, list []completion, status cq.Status, frames ...*packet.Packet) bool {
	ok := len(list) == 1 && list[0].Status == status
	return c.r.check(id, ok, fmt.Sprintf("one completion, %v", status), statuses(list), frames...)
}

// acknowledged acknowledges a request and waits for its completion.
func (c *conn) acknowledged(p *packet.Packet, msn uint32, id string) bool {
	had := len(c.completions)
	ack := c.ack(p.PSN, positive, msn)
	return c.once(id, c.completed(had+1, c.r.soon())[had:], cq.Success, p, ack)
}

// successes judges that the first n requests complete with success, once and in order.
func (c *conn) successes(id string, list []completion, n int, frames ...*packet.Packet) {
	ok := len(list) == n
	for i := range list {
		ok = ok && list[i].Status == cq.Success && list[i].ID == list[0].ID+uint64(i)
	}
	c.r.check(id, ok, fmt.Sprintf("%d successes, in order", n), statuses(list), frames...)
}

// inError judges that the queue pair is in ERR.
func (c *conn) inError(id string, frames ...*packet.Packet) {
	s := c.state()
	c.r.check(id, s == qp.Err, qp.Err.String(), s.String(), frames...)
}

// flushes posts n SENDs and judges that each is flushed, in order, and nothing is sent.
func (c *conn) flushes(id string, n int) {
	r := c.r
	had := len(c.completions)
	var ids []uint64
	for range n {
		x, _ := c.post(wqe.OpSend, 64)
		ids = append(ids, x)
	}
	c.allFlushed(id, c.completed(had+n, r.soon())[had:], ids)
}

// allFlushed judges that just the requests with these ids are flushed, in order.
func (c *conn) allFlushed(id string, list []completion, ids []uint64) {
	ok := len(list) == len(ids)
	for i := range list {
		ok = ok && list[i].ID == ids[i] && list[i].Status == cq.WRFlushErr
	}
	sent := c.arrived
	c.arrived = nil
	actual := statuses(list)
	if len(sent) > 0 {
		actual += fmt.Sprintf(", and %d packets sent", len(sent))
	}
	c.r.check(id, ok && len(sent) == 0, fmt.Sprintf("requests %v flushed once each, in order", ids), actual, sent...)
}

// exact is a time to the microsecond.
func exact(ns int64) string { return time.Duration(ns).Round(time.Microsecond).String() }

// actually is what differs, or that nothing does.
func actually(differs, nothing string) string {
	if differs == "" {
		return nothing
	}
	return differs
}

// happened says what came in place of silence.
func happened(p *packet.Packet, list []completion) string {
	switch {
	case p != nil:
		return told(p)
	case len(list) > 0:
		return statuses(list)
	}
	return "silence"
}
