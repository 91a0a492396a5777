package incident

import (
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/verifier/cm"
)

// So many pings of hosts whose pings it had answered a host leaves unanswered at least, the first of them for so long, where all of it is gone.
const (
	fewestPings = 2
	unansweredP = int64(time.Second)
)

// inVain is what others sent a host in vain since its last frame.
type inVain struct {
	count       uint64
	first, last *agent.Sign
}

func (v *inVain) add(s *agent.Sign) {
	if v.last = s; v.count == 0 {
		v.first = s
	}
	v.count++
}

// goneWhole is a host of which the capture holds nothing since a time, and that answers nothing any more that its kernel, or its adapter, would.
type goneWhole struct {
	since       int64 // when it sent its last frame
	pings, asks inVain
	answered    uint64 // pings that it had answered before
	lastAnswer  int64
	reqs        uint64
	firstREQ    *cm.Unanswered
}

// goneWhole returns how a host shows to be gone as a whole, and not only a process or a queue pair of it; nil: it does not.
func (t *teller) goneWhole(a packet.Addr) *goneWhole {
	if !t.timed() || t.lossy() || len(t.run.Taps) > 1 {
		return nil
	}
	g := &goneWhole{since: t.hosts[a].last}
	for _, e := range t.run.Echoes {
		if e.Addr == a {
			g.answered, g.lastAnswer = e.Replies, e.Last
			g.since = max(g.since, e.Last)
		}
	}
	for n := range t.run.Signs {
		if s := &t.run.Signs[n]; s.Host == a {
			g.since = max(g.since, s.At)
		}
	}
	if g.since == 0 {
		return nil
	}
	t.countInVain(a, g)
	if g.pings.count < fewestPings || t.run.Last-g.pings.first.At < unansweredP {
		g.pings = inVain{}
	}
	if g.asks.count < fewestARPs || g.asks.last.At-g.asks.first.At < unansweredA {
		g.asks = inVain{}
	}
	if g.pings.count == 0 && g.asks.count == 0 {
		return nil
	}
	return g
}

// countInVain counts what others sent a host since its last frame.
func (t *teller) countInVain(a packet.Addr, g *goneWhole) {
	for n := range t.run.Signs {
		if s := &t.run.Signs[n]; s.By == fabricagent.ByARP && s.To == a && s.At > g.since {
			g.asks.add(s)
		}
	}
	for n := range t.run.Pings {
		if s := &t.run.Pings[n]; s.To == a && s.At > g.since && g.answered > 0 && t.sentICMP(a, s.Host) {
			g.pings.add(s)
		}
	}
	for n := range t.run.REQs {
		q := &t.run.REQs[n]
		if q.To != a || q.SIDR || q.Waits != cm.ForREP || q.First <= g.since {
			continue
		}
		if g.reqs += uint64(q.Times); g.firstREQ == nil || q.First < g.firstREQ.First {
			g.firstREQ = q
		}
	}
}

// sentICMP reports whether a host has sent another a message of ICMP.
func (t *teller) sentICMP(a, to packet.Addr) bool {
	return slices.ContainsFunc(t.run.Signs, func(s agent.Sign) bool { return s.By == fabricagent.ByICMP && s.Host == a && s.To == to })
}

// goneSince returns how a host shows to be gone as a whole that sent nothing after a time; nil: it does not.
func (t *teller) goneSince(a packet.Addr, at int64) *goneWhole {
	if g := t.goneWhole(a); g != nil && g.since <= at {
		return g
	}
	return nil
}
