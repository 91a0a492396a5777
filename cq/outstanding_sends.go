package cq

import (
	"sort"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// outstanding is the send requests of a life of a queue pair that may yet be on the wire, for verifiers of packets.
type outstanding struct {
	list list[outstandingSend]
	next int64 // ordinal of the packet after those of all
}

// outstandingSend is one of them.
type outstandingSend struct {
	event   *Event
	first   int64 // ordinal of its first packet: PSN SQPSN has 0
	packets int
	length  uint32
	done    int64 // when it was completed; 0: it is not
}

const (
	// mostOutstanding is how many are kept.
	mostOutstanding = 1 << 14
	// foreignLead is how much later than its completion, by a log that has a clock of its own, a packet of a request may come.
	foreignLead = int64(2e9)
)

// posted adds a send request.
func (o *outstanding) posted(e *Event, q *life) {
	w := outstandingSend{event: e, first: o.next}
	if w.length, w.packets = extent(e.Send, q.typ, q.attr.PMTU); w.packets == 0 {
		return
	}
	o.next += int64(w.packets)
	o.list.add(w)
	o.list.drop(o.list.end() - mostOutstanding)
}

// completed forgets the requests up to one that has completed. exact says that their packets have been seen then.
func (o *outstanding) completed(e *Event, exact bool) {
	if c := e.Completion; c.Status == Success && (c.Op == DoneRecv || c.Op == DoneRecvWriteImm) {
		return
	}
	list := o.list.all()
	for i := range list {
		if w := &list[i]; w.event.Send.ID == e.Completion.ID && w.done == 0 {
			for k := i; k >= 0 && list[k].done == 0; k-- {
				list[k].done = e.Time
			}
			break
		}
	}
	n := o.list.first()
	for end := o.list.end() - 1; n < end; n++ { // the newest may be retransmitted, as its answer is lost
		if w := o.list.at(n); w.done == 0 || !exact && w.done+foreignLead > e.Time {
			break
		}
	}
	o.list.drop(n)
}

// Posted tells which send request the packet with a PSN and so many bytes of payload is of, where a queue pair sent it, and the how manieth packet of it that is,
// from 0 on. It returns false where that is not certain.
// Agent.Posted tells the same of requests that the agent follows on the wire; verifiers, which run before the agent, ask this one.
func (x *States) Posted(addr packet.Addr, qpn uint32, psn packet.PSN, payload int, into *Posted) (i int, ok bool) {
	for k := range x.devices {
		if d := &x.devices[k]; d.addr == addr && d.qps[qpn] != nil {
			return d.qps[qpn].posted(wqe.QP{Addr: addr, QPN: qpn}, psn, payload, into)
		}
	}
	return 0, false
}

func (q *life) posted(id wqe.QP, psn packet.PSN, payload int, into *Posted) (i int, ok bool) {
	if !q.known || q.failed || q.gone || q.number > 1 || !q.attr.Has(qp.KnowsSQPSN) || q.typ == qp.TypeSMI || q.typ == qp.TypeGSI {
		return 0, false
	}
	o := &q.sends
	ord := o.next + int64(psn.Diff((q.attr.SQPSN & packet.PSNMask).Add(int(o.next&packet.PSNMask))))
	list := o.list.all()
	k := sort.Search(len(list), func(i int) bool { return list[i].first+int64(list[i].packets) > ord })
	if k == len(list) || ord < list[k].first {
		return 0, false
	}
	w := &list[k]
	if w.packets > 1 && q.attr.PMTU == 0 || q.typ == qp.TypeUD && int(w.length) != payload { // those before it may not have been sent
		return 0, false
	}
	i = int(ord - w.first)
	*into = Posted{
		Request: w.event.Send, Type: q.typ, QP: id, Attr: &q.attr, PSN: psn.Add(-i), Packets: w.packets, PMTU: q.attr.PMTU, Length: w.length,
		Data: w.event.Data, Sum: w.event.Sum, Summed: w.event.Summed,
	}
	return i, true
}
