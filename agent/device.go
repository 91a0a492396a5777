package agent

import (
	"errors"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/internal/slab"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// DeviceOptions are what a Device is made with.
type DeviceOptions struct {
	Addr packet.Addr  // of its port
	Now  func() int64 // nanoseconds since the Unix epoch, by the clock of the packets
	// Control, where not nil, carries out the verbs. Where it is nil, somebody else has the device do what the Device is told: see Tell.
	Control hcaagent.Control
	// Query, where not nil, is asked what memory holds, which memory a queue pair may access, what completed requests have put into memory, and, without
	// Control, for completions, attributes and data segments.
	Query hcaagent.Query
	// Event takes the verbs events, in their order, for a Log or a Session; they are the taker's to keep. Where it is nil, the verbs are only validated
	// and carried out.
	Event func(*cq.Event)
	// Payload is how many bytes of a message the event of its send request carries, read by Query as the request is posted: each packet is compared with the payload
	// that these bytes give it. They are kept until the request completes. What the consumer stores in
	// memory or looks at, and that is no longer, is told with its bytes too, which are kept while they are the newest of 4 MiB. 0: none, only a checksum.
	Payload int
	// Limits are those of the device, as far as they are known.
	Limits qp.Limits
}

// Device is a channel adapter that its consumer drives through the verbs of the transport agent: each request is validated against a model of the queue
// pairs, carried out on the device, and told to the session that verifies it. A Device is not safe for concurrent use.
//
// A request that is invalid does not reach the device: the error is an *qp.InvalidError, a *qp.TransitionError or wraps hcaagent.ErrNotFound.
// Deliberately lets it through.
type Device struct {
	*device
	deliberate bool
}

// device is what the two views of a Device share.
type device struct {
	opt      DeviceOptions
	control  hcaagent.Control
	qps      map[uint32]*deviceQP
	srqs     map[wqe.SRQ]*deviceSRQ
	mrs      map[wqe.MR]*wqe.Region
	mws      map[wqe.MW]*wqe.Region
	lkeys    map[uint32]*wqe.Region
	polls    uint32
	observes bool // Query has told what completed requests have put into memory
	contents []hcaagent.Completed
	into     []byte // room for what memory holds
	any      *Device

	events      slab.Of[cq.Event]
	passing     slab.Of[cq.Event] // that nobody keeps long
	completions slab.Of[cq.Completion]
	segments    slab.Of[wqe.Segment]
	kept        []byte // room for Payload
	sends       slab.Of[wqe.SendRequest]
	receives    slab.Of[wqe.ReceiveRequest]
}

// deviceQP is the model of a queue pair.
type deviceQP struct {
	qp.InitAttr
	state   qp.State
	failed  bool // it may have left the state by itself
	send    postedQueue
	receive postedQueue
}

// deviceSRQ is the model of a shared receive queue.
type deviceSRQ struct {
	pd       wqe.PD
	segments int // data segments of a request; 0: not known
	receive  postedQueue
}

// ErrNoControl is what the verbs that make an object answer where no device makes it.
var ErrNoControl = errors.New("agent: no device makes the object: give DeviceOptions.Control, or Tell what another has made")

// NewDevice returns the verbs of a device.
func NewDevice(opt DeviceOptions) *Device {
	d := &device{
		opt: opt, control: opt.Control, qps: map[uint32]*deviceQP{}, srqs: map[wqe.SRQ]*deviceSRQ{},
		mrs: map[wqe.MR]*wqe.Region{}, mws: map[wqe.MW]*wqe.Region{}, lkeys: map[uint32]*wqe.Region{},
	}
	if d.control == nil {
		d.control = elsewhere{}
	}
	d.any = &Device{d, true}
	if l := opt.Limits; l != (qp.Limits{}) {
		d.tell(&cq.Event{Kind: cq.EvDevice, Device: &l}, nil)
	}
	return &Device{d, false}
}

// Device returns the verbs of a device whose events the session takes. changes, where not nil, is told what becomes of the findings with each of them; its
// list is valid until it returns. Events after the end of the session are dropped.
func (s *Session) Device(opt DeviceOptions, changes func([]rule.Change)) *Device {
	opt.Event = func(e *cq.Event) {
		if list, err := s.Event(e); err == nil && changes != nil && len(list) > 0 {
			changes(list)
		}
	}
	return NewDevice(opt)
}

// Deliberately returns a Device for the same device that passes invalid requests on, as a test of the device does on purpose. The device must refuse them: a finding of rule
// CPL-IMD-002 says where the device accepts such a request, or completes with success one that it need refuse only at its turn in the queue.
func (d *device) Deliberately() *Device { return d.any }

// event returns room for an event, or nil where nobody is told.
func (d *device) event(kind cq.EventKind) *cq.Event {
	if d.opt.Event == nil {
		return nil
	}
	room := &d.events
	if kind == cq.EvArm {
		room = &d.passing
	}
	e := room.New()
	e.Kind = kind
	return e
}

// push tells of an event that event has returned. failed is the immediate error of the verb.
func (d *device) push(e *cq.Event, failed error) {
	if e != nil {
		e.Time, e.Failed, e.QP.Addr = d.opt.Now(), failed != nil, d.opt.Addr
		d.opt.Event(e)
	}
}

// tell has the model follow a rare event, and tells of it.
func (d *device) tell(e *cq.Event, failed error) {
	if failed == ErrNoControl {
		return
	}
	if failed == nil {
		d.follow(e)
	}
	if x := d.event(e.Kind); x != nil {
		*x = *e
		d.push(x, failed)
	}
}

// passes reports whether a request goes to the device although it has this error.
func (d *Device) passes(err error) bool { return err == nil || d.deliberate }

// queuePair returns the model of a queue pair (validQpNumber).
func (d *device) queuePair(q wqe.QP) (*deviceQP, error) {
	if m := d.qps[q.QPN]; m != nil && (q.Addr == d.opt.Addr || q.Addr.IsZero()) {
		return m, nil
	}
	return nil, &qpNumberError{q}
}

// qpNumberError says that there is no queue pair with a number.
type qpNumberError struct{ q wqe.QP }

func (e *qpNumberError) Error() string {
	return "agent: " + e.q.Addr.String() + " has no queue pair " + hex(e.q.QPN) + ": create it first"
}

// Unwrap makes errors.Is(err, hcaagent.ErrNotFound) hold.
func (e *qpNumberError) Unwrap() error { return hcaagent.ErrNotFound }
