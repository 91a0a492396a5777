package scenario

import (
	"math"

	"ibwitness/fabricagent/sim"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// plan makes the appointments of a piece of work. Its requests have the identifiers line·10⁶ + n.
func (r *Run) plan(w *Work) {
	l := new(lists)
	r.Clock.Repeat(w.At, w.Every, w.Repeat, func(i int) {
		err := r.do(w, l, uint64(w.Line)*1e6+uint64(i))
		if err != nil {
			l.refused()
		}
		r.refused(w.Line, err)
	})
}

// do does a piece of work once.
func (r *Run) do(w *Work, l *lists, id uint64) error {
	if w.Action == PostReceive && w.QP == "" {
		s := r.srqs[w.SRQ]
		list, err := s.segments(l, math.MaxInt, w.Lengths, false)
		if err != nil {
			return err
		}
		return s.PostSharedReceive(ctx, s.id, wqe.ReceiveRequest{ID: id, Segments: list})
	}
	q := r.qps[w.QP]
	switch w.Action {
	case PostReceive:
		lengths := w.Lengths
		if q.Type == qp.TypeUD {
			lengths = append([]uint32{grhSize}, lengths...)
		}
		_, outstanding, err := q.Outstanding(ctx, q.id)
		if err != nil {
			return err
		}
		list, err := q.segments(l, outstanding, lengths, false)
		if err != nil {
			return err
		}
		return q.PostReceive(ctx, q.id, wqe.ReceiveRequest{ID: id, Segments: list})
	case Modify:
		return r.modify(q, w.State)
	case Look:
		n := uint64(0)
		for _, l := range w.Lengths {
			n += uint64(l)
		}
		_, err := q.MemoryData(ctx, wqe.Memory{Key: wqe.Key{Addr: q.Addr, Key: q.remote.rkey}, VA: remoteVA + w.Offset, Length: n}, make([]byte, n))
		return err
	}
	req, err := r.request(q, w, l, id)
	if err != nil {
		return err
	}
	return q.PostSend(ctx, q.id, req)
}

// grhSize is what a datagram leaves in a receive request before its data (section 11.4.1.2).
const grhSize = 40

// sends reports whether an operation sends what its segments hold.
func sends(op wqe.SendOp) bool { return op <= wqe.OpWriteImm || op == wqe.OpAtomicWrite }

// request is the send request of a piece of work.
func (r *Run) request(q *queuePair, w *Work, l *lists, id uint64) (wqe.SendRequest, error) {
	req := wqe.SendRequest{
		ID: id, Op: w.Op, Flags: w.Flags, Imm: w.Imm, Compare: w.Compare, SwapAdd: w.SwapAdd,
		Flush: wqe.FlushRequest{Placement: w.Place, Whole: w.FlushAll},
	}
	if w.Op == wqe.OpFlush {
		for _, n := range w.Lengths {
			req.Flush.Length += n
		}
	} else {
		outstanding, _, err := q.Outstanding(ctx, q.id)
		if err != nil {
			return req, err
		}
		if req.Segments, err = q.segments(l, outstanding, w.Lengths, sends(w.Op)); err != nil {
			return req, err
		}
	}
	to := r.qps[q.Peer]
	switch q.Type {
	case qp.TypeUD:
		if to = r.qps[w.To]; to == nil { // a group: the key is that of the sender
			to = q
			req.Dest = wqe.QP{Addr: w.Group, QPN: wqe.MulticastQPN}
		} else {
			req.Dest = to.id
		}
		req.QKey = to.Attr.QKey
		if w.QKey != 0 {
			req.QKey = w.QKey
		}
	case qp.TypeXRCInitiator:
		req.XRCSRQ = uint32(r.srqs[w.To].id)
	}
	req.RemoteVA, req.RKey, req.InvKey = remoteVA+w.Offset, to.remote.rkey, to.remote.rkey
	if w.Spare {
		if q.spare == 0 {
			var err error
			if _, _, q.spare, err = to.RegisterMR(ctx, to.remote.NewMR); err != nil {
				return req, err
			}
		}
		if req.RKey, req.InvKey = q.spare, q.spare; w.Op == wqe.OpSendInv {
			q.spare = 0
		}
	}
	if w.BadKey {
		req.RKey ^= 0xff00
	}
	return req, nil
}

// plant puts an error on its path.
func (r *Run) plant(e *Error) {
	path := r.Fabric.Path(r.port(r.HCA(e.From)), r.port(r.HCA(e.To)))
	m := path.Before
	if e.AfterTap {
		m = path.After
	}
	x := e.Error
	if q := r.qps[e.QP]; q != nil {
		x.DestQP = q.id.QPN
		if e.PSN != nil {
			x.Match = r.within(q, e, x.Match)
		}
	} else if e.PSN != nil {
		x.Filter.PSN = e.PSN
	}
	m.Add(x)
}

// within matches PSNs that may count from the first one of a queue pair: of a request its sender's, of a response that of the requests
// which it answers.
func (r *Run) within(q *queuePair, e *Error, match func(*packet.Packet) bool) func(*packet.Packet) bool {
	var psns sim.PSNs = *e.PSN
	peer := r.qps[q.Peer]
	return func(p *packet.Packet) bool {
		psn := p.PSN
		if e.Relative {
			first := q.Attr.SQPSN
			if !p.Info().Response && peer != nil {
				first = peer.Attr.SQPSN
			}
			psn = psn.Add(-int(first))
		}
		return psn.In(psns.First, psns.Last) && (match == nil || match(p))
	}
}
