package agent

import (
	"slices"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// Echo is how a host answered pings: it was up, whether or not its RDMA was.
type Echo struct {
	Addr        packet.Addr
	Replies     uint64
	First, Last int64   // nanoseconds since the Unix epoch
	HopLimit    uint8   // the highest hop limit (TTL) of its answers
	Times       []int64 // of each answer, in order; nil: these are too many
}

// mostEchoes is of how many hosts at most it is known how they answered pings, and mostReplies of how many answers of each when they came.
const mostEchoes, mostReplies = 64, 1024

// Answers reports whether the host may have answered a ping in a time.
func (e *Echo) Answers(from, to int64) bool {
	if e.Times == nil {
		return e.First < to && e.Last > from
	}
	return slices.ContainsFunc(e.Times, func(at int64) bool { return at > from && at < to })
}

// echoes are the hosts that answered pings; of more than mostEchoes none is known, so that they do not depend on who counts them.
type echoes struct {
	list []Echo
	many bool
}

// frame takes a frame that holds no RDMA packet.
func (e *echoes) frame(f *fabricagent.Frame) {
	if from, hops, ok := fabricagent.EchoReply(f); ok {
		e.add(Echo{from, 1, f.Time, f.Time, hops, []int64{f.Time}})
	}
}

func (e *echoes) add(o Echo) {
	for i := range e.list {
		if x := &e.list[i]; x.Addr == o.Addr {
			x.Replies += o.Replies
			x.First, x.Last, x.HopLimit = min(x.First, o.First), max(x.Last, o.Last), max(x.HopLimit, o.HopLimit)
			if x.Times = append(x.Times, o.Times...); x.Replies > mostReplies {
				x.Times = nil
			}
			return
		}
	}
	if e.many = e.many || len(e.list) == mostEchoes; !e.many {
		e.list = append(e.list, o)
	}
}

func (e *echoes) addAll(o *echoes) {
	for _, x := range o.list {
		e.add(x)
	}
	e.many = e.many || o.many
}

// hosts returns them by address; nil: there are too many.
func (e *echoes) hosts() []Echo {
	if e.many {
		return nil
	}
	for i := range e.list {
		slices.Sort(e.list[i].Times)
	}
	slices.SortFunc(e.list, func(a, b Echo) int { return a.Addr.Compare(b.Addr) })
	return e.list
}
