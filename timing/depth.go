package timing

import (
	"slices"
	"time"
)

// MostAsks is of how many READs and atomics of an end it is kept when they were sent and answered: the first ones, which take 6 KiB.
const MostAsks = 1 << 8

// asks notes when a READ or an atomic was sent, and when it was answered; End 0: that is not known.
func (e *End) asks(m *Message) {
	if len(e.Asks) < MostAsks {
		e.Asks = append(e.Asks, Sent{Begin: m.Begin, End: m.Answered, Bytes: m.Length})
	}
}

// Depth is how many READs and atomics a requester has outstanding that never has more: each of them is sent once the answer to the one as many
// before it has come. With one at a time, a program that waits for each looks the same.
type Depth struct {
	Count int
	// After is the median from that answer to the request, as the tap sees them: with the way to the requester and back, as far as it is beyond the tap.
	After time.Duration
	Loop  time.Duration // median from a request to the one as many after it
	// Even says that requests and answers are about as far apart as in the mean, as they are, too, where a link or the responder gives no more.
	Even  bool
	First time.Duration // that the first one took
	Took  time.Duration // median
}

const (
	mostDepth    = 64
	depthLeast   = 100 * time.Microsecond // that a request and its answer are on their way
	depthLeastOf = 20 * time.Microsecond  // and where one is outstanding, and follows the answer soon
	depthRounds  = 8                      // times as many requests as are outstanding
	depthSpread  = 4                      // of that time, one part in so many by which it may differ
	depthBursts  = 2                      // times as close as in the mean are some: at no pace of the program or of the responder
	depthBehind  = 8                      // of the requests, the one in so many that come as close
	depthOutside = 10                     // of the requests, one in so many may be otherwise
	depthSoon    = 8                      // of that time, the part in so many in which a request follows soon
	depthFollows = 4                      // times as much do answers differ in how far apart they are as in how long after them requests follow
	depthAtOnce  = 32                     // of how far apart they are, the part in so many in which a request follows at once
)

// DepthOf finds it for READs and atomics, in the order in which they were sent. The last ones may not be answered yet.
func DepthOf(list []Sent) (d Depth, ok bool) {
	for len(list) > 0 && list[len(list)-1].End == 0 {
		list = list[:len(list)-1]
	}
	for _, s := range list {
		if s.End < s.Begin {
			return d, false // not all are known
		}
	}
	after, loop := make([]time.Duration, 0, len(list)), make([]time.Duration, 0, len(list))
	for d.Count = 1; d.Count <= mostDepth && d.Count*depthRounds <= len(list); d.Count++ {
		after, loop = after[:0], loop[:0]
		early := 0
		for i := d.Count; i < len(list); i++ {
			after = append(after, time.Duration(list[i].Begin-list[i-d.Count].End))
			loop = append(loop, time.Duration(list[i].Begin-list[i-d.Count].Begin))
			if after[len(after)-1] < 0 {
				early++
			}
		}
		out := len(after) / depthOutside
		if early > out/2 {
			continue // more are outstanding: most ends need no sorting
		}
		d.After, d.Loop = median(after), median(loop)
		if (after[len(after)-1-out]-after[out/2])*depthSpread <= d.Loop {
			never := after[0] >= 0 && (2*after[0] >= d.After || depthSoon*d.After <= d.Loop) // are there more
			if !never || d.Loop < depthLeast && !d.soonOne() {
				return d, false
			}
			mean := d.Loop / time.Duration(d.Count)
			d.Even = !inBursts(list, mean)
			d.First, d.Took = time.Duration(list[0].End-list[0].Begin), medianOfAnswers(list)
			last := after[len(after)-1-out/2]
			return d, d.Count == 1 || !d.Even || follow(list, d.Count, last, last-after[out/2], mean)
		}
	}
	return d, false
}

// soonOne reports whether one is outstanding at a time that follows the answer soon.
func (d *Depth) soonOne() bool {
	return d.Count == 1 && d.Loop >= depthLeastOf && depthSoon*d.After <= d.Loop
}

// Short reports whether requests and their answers are on their way for so short that only an agreement shows what bounds them.
func (d *Depth) Short() bool { return d.Loop < depthLeast }

// follow reports whether requests follow answers, and are not only as far apart: all but one are outstanding when each is sent, and they follow at
// once, or as soon as ever though the answers are not evenly apart. last and spread are the most of those times, and how much these differ.
func follow(list []Sent, count int, last, spread, mean time.Duration) bool {
	fewer := 0
	for i := count; i < len(list); i++ {
		if list[i-count+1].End <= list[i].Begin {
			fewer++
		}
	}
	if fewer*depthOutside > len(list)-count {
		return false
	}
	var apart []time.Duration
	for i := range list[1:] {
		apart = append(apart, time.Duration(list[i+1].End-list[i].End))
	}
	slices.Sort(apart)
	out := len(apart) / depthOutside
	return last*depthAtOnce <= mean || spread*depthFollows < apart[len(apart)-1-out/2]-apart[out/2]
}

func medianOfAnswers(list []Sent) time.Duration {
	var took []time.Duration
	for _, s := range list {
		took = append(took, time.Duration(s.End-s.Begin))
	}
	return median(took)
}

// inBursts reports whether some requests, and some answers, follow one another much sooner than in the mean.
func inBursts(list []Sent, mean time.Duration) bool {
	var requests, answers []time.Duration
	for i := range list[1:] {
		requests = append(requests, time.Duration(list[i+1].Begin-list[i].Begin))
		answers = append(answers, time.Duration(list[i+1].End-list[i].End))
	}
	slices.Sort(requests)
	slices.Sort(answers)
	at := len(requests) / depthBehind
	return max(requests[at], answers[at])*depthBursts <= mean
}

// LeastLoop is the least time from a READ or an atomic to the one a number after it, which was sent once the answer to the first had come.
func LeastLoop(list []Sent, count int) (least time.Duration) {
	for i := count; i < len(list); i++ {
		if loop := time.Duration(list[i].Begin - list[i-count].Begin); list[i-count].End != 0 && list[i].Begin >= list[i-count].End && (least == 0 || loop < least) {
			least = loop
		}
	}
	return least
}

// Soonest is how long the READ or atomic took that was answered soonest; 0: none was.
func Soonest(list []Sent) (least time.Duration) {
	for _, s := range list {
		if took := time.Duration(s.End - s.Begin); s.End != 0 && took > 0 && (least == 0 || took < least) {
			least = took
		}
	}
	return least
}

// LeastAfter is the least time from the answer to a READ or an atomic to the one a number after it, which was sent once that had come.
func LeastAfter(list []Sent, count int) (least time.Duration) {
	for i := count; i < len(list); i++ {
		if after := time.Duration(list[i].Begin - list[i-count].End); list[i-count].End != 0 && after >= 0 && (least == 0 || after < least) {
			least = after
		}
	}
	return least
}

// Spent is for how long READs and atomics went on, without the pauses after which none had waited for so long, and how many bytes they asked for then.
func Spent(list []Sent, pause time.Duration) (busy time.Duration, bytes uint64) {
	until := int64(0)
	for _, s := range list {
		if s.End == 0 {
			continue
		}
		if from := max(s.Begin, until); until != 0 && s.Begin-until < int64(pause) {
			busy += time.Duration(max(s.End-until, 0))
		} else if s.End > from {
			busy += time.Duration(s.End - from)
		}
		until = max(until, s.End)
		bytes += uint64(s.Bytes)
	}
	return busy, bytes
}
