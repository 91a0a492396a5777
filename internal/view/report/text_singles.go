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

const (
	singleMessages = 256              // from which on an end is told to send one at a time
	singleBytes    = 16 << 10         // of each: a program may wait for what comes in return for less
	singlePackets  = 4                // of each, likewise
	singleNearly   = 0.98             // of them, the part that begin after the ACK of the one before, at least
	singleAnswers  = 4                // messages to the host at most, one for so many of its own: else it may wait for these
	singlePause    = timing.LongTurn  // from an ACK to the next message, at most: after a longer one a program had nothing to send
	singleSteady   = 20               // part of a period, one in so many, by which they differ at least: a timer has messages be as far apart
	singleSamples  = 32               // messages of which it is known when the ACK came and when the next one began
	singleSlack    = time.Microsecond // by which times of a capture differ anyway
)

// single is an end that sends long SENDs or WRITEs in one direction, each a while after the ACK of the one before, so that it has
// nothing outstanding most of the time.
type single struct {
	c         *agent.Connection
	from      int
	op        wqe.Op
	n, after  uint64 // messages after the first one, and those of them that began after the ACK of the one before
	bytes     uint64
	one       uint64 // bytes of each, in the mean
	elapsed   time.Duration
	acked     time.Duration // median from the last packet of a message to its ACK
	pause     time.Duration // median from that to the next message
	low, high time.Duration // within which eight of ten such are
	line      []float64     // bytes a second within a message
}

// singles lists such ends, the one that sent the most first.
func (t *text) singles() (list []single) {
	for _, c := range t.measured() {
		if c.Upper != nil || c.Ends[0].Trouble != nil || c.Ends[1].Trouble != nil || !t.mayIdle(c) {
			continue
		}
		for from := range c.Ends {
			if s, ok := singleOf(c, from); ok && t.oneSided(&s) {
				list = append(list, s)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b single) int { return cmp.Compare(b.bytes, a.bytes) })
	return list
}

func singleOf(c *agent.Connection, from int) (s single, ok bool) {
	if _, idle := idleOf(c, from); !idle {
		return s, false
	}
	s.c, s.from = c, from
	e, all, o := &c.Timing.Ends[from], uint64(0), (*timing.Operation)(nil)
	for op, x := range e.Ops {
		if x == nil {
			continue
		}
		if all += x.Count; o == nil || x.Count > o.Count {
			s.op, o = wqe.Op(op), x
		}
	}
	if o == nil || s.op.Responded() || o.Count < singleMessages || o.Count < all || e.Gaps == nil || o.Incomplete > 1 {
		return s, false
	}
	s.n, s.after = e.Gaps.Count(), e.Gaps.Above(o.Most)
	s.bytes, s.one = o.Bytes, o.Bytes/o.Count
	s.elapsed = time.Duration(c.Ends[from].Last - cmp.Or(e.Active.First, c.First))
	if s.one < singleBytes || s.n < singleMessages || float64(s.after) < singleNearly*float64(s.n) || s.elapsed <= 0 {
		return s, false
	}
	return s, s.measure(e)
}

// measure takes how far apart messages and ACKs are, and reports whether that tells something.
func (s *single) measure(e *timing.End) bool {
	first, newest, _ := e.AllSent()
	var apart, acked, pauses []time.Duration
	for _, list := range [...][]timing.Sent{first, newest} {
		s.line = lineRates(s.line, list)
		for i := range list {
			x := &list[i]
			if x.Packets < singlePackets {
				return false
			}
			if i+1 < len(list) {
				apart = append(apart, time.Duration(list[i+1].Begin-x.Begin))
			}
		}
		for _, w := range e.Acks.List {
			at, found := slices.BinarySearchFunc(list, w.At, func(x timing.Sent, at int64) int { return cmp.Compare(x.End, at) })
			if found && at+1 < len(list) {
				acked, pauses = append(acked, w.Took), append(pauses, time.Duration(list[at+1].Begin-w.At)-w.Took)
			}
		}
	}
	if len(pauses) < singleSamples {
		return false
	}
	slices.Sort(apart)
	slices.Sort(acked)
	slices.Sort(pauses)
	slices.Sort(s.line)
	s.acked, s.pause = acked[len(acked)/2], pauses[len(pauses)/2]
	s.low, s.high = pauses[len(pauses)/10], pauses[len(pauses)-1-len(pauses)/10]
	spread, usual := apart[len(apart)-1-len(apart)/10]-apart[len(apart)/10], apart[len(apart)/2]
	return s.low > 0 && s.pause <= singlePause && spread > max(usual/singleSteady, singleSlack)
}

// oneSided reports whether hardly anything comes to the host of an end that its program may wait for, on whichever connection:
// messages of others, and answers to its READs and atomics.
func (t *text) oneSided(s *single) bool {
	host, came := s.c.Ends[s.from].Addr, uint64(0)
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		for k := range c.Ends {
			e := &c.Ends[k]
			switch {
			case e.QPNKnown && e.QPN <= 1: // management
			case c.Ends[1-k].Addr == host && e.Addr != host:
				came += max(e.Messages, e.Packets*uint64(packet.Bit(!c.Service.Reliable())))
			case e.Addr == host && c.Timing != nil:
				for op, o := range c.Timing.Ends[k].Ops {
					if o != nil && wqe.Op(op).Responded() {
						came += o.Count
					}
				}
			}
		}
	}
	return came*singleAnswers <= s.n
}

// postedSingly tells of the end that sent the most of those that send one message at a time, of each host.
func (t *text) postedSingly() (said []string) {
	list := t.singles()
	told := map[packet.Addr]bool{}
	for i := range list {
		s := &list[i]
		e := &s.c.Ends[s.from]
		if told[e.Addr] {
			continue
		}
		told[e.Addr] = true
		others := 0
		for k := range list[i+1:] {
			others += int(packet.Bit(list[i+1+k].c.Ends[list[i+1+k].from].Addr == e.Addr))
		}
		said = append(said, s.said(others))
	}
	return said
}

// said says what an end does, as others of its host do, what that comes to, and what to look at.
func (s *single) said(others int) string {
	e, peer := &s.c.Ends[s.from], &s.c.Ends[1-s.from]
	before := fmt.Sprintf("all %s after the first", number(s.n))
	if s.after < s.n {
		before = fmt.Sprintf("at least %s of %s", number(s.after), number(s.n))
	}
	line := atLine(s.line)
	if others > 0 {
		line += fmt.Sprintf(". So it does on %s", count(others, "other queue pair"))
	}
	return fmt.Sprintf("%s%v %s sent one %v of %s at a time to %v: %s began after the ACK of the one before, "+
		"usually %s after it (eight of ten: %s to %s), and ACKs come %s after a message. "+
		"That makes %s%s. So what %v does between an ACK and the next %v limits it, not the network or %v, or it has no more to send%s. "+
		"Next: whether its program can post several at once (queue depth), and what it does between a completion and the next post "+
		"(CPU, waiting for interrupts, copies).",
		singly, e.Addr, qp(e.QPN, e.QPNKnown), s.op, size(s.one), peer.Addr, before, span(s.pause), span(s.low), span(s.high), span(s.acked),
		bitRate(s.bytes, s.elapsed), line, e.Addr, strings.TrimPrefix(s.op.String(), "RDMA "), peer.Addr, far(e))
}

// singly begins what is told of such an end.
const singly = "One at a time: "
