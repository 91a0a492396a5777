package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// timedOut says what fits where a requester's timer, of end from of c, had it retransmit.
func (i *Incident) timedOut(c *agent.Connection, from int, k *qp.Trouble) {
	switch {
	case mostlyUnsent(k, uint64(k.Sum.Rounds[qp.TimerExpired])): // no answer was late, or lost
	case eachReadAnswered(c, from, k):
		i.fact("copies", fmt.Sprintf("%s of READs came back, about %.3g times what they ask for, as their requests were sent %.3g times: copies were answered too, so that hardly anything was lost", count(c.Ends[1-from].Bytes, "byte"), repeatedAnswers(c, from), repeatedReads(c, from)))
		i.FitsWith, i.Next = []string{tooShort, "a responder, its host or the path that was held up meanwhile"}, []string{timeoutOf(i), "what " + i.Peer.Addr.String() + " did at that time"}
	case eachAnswered(c, from, k):
		i.fact("copies", "about as many packets came back as were sent, with what was retransmitted: copies were answered too, so that hardly anything was lost")
		i.FitsWith, i.Next = []string{tooShort, "a responder, its host or the path that was held up meanwhile"}, []string{timeoutOf(i), "what " + i.Peer.Addr.String() + " did at that time"}
	case shortTimer(&c.Ends[from], k):
		i.FitsWith, i.Next = slices.Insert(i.FitsWith, 0, tooShort+", which is as short as "+span(c.Ends[from].Timer)), slices.Insert(i.Next, 0, timeoutOf(i))
	case nothingAskedFor(k):
		i.FitsWith = slices.Insert(i.FitsWith, 0, "a responder that answers later than the requester's ACK timeout, or answers that are lost on the way back: a receiver that lacked requests would have asked for some of them, as others came after them")
		i.Next = slices.Insert(i.Next, 0, timeoutOf(i))
	case mostlyTimer(&k.Sum) && !noneLate(k): // else its receiver misses packets
		i.FitsWith = append(i.FitsWith, tooShort)
	}
}

// tooShort is what fits where a requester retransmits what was answered.
const tooShort = "a responder that answers later than the requester's ACK timeout"

// timeoutOf is where to look then.
func timeoutOf(i *Incident) string {
	return "the timeout of the queue pair on " + i.Local.Addr.String() + " (rdma resource show qp), against how long answers take (--latency)"
}

// eachAnswered reports whether the peer, which sends nothing but answers, sent about as many packets as the requester, whose requests are of one packet each: copies had answers too.
func eachAnswered(c *agent.Connection, from int, k *qp.Trouble) bool {
	e, peer := &c.Ends[from], &c.Ends[1-from]
	n := k.Sum.Rounds[qp.TimerExpired]
	return n >= manyTimeouts && peer.Messages == 0 && e.Messages+uint64(e.Retransmissions) >= e.Packets*9/10 && peer.Packets*20 >= e.Packets*19 && peer.Packets*19 <= e.Packets*20
}

// repeatedReads is how many times each READ of end from of c was asked for in the mean, of which all messages are READs; 0: they are not, or that is not known.
func repeatedReads(c *agent.Connection, from int) float64 {
	e := &c.Ends[from]
	if c.Timing == nil || c.Timing.Ends[from].Ops[wqe.Read] == nil || e.Messages == 0 {
		return 0
	}
	if o := c.Timing.Ends[from].Ops[wqe.Read]; o.Count != e.Messages || o.Bytes == 0 {
		return 0
	}
	return float64(e.Packets) / float64(e.Messages)
}

// repeatedAnswers is how many times what READs ask for came back.
func repeatedAnswers(c *agent.Connection, from int) float64 {
	return float64(c.Ends[1-from].Bytes) / float64(c.Timing.Ends[from].Ops[wqe.Read].Bytes)
}

// eachReadAnswered reports whether what came back of the READs of end from is about as many times as much as they ask for, as they were asked for: copies had answers too.
func eachReadAnswered(c *agent.Connection, from int, k *qp.Trouble) bool {
	n := repeatedReads(c, from)
	if k.Sum.Rounds[qp.TimerExpired] < manyTimeouts || k.Sum.Rounds[qp.SequenceAsked]+k.Sum.Rounds[qp.ResponseLost] > 0 || n < 1.05 || c.Ends[1-from].Messages > 0 {
		return false
	}
	came := repeatedAnswers(c, from)
	return came >= n-(n-1)/4 && came <= n+(n-1)/4 // of what was sent once more, three quarters came back once more
}

// shortTimer reports whether the requester's timer had it retransmit, many times, and so soon as that of hardly any adapter does.
func shortTimer(e *agent.End, k *qp.Trouble) bool {
	return k.Sum.Rounds[qp.TimerExpired] >= manyTimeouts && k.Sum.Rounds[qp.SequenceAsked] == 0 && e.Timer > 0 && e.Timer < soonestTimer
}

// manyTimeouts is from how many rounds of retransmission on it is no chance that none of what was lost came before other packets, if anything was.
const manyTimeouts = 16

// nothingAskedFor reports whether only timers had the requester retransmit, and several packets each time on average, so that a receiver which lacked one would have had later ones.
func nothingAskedFor(k *qp.Trouble) bool {
	n := k.Sum.Rounds[qp.TimerExpired]
	return n >= manyTimeouts && k.Sum.Rounds[qp.SequenceAsked]+k.Sum.Rounds[qp.ResponseLost] == 0 && k.Again.Packets >= 4*uint64(n)
}
