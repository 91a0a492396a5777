package rc

import (
	"ibwitness/coverage"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier/stream"
	"ibwitness/wqe"
)

// What the fast path takes is counted by opcode as it is: see Cover. It takes neither a request with which the PSN wraps, nor anything until that is acknowledged, nor a response
// with which the MSN wraps, or with another syndrome than an ACK without a limit. Of its messages it counts by itself only those whose length is nothing special, which the opcode tells.

// runs are the messages of the fast path on one path MTU, by the opcode of their last packet.
type runs struct {
	ended [256][4]uint64 // by the last two bits of their lengths: those that are plain, and not counted yet
	pmtu  [256]uint32
}

// ends takes packet p, the last of a message of q, which the fast path has taken: its length is not plain, as far as p tells, or it begins a run.
//
//go:noinline
func (v *Verifier) ends(c *qp.Pair, q *qp.SendQueue, p *packet.Packet, e *expectation) {
	length, r, o := uint32(p.PayloadLen)|p.DMALen&e.read, &v.runs, p.Opcode
	if !e.begins {
		length = q.Messages.Newest().Got()
	}
	r.ended[o][length&3]--
	if c.PMTU != r.pmtu[o] {
		v.endRun(o)
		r.pmtu[o] = c.PMTU
	}
	if !coverage.Plain(length, c.PMTU) || length&e.read > stream.LeastMTU {
		v.Shown.Message(o, length, c.PMTU, 1)
	} else {
		r.ended[o][length&3]++
	}
}

// endRun counts the messages of a run.
func (v *Verifier) endRun(o packet.Opcode) {
	for bits, n := range v.runs.ended[o] {
		v.Shown.Plain(o, bits, v.runs.pmtu[o], n)
	}
	v.runs.ended[o] = [4]uint64{}
}

// shown counts what request p of message w shows, which the fast path has left. again says that it has been seen before.
func (v *Verifier) shown(c *qp.Pair, q *qp.SendQueue, p *packet.Packet, w *wqe.SendWQE, again bool) {
	if v.Broken {
		return
	}
	if q.Recovery != nil {
		q.Recovery.Paths.Retransmitted(p.PSN)
	}
	if again {
		return
	}
	v.Wraps(q, p)
	if w.Op == wqe.Read && w.Last < p.PSN {
		v.Shown.Wrap(c.Service, coverage.ReadWrap)
		if w.Last != packet.PSNMask { // else the next request has PSN 0
			v.Shown.Wrap(c.Service, coverage.RequestWrap)
		}
	}
	if w.Has(wqe.Ended) && !w.Has(wqe.Blamed) {
		v.Shown.Message(p.Opcode, stream.Length(w, p), c.PMTU, 1)
	}
}

// responseWraps counts that the PSN of the responses wraps with p.
func (v *Verifier) responseWraps(c *qp.Pair, r *qp.ReceiveQueue, p *packet.Packet) {
	if !v.Broken && r.Last.Positive && p.PSN < r.Last.PSN && p.PSN.After(r.Last.PSN) {
		v.Shown.Wrap(c.Service, coverage.ResponseWrap)
	}
}

// msnWraps counts that the MSN wraps with response p, after one with MSN last.
func (v *Verifier) msnWraps(c *qp.Pair, r *qp.ReceiveQueue, p *packet.Packet, last uint32) {
	if !v.Broken && r.Last.Positive && p.MSN < last && packet.PSN(p.MSN).After(packet.PSN(last)) {
		v.Shown.Wrap(c.Service, coverage.MSNWrap)
	}
}

// goesAgain notes that end from begins to retransmit with p, of message w, which may be nil: as a NAK has asked, or why else.
func (v *Verifier) goesAgain(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	q := &c.Ends[from].SQ
	paths := &q.Lost().Paths
	if v.Broken || paths.Retransmitted(p.PSN) || w == nil {
		return
	}
	path := why(q, p, w)
	paths.Begin(path, p.PSN)
	if path == coverage.ImpliedNAK && w.Op == wqe.Read && p.PSN.After(w.First) {
		paths.Begin(coverage.PartialRead, p.PSN)
	}
	paths.Retransmitted(p.PSN)
}

// why is the path that the retransmission of message w begins which no NAK has asked for.
func why(q *qp.SendQueue, p *packet.Packet, w *wqe.SendWQE) coverage.Path {
	switch {
	case w.Op == wqe.Read && (w.Has(wqe.Gapped) || impliedNAK(q, p)), w.Op.Atomic() && impliedNAK(q, p):
		return coverage.ImpliedNAK
	case w.Op == wqe.Read && p.PSN.After(w.First):
		return coverage.PartialRead
	case w.Op == wqe.Read && w.RespFrame != 0:
		return coverage.DuplicateRead
	case w.Op.Atomic() && w.RespFrame != 0:
		return coverage.DuplicateAtomic
	case !w.Op.Responded() && p.PSN.Before(q.Una):
		return coverage.DuplicateMessage
	}
	return coverage.Timeout
}

// How paths end: when their PSN is acknowledged, with an Acknowledge of it, or with the response to a READ or atomic.
const (
	endAcknowledged = 1<<coverage.SequenceNAK | 1<<coverage.RNRNAK | 1<<coverage.Timeout
	endACK          = 1 << coverage.DuplicateMessage
	endRead         = 1<<coverage.DuplicateRead | 1<<coverage.PartialRead | 1<<coverage.ImpliedNAK
	endAtomic       = 1<<coverage.DuplicateAtomic | 1<<coverage.ImpliedNAK
)

// recovered counts the paths of a requester that have come to their end by what is acknowledged.
func (v *Verifier) recovered(c *qp.Pair, q *qp.SendQueue) {
	if q.Recovery != nil {
		v.endPaths(c, q, endAcknowledged, q.Una.After)
	}
}

// answers counts the paths that end with positive response p.
func (v *Verifier) answers(c *qp.Pair, q *qp.SendQueue, p *packet.Packet) {
	if q.Recovery == nil || v.Broken {
		return
	}
	ends := uint16(endACK)
	switch in := p.Info(); {
	case p.Opcode.Fn() == packet.AtomicAck:
		ends |= endAtomic
	case p.Opcode.Fn() != packet.Acknowledge && (in.Last || in.Only):
		ends |= endRead
	}
	v.endPaths(c, q, ends, func(psn packet.PSN) bool { return !p.PSN.Before(psn) })
}

func (v *Verifier) endPaths(c *qp.Pair, q *qp.SendQueue, ends uint16, so func(packet.PSN) bool) {
	for path, ok := q.Recovery.Paths.End(ends, so); ok; path, ok = q.Recovery.Paths.End(ends, so) {
		v.Shown.Recovered(c.Service, path)
	}
}

// fatal are the paths of NAKs after which nothing more is sent.
var fatal = map[packet.Syndrome]coverage.Path{
	packet.NAKInvalidRequest: coverage.InvalidRequest, packet.NAKRemoteAccess: coverage.RemoteAccess, packet.NAKRemoteOp: coverage.RemoteOperational,
}

// givesUp counts the paths of end from that end with nothing more, at time end.
func (v *Verifier) givesUp(c *qp.Pair, from int, end int64) {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	v.recovered(c, q)
	path, known := fatal[r.NAK.Code]
	switch a := &c.Ends[from]; {
	case r.State == qp.Failed:
		if known && !r.NAK.Blamed && !r.NAK.Silenced {
			v.Shown.Recovered(c.Service, path)
		}
	case v.LifeAt != nil && a.Numbered && v.LifeAt(a.Addr, a.Number, end) != qp.LifeUnknown: // its completions tell
	case rnrExhausted(a, r, end):
		v.Shown.Recovered(c.Service, coverage.RNRExhausted)
	case retriesExhausted(a, r, end):
		v.Shown.Recovered(c.Service, coverage.RetriesExhausted)
	}
}

// rnrExhausted reports whether a requester has left its newest RNR NAK unanswered until time end, as that is one more than its attributes let it answer.
func rnrExhausted(a *qp.QP, r *qp.ReceiveQueue, end int64) bool {
	return r.State == qp.RNRNAKed && a.Knows(qp.KnowsRNRRetry) && a.Attr.RNRRetry < 7 && r.NAK.RNRs == a.Attr.RNRRetry+1 &&
		end > rnrWaitEnd(&packet.Packet{Time: r.NAK.Time, Syndrome: r.NAK.Code})
}

// retriesExhausted reports whether a requester has retransmitted as often as its attributes say, without a response, and has sent nothing in the time of one more retry.
func retriesExhausted(a *qp.QP, r *qp.ReceiveQueue, end int64) bool {
	q, told := &a.SQ, uint16(0)
	if q.Recovery != nil {
		told = q.Recovery.NAKRestarts
	}
	return r.State == qp.Expecting && q.Una.Before(q.High) && a.Knows(qp.KnowsRetryCnt|qp.KnowsTimeout) && q.Restarts > 0 && q.Restarts-told == uint16(a.Attr.RetryCnt) &&
		end-q.Last.Time >= int64(packet.Timeout(a.Attr.Timeout))
}
