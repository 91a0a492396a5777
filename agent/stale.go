package agent

import (
	"maps"
	"time"

	"ibwitness/agent/internal/connection"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier"
	"ibwitness/verifier/stream"
)

// Stale is packets of a connection that is over, which came on the one that the same two queue pairs made after it: they had been on their way for long. Their receiver cannot
// tell them from new ones but by their PSNs.
type Stale struct {
	Packets  uint64
	From     int    // the end that had sent the first of them
	Taken    uint64 // of them, had a PSN that their receiver expected, or would expect next after one that had
	Frame    uint64 // of the first, of Tap
	Newest   uint64 // of the last
	Original uint64 // frame in which the first was sent
	Tap      uint16
	First    int64 // when the first came, nanoseconds since the Unix epoch
	Last     int64
	Closed   int64 // when the connection was over
	Begun    int64 // when the queue pairs were connected again
}

const (
	// stalest is for how long a packet may be on its way.
	stalest = int64(10 * time.Second)
	// mostStale is of how many connections at once what was sent on the ones before them is kept.
	mostStale = 256
)

// former is what was sent last on the connection before one.
type former struct {
	sent  [2][]qp.Sent // of each end of the new one
	next  [2]packet.PSN
	stale Stale
	until int64
}

// follows notes that connection c was made between the queue pairs of another that is over. turned says that its ends are the other way round.
func (t *Transport) follows(c, old *connection.Connection, turned bool) {
	maps.DeleteFunc(t.former, func(_ *connection.Connection, f *former) bool { return f.until < c.FirstTime && f.stale.Packets == 0 })
	if len(t.former) >= mostStale || c.FirstTime-old.ClosedAt > stalest {
		return
	}
	f := &former{until: c.FirstTime + stalest, stale: Stale{Closed: old.ClosedAt, Begun: c.FirstTime}}
	for k := range f.sent {
		from := k
		if turned {
			from = 1 - k
		}
		f.sent[k] = old.Ends[from].SQ.NewestSent()
	}
	if len(f.sent[0])+len(f.sent[1]) == 0 {
		return
	}
	if t.former == nil {
		t.former = map[*connection.Connection]*former{}
	}
	t.former[c], t.beside = f, true
}

// late takes packet p of end from of a connection where it was sent on the one before it, and reports whether it was: it belongs to no stream of c.
func (t *Transport) late(c *connection.Connection, from int, p *packet.Packet) bool {
	f := t.former[c]
	if f == nil {
		return false
	}
	if p.Time > f.until {
		if f.sent = [2][]qp.Sent{}; f.stale.Packets == 0 {
			delete(t.former, c)
		}
		return false
	}
	from &= 1
	if len(f.sent[from]) == 0 {
		return false
	}
	p.Rest()
	if !p.Info().Request || p.ICRC == 0 {
		return false
	}
	for i := range f.sent[from] {
		if s := &f.sent[from][i]; s.PSN&packet.PSNMask == p.PSN && staleAs(&c.Ends[from].SQ, p, &s.Trace) {
			f.take(c, from, p, s)
			return true
		}
	}
	return false
}

// staleAs reports whether packet p, of the stream that q is, is one of the connection before, of which a packet with its PSN left that trace: a copy, or one that was retransmitted
// there, which the IPv4 identification, or a PSN far from the stream, shows to be no new packet that is like it.
func staleAs(q *qp.SendQueue, p *packet.Packet, t *packet.Trace) bool {
	trace := p.Trace()
	if same(&trace, t) {
		return true
	}
	if !trace.Sealed() || !t.Sealed() || !q.Joined || q.Fresh || !packet.SameContent(p, *t) {
		return false
	}
	far := p.PSN.Diff(q.Next)
	return max(far, -far) > stream.FarJump || verifier.Numbered(p) && counts(t.IPID, p.IPID) && counts(p.IPID, q.Last.ID)
}

// counts reports whether one IPv4 identification comes not long after another of a sender that numbers its packets.
func counts(id, next uint16) bool { return next-id-1 < 1<<14 }

// same reports whether two traces are those of one packet.
func same(a, b *packet.Trace) bool {
	x, y := *a, *b
	x.Flags, y.Flags = x.Flags|packet.TraceSealed, y.Flags|packet.TraceSealed
	return x == y
}

// take counts packet p, which is s once more.
func (f *former) take(c *connection.Connection, from int, p *packet.Packet, s *qp.Sent) {
	k := &f.stale
	if k.Packets == 0 {
		k.From, k.Frame, k.Tap, k.First, k.Original = from, p.Frame, p.Tap, p.Time, packet.FrameNear(p.Frame, s.Frame)
		f.next[from] = c.Ends[from].SQ.Next
	}
	if p.PSN == f.next[from] {
		f.next[from] = p.PSN.Add(1)
		k.Taken++
	}
	k.Packets++
	k.Newest, k.Last = p.Frame, p.Time
	c.Count(from, p)
	c.Lose()                  // its receiver may have taken it for a new one
	c.RQ(1 - from).MSN.Lose() // and have counted it
}

// stale returns what came late on a connection of the one before it; nil: nothing did.
func (t *Transport) stale(c *connection.Connection) *Stale {
	if f := t.former[c]; f != nil && f.stale.Packets > 0 {
		return &f.stale
	}
	return nil
}
