package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/qp"
)

// gaveUp says that a requester, which is end from of c, has stopped to retransmit: its retries are used up.
func (t *teller) gaveUp(c *agent.Connection, from int, k *qp.Stall) string {
	n := k.Total()
	since, until := t.run.Last-k.Last, ""
	if c.Closed.At > k.Since {
		since = c.Closed.At - k.Last
	}
	if !t.timed() || n < 2 {
		return ""
	}
	period := (k.Last - k.Begun) / int64(n-1)
	if c.Closed.At > k.Since && closedByPeer(c, 1-from) { // who is told that its retries are used up disconnects
		if until = fmt.Sprintf(" until %v disconnected", c.Closed.By); 20*since < 19*period {
			return ""
		}
	} else if since < outlasts(k)*period/2 {
		return ""
	}
	least, setting := "", ""
	retries, each := retriesOf(&c.Ends[from], n)
	if timer := k.Rounds[qp.TimerExpired]; each <= qp.MostRetries {
		setting = fmt.Sprintf(" (as with a retry_cnt of %d, which the capture does not tell)", each)
	} else if timer <= qp.MostRetries { // the others were asked for
		setting = fmt.Sprintf(" (%d of them by its timer, as with a retry_cnt of %d, which the capture does not tell)", timer, timer)
	}
	byTimer := ""
	if timer := k.Rounds[qp.TimerExpired]; timer > 0 && uint64(timer) < n {
		byTimer = fmt.Sprintf("%d of them by its timer; ", timer)
	}
	switch e, peer := &c.Ends[from], &c.Ends[1-from]; {
	case e.Knows(qp.KnowsRetryCnt):
		setting = fmt.Sprintf(" (%sretry_cnt is %d)", byTimer, e.RetryCnt)
	case peer.Knows(qp.KnowsRetryCnt):
		setting = fmt.Sprintf(" (%sCM asked for a retry_cnt of %d at the other end, which Linux sets at both)", byTimer, peer.RetryCnt)
	case t.midway(c, k):
		least, setting = "at least ", ""
	}
	if timer := k.Rounds[qp.TimerExpired]; uint64(timer) == n && each > qp.MostRetries && least == "" {
		return fmt.Sprintf("no further retransmission in %s%s, after %s, which is more than a queue pair can have (retry_cnt is %d at most): it was reset meanwhile, or what it sent is of several", span(since), until, retries, qp.MostRetries)
	}
	return fmt.Sprintf("no further retransmission in %s%s, after %s%s: it seems that they are used up%s, which completes in error as transport retry counter exceeded", span(since), until, least, retries, setting)
}

// outlasts is for how many halves of the time between two retransmissions of a stall a requester is quiet at least that has given up: fewer, where its timer ran out as often as any can be set to.
func outlasts(k *qp.Stall) int64 {
	if k.Rounds[qp.TimerExpired] == qp.MostRetries && k.Total() == qp.MostRetries {
		return 3
	}
	return 6
}
