package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/qp"
	"ibwitness/timing"
)

// From how long on, and for how many times as long as usual, a receiver had answered nothing when it was first not ready, so that its program is told to have stopped before.
const (
	stoppedFirst  = 50 * time.Millisecond
	stoppedFactor = 20
)

// stoppedBefore says of a receiver which answers each message that it had answered none for long when it was first not ready: it is short of receives as its program had stopped.
func (t *teller) stoppedBefore(i *Incident, c *agent.Connection, from int, k *qp.Trouble) {
	if c.Timing == nil || c.Upper != nil && c.Upper.Answered || !t.timed() || t.lossy() {
		return
	}
	a, ok := c.Timing.Exchange.Answers()
	if !ok || a.By == from || a.Waits == nil {
		return
	}
	wait, before := unansweredBefore(k, &a.Waits.Longest)
	usual := a.Waits.Latency.Quantile(0.5)
	if before < stoppedFirst || before < stoppedFactor*usual {
		return
	}
	i.stalled, i.unansweredFrom = true, wait.At-int64(wait.Time)
	i.fact("program", fmt.Sprintf("a message that it had acknowledged had waited %s for its answer when it was not ready, at +%.6f s; the answer came %s later, in frame %d; half of its answers take %s or less",
		span(int64(before)), time.Duration(wait.At-int64(wait.Time)+int64(before)-t.run.First).Seconds(), span(int64(wait.Time-before)), wait.Frame, span(int64(usual))))
	i.FitsWith = []string{
		fmt.Sprintf("a program on %v that stopped, or waited itself (a lock, its disks), and so answered nothing and posted no receives", i.Peer.Addr),
		fewReceives,
	}
	i.Next = slices.Insert(i.Next, 0, fmt.Sprintf("what the program on %v did then (its stack, CPU, log, its disks)", i.Peer.Addr))
}

// unansweredBefore returns a time for which the answer to a message was due before its responder first was not ready for another, and how long it had waited then: the longest.
func unansweredBefore(k *qp.Trouble, longest *timing.Longest) (wait timing.Took, before time.Duration) {
	for n := range k.Longest {
		s := &k.Longest[n]
		if s.NAKs == 0 {
			continue
		}
		for _, w := range longest {
			if d := time.Duration(s.Begun - (w.At - int64(w.Time))); d < w.Time && d > before {
				wait, before = w, d
			}
		}
	}
	return wait, before
}
