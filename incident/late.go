package incident

import (
	"fmt"
	"math"

	"ibwitness/agent"
	"ibwitness/qp"
)

// Of fewestLate rounds of retransmission or more the others are most likely of late answers too, where it is known of lateTenths of them.
const (
	fewestLate = 8
	lateTenths = 7
)

// mostlyLate reports whether the answers to n rounds of retransmission came late: it is known of all, or of most while nothing speaks for a loss, as only a timer began them, with what had passed the tap.
func mostlyLate(k *qp.Trouble, n uint64) bool {
	late, s := uint64(lateRounds(k)), &k.Sum
	return late >= n || n >= fewestLate && 10*late >= lateTenths*n && uint64(s.Rounds[qp.TimerExpired]) == n && s.Before+k.Earlier+k.AnswersSeen+k.PassedOver+k.Cut == 0
}

// inSome says in how many of n rounds it is known that answers came late; "": in all.
func inSome(k *qp.Trouble, n uint64) string {
	if late := uint64(lateRounds(k)); late < n {
		return fmt.Sprintf("in %d of these rounds ", late)
	}
	return ""
}

// cameLateSaid says that the answers to n rounds of retransmission came late.
func cameLateSaid(k *qp.Trouble, n uint64, short *shortTimeout) string {
	if short != nil {
		return short.said()
	}
	return fmt.Sprintf(": the answers came late, and %seach copy was answered", inSome(k, n))
}

// timerBeside says after what time a requester whose answers came late retransmitted, and how long the longest answer took.
func (t *teller) timerBeside(k *qp.Trouble) string {
	after, took := shortestTimer(k)
	if took == 0 || !t.timed() {
		return ""
	}
	return fmt.Sprintf("it retransmitted after %s, and answers took up to %s", span(after), span(took))
}

// shortestTimer is after what time at least a requester retransmitted whose answers came late, and how long the longest answer took; 0: it is not known.
func shortestTimer(k *qp.Trouble) (after, took int64) {
	after = math.MaxInt64
	for n := range k.Longest {
		if s := &k.Longest[n]; cameLate(k, s) && s.Begun > s.Since {
			after, took = min(after, s.Begun-s.Since), max(took, s.Ended-s.Since)
		}
	}
	if took == 0 {
		after = 0
	}
	return after, took
}

// timeoutShorter is what fits where answers come later than a timer waits for them, and most do not.
const timeoutShorter = "a requester's ACK timeout that is shorter than an answer takes"

// lateReasons says why the answers to requests of end from come later than its timer waits for them: where half of them take half as long or longer, it is no wonder.
func (i *Incident) lateReasons(c *agent.Connection, from int, k *qp.Trouble) {
	i.FitsWith = []string{timeoutShorter, "a responder, its host or the path that was held up meanwhile"}
	i.Next = []string{"the timeout of the queue pair on " + i.Local.Addr.String() + " (rdma resource show qp)", "what " + i.Peer.Addr.String() + " did at that time"}
	after, _ := shortestTimer(k)
	if usual := usuallyTook(c, from); after > 0 && 2*usual >= after {
		i.FitsWith = []string{fmt.Sprintf("a requester's ACK timeout that is too short for this path: half of the answers take %s or longer", span(usual))}
		i.Next = append(i.Next[:1], "what else the path carries when answers take longest")
	}
}

// usuallyTook is how long half of the messages of an end, of the operation that it sent most of, waited for their answers at least; 0: it was not measured.
func usuallyTook(c *agent.Connection, from int) int64 { return tookAtLeast(c, from, 0.5) }

// tookAtLeast is the same of all but a part of them.
func tookAtLeast(c *agent.Connection, from int, but float64) int64 {
	if c.Timing == nil {
		return 0
	}
	most, usual := uint64(0), int64(0)
	for _, o := range c.Timing.Ends[from].Ops {
		if o != nil && o.Latency.Count() > most {
			most, usual = o.Latency.Count(), int64(o.Quantile(but))
		}
	}
	return usual
}
