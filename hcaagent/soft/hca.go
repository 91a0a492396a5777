package soft

import (
	"context"
	"fmt"
	"math/rand/v2"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/internal/slab"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// Clock is the virtual time of a device.
type Clock interface {
	// Now returns nanoseconds since the Unix epoch.
	Now() int64
	// After calls f when d nanoseconds have passed.
	After(d int64, f func())
}

// Options are what a device is made with.
type Options struct {
	Addr  packet.Addr // IPv4 in mapped form, IPv6, or a LID: then its packets are those of native InfiniBand, with a GRH where the address vector says so
	GIDs  []wqe.GID   // entries of the port's table of GIDs after Addr, which is one of RoCEv2 itself where it is no LID
	MAC   [6]byte
	Clock Clock
	// Send takes an Ethernet frame, or a native packet, that leaves the port; it is the taker's to keep.
	Send func(frame []byte)
	// Frame, where not nil, gives room for a frame of at most size bytes, or nil. It is the same room until Send has taken a frame in it.
	Frame func(size int) []byte
	// Intact, where not nil, says that the frame which Receive is given was sealed by a device without a fault and not changed since: its ICRC is not
	// computed again.
	Intact func() bool
	// Event, where not nil, is told what no verb tells of: asynchronous events, and completion queues that tell of themselves. The event is the taker's to
	// keep; nobody changes it. Completions then say what their requests have put into memory.
	Event func(*cq.Event)
	// Notify, where not nil, is told of each completion queue that tells of itself, after Event.
	Notify func(wqe.CQ)
	// Room, where not nil, is asked before each packet whether it may leave: where not, Resume is called when it may.
	Room func() bool
	Seed uint64

	Credits  bool  // responders without a shared receive queue give end-to-end credits
	AckEvery int   // AckReq is also set in every n-th packet of a message; 0: only in its last
	AckDelay int64 // nanoseconds for which an ACK waits for another one that says it too
	Limits   Limits

	Congestion Congestion

	Fault    string // the fault that the device has; empty: none
	FaultAt  int    // how often the device could have shown it before it does; see Constant
	FaultAll bool   // it shows the fault every time from then on, not once; some faults always do
	// Strayed, where not nil, is called right before a frame leaves that shows the fault.
	Strayed func()
}

// Limits are what a device can do. Zero means the value in parentheses.
type Limits struct {
	MTU             uint32 // of the port, bytes (4096)
	MaxRdAtomic     uint8  // per QP as initiator (16)
	MaxDestRdAtomic uint8  // per QP as responder (16)
	Window          int    // request packets on their way (128)
	PacketTime      int64  // nanoseconds that the port needs for a packet, beside its bytes (100)
	ByteRate        int64  // bytes a microsecond (12500: 100 Gbit/s)
	PKeys           int    // entries of the P_Key table (1: only the default key); a P_Key is accepted as it is given
}

func (l *Limits) fill() {
	def := func(v *uint8) {
		if *v == 0 {
			*v = 16
		}
	}
	def(&l.MaxRdAtomic)
	def(&l.MaxDestRdAtomic)
	if l.MTU == 0 {
		l.MTU = 4096
	}
	if l.Window == 0 {
		l.Window = 128
	}
	if l.PacketTime == 0 {
		l.PacketTime = 100
	}
	if l.PKeys == 0 {
		l.PKeys = 1
	}
	if l.ByteRate == 0 {
		l.ByteRate = 12500
	}
}

// HCA is a channel adapter with one port.
type HCA struct {
	opt Options
	rng *rand.Rand

	qps  map[uint32]*queuePair
	cqs  map[wqe.CQ]*completionQueue
	srqs map[wqe.SRQ]*sharedQueue
	pds  map[wqe.PD]int // how many objects belong to each
	ahs  map[wqe.AH]*addressHandle
	xrcs map[wqe.XRCD]int         // how many objects belong to each
	grps map[packet.Addr][]uint32 // multicast groups and the queue pairs attached to them, by number
	gids []wqe.GID                // the port's table
	mrs  map[wqe.MR]*region
	mws  map[wqe.MW]*region
	keys map[uint32]*region // by the index, the upper 24 bits of a key

	notifiers map[notified]*notifier

	bufs []*buffer

	lastQP, lastObject, lastKey uint32

	events   slab.Of[cq.Event]
	notices  slab.Of[cq.Event]
	works    slab.Of[work]
	receives slab.Of[receive]

	port port
	in   packet.Packet // that arrives

	checker packet.Checker
	recent  recent
	fault   faultState
	count   Counters
}

// Counters are what a device counts.
type Counters struct {
	Sent, Received    uint64
	BadICRC           uint64
	PKeyViolations    uint64
	QKeyViolations    uint64
	Dropped           uint64 // for any other reason
	Retries, Timeouts uint64
	Faults            uint64 // occasions on which the device showed its fault
}

var (
	_ hcaagent.Control = (*HCA)(nil)
	_ hcaagent.Query   = (*HCA)(nil)
)

// New makes a device. It fails on a fault that is not in the table.
func New(opt Options) (*HCA, error) {
	opt.Limits.fill()
	h := &HCA{
		opt:  opt,
		rng:  rand.New(rand.NewPCG(opt.Seed, 0x50f7)),
		qps:  map[uint32]*queuePair{},
		cqs:  map[wqe.CQ]*completionQueue{},
		srqs: map[wqe.SRQ]*sharedQueue{},
		pds:  map[wqe.PD]int{},
		ahs:  map[wqe.AH]*addressHandle{},
		xrcs: map[wqe.XRCD]int{},
		grps: map[packet.Addr][]uint32{},
		mrs:  map[wqe.MR]*region{},
		mws:  map[wqe.MW]*region{},
		keys: map[uint32]*region{},

		notifiers: map[notified]*notifier{},
	}
	if !opt.Addr.IsLID() || len(opt.GIDs) == 0 {
		h.gids = append(h.gids, wqe.GID{Addr: opt.Addr})
	}
	h.gids = append(h.gids, opt.GIDs...)
	h.lastQP = 0x10 + h.rng.Uint32N(0x1000)
	h.lastKey = h.rng.Uint32N(0x1000)
	h.port.tick = h.tick
	if opt.Fault != "" {
		f, ok := Faults[opt.Fault]
		if !ok {
			return nil, fmt.Errorf("soft: no fault is called %q; FaultNames lists them", opt.Fault)
		}
		h.fault = faultState{is: f, left: opt.FaultAt}
	}
	return h, nil
}

// Limits returns what bounds the attributes of queue pairs.
func (h *HCA) Limits() qp.Limits {
	l := &h.opt.Limits
	return qp.Limits{MaxRdAtomic: l.MaxRdAtomic, MaxDestRdAtomic: l.MaxDestRdAtomic, PKeys: l.PKeys, Ports: 1}
}

// Counters returns what the device has counted.
func (h *HCA) Counters() Counters { return h.count }

// Shown is on how many occasions the device has shown its fault.
func (h *HCA) Shown() uint64 { return h.count.Faults }

// Resume has the port go on that had no room.
func (h *HCA) Resume() { h.start() }

func (h *HCA) now() int64 { return h.opt.Clock.Now() }

// object returns a number for a new object.
func (h *HCA) object() uint32 {
	h.lastObject++
	return h.lastObject
}

// event returns an event of the device, for tell. It is nil where nobody is told.
func (h *HCA) event(kind cq.EventKind) *cq.Event {
	if h.opt.Event == nil {
		return nil
	}
	room := &h.events
	if kind == cq.EvNotify { // many, which nobody keeps long
		room = &h.notices
	}
	e := room.New()
	e.Kind = kind
	return e
}

// tell tells of an event that event has returned.
func (h *HCA) tell(e *cq.Event) {
	if e != nil {
		e.Time, e.QP.Addr = h.now(), h.opt.Addr
		h.opt.Event(e)
	}
}

// async raises an asynchronous event.
func (h *HCA) async(what cq.Async, qpn uint32, number wqe.CQ, srq wqe.SRQ) {
	if e := h.event(cq.EvAsync); e != nil {
		e.Async, e.QP.QPN, e.CQ, e.SRQ = what, qpn, number, srq
		h.tell(e)
	}
}

// notFound says which object there is none of.
func notFound(what string, number uint32) error {
	return fmt.Errorf("soft: %s %#x: %w", what, number, hcaagent.ErrNotFound)
}

// lookUp returns the object with a number.
func lookUp[K ~uint32, V any](ctx context.Context, objects map[K]*V, what string, number K) (*V, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v := objects[number]
	if v == nil {
		return nil, notFound(what, uint32(number))
	}
	return v, nil
}

// CreatePD makes a protection domain.
func (h *HCA) CreatePD(ctx context.Context) (wqe.PD, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	pd := wqe.PD(h.object())
	h.pds[pd] = 0
	return pd, nil
}

// DestroyPD destroys a protection domain that nothing belongs to.
func (h *HCA) DestroyPD(ctx context.Context, pd wqe.PD) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n, ok := h.pds[pd]
	if !ok {
		return notFound("protection domain", uint32(pd))
	}
	if n > 0 {
		return fmt.Errorf("soft: protection domain %d: %w", pd, hcaagent.ErrBusy)
	}
	delete(h.pds, pd)
	return nil
}

// inPD notes that one more object belongs to a protection domain.
func (h *HCA) inPD(pd wqe.PD) error {
	if _, ok := h.pds[pd]; !ok {
		return notFound("protection domain", uint32(pd))
	}
	h.pds[pd]++
	return nil
}
