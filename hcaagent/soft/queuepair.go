package soft

import (
	"cmp"
	"maps"
	"slices"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// queuePair is a queue pair: its attributes, its two queues, and the state of its requester and of its responder.
type queuePair struct {
	h       *HCA
	num     uint32
	new     qp.InitAttr
	service packet.Service
	pd      wqe.PD
	sendCQ  *completionQueue
	recvCQ  *completionQueue
	srq     *sharedQueue
	state   qp.State
	attr    qp.Attr
	gid     wqe.GID // of the table, which its packets come from
	srcPort uint16
	waiting bool // for the port
	told    bool // that communication is established
	dead    bool // the last NAK waits for the port, then the error state follows

	receives []wqe.ReceiveRequest
	req      requester
	rsp      responder
	ucr      ucReceiver
	kept     *packet.Packet // by a fault
}

// sorted returns the queue pairs by number, so that all runs do the same.
func (h *HCA) sorted() []*queuePair {
	return slices.SortedFunc(maps.Values(h.qps), func(a, b *queuePair) int { return cmp.Compare(a.num, b.num) })
}

// become brings the queue pair to a state.
func (q *queuePair) become(to qp.State) {
	from := q.state
	q.state = to
	switch to {
	case qp.Reset:
		q.receives, q.attr, q.told, q.dead = nil, qp.Attr{Service: q.service}, false, false
		q.req, q.rsp, q.ucr = requester{}, responder{}, ucReceiver{}
	case qp.Init:
		q.h.opt.Clock.After(0, q.h.stale)
	case qp.RTR:
		if from == qp.Init {
			q.rsp = responder{epsn: q.attr.RQPSN, last: q.attr.RQPSN.Add(-1)}
			q.ucr = ucReceiver{epsn: q.attr.RQPSN}
		}
	case qp.RTS:
		if from == qp.RTR {
			psn := q.attr.SQPSN
			if q.h.shows("start-psn") || q.h.shows("ud-start-psn") {
				psn = psn.Add(1)
			}
			q.req = requester{una: psn, psn: psn, high: psn}
			q.reload()
		}
		if from == qp.SQD {
			q.req.drained = false
		}
	case qp.SQD:
		q.req.drained = false
		q.h.opt.Clock.After(0, q.drain) // after the verb has returned
	case qp.Err:
		q.flush()
	}
	q.wake()
}

// pmtu returns the path MTU in bytes.
func (q *queuePair) pmtu() int { return int(q.attr.PMTU) }

// connected reports whether the queue pair has one peer.
func (q *queuePair) connected() bool { return q.service != packet.UD }

// reliable reports whether requests are acknowledged.
func (q *queuePair) reliable() bool { return q.service == packet.RC || q.service == packet.XRC }

// communicates tells the consumer of the first request that comes in RTR (o11-5.1.1).
func (q *queuePair) communicates() {
	if q.state == qp.RTR && !q.told {
		q.told = !q.h.breaks("established-twice")
		if !q.h.breaks("established-untold") {
			q.h.async(cq.AsyncCommEstablished, q.num, 0, 0)
		}
	}
}
