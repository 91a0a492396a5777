package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
)

// From how many messages on, for how long, for how many times the mean time between two of them, and on how many hosts, requesters are told to have gone quiet.
const (
	quietMessages = 64
	quietTime     = time.Second
	quietTimes    = 100
	quietHosts    = 3
	quietTold     = 8
	inStepPart    = 10 // in which part of the usual time between two messages, one in so many, hosts stop in step
)

// quieted tells, where nothing else happened, of several hosts that were busy and went quiet, and where it was measured, in the order in which they did: in a ring or a collective the first is what
// the others wait for, though no request waits.
func (t *text) quieted() {
	if s := cmp.Or(t.quietTold(), t.quietBeside()); s != "" {
		t.prose("  ", s)
	}
}

// wentQuiet are the connections that were busy and carry nothing any more, when their newest packet came, and when each of their hosts sent its last request there; 0: not known.
type wentQuiet struct {
	among  []*agent.Connection
	newest int64
	last   map[packet.Addr]int64
}

// allQuiet finds those of several hosts; ok: there are some.
func (t *text) allQuiet() (wentQuiet, bool) {
	if t.quiets.known {
		return t.quiets.wentQuiet, t.quiets.ok
	}
	q, ok := t.findQuiet()
	t.quiets.known, t.quiets.wentQuiet, t.quiets.ok = true, q, ok
	return q, ok
}

func (t *text) findQuiet() (q wentQuiet, ok bool) {
	q.last = map[packet.Addr]int64{}
	busy, asked := map[packet.Addr]bool{}, map[packet.Addr]bool{} // hosts that sent requests, and those that they sent them to
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		went := t.quiet(c)
		if went == [2]bool{} {
			continue
		}
		if _, hangs := t.hangsOn(c); hangs {
			continue // that is told
		}
		if a, ok := answers(c); ok {
			went[a.By] = false // it has nothing to answer
		}
		q.among = append(q.among, c)
		q.newest = max(q.newest, c.Ends[0].Last, c.Ends[1].Last)
		for k := range c.Ends {
			e := &c.Ends[k]
			if went[k] {
				busy[e.Addr], asked[c.Ends[1-k].Addr] = true, true
			}
			if e.Messages > 0 {
				lastRequest(q.last, e.Addr, c, k)
			}
		}
	}
	return q, (len(busy) >= quietHosts || chain(busy, asked)) && t.res.Clock.Count == 0
}

// quietTold is what quieted tells; "": nothing.
func (t *text) quietTold() string {
	q, ok := t.allQuiet()
	if !ok {
		return ""
	}
	s := t.carryNothing(&q)
	if order := t.quietOrder(q.last); order != "" {
		s += " Each host sent its last request there in this order: " + order + "."
		if wave := quietWave(q.among, q.last); wave != "" {
			return s + wave
		}
		if step := q.inStep(); step != "" {
			return s + step
		}
		s += " Where one waits for another, as in a ring or a collective, look at the first, which stopped before the others, or at what it waited for itself where the capture does not show that."
	}
	return s
}

// inStep says of hosts that stopped within a small part of the usual time between two messages, all after as many messages, that they did so as
// at the end of a round; "": they did not.
func (q *wentQuiet) inStep() string {
	list := byLast(q.last)
	apart := q.last[list[len(list)-1]] - q.last[list[0]]
	carried := func(c *agent.Connection) [2]uint64 {
		a, b := c.Ends[0].Messages, c.Ends[1].Messages
		return [2]uint64{min(a, b), max(a, b)}
	}
	for _, c := range q.among {
		n := carried(c)
		if n != carried(q.among[0]) || inStepPart*apart*int64(n[1]) > q.newest-c.First {
			return ""
		}
	}
	return fmt.Sprintf(" All stopped in step: within %s of one another, and each connection carried as many messages as the others. "+
		"So no host waits for a message of another there: most likely the job ended, or the next round had not begun.", span(time.Duration(apart)))
}

// carryNothing says how many connections went quiet, and for how long.
func (t *text) carryNothing(q *wentQuiet) string {
	return fmt.Sprintf("Quiet: %s that were busy carry nothing in the last %s, though no request waits for an answer.", count(len(q.among), "connection"), span(time.Duration(t.res.Last-q.newest)))
}

// chain reports whether requests went from one host to a second, and from that to a third, as a tap at one host of a ring sees it.
func chain(busy, asked map[packet.Addr]bool) bool {
	hosts, between := maps.Clone(busy), false
	for a := range asked {
		hosts[a], between = true, between || busy[a]
	}
	return between && len(busy) > 1 && len(hosts) >= quietHosts
}

// quiet reports which ends of a connection were busy with requests and went quiet.
func (t *text) quiet(c *agent.Connection) (went [2]bool) {
	if !c.Service.Reliable() || c.Closed.At != 0 || c.Ends[0].Open+c.Ends[1].Open > 0 {
		return went
	}
	silent := t.res.Last - max(c.Ends[0].Last, c.Ends[1].Last)
	for k := range c.Ends {
		e := &c.Ends[k]
		went[k] = e.Messages >= quietMessages && silent >= int64(quietTime) && silent >= quietTimes*(e.Last-c.First)/int64(e.Messages)
	}
	return went
}

// lastRequest notes when a host, which is end k of a connection, has sent its last request: what it sent later may be an ACK, which its adapter sends, whatever its program does.
func lastRequest(last map[packet.Addr]int64, host packet.Addr, c *agent.Connection, k int) {
	at := int64(0)
	if c.Timing != nil {
		at = c.Timing.Ends[k].LastRequest()
	}
	was, known := last[host]
	switch {
	case !known:
		last[host] = at
	case was == 0 || at == 0:
		last[host] = 0
	default:
		last[host] = max(was, at)
	}
}

// quietOrder names hosts in the order in which each sent its last request; "": of one it is not known when it did.
func (t *text) quietOrder(last map[packet.Addr]int64) string {
	list := byLast(last)
	var names []string
	for _, a := range list {
		if last[a] == 0 {
			return ""
		}
		if len(names) < quietTold {
			names = append(names, fmt.Sprintf("%v (+%.6f s)", a, time.Duration(last[a]-t.res.First).Seconds()))
		}
	}
	if more := len(list) - quietTold; more > 0 {
		names = append(names, number(uint64(more))+" more")
	}
	return enumerate(names)
}

// byLast are hosts in the order in which each sent its last request.
func byLast(last map[packet.Addr]int64) []packet.Addr {
	return slices.SortedFunc(maps.Keys(last), func(a, b packet.Addr) int { return cmp.Or(cmp.Compare(last[a], last[b]), a.Compare(b)) })
}
