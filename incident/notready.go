package incident

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// notReady tells of a receiver that had no receive posted at times, and then had.
func (t *teller) notReady(c *agent.Connection, from int, k *qp.Trouble) {
	i := t.between(NotReady, c, from)
	r := &k.RNR
	i.Begin, i.End, i.Lost, i.short = r.First, r.Last, time.Duration(r.Waited), t.shortageOf(c, from, k)
	i.show(r.Frame, r.Newest)
	took := t.within(", which took %s in all"+shareWaited(r), r.Waited)
	held := t.refusedThroughout(k)
	slow := t.timed() && slowToResume(r) && held == nil
	if slow {
		took = fmt.Sprintf(" for %s in all; %v took %s, on average %s each time", span(r.Asked), i.Local.Addr, span(r.Waited), span(r.Waited/int64(r.Waits)))
	}
	i.What = fmt.Sprintf("%v was not ready for the requests of %v %s: it asked to wait%s.", &i.Peer, &i.Local, times(uint64(r.NAKs)), took)
	if held != nil {
		i.What = fmt.Sprintf("%v was not ready for a request of %v each of the %d times that it came in %s, and then took it, in frame %d; it was not ready %s in all.",
			&i.Peer, &i.Local, held.NAKs, span(held.Lost()), held.Frames.Ended, times(uint64(r.NAKs)))
	}
	i.short.tell(t, i)
	if c.Ends[from].Stalled && k.Now.NAKs > 0 {
		i.fact("at the end", fmt.Sprintf("it has refused %s %s, and not taken it yet", article(operation(&k.Now.Request)), times(uint64(k.Now.NAKs))))
	}
	i.fact("others", t.othersReady(c, from, r.First, r.Last))
	receiverReasons(i)
	if i.stalled = held != nil; held != nil { // that it posts too few receives does not last so long
		slices.Reverse(i.FitsWith)
		i.Next = slices.Insert(i.Next, 0, "what the process on "+i.Peer.Addr.String()+" did at that time: whether it was stopped, or waited for something else")
	}
	t.stoppedBefore(i, c, from, k)
	if slow {
		fits, next := slowReasons(i)
		i.FitsWith, i.Next = append(fits, i.FitsWith...), append(next, i.Next...)
	}
	t.tell(i, "")
}

// From how many RNR NAKs on, and from which share of the time on, one in so many, it is told which share their waits took.
const (
	waitsShared = 8
	waitsShare  = 2
)

// shareWaited says which share of the time from the first RNR NAK to the last, and the wait after it where that is over, was waited, as a format; "": little, or there are few.
func shareWaited(r *qp.RNRSums) string {
	if r.NAKs < waitsShared || r.Waits == 0 {
		return ""
	}
	elapsed := r.Last - r.First
	if uint64(r.Waits) >= uint64(r.NAKs) {
		elapsed += r.Waited / int64(r.Waits)
	}
	if elapsed <= 0 || waitsShare*r.Waited < elapsed {
		return ""
	}
	return fmt.Sprintf(" (%d %%%% of the time from the first to the last)", min(100*r.Waited/elapsed, 100))
}

// A request that is refused so often, while most of all that RNR NAKs cost is lost, is one for which the receiver was not ready all the time.
const refusedOften = 16

// refusedThroughout returns the stall of such a request; nil: there is none. How late its requester retransmitted it costs no more than its last
// wait.
func (t *teller) refusedThroughout(k *qp.Trouble) *qp.Stall {
	s := longestRefused(k)
	if s == nil || !t.timed() || s.NAKs < refusedOften || 2*s.Lost() < k.RNR.Waited || s.Lost() < int64(time.Second) {
		return nil
	}
	return s
}

// othersReady says that the receiver was ready for all requests on the other connections between the hosts of c that were in use between two times; "": it was not, a request there has no answer, or there are none.
func (t *teller) othersReady(c *agent.Connection, from int, since, until int64) string {
	list, n := t.siblings(c), uint64(0)
	if len(list) > mostOthers {
		return ""
	}
	for _, d := range list {
		for e := range d.Ends {
			switch {
			case d == c || d.Ends[e].Addr != c.Ends[from].Addr || d.Ends[e].Messages == 0 || takesNoReceive(d, e):
			case t.timed() && (d.First > until || d.Ends[e].Last < since):
			case d.Ends[e].Trouble != nil && d.Ends[e].Trouble.RNR.NAKs > 0, d.Ends[e].Stalled && d.Ends[e].Trouble.Now.Since <= until:
				return ""
			default:
				n++
			}
		}
	}
	if n == 0 {
		return ""
	}
	return "it was ready for all that came on " + count(n, "other connection") + " between the same hosts"
}

// takesNoReceive reports whether end from of a connection sends nothing that takes a receive of its peer, or nothing that was answered: of WRITEs, those with immediate data do.
func takesNoReceive(c *agent.Connection, from int) bool {
	if c.Ends[from].Stalled && c.Ends[1-from].Packets == 0 {
		return true
	}
	return c.Timing != nil && c.Timing.Ends[from].Ops[wqe.Send] == nil && c.Timing.Exchange.Taking(from) == 0
}

// episodes says in how many episodes RNR NAKs came, where in several.
func (t *teller) episodes(r *qp.RNRSums) string {
	if r.Episodes < 2 || !t.timed() {
		return ""
	}
	if r.Episodes == 2 {
		return "2, with a break between; the second began " + span(r.Began-r.First) + " after the first"
	}
	return fmt.Sprintf("%d, with breaks between: on average every %s; the newest began %s after the first", r.Episodes, span((r.Began-r.First)/int64(r.Episodes-1)), span(r.Began-r.First))
}

// longestRefused returns the longest stall by RNR NAKs that is over, of those that are kept; nil: there is none.
func longestRefused(k *qp.Trouble) (longest *qp.Stall) {
	for n := range k.Longest {
		if s := &k.Longest[n]; s.NAKs > 0 && s.Frames.Ended != 0 && (longest == nil || s.Lost() > longest.Lost()) {
			longest = s
		}
	}
	return longest
}

// slowReasons says what fits with a requester that is slow to resume, and what to look at.
func slowReasons(i *Incident) (fits, next []string) {
	fits = []string{
		"a requester whose RNR timer is coarser than what it is asked for, as one in software that counts the ticks of its kernel", "a requester that was held up, or a way to it and back that takes as long",
	}
	next = []string{"how finely the adapter or driver of " + i.Local.Addr.String() + " can wait: most of the time was lost there, and not by what was asked for"}
	return fits, next
}

// A requester that takes so much longer to resume than it is asked to, and so long in all, is worth a look itself.
const (
	slowerThanAsked = 4
	slowInAll       = int64(10 * time.Millisecond)
)

// slowToResume reports whether a requester took much longer to resume than RNR NAKs asked it to.
func slowToResume(r *qp.RNRSums) bool {
	return r.Waits > 0 && r.Waited > slowInAll && r.Waited >= slowerThanAsked*r.Asked
}

// exhausted tells of a request that a receiver was not ready for until the end. It reports whether it did: else the capture ended while the requester waited.
func (t *teller) exhausted(c *agent.Connection, from int, k *qp.Trouble) bool {
	i := t.between(Exhausted, c, from)
	s, r := &k.Now, &k.RNR
	i.during(s)
	wait := int64(packet.RNRTimer(r.Most))
	over := t.run.Last - s.Last
	used := c.Ends[from].Knows(qp.KnowsRNRRetry) && c.Ends[from].RNRRetry < endless && s.NAKs == uint32(c.Ends[from].RNRRetry)+1
	left := c.Closed.At > s.Last && c.Closed.By == i.Local.Addr
	gaveUp := over > 4*wait+int64(100*time.Millisecond) || (used || left) && over > 4*wait
	if !gaveUp && (s.NAKs < 2 || (s.NAKs <= 8 || s.NAKs < r.MostForRequest) && r.Waited > 2*(s.Last-s.Since)) {
		return false // what it waited before is the larger part, and it was taken in the end
	}
	i.End, i.Ongoing = t.run.Last, c.Closed.At == 0
	what := "and still was not when the capture ended"
	if gaveUp {
		i.End, i.Ongoing = max(s.Last, c.Closed.At), false
		what = "after which " + i.Local.String() + " gave up"
	}
	i.Lost = time.Duration(i.End - s.Since)
	in := ""
	if s.NAKs > 1 {
		in = t.within(" in %s", s.Last-s.Since)
	}
	refused := fmt.Sprintf("it refused it %s%s, %s.", times(uint64(s.NAKs)), in, what)
	i.What = fmt.Sprintf("%v was not ready for %s of %v: %s", &i.Peer, article(operation(&s.Request)), &i.Local, refused)
	fits, next := t.programHung(i, c, from, s, fmt.Sprintf("was not ready for %s: %s", article(operation(&s.Request)), refused))
	i.exhausted.naks, i.exhausted.last, i.exhausted.request = s.NAKs, s.Last, article(operation(&s.Request))
	i.fact("request", request(&s.Request, "refused at"))
	if s.Request.Op == wqe.Write {
		i.fact("receive", "only a WRITE with immediate takes one: this has immediate data, or the responder refuses what needs none")
	}
	i.fact("timer", rnrTimer(r.Least, r.Most))
	if s.NAKs > mostCounted {
		i.fact("retries", "more than 7: the requester retries without end (rnr_retry 7)")
	} else if over > 4*wait {
		i.fact("retries", fmt.Sprintf("%s and no further request: it seems that its RNR retries are used up (%s), which completes in error as RNR retry exceeded", count(uint64(s.NAKs), "RNR NAK"), t.rnrSetting(i, c, from, s)))
	}
	if before := r.NAKs - min(r.NAKs, uint32(s.NAKs)); before > 0 {
		first := ""
		if r.First < s.Begun && t.timed() {
			first = ", the first at " + t.offset(r.First)
		}
		i.fact("before", fmt.Sprintf("it was not ready %s for earlier requests%s, each of which it took in the end", times(uint64(before)), first))
	}
	t.after(i, c, s)
	i.fact("others", t.othersReady(c, from, s.Since, s.Last))
	i.fact("network", t.deliveredRefused(c, from, k))
	i.fact("WRITEs", t.writesGoOn(c, from, s))
	receiverReasons(i)
	if fits == nil {
		t.sentNothing(i, c, from, s)
		t.servedBeside(i, c, from, s.Since, s.Last)
	}
	i.Next = append(next, i.Next...)
	if gaveUp {
		i.rnrRetry(c, from, 2*len(next))
	}
	if t.timed() && slowToResume(r) {
		i.fact("waited", fmt.Sprintf("%s in all for the %s that it was asked to wait; on average %s each time", span(r.Waited), span(r.Asked), span(r.Waited/int64(r.Waits))))
		fits, next := slowReasons(i)
		i.FitsWith, i.Next = append(i.FitsWith, fits...), append(i.Next, next...)
	}
	if fits != nil {
		i.FitsWith = append(fits, i.FitsWith[0])
	}
	t.tell(i, "")
	return true
}

// rnrRetry adds, at a place, that the RNR retry count of end from which was used up is one that its peer gave it, and where that is set.
func (i *Incident) rnrRetry(c *agent.Connection, from, at int) {
	switch {
	case gaveRNRRetry(i, c, from) == "":
		return
	case c.Ends[from].RNRRetry >= endless:
		i.Next[len(i.Next)-1] = fmt.Sprintf("which rnr_retry the program on %v sets (ibv_modify_qp to RTS, or rnr_retry_count of rdma_conn_param), and min_rnr_timer of %v", i.Local.Addr, i.Peer.Addr)
		return
	}
	i.Next[len(i.Next)-1] = fmt.Sprintf("min_rnr_timer of %v", i.Peer.Addr)
	i.Next = slices.Insert(i.Next, at, fmt.Sprintf("the rnr_retry_count that the program on %v gives when it %s: with %d, which is without end, a wait ends nothing", i.Peer.Addr, [...]string{"accepts (rdma_accept)", "connects (rdma_connect)"}[from], endless))
}

// endless is the RNR retry count of those that retry without end (3 bits).
const endless = 7

// rnrSetting says which RNR retry count an end has that gave up after so many RNR NAKs. One who retries without end gives up only where its program does, or has set another.
func (t *teller) rnrSetting(i *Incident, c *agent.Connection, from int, s *qp.Stall) string {
	naks := s.NAKs
	e, of := &c.Ends[from], fmt.Sprintf("as with an rnr_retry of %d", naks-1)
	switch {
	case !e.Knows(qp.KnowsRNRRetry):
		return of + cmp.Or(t.nextRNRRetry(c, from, uint8(naks-1), s.Last), ", which the capture does not tell")
	case e.RNRRetry >= endless && naks <= endless && gaveRNRRetry(i, c, from) != "":
		return fmt.Sprintf("%s, not %d, which is without end%s", of, endless, gaveRNRRetry(i, c, from))
	}
	return fmt.Sprintf("rnr_retry is %d%s", e.RNRRetry, gaveRNRRetry(i, c, from))
}

// gaveRNRRetry says which message of CM gave end from of a connection its RNR retry count: that of the other end; "": none did.
func gaveRNRRetry(i *Incident, c *agent.Connection, from int) string {
	if c.PairedBy != agent.ByCM || !c.Ends[from].Knows(qp.KnowsRNRRetry) {
		return ""
	}
	return fmt.Sprintf(", as %v asked for in its %s", i.Peer.Addr, [...]string{"REP", "REQ"}[from])
}

// rnrTimer says for how long RNR NAKs asked to wait.
func rnrTimer(least, most uint8) string {
	s := fmt.Sprintf("%v (code %d of min_rnr_timer)", packet.RNRTimer(least), least)
	if least != most {
		s += fmt.Sprintf(" to %v (code %d)", packet.RNRTimer(most), most)
	}
	return s
}

// fewReceives is what fits with a receiver that is not ready.
const fewReceives = "a receiver that posts receives too late or too few: its receive queue, or its shared receive queue, is empty"

// rnrSettings is what to look at of how long a requester waits for it, and how often.
func rnrSettings(i *Incident) string {
	return fmt.Sprintf("rnr_retry of %v (%d: without end) and min_rnr_timer of %v", i.Local.Addr, endless, i.Peer.Addr)
}

func receiverReasons(i *Incident) {
	i.FitsWith = []string{fewReceives, "a process that is busy or stopped"}
	i.Next = []string{
		"how many receives the application on " + i.Peer.Addr.String() + " keeps posted, against how many messages its peers have in flight",
		"whether it polls its completion queue in time (CPU, scheduling)", rnrSettings(i),
	}
}
