package upper

import "time"

// settles is after how many replies with another grant the calls that are open are counted: those of before may be open until then.
const settles = 8

// Phase is replies that grant as many calls as each other.
type Phase struct {
	Calls uint32 // how many may be open at once
	Count uint64 // replies
	Sum   int64  // nanoseconds that their calls took
	Open  int    // calls that were open at once: the most
}

// Took is how long its calls took in the mean.
func (p *Phase) Took() time.Duration { return time.Duration(p.Sum / int64(max(p.Count, 1))) }

// Lowered is that an end grants the other fewer calls at once than before.
type Lowered struct {
	By       int // the end that does
	At       int64
	Frame    uint64 // of the first reply that grants so few
	Was, Now Phase
}

// grants follows the credits in the replies of the end of an RPC connection that replied first (RFC 8166, 3.3.1).
type grants struct {
	by      int8 // the end that grants, plus one; 0: it is not known
	Lowered Lowered
}

// replied takes the credits of a reply. answers says that its call is known.
func (g *grants) replied(m *Message, t *Tracker, credits uint32, answers bool) {
	if g.by == 0 {
		g.by = int8(m.From + 1)
	}
	if int(g.by) != m.From+1 || !answers {
		return
	}
	l := &g.Lowered
	if credits != l.Now.Calls {
		l.Was, l.Now, l.At, l.Frame = l.Now, Phase{Calls: credits}, m.Time, m.Frame
	}
	l.Now.Count++
	l.Now.Sum += t.times.Newest
}

// called counts the calls that are open, as one begins.
func (g *grants) called(m *Message, t *Tracker) {
	if l := &g.Lowered; g.by != 0 && int(g.by) != m.From+1 && l.Now.Count >= settles {
		n := &t.counts
		l.Now.Open = max(l.Now.Open, int(n.Begun-n.Ended-n.GivenUp))
	}
}

// Calls is how many calls an end of an RPC connection grants the other at once, as its newest replies say, and the frame of the first of these; 0: that is not known.
func (t *Tracker) Calls() (by int, calls uint32, frame uint64) {
	d, ok := t.decoder.(*rpcDecoder)
	if !ok || t.cut || t.forgot || t.counts.GivenUp > 0 {
		return 0, 0, 0
	}
	return (int(d.grants.by) - 1) ^ t.turned, d.grants.Lowered.Now.Calls, d.grants.Lowered.Frame
}

// When it is told that fewer calls are granted: from how many replies before and after on, and how many times as many as now were granted before.
const (
	fewestReplies = 32
	lowerTimes    = 2
)

// Lowered returns the calls that an end of an RPC connection grants the other, where they became far fewer, and limit how many are open.
func (t *Tracker) Lowered() (l Lowered, lowered bool) {
	d, ok := t.decoder.(*rpcDecoder)
	if !ok || t.cut || t.forgot || t.counts.GivenUp > 0 {
		return l, false
	}
	l = d.grants.Lowered
	l.By = (int(d.grants.by) - 1) ^ t.turned
	was, now := &l.Was, &l.Now
	return l, was.Count >= fewestReplies && now.Count >= fewestReplies && now.Calls*lowerTimes <= was.Calls && now.Open == int(now.Calls) && was.Open > int(now.Calls)
}
