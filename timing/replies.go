package timing

import (
	"slices"
	"time"
)

// Replies is how long the short messages of one end of a connection took to be answered by one each of the other, and what that sent meanwhile,
// where few took many times as long as most.
type Replies struct {
	Count         int
	Usual, P99    time.Duration // median, and the 99th percentile
	Most          time.Duration
	Slow          int           // took Least or longer
	Least         time.Duration // SlowReply times the median, or longer
	Behind        int           // of the slow ones, those that came while the other end sent long messages, and were answered after these
	Long          []Sent        // those, each with what followed it at once, as one: bytes of it, and when
	Nothing       int           // of the slow ones, those between which and their answer the other end sent nothing else
	Before, After Sent          // the slowest, and its answer
}

const (
	// SlowReply is how many times as long as the median an answer takes that is slow.
	SlowReply = 10
	// LongPackets is how many packets a message has at least that is long.
	LongPackets = 16

	replyMessages = 200
	replyLeast    = 50 * time.Microsecond // that a slow answer takes
	replyTail     = 20                    // times the median that the 99th percentile is, where answers are told to be slow
	replyAt       = 100 * time.Microsecond
	replyShifts   = 4 // answers before the first request that is seen, at most
	replyQueued   = 5 // requests, one in so many at most that others were not answered before
	replyThinks   = 5 // times as long as to answer the other end takes to ask
)

// RepliesOf are those of an end of a connection; ok says that it is known which message answers which: there are as many, and the end usually asks
// long after the last answer.
func RepliesOf(asks, answers *End) (r Replies, ok bool) {
	requests, _, cut := asks.short()
	replies, long, _ := answers.short()
	if len(requests) < replyMessages || len(replies) < replyMessages {
		return r, false
	}
	requests = endedBy(requests, replies[len(replies)-1].End)
	if cut {
		replies = replies[:min(len(replies), len(requests)+replyShifts)]
	}
	for shift := range min(replyShifts, len(replies)) {
		if r, ok = repliesOf(requests, replies[shift:], long); ok {
			return r, true
		}
	}
	return r, false
}

// Tail reports whether few take many times as long as most.
func (r *Replies) Tail() bool {
	return r.P99 >= max(replyTail*r.Usual, replyAt) && 2*r.Slow <= r.Count/replyQueued
}

// endedBy are the first of some messages, up to one that ended after a time.
func endedBy(list []Sent, until int64) []Sent {
	if n := slices.IndexFunc(list, func(s Sent) bool { return s.End > until }); n >= 0 {
		return list[:n]
	}
	return list
}

// short are the messages of an end that are not long, and the long ones, each with what followed it at once. cut says that there were more, later
// ones.
func (e *End) short() (short, long []Sent, cut bool) {
	first, newest, n := e.AllSent()
	if cut = n > len(first)+len(newest); !cut {
		first = slices.Concat(first, newest)
	}
	for _, s := range first {
		switch k := len(long) - 1; {
		case s.Packets < LongPackets:
			short = append(short, s)
		case k >= 0 && s.Begin-long[k].End < int64(replyLeast):
			long[k].End, long[k].Bytes, long[k].Packets = s.End, long[k].Bytes+s.Bytes, long[k].Packets+s.Packets
		default:
			long = append(long, s)
		}
	}
	return short, long, cut
}

func repliesOf(requests, replies, long []Sent) (r Replies, ok bool) {
	n := min(len(requests), len(replies))
	if r.Count = n; n < replyMessages || len(requests)-n > replyShifts || len(replies)-n > replyShifts {
		return r, false
	}
	var took, thought []time.Duration
	queued := 0
	for i := range n {
		if replies[i].Begin < requests[i].End {
			return r, false
		}
		took = append(took, time.Duration(replies[i].End-requests[i].End))
		switch {
		case i == 0:
		case requests[i].Begin < replies[i-1].End:
			queued++
		default:
			thought = append(thought, time.Duration(requests[i].Begin-replies[i-1].End))
		}
	}
	if queued*replyQueued > n {
		return r, false
	}
	sorted := slices.Clone(took)
	r.Usual = median(sorted)
	r.P99, r.Most = sorted[(n-1)*99/100], sorted[n-1]
	if median(thought) < replyThinks*r.Usual {
		return r, false
	}
	r.Least = max(SlowReply*r.Usual, replyLeast)
	for i, d := range took {
		if d < r.Least {
			continue
		}
		r.Slow++
		if d == r.Most && r.Before == (Sent{}) {
			r.Before, r.After = requests[i], replies[i]
		}
		r.meanwhile(&requests[i], &replies[i], long)
	}
	return r, true
}

// meanwhile notes what was sent between a request and its answer.
func (r *Replies) meanwhile(request, reply *Sent, long []Sent) {
	nothing := true
	for _, s := range long {
		if s.End < request.End || s.Begin > reply.Begin {
			continue
		}
		nothing = false
		if s.Begin < request.End && s.End <= reply.Begin {
			r.Behind++
			if n := len(r.Long) - 1; n < 0 || r.Long[n].Begin != s.Begin {
				r.Long = append(r.Long, s)
			}
			return
		}
	}
	if nothing {
		r.Nothing++
	}
}
