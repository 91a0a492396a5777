package cq

import (
	"ibwitness/packet"
	"ibwitness/qp"
)

// Dropped is the datagrams that packets show on their way to a queue pair, and that no receive request of it completed with.
type Dropped struct {
	Addr, From    packet.Addr // of the queue pair, and the sender of the first datagram; zero: not known
	QPN, FromQPN  uint32
	Came          uint64 // datagrams to it, with its Q_Key
	Posted        uint64 // receive requests
	Completed     uint64 // of them, with success
	Begin, Newest PacketRef
	GoesOn        bool // the log tells of something after the newest datagram
}

// mostDropped bounds what is kept of queue pairs whose datagrams were dropped.
const mostDropped = 1 << 10

// DroppedDatagrams returns the queue pairs to which datagrams came that they did not receive. The capture has ended.
func (a *Agent) DroppedDatagrams() []Dropped { return a.dropped }

// droppedDatagrams takes over the datagrams that a queue pair did not receive, as its log tells all of its receive requests and their completions.
func (a *Agent) droppedDatagrams(q *queuePair) {
	r := &q.receiving
	if q.typ != qp.TypeUD || !q.known || q.recvs == nil || q.recvs.shared || q.recvs.unposted || q.src.cut || q.src.lost || q.doubt || q.inError() || len(a.dropped) >= mostDropped {
		return
	}
	came := r.arrived.end()
	if came <= r.completed || !r.arrived.has(came-1) {
		return
	}
	first, last := r.arrived.at(r.arrived.first()), r.arrived.at(came-1)
	d := Dropped{
		Addr: q.addr(), QPN: q.qpn, FromQPN: first.SrcQP, Came: uint64(came), Posted: uint64(q.recvs.list.end()), Completed: uint64(r.completed),
		Begin: first.End, Newest: last.End, GoesOn: q.gone || q.src.goesOn(last.End.Time),
	}
	if first.Net != nil {
		d.From = first.Net.Src
	}
	a.dropped = append(a.dropped, d)
}
