package attach

import (
	"fmt"
	"hash/crc32"

	"ibwitness/cq"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// Send takes a work request that was posted to a send queue, with its data from the first byte on as far as they are known. Neither is kept.
func (r *Run) Send(hca int, at uint64, qpn uint32, request *wqe.SendRequest, data []byte) (int, error) {
	now, err := r.hca(hca, at)
	if err != nil {
		return 0, err
	}
	q := *request
	q.Segments = append([]wqe.Segment(nil), q.Segments...)
	e := cq.Event{Time: now, Kind: cq.EvPostSend, QP: wqe.QP{Addr: r.devices[hca], QPN: qpn}, Send: &q}
	var all uint64
	for _, g := range q.Segments {
		all += uint64(g.Length)
	}
	switch {
	case uint64(len(data)) > all:
		return 0, fmt.Errorf("attach: the data of work request %d has %d bytes, and its segments %d", q.ID, len(data), all)
	case q.Op == wqe.OpRead || q.Op == wqe.OpCmpSwap || q.Op == wqe.OpFetchAdd: // nothing is known of what they fetch
	case len(data) > 0:
		e.Data = append([]byte(nil), data...)
		if uint64(len(data)) == all {
			e.Sum, e.Summed = crc32.ChecksumIEEE(data), true
		}
	}
	return r.event(hca, &e)
}

// Receive takes a work request that was posted to a receive queue: that of a queue pair or, where srq is not 0, a shared one.
func (r *Run) Receive(hca int, at uint64, qpn uint32, srq wqe.SRQ, request *wqe.ReceiveRequest) (int, error) {
	now, err := r.hca(hca, at)
	if err != nil {
		return 0, err
	}
	q := *request
	q.Segments = append([]wqe.Segment(nil), q.Segments...)
	return r.event(hca, &cq.Event{Time: now, Kind: cq.EvPostReceive, QP: wqe.QP{Addr: r.devices[hca], QPN: qpn}, SRQ: srq, Receive: &q})
}

// Complete takes a completion that was polled from a completion queue; 0: it is not known which.
func (r *Run) Complete(hca int, at uint64, queue wqe.CQ, completion *cq.Completion) (int, error) {
	now, err := r.hca(hca, at)
	if err != nil {
		return 0, err
	}
	c := *completion
	c.QP.Addr = r.devices[hca]
	return r.event(hca, &cq.Event{Time: now, Kind: cq.EvCompletion, QP: c.QP, CQ: queue, Completion: &c})
}

// Link takes what an InfiniBand link carries, at a tap whose link is "link" (docs/link.md).
func (r *Run) Link(tap int, port uint8, kind uint8, ebp bool, at uint64, data []byte) (int, error) {
	if uint(tap) >= uint(len(r.taps)) {
		_, err := r.at(tap, at)
		return 0, err
	}
	t := &r.taps[tap]
	switch {
	case fabricagent.LinkType(t.Link) != fabricagent.LinkTap:
		return 0, fmt.Errorf(`attach: tap %q is no link: give it "link": "link"`, t.Name)
	case port > 1:
		return 0, fmt.Errorf("attach: tap %q: port %d of a link: it has 0 and 1", t.Name, port)
	case kind > 2:
		return 0, fmt.Errorf("attach: tap %q: there is no kind %d of what a link carries: give 0 (data packet), 1 (link packet) or 2 (port state)", t.Name, kind)
	}
	b := append(r.icrc.buf[:0], 'I', 'L', kind, port|packet.Bit(ebp)<<1, byte(t.LinkID>>8), byte(t.LinkID), byte(t.SymbolPS>>8), byte(t.SymbolPS))
	r.icrc.buf = append(b, data...)
	return r.Frame(tap, packet.WayUnknown, at, r.icrc.buf, 0)
}
