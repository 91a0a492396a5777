package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// turnShorter is how many times as long the messages of an end are at least that sends one after each of its peer, which asks for them so.
const turnShorter = 8

// oneTurn is an end that sends long messages one at a time, each soon after a message of its peer, which takes long to send that.
type oneTurn struct {
	c     *agent.Connection
	from  int
	op    wqe.Op
	sizes [2]uint64 // of its messages and those of its peer, bytes, in the mean
	acked time.Duration
	line  []float64 // bytes a second within a message
}

// oneTurns tells of such ends: of each host that takes long, the one to which the most was sent.
func (t *text) oneTurns() (said []string) {
	var list []oneTurn
	for _, c := range t.measured() {
		if !takeTurns(c) || !t.mayIdle(c) {
			continue
		}
		for from := range c.Ends {
			if o, ok := oneTurnOf(c, from); ok {
				list = append(list, o)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b oneTurn) int { return cmp.Compare(bytesOf(b.c), bytesOf(a.c)) })
	told := map[packet.Addr]bool{}
	for i := range list {
		if by := list[i].c.Ends[1-list[i].from].Addr; !told[by] {
			told[by] = true
			said = append(said, list[i].said())
		}
	}
	return said
}

func oneTurnOf(c *agent.Connection, from int) (o oneTurn, ok bool) {
	e := &c.Timing.Ends[from]
	mine, other := &e.Turns, &c.Timing.Ends[1-from].Turns
	slow := other.MeanOfAll()
	if alternate := min(mine.Count, other.Count)*10/9 >= max(c.Ends[0].Messages, c.Ends[1].Messages); !alternate || slow < paceLatency || slow < longTimes*mine.MeanOfAll() || 2*other.Long >= other.Count {
		return o, false
	}
	o.c, o.from = c, from
	for k := range o.sizes {
		all := (*timing.Operation)(nil)
		for op, x := range c.Timing.Ends[(from+k)&1].Ops {
			switch {
			case x == nil:
			case all != nil || wqe.Op(op).Responded():
				return o, false
			default:
				if all = x; k == 0 {
					o.op = wqe.Op(op)
				}
			}
		}
		if all == nil || all.Count == 0 {
			return o, false
		}
		o.sizes[k] = all.Bytes / all.Count
	}
	if o.sizes[0] < singleBytes || o.sizes[0] < turnShorter*o.sizes[1] || len(e.Acks.List) < singleSamples {
		return o, false
	}
	var acked []time.Duration
	for _, w := range e.Acks.List {
		acked = append(acked, w.Took)
	}
	slices.Sort(acked)
	o.acked = acked[len(acked)/2]
	first, newest, _ := e.AllSent()
	o.line = lineRates(lineRates(nil, first), newest)
	slices.Sort(o.line)
	return o, longTimes*o.acked <= slow
}

// lineRates appends how fast the packets of messages come within each, bytes a second.
func lineRates(line []float64, list []timing.Sent) []float64 {
	for i := range list {
		x := &list[i]
		if took := x.End - x.Begin; took > 0 && x.Packets > 0 {
			line = append(line, float64(x.Bytes)*float64(x.Packets-1)/float64(x.Packets)/time.Duration(took).Seconds())
		}
	}
	return line
}

// atLine says how fast the packets of a message come, of which the rates are in order; "": that is not known.
func atLine(line []float64) string {
	if len(line) == 0 {
		return ""
	}
	return ", though the packets of one come at " + bitRate(uint64(line[len(line)/2]), time.Second)
}

func (o *oneTurn) said() string {
	e, peer := &o.c.Ends[o.from], &o.c.Ends[1-o.from]
	mine, other := &o.c.Timing.Ends[o.from].Turns, &o.c.Timing.Ends[1-o.from].Turns
	took := [2]float64{(mine.Usual + mine.Slow).Seconds(), (other.Usual + other.Slow).Seconds()}
	what := strings.TrimPrefix(o.op.String(), "RDMA ")
	return fmt.Sprintf("%s%v %s sent one %v of %s at a time to %v, each %s after a message of %s of %v %s, which came %s after the %s before it "+
		"(on average of %s; at most %s, frame %d), though ACKs come %s after a %s: %v had the turn for %s of the time. "+
		"That makes %s%s. So what %v does between a %s and its next message limits it, not the network or %v, or it has no more to ask for. "+
		"Next: what the program on %v does between them (CPU, copies, what it waits for), and whether it can ask for several at once.",
		singly, e.Addr, qp(e.QPN, e.QPNKnown), o.op, size(o.sizes[0]), peer.Addr, span(mine.MeanOfAll()), size(o.sizes[1]), peer.Addr, qp(peer.QPN, peer.QPNKnown),
		span(other.MeanOfAll()), what, number(other.Count), span(other.Most), other.Frame, span(o.acked), what, peer.Addr,
		inPercent(took[1]/(took[0]+took[1])), bitRate(o.sizes[0]*other.Count, time.Duration(o.c.Ends[o.from].Last-o.c.First)), atLine(o.line),
		peer.Addr, what, e.Addr, peer.Addr)
}
