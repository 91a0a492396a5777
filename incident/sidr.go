package incident

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/verifier/cm"
)

// unresolved counts the SIDR_REQs that had no answer, one for each transaction, on the way from host to host.
func (t *teller) unresolved() map[way]uint64 {
	n := map[way]uint64{}
	for k := range t.run.REQs {
		if q := &t.run.REQs[k]; q.SIDR {
			n[way{q.From, q.To}]++
		}
	}
	return n
}

// resolved is the SIDR_REQs that were answered while one waited.
type resolved struct {
	same, other uint64                 // by the host that was asked, of any host: for the same service ID, and for others
	elsewhere   uint64                 // of the host that asked, by others
	hosts       map[packet.Addr]uint64 // these others
}

// resolvedMeanwhile counts the SIDR_REQs that were answered while q waited.
func (t *teller) resolvedMeanwhile(q *cm.Unanswered) resolved {
	r := resolved{hosts: map[packet.Addr]uint64{}}
	for k := range t.run.SIDRs {
		switch x := &t.run.SIDRs[k]; {
		case t.timed() && (x.At < q.First || x.At > waitedUntil(q)):
		case x.To == q.To && x.Service == q.Service:
			r.same++
		case x.To == q.To:
			r.other++
		case x.From == q.From:
			r.elsewhere++
			r.hosts[x.To]++
		}
	}
	return r
}

// said says which SIDR_REQs were answered while q waited; "": none was.
func (r *resolved) said(q *cm.Unanswered) (s string) {
	of := func(n uint64, which string) string {
		if n == 1 {
			return "1 SIDR_REQ " + which
		}
		return number(n) + " SIDR_REQs " + which
	}
	var here []string
	if r.same > 0 {
		here = append(here, of(r.same, "for the same service ID"))
	}
	if r.other > 0 {
		here = append(here, of(r.other, "for other service IDs"))
	}
	if len(here) > 0 {
		s = fmt.Sprintf("%v answered %s meanwhile", q.To, enumerate(here))
	}
	if r.elsewhere > 0 {
		by := count(uint64(len(r.hosts)), "other host")
		if len(r.hosts) == 1 {
			for a := range r.hosts {
				by = a.String()
			}
		}
		if s != "" {
			s += "; "
		}
		s += fmt.Sprintf("%s answered %s", by, of(r.elsewhere, "of "+q.From.String()+" meanwhile"))
	}
	return s
}

// sidrReasons says what would look like a SIDR_REQ that nothing answered, and what to look at.
func (t *teller) sidrReasons(i *Incident, q *cm.Unanswered) {
	from, to := q.From.String(), q.To.String()
	r, alive := t.resolvedMeanwhile(q), t.hosts[q.To].last > q.First
	i.fact("others", r.said(q))
	lost := "this SIDR_REQ or its answer, which was lost each time: nothing acknowledges datagrams"
	hangs := "a communication manager of " + to + " that does not answer: it hangs, waits for its program, or drops what it does not know"
	program := "the program on " + to + " that listens on " + q.Service.String() + " (rdma resource show cm_id)"
	i.Next = []string{program + ", and its kernel's log", captureAt(to) + "whether the SIDR_REQ arrived there; ping and rping from " + from}
	switch {
	case r.same > 0:
		i.FitsWith = []string{lost, "a program of " + to + " that is busy, or whose backlog is full, so that its communication manager drops some"}
	case r.other > 0:
		i.FitsWith = []string{"a program of " + to + " that listens on " + q.Service.String() + " and does not answer, while its communication manager answers for others: it hangs", lost}
	case alive:
		i.FitsWith = []string{hangs, lost}
	default:
		i.FitsWith = []string{t.downOr(q.To, q.First), lost}
	}
	if r.same+r.other > 0 {
		i.Next[1] = captureAt(to) + "whether the SIDR_REQ arrived there"
	}
}
