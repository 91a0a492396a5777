package qp

import "ibwitness/packet"

// SendSeldom is what few send queues have: it is beside the queue, which has it as its own once something of it is written. Until then it has nothingSent, so that
// what is read is zero.
type SendSeldom struct {
	Gap            Gap
	Retransmission Retransmission
	Credits        Credits
	InvRKey        uint32         // R_Key that the newest SEND with Invalidate named, while Pair.Invalidated; 0: none
	invalidations  *invalidations // of the newest SENDs with Invalidate; nil: there was none
	SRQ            uint32         // XRC: shared receive queue of the message that the newest request packet leaves open, with SRQSet
	ReadLen        uint32         // DMALen of a READ whose PSN count waits for the path MTU; 0: none
	Jump           *packet.Packet // newest packet, where its PSN is far from Next; without its payload
	Recovery       *Recovery      // see Lost; nil: nothing was lost yet
	Granted        Grant
	sender         sender
}

// sender is what few directions have beside their queues: it outlives the stream of the send queue.
type sender struct {
	lone    LoneResponse
	gids    uint64 // of a GRH beside an LRH, folded: of all packets of the flow
	carried Sums   // what the counters of the direction have no room for
	faults  Faults
	qKey    uint32 // of datagrams: another Q_Key than that of the flow, which was reported
	odd     Odd
	copies  byte // of its packets, while the tap is near
	trouble *Trouble
}

// ReceiveSeldom is what few receive queues have; see SendSeldom.
type ReceiveSeldom struct {
	NAK              NAK
	DuplicateTo      packet.PSN // SendQueue.High when the newest duplicate arrived
	State            Responder
	Unseen           uint8            // responses in a row to requests that were never seen
	DuplicateRequest bool             // a duplicate request arrived, whose answer may be to come: until one after DuplicateTo is answered
	Baseline         *packet.Packet   // response from which MSNs are counted, until a second one agrees
	Pending          *PendingResponse // what was left unsaid until the requester's timer ran out
	Duplicate        Duplicate        // the newest duplicate SEND or WRITE that asks for a response
}

// What a queue has that has nothing of the kind. Invariant: they are never written.
var (
	nothingSent     = new(SendSeldom)
	nothingReceived = new(ReceiveSeldom)
)

// NewDirection returns a direction of which nothing is known.
func NewDirection() *Direction {
	return &Direction{SQ: SendQueue{SendSeldom: nothingSent}, Peer: ReceiveQueue{ReceiveSeldom: nothingReceived}}
}

// mustBeNothing panics where something was written of what has no place, while Strict.
func mustBeNothing() {
	if Strict && (*nothingSent != (SendSeldom{}) || *nothingReceived != (ReceiveSeldom{})) {
		panic("qp: what few queues have was written without a place: see SendQueue.seldom")
	}
}

// seldom returns what few send queues have, to be written.
func (s *SendQueue) seldom() *SendSeldom {
	if s.SendSeldom == nothingSent || s.SendSeldom == nil {
		mustBeNothing()
		s.SendSeldom = new(SendSeldom)
	}
	return s.SendSeldom
}

// forget forgets what few send queues have, but not what the direction has, which is sent.
func (s *SendQueue) forget(had *SendSeldom) {
	s.SendSeldom = nothingSent
	if had != nil && had.sender != (sender{}) {
		*had = SendSeldom{sender: had.sender}
		s.SendSeldom = had
	}
}

// dropSeldom gives up the place for what few send queues have, where there is nothing of it any more.
func (s *SendQueue) dropSeldom() {
	if *s.SendSeldom == (SendSeldom{}) {
		s.SendSeldom = nothingSent
	}
}

// seldom returns what few receive queues have, to be written.
func (r *ReceiveQueue) seldom() *ReceiveSeldom {
	if r.ReceiveSeldom == nothingReceived || r.ReceiveSeldom == nil {
		mustBeNothing()
		r.ReceiveSeldom = new(ReceiveSeldom)
	}
	return r.ReceiveSeldom
}

// TakeOver has the queue be as another one.
func (r *ReceiveQueue) TakeOver(o *ReceiveQueue) {
	*r = *o
	if o.ReceiveSeldom != nothingReceived {
		own := *o.ReceiveSeldom
		r.ReceiveSeldom = &own
	}
}

// forgetOneWay forgets what was kept of the direction while the other one was not known.
func (d *Direction) forgetOneWay() {
	d.Assumed, d.Cut = 0, false
	if s := &d.SQ.sender; s.lone != (LoneResponse{}) || s.odd != (Odd{}) || s.copies != 0 {
		s = d.sender()
		s.lone, s.odd, s.copies = LoneResponse{}, Odd{}, 0
		d.SQ.dropSeldom()
	}
}

// sender returns what few directions have beside their queues, to be written.
func (d *Direction) sender() *sender { return &d.SQ.seldom().sender }

// TakeOver has the direction send what another one has sent, and its send queue be as the one of that.
func (d *Direction) TakeOver(o *Direction) {
	own := d.SQ.sender
	d.SQ = o.SQ
	if o.SQ.SendSeldom != nothingSent {
		seldom := *o.SQ.SendSeldom
		d.SQ.SendSeldom = &seldom
	}
	if s := &d.SQ.sender; s.lone != own.lone || s.odd != own.odd || s.copies != own.copies {
		s = d.sender()
		s.lone, s.odd, s.copies = own.lone, own.odd, own.copies
	}
	d.TakeSent(o)
}

// TakeSent has the direction have sent what another one has: its flow and its counts.
func (d *Direction) TakeSent(o *Direction) {
	d.Flow = o.Flow
	d.packets, d.bytes, d.high, d.messages = o.packets, o.bytes, o.high, o.messages
	if s, t := &d.SQ.sender, &o.SQ.sender; s.gids != t.gids || s.qKey != t.qKey || s.faults != t.faults || s.carried != t.carried || s.trouble != t.trouble {
		s = d.sender()
		s.gids, s.qKey, s.faults, s.carried, s.trouble = t.gids, t.qKey, t.faults, t.carried, t.trouble
	}
}
