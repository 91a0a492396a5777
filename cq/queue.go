package cq

import (
	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// queuePair is one life of a queue pair, from its creation or a RESET to the next.
type queuePair struct {
	src     *Source
	qpn     uint32
	typ     qp.Type
	known   bool // its creation is in the log
	state   qp.State
	attr    qp.Attr
	made    *hcaagent.NewQP
	born    int64
	later   bool  // it is not the first
	died    int64 // when it was destroyed or reset, if gone
	gone    bool
	wasRTR  *hcaagent.Event // that brought it to RTR for the first time
	wasRTS  *hcaagent.Event
	drains  []drain
	failed  *hcaagent.Event // the first event that shows it in ERR
	learned packet.Addr     // of a log that names no address

	sends  []*work
	next   int64 // ordinal of the packet after those of all send requests; PSN SQPSN has 0
	oldest int   // the first of sends that is not completed
	sq, rq order
	recvs  *receives // its own queue, or the shared one
	taken  []*taken  // receive completions

	overrun     *hcaagent.Event // of a completion queue of its
	wasErr      *hcaagent.Event // by which the consumer brought it to ERR
	broken      []drain         // times that it was in SQE
	stopped     *work           // the first that brought it there
	adrift      *work           // from this one on it is not certain any more which packets are whose
	doubled     int             // so many receive requests had completed with success, and one more, when one completed twice
	established bool            // it told that communication is
	lastWQE     bool            // it told that it takes no more of a shared receive queue
	access      bool            // it told of an access violation
	groups      int             // that it is attached to

	drain    bool            // it shall tell when its send queue has drained
	permits  wqe.Access      // all that it has ever permitted its peer
	flushed  int             // requests of a shared receive queue that it flushed
	refusals map[uint64]bool // requests whose post failed, by ID

	joined []membership
	asyncs []*hcaagent.Event // asynchronous events of it
	newest *message          // of UC, that completed last

	out, in *stream // requests that it sent and received
}

// addr is the address of the queue pair's port.
func (q *queuePair) addr() packet.Addr {
	if q.src.addr.IsZero() {
		return q.learned
	}
	return q.src.addr
}

func (q *queuePair) service() packet.Service {
	s, _ := q.typ.Service()
	return s
}

// reliable reports whether requests are acknowledged.
func (q *queuePair) reliable() bool {
	return q.typ == qp.TypeRC || q.typ == qp.TypeXRCInitiator || q.typ == qp.TypeXRCTarget
}

// work is a send request.
type work struct {
	event   *hcaagent.Event
	n       int // of its event in the log
	first   int64
	packets int
	length  uint32
	done    *hcaagent.Event // its completion
	doneN   int
	passed  bool                    // a later one completed first
	flushed bool                    // posted when the queue pair was in error already, or flushed
	foreign bool                    // it has an address handle of another protection domain
	due     *arm                    // the notification that its completion is owed; nil: none
	vector  *hcaagent.AddressVector // of a datagram, where it is known
}

func (w *work) req() *wqe.SendRequest { return w.event.Send }

// last is the ordinal of its last packet.
func (w *work) last() int64 { return w.first + int64(w.packets) - 1 }

// local reports whether the request puts no packet on the wire.
func (w *work) local() bool { return w.packets == 0 }

// response reports whether a response of its own answers the request.
func (w *work) response() bool {
	switch w.req().Op {
	case wqe.OpRead, wqe.OpCmpSwap, wqe.OpFetchAdd, wqe.OpFlush, wqe.OpAtomicWrite:
		return true
	}
	return false
}

// signaled reports whether the request makes a completion on success.
func (w *work) signaled(q *queuePair) bool {
	return w.req().Flags&wqe.Signaled != 0 || q.made != nil && q.made.SignalAll
}

// receive is a receive request.
type receive struct {
	event *hcaagent.Event
	done  bool
	late  bool     // a later one completed first
	place int      // in its queue
	n     int      // of its event in the log
	next  *receive // posted later with the same ID
	queue *receives
}

// same is the receive requests with an ID that may not be completed, in the order of posting.
type same struct{ first, last *receive }

// receives is a receive queue, or a shared one.
type receives struct {
	list   []*receive
	byID   map[uint64]same // all that were ever posted
	oldest int
	shared bool
	number wqe.SRQ // of a shared one

	completed int // of a shared one
	limit     limit
}

// taken is a receive completion with its request.
type taken struct {
	event *hcaagent.Event
	of    *receive // nil: of which shared receive queue of an XRC target it is, is not certain
	n     int

	due     *arm
	message *message // that it is of, where that is certain
}

// order is what the completions of a work queue have shown so far.
type order struct {
	failed  *hcaagent.Event // first completion with an error of its own
	flushed *hcaagent.Event // first WR_FLUSH_ERR
}

// life begins a life of a queue pair.
func (a *Agent) life(s *Source, n uint32, e *hcaagent.Event) *queuePair {
	q := &queuePair{src: s, qpn: n, born: e.Time, later: len(s.qps[n]) > 0, out: &stream{}, in: &stream{}}
	q.recvs = &receives{byID: map[uint64]same{}}
	s.qps[n] = append(s.qps[n], q)
	a.lives = append(a.lives, q)
	a.changes++
	return q
}

// sharedQueue is a shared receive queue of the device.
func (s *Source) sharedQueue(n wqe.SRQ) *receives {
	r := s.shared[n]
	if r == nil {
		r = &receives{byID: map[uint64]same{}, shared: true, number: n}
		s.shared[n] = r
	}
	return r
}
