package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/creachadair/jrpc2"

	"ibwitness/cq"
)

// session is a client that is connected.
type session struct {
	server *Server
	addr   net.Addr
	rpc    *jrpc2.Server
	events eventQueue

	using  sync.RWMutex // held while a call uses the device
	device Device       // nil before Hello, and after Bye
	had    bool         // it has had the device
	left   bool         // it has said Bye

	mu      sync.Mutex
	ending  bool
	lengths map[uint32]uint64 // of memory regions
	held    uint64            // bytes in them
}

// hello gives the client the device.
func (x *session) hello(_ context.Context, req *jrpc2.Request) (any, error) {
	var p hello
	if err := req.UnmarshalParams(&p); err != nil {
		return nil, err
	}
	d, err := x.begin(p.Version)
	if err != nil {
		x.server.refuse(x.addr, err)
		return nil, encode(err, 0)
	}
	if x.server.Came != nil {
		x.server.Came(x.addr)
	}
	return reply[greeting]{0, greeting{d.Info(), d.Limits()}}, nil
}

// begin opens the device.
func (x *session) begin(v int) (Device, error) {
	if v != version {
		return nil, fmt.Errorf("remote: the client has version %d of the protocol, the server version %d: use the same ibwitness on both machines", v, version)
	}
	x.using.Lock()
	defer x.using.Unlock()
	if x.had {
		return nil, errors.New("remote: the client has said hello before")
	}
	if err := x.server.take(x.addr); err != nil {
		return nil, err
	}
	d, err := x.server.Open(x.events.add)
	if err != nil {
		x.server.free()
		return nil, err
	}
	x.device, x.had = d, true
	return d, nil
}

// bye takes the device from the client: when it is answered, another one can have it.
func (x *session) bye(context.Context, *jrpc2.Request) (any, error) {
	if err := x.release(); err != nil {
		return nil, encode(err, 0)
	}
	x.using.Lock()
	defer x.using.Unlock()
	x.left = true
	return reply[none]{}, nil
}

// release closes the device, if the client has it.
func (x *session) release() error {
	x.mu.Lock()
	x.ending = true
	x.mu.Unlock()
	x.using.Lock()
	defer x.using.Unlock()
	if x.device == nil {
		return nil
	}
	err := x.device.Close()
	x.device = nil
	x.server.free()
	return err
}

// ended reports whether the client is going.
func (x *session) ended() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.ending
}

// tell tells of events between calls.
func (x *session) tell(done chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-x.events.wake:
			x.events.flush(context.Background(), x.rpc)
		}
	}
}

// eventQueue is events that are to be told.
type eventQueue struct {
	wake chan struct{}

	mu      sync.Mutex
	waiting []event
	lost    bool

	sending sync.Mutex
	last    uint64 // number of the last event that was sent
}

// add adds an event. It does not block: where too many wait, the client is told that events are missing.
func (q *eventQueue) add(e *cq.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case len(q.waiting) < mostEvents:
		q.waiting = append(q.waiting, event{Time: e.Time, Kind: e.Kind, Async: e.Async, State: e.State, QP: e.QP, CQ: e.CQ, SRQ: e.SRQ})
		q.lost = false
	case !q.lost:
		q.waiting = append(q.waiting, event{Time: e.Time, Kind: cq.EvLost, QP: e.QP})
		q.lost = true
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// flush sends the events that wait, and returns the number of the last one that was sent. What is answered after that comes after them.
func (q *eventQueue) flush(ctx context.Context, to *jrpc2.Server) uint64 {
	q.sending.Lock()
	defer q.sending.Unlock()
	q.mu.Lock()
	list := q.waiting
	q.waiting = nil
	q.mu.Unlock()
	for part := range slices.Chunk(list, mostTold) {
		_ = to.Notify(ctx, "Events", events{q.last + 1, part}) // where that fails, the connection ends
		q.last += uint64(len(part))
	}
	return q.last
}

// reserve counts the bytes of a memory region to be made.
func (x *session) reserve(n uint64) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n > mostMemory-x.held {
		return fmt.Errorf("remote: a memory region of %d bytes: a client has at most %d bytes in all of its regions, and %d are taken", n, uint64(mostMemory), x.held)
	}
	x.held += n
	return nil
}

// settle notes that a region was made, or, where mr is 0, that it was not.
func (x *session) settle(mr uint32, n uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if mr == 0 {
		x.held -= n
	} else {
		x.lengths[mr] = n
	}
}

// returned notes that a region is gone.
func (x *session) returned(mr uint32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.held -= x.lengths[mr]
	delete(x.lengths, mr)
}

// pollTime is the time between two looks at queues that are empty.
const pollTime = 100 * time.Microsecond

// poll polls queues, until there is a completion or the time is over.
func (x *session) poll(ctx context.Context, d Device, p *poll) ([]polled, error) {
	switch {
	case p.Most < 1 || p.Most > mostPolled:
		return nil, fmt.Errorf("remote: at most %d completions of each queue: give 1 to %d", p.Most, mostPolled)
	case len(p.CQs) > mostQueues:
		return nil, fmt.Errorf("remote: %d queues at once: give at most %d", len(p.CQs), mostQueues)
	}
	until := time.Now().Add(min(time.Duration(p.Wait), mostWait))
	for {
		list, err := look(ctx, d, p)
		if err != nil || len(list) > 0 || !time.Now().Before(until) || x.ended() {
			return list, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		pause(pollTime)
	}
}
