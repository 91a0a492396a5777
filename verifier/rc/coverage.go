package rc

import (
	"ibwitness/coverage"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier/stream"
	"ibwitness/wqe"
)

// What the fast path takes is counted by opcode as it is: see Cover. It takes neither a packet with which a sequence number wraps nor a response with another syndrome
// than an ACK without a limit. Lengths of its messages are counted in runs: most are as long as the one before.

// runs are the messages of the fast path that are alike, by the opcode of their last packet.
type runs struct {
	alike [256]alike
	from  [256]uint64 // of Verifier.expected, when the run began
}

// alike is the length of a message, and the path MTU in its upper half.
type alike uint64

// another begins a run of messages of an opcode.
//
//go:noinline
func (v *Verifier) another(o packet.Opcode, is alike) {
	v.endRun(o)
	v.runs.alike[o] = is
}

// endRun counts the messages of a run.
func (v *Verifier) endRun(o packet.Opcode) {
	r, n := &v.runs, v.expected[o]
	if !expectations[o].ends {
		return
	}
	v.Shown.Message(o, uint32(r.alike[o]), uint32(r.alike[o]>>32), n-r.from[o])
	r.from[o] = n
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
		v.Shown.Message(p.Opcode, stream.Length(w), c.PMTU, 1)
	}
}

// responseWraps counts that the PSN of the responses wraps with p.
func (v *Verifier) responseWraps(c *qp.Pair, r *qp.ReceiveQueue, p *packet.Packet) {
	if !v.Broken && r.Answered && p.PSN < r.LastPSN && p.PSN.After(r.LastPSN) {
		v.Shown.Wrap(c.Service, coverage.ResponseWrap)
	}
}

// msnWraps counts that the MSN wraps with response p, after one with MSN last.
func (v *Verifier) msnWraps(c *qp.Pair, r *qp.ReceiveQueue, p *packet.Packet, last uint32) {
	if !v.Broken && r.Answered && p.MSN < last && packet.PSN(p.MSN).After(packet.PSN(last)) {
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

// givesUp counts the paths of end from that end with nothing more, at time end.
func (v *Verifier) givesUp(c *qp.Pair, from int, end int64) {
	q, r := &c.Ends[from].SQ, &c.Ends[1-from].RQ
	v.recovered(c, q)
	a := &c.Ends[from]
	told := uint16(0)
	if q.Recovery != nil {
		told = q.Recovery.Told
	}
	switch {
	case r.State == qp.Failed && !r.Blamed && !r.Silenced:
		switch r.NakCode {
		case packet.NAKInvalidRequest:
			v.Shown.Recovered(c.Service, coverage.InvalidRequest)
		case packet.NAKRemoteAccess:
			v.Shown.Recovered(c.Service, coverage.RemoteAccess)
		case packet.NAKRemoteOp:
			v.Shown.Recovered(c.Service, coverage.RemoteOperational)
		}
	case v.LifeAt != nil && a.Numbered && v.LifeAt(a.Addr, a.Number, end) != qp.LifeUnknown: // its completions tell
	case r.State == qp.RNRNAKed && a.Knows(qp.KnowsRNRRetry) && a.Attr.RNRRetry < 7 && r.RNRs == a.Attr.RNRRetry+1 &&
		end > waitsTo(&packet.Packet{Time: r.NakTime, Syndrome: r.NakCode}):
		v.Shown.Recovered(c.Service, coverage.RNRExhausted)
	case r.State == qp.Expecting && q.Una.Before(q.High) && a.Knows(qp.KnowsRetryCnt|qp.KnowsTimeout) && q.Restarts > 0 && q.Restarts-told == uint16(a.Attr.RetryCnt) &&
		end-q.LastTime >= int64(packet.Timeout(a.Attr.Timeout)):
		v.Shown.Recovered(c.Service, coverage.RetriesExhausted)
	}
}
