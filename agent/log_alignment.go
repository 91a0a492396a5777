package agent

import (
	"sort"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// Where the clock of a log is not that of the packets, the first packets of its queue pairs show how late its events may be read: a request leaves
// after it was posted. What is received goes with RTR, or with the first completion, which comes after the message. The earliest reading holds: it
// costs only memory.
const (
	// mostAhead is how many events of a log are looked at for that.
	mostAhead = 4096
	// aligning is for how long further packets are looked at, once one has been found in the log.
	aligning = int64(10e9)
)

// alignment is the events of a log that packets are looked for.
type alignment struct {
	sends     map[uint32]*sendAlignment // of connected queue pairs, by the QPN of the peer
	datagrams map[uint32]int64          // the first post of a queue pair of datagrams, by its QPN
	receives  map[uint32]int64          // RTR, or a later first receive completion, by QPN
	received  map[uint32]bool
	qps       map[uint32]*alignedQP
	seen      int
	first     int64 // time of the first packet that was found; 0: none
}

// alignedQP is what the log says of a queue pair so far.
type alignedQP struct {
	typ  qp.Type
	attr qp.Attr
	out  *sendAlignment
}

// sendAlignment is the posts of the first life of a queue pair.
type sendAlignment struct {
	start packet.PSN
	next  int // PSNs after start
	posts []postTime
}

type postTime struct {
	psn  int // PSNs after start
	time int64
}

func newAlignment() *alignment {
	return &alignment{
		sends: map[uint32]*sendAlignment{}, datagrams: map[uint32]int64{}, receives: map[uint32]int64{}, received: map[uint32]bool{}, qps: map[uint32]*alignedQP{},
	}
}

// event takes an event of the log.
func (a *alignment) event(e *cq.Event) {
	a.seen++
	if e.Failed {
		return
	}
	q := a.qps[e.QP.QPN]
	if q == nil {
		q = &alignedQP{typ: qp.TypeRC}
		a.qps[e.QP.QPN] = q
	}
	switch e.Kind {
	case cq.EvLost: // which packet is of which post is not known from here on
		a.seen = mostAhead
	case cq.EvCreateQP:
		q.typ = e.New.Type
	case cq.EvModifyQP:
		a.modified(q, e)
	case cq.EvPostSend:
		a.posted(q, e)
	case cq.EvCompletion:
		if c := e.Completion; c.Status == cq.Success && c.Op >= cq.DoneRecv && !a.received[c.QP.QPN] {
			a.received[c.QP.QPN] = true
			a.receives[c.QP.QPN] = e.Time
		}
	}
}

func (a *alignment) modified(q *alignedQP, e *cq.Event) {
	if e.Attr != nil {
		q.attr.Update(e.Attr)
	}
	switch {
	case e.State == qp.RTR && a.receives[e.QP.QPN] == 0:
		a.receives[e.QP.QPN] = e.Time
	case e.State != qp.RTS || !q.attr.Has(qp.KnowsDestQPN|qp.KnowsSQPSN):
	case q.out == nil && a.sends[q.attr.DestQPN] == nil:
		q.out = &sendAlignment{start: q.attr.SQPSN & packet.PSNMask}
		a.sends[q.attr.DestQPN] = q.out
	case e.Attr != nil && e.Attr.Has(qp.KnowsSQPSN):
		q.out = nil // another life
	}
}

func (a *alignment) posted(q *alignedQP, e *cq.Event) {
	if q.typ == qp.TypeUD {
		if _, ok := a.datagrams[e.QP.QPN]; !ok {
			a.datagrams[e.QP.QPN] = e.Time
		}
		return
	}
	if q.out == nil {
		return
	}
	q.out.posts = append(q.out.posts, postTime{q.out.next, e.Time})
	switch e.Send.Op {
	case wqe.OpLocalInv, wqe.OpBindMW:
	case wqe.OpCmpSwap, wqe.OpFetchAdd, wqe.OpAtomicWrite, wqe.OpFlush:
		q.out.next++
	default:
		var n uint32
		for _, s := range e.Send.Segments {
			n += s.Length
		}
		q.out.next += wqe.Packets(n, max(q.attr.PMTU, 256))
	}
}

// at is the time of the newest post that a packet with a PSN may be of.
func (s *sendAlignment) at(p packet.PSN) (t int64, ok bool) {
	if len(s.posts) == 0 {
		return 0, false
	}
	n := p.Diff(s.start)
	i := sort.Search(len(s.posts), func(i int) bool { return s.posts[i].psn > n }) - 1
	if n >= s.next {
		i = 0
	}
	return s.posts[max(i, 0)].time, true
}

// meet returns the event that a packet of a log of addr shows to be before it.
func (a *alignment) meet(p *packet.Packet, addr packet.Addr) (t int64, ok bool) {
	if from := addr.IsZero() || p.Src == addr; from && p.Opcode.Info().Request {
		if s := a.sends[p.DestQP]; s != nil && p.Opcode.Service() != packet.UD {
			if t, ok = s.at(p.PSN); ok {
				delete(a.sends, p.DestQP)
			}
		} else if p.Has&packet.HasDETH != 0 {
			if t, ok = a.datagrams[p.SrcQP]; ok {
				delete(a.datagrams, p.SrcQP)
			}
		}
	}
	if to := addr.IsZero() || p.Dst == addr; to && !ok && p.Opcode.Info().Request {
		if t, ok = a.receives[p.DestQP]; ok {
			delete(a.receives, p.DestQP)
		}
	}
	if ok && a.first == 0 {
		a.first = p.Time
	}
	return t, ok
}
