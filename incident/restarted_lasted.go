package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/verifier/cm"
)

// least is from the last DREQ until the last refusal.
func (r *restarted) least() int64 {
	return max(r.refusals[len(r.refusals)-1].Time-r.closed[len(r.closed)-1].Closed.At, 0)
}

// unrefused reports whether the next connection was accepted long after the last refusal: what the host did until then no REQ shows, or none was
// answered.
func (r *restarted) unrefused() bool {
	return r.accepted != nil && r.accepted.First-r.closed[len(r.closed)-1].Closed.At > 2*r.least()
}

// refusedAt says when REQs were refused: that shows that no program listened then, and not what was between.
func (t *teller) refusedAt(r *restarted) string {
	first, last, n := r.refusals[0], r.refusals[len(r.refusals)-1], len(r.refusals)
	after := ""
	if r.least() > 0 {
		after = fmt.Sprintf(", %s after the last DREQ", span(r.least()))
	}
	switch {
	case n == 1:
		return fmt.Sprintf("at %s%s", t.offset(first.Time), after)
	case n == 2:
		return fmt.Sprintf("at %s and at %s%s", t.offset(first.Time), t.offset(last.Time), after)
	}
	return fmt.Sprintf("from %s to %s%s", t.offset(first.Time), t.offset(last.Time), after)
}

// askedMeanwhile returns the frame of the first REQ of those who were refused that had no answer between the last refusal and the next connection,
// and how many had none; 0: none was sent.
func (t *teller) askedMeanwhile(r *restarted) (frame, times uint64) {
	last, until, hosts := r.refusals[len(r.refusals)-1].Time, t.run.Last, r.hosts()
	if r.accepted != nil {
		until = r.accepted.First
	}
	for k := range t.run.REQs {
		q := &t.run.REQs[k]
		of := q.Waits == cm.ForREP && q.To == r.host && slices.Contains(hosts, q.From) && fmt.Sprint(q.Service) == r.service
		if !of || q.First <= last || q.Last >= until || q.End != 0 {
			continue
		}
		if times += uint64(q.Times); frame == 0 || q.Frame < frame {
			frame = q.Frame
		}
	}
	return frame, times
}

// othersAccepted says in which frames the first connections of the others that were refused were accepted, after that of the first.
func (t *teller) othersAccepted(r *restarted) (said string) {
	since := r.refusals[len(r.refusals)-1].Time
	for _, a := range r.hosts() {
		var next *agent.Connection
		for _, c := range t.serves(r.host) {
			of := c.PairedBy == agent.ByCM && c.Ends[0].Addr == a && c.Ends[1].Addr == r.host && c.First > since
			if of && (next == nil || c.First < next.First) {
				next = c
			}
		}
		if next != nil && a != r.accepted.Ends[0].Addr {
			said += fmt.Sprintf("; one of %v in frame %d, at %s", a, next.FirstFrame, t.offset(next.First))
		}
	}
	return said
}

// deviceRemoved is what fits where a host refuses REQs for a short time, as while its driver is removed, and then answers none.
func deviceRemoved(host string) string {
	return "an RDMA device or driver of " + host + " that was removed and came back: it disconnects, and answers no REQ meanwhile"
}
