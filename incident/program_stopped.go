package incident

import (
	"cmp"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// On how many connections of a host messages waited at least for its programs to go on, how often these answered there before, and for how many
// times as long as usual they did not then.
const (
	lullsOn     = 2
	answersMost = 64
	lullTimes   = 20
	rareLulls   = 20 // of its answers at most one in so many took long
)

// lull is a time in which a host sent no message, while its adapter worked.
type lull struct {
	timing.Silence
	protocol string // of the commands that it did not answer; "": it sent no message at all
	slack    int64  // with that, how long before it those commands may have begun that waited, and after it have been answered
	waits    []waitedOn
	reads    []packet.Addr // hosts whose READs it served all the time
}

// waitedOn is a connection on which messages came to such a host.
type waitedOn struct {
	c        *agent.Connection
	end      int    // of the host
	came     int64  // when the first did
	answered int64  // when the host sent its next message
	frame    uint64 // of the last packet of that; 0: not known
	acks     time.Duration
}

// programsStopped tells of hosts that sent no message on any connection at times, though messages came which their adapters acknowledged, and which
// they then answered: what stopped is above the adapter.
func (t *teller) programsStopped() {
	if !t.timed() || t.lossy() || t.copied() || len(t.run.Taps) > 1 || len(t.run.Connections) > mostOthers {
		return
	}
	done := map[packet.Addr]bool{}
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for e := range c.Ends {
			if a := c.Ends[e].Addr; !done[a] && tookLong(c, e) {
				done[a] = true
				if list := t.lulls(a); len(list) > 0 {
					t.tellLulls(a, list)
				}
			}
		}
	}
	t.servicesStopped()
}

// tookLong reports whether an end answers soon, and took long at times.
func tookLong(c *agent.Connection, e int) bool {
	return answersSoon(c, e) && int64(c.Timing.Ends[e].Turns.Most) >= interruption
}

// answersSoon reports whether an end usually sends a message soon after one of its peer.
func answersSoon(c *agent.Connection, e int) bool {
	if c.Timing == nil || c.Service != packet.RC {
		return false
	}
	x := &c.Timing.Ends[e].Turns
	return x.Count >= answersMost && x.Long*rareLulls <= x.Count && int64(x.Mean())*lullTimes <= interruption
}

// lulls returns the times in which a host sent no message though some waited for it on all its connections that had any, in order.
func (t *teller) lulls(a packet.Addr) (list []lull) {
	own := t.messagesOf(a)
	for n := range own.Silences {
		k := lull{Silence: own.Silences[n]}
		if k.Length() >= interruption && k.wait(t, a) {
			list = append(list, k)
		}
	}
	return list
}

// messagesOf is when a host sent messages, on all connections: of one of which that is not known it may have been with each packet.
func (t *teller) messagesOf(a packet.Addr) *timing.Activity {
	own := new(timing.Activity)
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for e := range c.Ends {
			if c.Ends[e].Addr == a {
				own.Join(messagesOn(c, e))
			}
		}
	}
	return own
}

// messagesOn is when an end of a connection sent messages. READs and atomics of its own count with all that it sends, as the adapter itself sends
// ACKs.
func messagesOn(c *agent.Connection, e int) *timing.Activity {
	if c.Timing != nil && c.Service == packet.RC && !asksForData(&c.Timing.Ends[e]) {
		if own, ok := c.Timing.Ends[e].Messages(); ok {
			return &own
		}
	}
	return activeOn(c, e)
}

// wait finds the connections on which messages waited for the host. It reports whether they are several, were acknowledged at once, and were
// answered on each when it went on; and that they were due: the host
// is known to answer, or others went on.
func (k *lull) wait(t *teller, a packet.Addr) bool {
	owes := 0
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for e := range c.Ends {
			if c.Ends[e].Addr != a || c.Timing == nil {
				continue
			}
			if peer := &c.Timing.Ends[1-e]; k.served(peer) {
				k.reads = append(k.reads, c.Ends[1-e].Addr)
			}
			w := waitedOn{c: c, end: e}
			if !answersSoon(c, e) || !w.in(k) {
				continue
			}
			if stalledIn(c, k) || w.answered-k.To > aftermath || !w.acked(k) {
				return false
			}
			if x, ok := c.Timing.Exchange.Answers(); ok && x.By == e && !x.Chance {
				owes++
			}
			k.waits = append(k.waits, w)
		}
	}
	slices.SortStableFunc(k.waits, func(a, b waitedOn) int { return cmp.Compare(a.came, b.came) })
	slices.SortFunc(k.reads, packet.Addr.Compare)
	k.reads = slices.Compact(k.reads)
	return len(k.waits) >= lullsOn && (owes >= lullsOn || len(t.wentOnBeside(a, packet.Addr{}, &k.Silence)) > 0)
}

// in finds what came on a connection in a time in which the host sent no message, and when it next did. It reports whether anything did.
func (w *waitedOn) in(k *lull) bool {
	own, peer := &w.c.Timing.Ends[w.end], &w.c.Timing.Ends[1-w.end]
	if w.came = peer.Next(k.From); w.came == 0 || w.came >= k.To {
		return false
	}
	w.answered = own.Next(k.To)
	for _, x := range own.Turns.Longest {
		if x.At >= w.answered && x.At < w.answered+aftermath && x.Time > 0 && x.At-int64(x.Time) > k.From {
			w.frame = x.Frame
		}
	}
	return w.answered != 0
}

// acked reports whether the adapter of the host acknowledged what came to it at once, as far as that was measured.
func (w *waitedOn) acked(k *lull) bool {
	peer := &w.c.Timing.Ends[1-w.end]
	for op, o := range peer.Ops {
		if o != nil && !wqe.Op(op).Responded() && o.Latency.Count() > 0 {
			w.acks = max(w.acks, o.Most)
		}
	}
	if int64(w.acks) <= k.Length()/lullTimes {
		return w.acks > 0
	}
	w.acks = 0
	for _, x := range peer.Acks.List {
		if x.At > k.From && x.At < k.To {
			w.acks = max(w.acks, x.Took)
		}
	}
	return w.acks > 0 && int64(w.acks) <= k.Length()/lullTimes
}

// stalledIn reports whether a request of a connection made no progress in a time.
func stalledIn(c *agent.Connection, k *lull) bool {
	for e := range c.Ends {
		x := c.Ends[e].Trouble
		if x == nil {
			continue
		}
		settled := x.Settled(c.Ends[e].Stalled)
		if s := &settled.Now; c.Ends[e].Stalled && s.Total() > 0 && s.Since < k.To {
			return true
		}
		for n := range settled.Longest {
			if s := &settled.Longest[n]; s.Since < k.To && max(s.Ended, s.Last) > k.From {
				return true
			}
		}
	}
	return false
}

// asksForData reports whether an end sends READs or atomics.
func asksForData(e *timing.End) bool {
	return slices.ContainsFunc(e.Ops[wqe.Read:], func(o *timing.Operation) bool { return o != nil })
}

// served reports whether an end that sends READs only sent them all the time, and each was answered soon.
func (k *lull) served(e *timing.End) bool {
	for op, o := range e.Ops {
		if (o != nil) != (wqe.Op(op) == wqe.Read) {
			return false
		}
	}
	o := e.Ops[wqe.Read]
	return o.Latency.Count() > 0 && int64(o.Most) <= k.Length()/lullTimes && e.Active.Sends(&k.Silence, 2)
}
