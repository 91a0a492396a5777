package cq

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// queuePair is one life of a queue pair, from its creation or a RESET to the next.
type queuePair struct {
	src   *Source
	qpn   uint32
	typ   qp.Type
	known bool // its creation is in the log
	doubt bool // events were missing when it was there
	state qp.State
	attr  qp.Attr
	made  *qp.InitAttr

	accepted []*sendRequest // send requests that it cannot carry out, and that the device has accepted
	born     int64
	later    bool  // it is not the first
	died     int64 // when it was destroyed or reset, if gone
	gone     bool
	destroy  *Event                        // that destroyed it; nil: none
	polled   struct{ send, receive int64 } // when its consumer polled its completion queues last before that, as far as is shown
	wasRTR   *Event                        // that brought it to RTR for the first time
	wasRTS   *Event
	drains   []drain
	failed   *Event // the first event that shows it in ERR
	shownErr inError
	learned  packet.Addr // of a log that names no address

	sends         list[*sendRequest]
	past          forgottenIDs // send requests that are forgotten
	sendsBy       Flow         // where it sends, if that is not where it was told to, as was reported
	next          int64        // ordinal of the packet after those of all send requests; PSN SQPSN has 0
	oldest        int          // the first of sends that is not completed
	sq, rq        order
	either        bool               // an error was of a request of either queue: in which order each completed is not certain
	recvs         *receiveQueue      // its own queue, or the shared one
	failing       *receiveCompletion // the first receive completion with an error of its own
	newestReceive *receiveCompletion // the newest receive completion
	polledAt      int64              // when the newest was polled

	overrun     *Event       // of a completion queue of its
	wasErr      *Event       // by which the consumer brought it to ERR
	broken      []drain      // times that it was in SQE
	stopped     *sendRequest // the first that brought it there
	unmatched   *sendRequest // from this one on it is not certain any more which packets are whose
	doubledFrom int          // the event from which on it is not certain which message a receive completion is of, as one request has completed twice; 0: none
	established bool         // it told that communication is
	astray      bool         // it is not in the state that its events tell, as was reported
	early       [2]bool      // a send or a receive request was accepted in a state in which none is, as was reported
	lastWQE     bool         // it told that it takes no more of a shared receive queue
	access      bool         // it told of an access violation
	groups      int          // that it is attached to

	drain    drainEvent
	permits  wqe.Access      // all that it has ever permitted its peer
	grants   []grant         // what it has permitted since when
	flushed  int             // requests of a shared receive queue that it flushed
	refusals map[uint64]bool // requests whose post failed, by ID

	joined []membership
	asyncs asyncs   // asynchronous events of it
	newest *Message // of UC, that completed last

	out, in *Requests // requests that it sent and received

	concluded concluded

	events int // that tell of it, but for requests that were posted

	due, dueLater int64 // times of the packets at which it is to be judged again, soon and later on; 0: none

	sending   sending
	receiving receiving
}

// sending is how far the requests of a queue pair have been judged.
type sending struct {
	posted    list[*sendRequest] // send requests that put packets on the wire
	drained   int                // of the messages that it sent, those that may have begun in SQD
	compared  int                // those that were compared with a request
	guess     int                // of posted, that a packet was found to be of
	unsent    int64              // PSNs before that the requests posted take, and that no message took; less those of messages that were not posted
	longest   uint32             // datagram that it sent
	realigned realignment
	skipped   *skipped
	fences    []fenced
	settling  []*sendRequest // requests that are completed, and not compared with the packets yet
	rests     rests

	succeeded bool // one has completed with success that packets carry

	// What was reported, once.
	missing      bool              // a request did not complete
	strayed      bool              // what it sent is not what was posted
	unposted     bool              // a request completed that was not posted
	unknown      map[uint64]*Event // completions of send requests that were not posted, by ID
	departed     *sendRequest      // the newest whose message was another than it asks for
	foreign      bool              // it sent by an address handle of another protection domain
	premature    bool              // it sent before it could
	early        *verdict          // that says so, and that no later event of the log has confirmed
	inError      bool              // it sent in error, or carried out a request that it was to flush
	overrun      bool              // it sent after a completion queue of its had overrun
	inSQD, inSQE bool              // a message began there
}

// receiving is how far what a queue pair has received has been judged.
type receiving struct {
	sorted    int                  // of the messages that it received
	next      int64                // ordinal of the message after those
	gapAt     int64                // the ordinal of the gap
	gap       bool                 // from here on it is not certain which receive request a message takes
	broken    bool                 // by their PSNs some are missing
	psn       packet.PSN           // of the message after those
	arrived   list[*Message]       // that take a receive request
	sure      int                  // how many of them come before the gap
	waiting   []*receiveCompletion // receive completions that are not compared with the messages yet
	matched   int                  // successful ones that are
	invented  int                  // of those, how many had no message; less those whose receive requests are unlisted
	unposted  int                  // completions of requests that were not posted, since the last that was
	last      int                  // place of the request that completed last, plus one
	place     int                  // of the next message to be matched
	moved     bool                 // a receive request has completed before others that are told to be posted before it, as was reported
	turned    bool                 // a completion was that of the message of its turn since, and not of its place
	succeeded bool                 // one has completed with success
	completed int                  // how many have
	early     []placedCompletion   // completions that came before the message of their place
	failing   *receiveCompletion   // a receive request that failed, and may have been given to a message that was to be dropped and has not come whole
	skipped   []overtakenMessage
	passed    []int // messages of a queue pair with a shared receive queue that later ones completed before, by their number
	untold    int   // completions of it whose requests were not posted, and whose messages are not known
	taken     []int // messages that were given to completions which name another queue pair, by their number
	answered  bool  // it has answered a request
	began     bool  // it took a message before the PSN that it expects first, as was reported
	accepted  int   // of arrived, those whose receive request was looked for
	named     int   // those whose shared receive queue was
	naks      int   // negative acknowledgements that it sent
	executed  int   // of the messages that it received, those whose access to memory was judged
	answers   int   // of its requests, when the one after those and the stored ones had no answer
	after     int64 // ordinal of the message after those
	missing   bool  // a message before those is not certain
	invalid   map[uint32]bool
	undecided []execution   // messages that were executed, where the clocks of packets and log do not tell yet whether they might be
	rests     int64         // before this time of the packets no completion is looked for that is missing
	oversize  bool          // a message was accepted whose packets have another length than its path MTU, as was reported
	denied    bool          // one was executed that it did not permit any more, as was reported
	stored    list[*stored] // ranges of memory that messages read or write, which are not answered yet; nil: nothing more becomes known of one
	concluded int           // of those, what was found out when they came
	refusals  refusals      // when they were looked at
	unseen    []*stored     // those that were written, of which the consumer was not told for certain

	// What was reported, once.
	undone     bool // a receive request did not complete
	wrongRNR   bool // an RNR NAK although a receive request was there
	unreceived bool // a message was accepted without a receive request
	wrongQueue bool // a message was accepted that names a wrong shared receive queue, or took a request of another one
	failedDrop bool // a receive request failed that may have been given to a message that was to be dropped
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

// sendRequest is a send request.
type sendRequest struct {
	event         *Event
	n             int // of its event in the log
	first         int64
	packets       int
	length        uint32
	data          []byte // of its message, from the first byte on, as far as it is known
	done          *Event // its completion
	doneN         int
	overtaken     bool         // a later one completed first
	renamed       bool         // a completion has come in its place that names another request
	moved         bool         // it was sent before requests that are told to be posted before it, as was reported
	passed        bool         // a request that was posted after it was sent before it, as was reported
	renames       *Event       // its completion, which came before it was posted, as was reported
	over          *sendRequest // the oldest that it has passed over, when it completed
	sampled       bool
	settled       bool               // it is compared with the packets
	reportedEarly bool               // it was reported to be completed early
	later         PacketRef          // the first packet of a request that was posted after its completion
	opened        bool               // its message was reported to begin wrongly
	flushed       bool               // posted when the queue pair was in error already, or flushed
	foreign       bool               // it has an address handle of another protection domain
	due           *arm               // the notification that its completion is owed; nil: none
	vector        *wqe.AddressVector // of a datagram, where it is known
}

func (w *sendRequest) req() *wqe.SendRequest { return w.event.Send }

// last is the ordinal of its last packet.
func (w *sendRequest) last() int64 { return w.first + int64(w.packets) - 1 }

// local reports whether the request puts no packet on the wire.
func (w *sendRequest) local() bool { return w.packets == 0 }

// response reports whether a response of its own answers the request.
func (w *sendRequest) response() bool {
	switch w.req().Op {
	case wqe.OpRead, wqe.OpCmpSwap, wqe.OpFetchAdd, wqe.OpFlush, wqe.OpAtomicWrite:
		return true
	}
	return false
}

// signaled reports whether the request makes a completion on success.
func (w *sendRequest) signaled(q *queuePair) bool {
	return w.req().Flags&wqe.Signaled != 0 || q.made != nil && q.made.SignalAll
}

// receive is a receive request.
type receive struct {
	event   *Event
	done    bool
	late    bool     // a later one completed first
	renamed bool     // a completion has come in its place that names another request
	place   int      // in its queue
	judged  bool     // its completion is
	over    *receive // the oldest that it has passed over, when it completed
	n       int      // of its event in the log
	next    *receive // posted later with the same ID
	queue   *receiveQueue
}

// sameID is the receive requests with an ID that may not be completed, in the order of posting.
type sameID struct{ first, last *receive }

// receiveQueue is a receive queue, or a shared one.
type receiveQueue struct {
	list   list[*receive]
	byID   map[uint64]sameID // all that were ever posted
	oldest int
	shared bool
	number wqe.SRQ // of a shared one

	past      forgottenIDs // requests that are forgotten
	used      int          // of a shared one, by messages that are forgotten
	completed int          // of a shared one
	limit     limit
	unposted  bool // a request of it completed that was not posted, as was reported
}

// receiveCompletion is a receive completion with its request.
type receiveCompletion struct {
	event *Event
	of    *receive // nil: of which shared receive queue of an XRC target it is, is not certain
	n     int

	due     *arm
	sampled bool     // for the clock of the log
	message *Message // that it is of, where that is certain
	judged  bool
	guessed bool // which message it is of: the capture may not hold that

	unlisted int // receive requests that completed just before it, and that the log does not say were posted
}

// posted is the event that has posted its request, or the completion where that is not known.
func (t *receiveCompletion) posted() *Event {
	if t.of == nil {
		return t.event
	}
	return t.of.event
}

// asyncs are the asynchronous events that a queue pair has told of.
type asyncs struct {
	any      bool
	refusing bool // of a request that it refused, or worse
	fatal    bool // it has failed
}

// order is what the completions of a work queue have shown so far.
type order struct {
	failed  *Event // first completion with an error of its own
	flushed *Event // first WR_FLUSH_ERR
	told    bool   // a success after those was reported
}

// placedCompletion is a completion of the n-th receive request that took a message.
type placedCompletion struct {
	n int
	t *receiveCompletion
}

// life begins a life of a queue pair.
func (a *Agent) life(s *Source, n uint32, e *Event) *queuePair {
	q := &queuePair{src: s, qpn: n, born: e.Time, later: len(s.qps[n]) > 0, out: &Requests{}, in: &Requests{}}
	q.recvs = &receiveQueue{byID: map[uint64]sameID{}}
	s.setLifetimes(n, append(s.qps[n], q))
	a.lives = append(a.lives, q)
	a.changes++
	return q
}

// joins begins the life of a queue pair whose creation is not in the log: that begins late.
func (a *Agent) joins(s *Source, n uint32, e *Event) *queuePair {
	s.joined = true
	return a.life(s, n, e)
}

// sharedQueue is a shared receive queue of the device.
func (s *Source) sharedQueue(n wqe.SRQ) *receiveQueue {
	r := s.shared[n]
	if r == nil {
		r = &receiveQueue{byID: map[uint64]sameID{}, shared: true, number: n}
		s.shared[n] = r
	}
	return r
}
