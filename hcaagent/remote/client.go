package remote

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/creachadair/jrpc2"

	"ibwitness/cq"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// Client is a device on another machine. Calls take one round trip, and fail where the machine does not answer within seconds; then all later ones fail too.
type Client struct {
	address string
	rpc     *jrpc2.Client
	info    Info
	limits  qp.Limits
	told    func(*cq.Event)
	offset  atomic.Int64 // of the device's clock, nanoseconds after this one
	stop    chan struct{}
	pings   sync.WaitGroup
	ended   sync.Once
	closed  error

	mu      sync.Mutex
	changed *sync.Cond         // events were told, or the connection has ended
	last    uint64             // number of the last event that was told
	early   map[uint64]*events // that have come before others, by their first number
	broken  error              // why the connection has ended
	queues  map[wqe.CQ]*queue
}

var _ Device = (*Client)(nil)

// Dial connects to the device that is served at an address, with its port. told, where not nil, takes the device's events, one at a time, in their order, each before a
// call returns that was answered after it; their times are put on this machine's clock. It must not call the client.
func Dial(ctx context.Context, address string, secret Secret, told func(*cq.Event)) (*Client, error) {
	config, err := secret.config(clientEnd, serverEnd)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("remote: no device is served at %s: %w: start ibwitness dut there", address, err)
	}
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("remote: %s: %w", address, errors.Join(refused(err), conn.Close()))
	}
	c := &Client{address: address, told: told, stop: make(chan struct{}), early: map[uint64]*events{}, queues: map[wqe.CQ]*queue{}}
	c.changed = sync.NewCond(&c.mu)
	c.rpc = jrpc2.NewClient(&channel{Conn: secured}, &jrpc2.ClientOptions{OnNotify: c.notified, OnStop: func(_ *jrpc2.Client, err error) { c.fail(err) }})
	g, err := call[greeting](ctx, c, "Hello", hello{version})
	if err == nil {
		err = c.compareClocks(ctx)
	}
	if err != nil {
		_ = c.rpc.Close()
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("remote: %s has not answered in time: %w", address, err)
		}
		return nil, err
	}
	c.info, c.limits = g.Info, g.Limits
	c.pings.Go(c.ping)
	return c, nil
}

// Info describes the device, as it was when the client got it.
func (c *Client) Info() Info { return c.info }

// Limits are the attributes of the device that bound those of its queue pairs.
func (c *Client) Limits() qp.Limits { return c.limits }

// Close gives the device back: what was made is destroyed when it returns, and another client can have it.
func (c *Client) Close() error {
	c.ended.Do(func() {
		close(c.stop)
		c.pings.Wait()
		_, err := call[none](context.Background(), c, "Bye", nil)
		c.fail(errors.New("it was closed"))
		_ = c.rpc.Close()
		c.closed = err
	})
	return c.closed
}

// call calls a method.
func call[R any](ctx context.Context, c *Client, method string, params any) (R, error) {
	return callFor[R](ctx, c, 0, method, params)
}

// callFor calls a method that may wait for so long.
func callFor[R any](ctx context.Context, c *Client, wait time.Duration, method string, params any) (result R, err error) {
	if err := ctx.Err(); err != nil {
		return result, err
	}
	if err := c.failed(); err != nil {
		return result, err
	}
	within, cancel := context.WithTimeout(ctx, callTime+wait)
	defer cancel()
	response, err := c.rpc.Call(within, method, params)
	var r reply[R]
	if err == nil {
		err = response.UnmarshalResult(&r)
	}
	if err == nil {
		return r.Value, c.await(within, r.Seq)
	}
	if e := (*jrpc2.Error)(nil); errors.As(err, &e) && (e.Code == failedCode || e.Code == jrpc2.InvalidParams || e.Code == jrpc2.MethodNotFound) {
		seq, err := decode(e)
		_ = c.await(within, seq)
		return result, err
	}
	switch size := (*SizeError)(nil); {
	case errors.As(err, &size):
		return result, size
	case ctx.Err() != nil:
		return result, ctx.Err()
	case within.Err() != nil:
		c.fail(fmt.Errorf("%s was not answered within %v: is that machine still up?", method, callTime+wait))
		go c.rpc.Close() // it waits for what is being sent
	}
	c.fail(err)
	return result, c.failed()
}

// fail notes why the connection has ended, the first time.
func (c *Client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken == nil {
		c.broken = fmt.Errorf("%w: %s: %w", ErrGone, c.address, err)
	}
	c.changed.Broadcast()
}

// failed returns why the connection has ended, where it has.
func (c *Client) failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken
}

// ping says now and then that the client is there.
func (c *Client) ping() {
	t := time.NewTicker(pingTime)
	defer t.Stop()
	for {
		select {
		case <-c.stop:
			return
		case <-t.C:
			if _, err := call[clock](context.Background(), c, "Ping", nil); err != nil {
				return
			}
		}
	}
}

// compareClocks finds how far the device's clock is ahead: the answer of the shortest of some round trips came halfway.
func (c *Client) compareClocks(ctx context.Context) error {
	best := time.Duration(1<<63 - 1)
	for range 8 {
		began := time.Now()
		there, err := call[clock](ctx, c, "Ping", nil)
		if err != nil {
			return err
		}
		if took := time.Since(began); took < best {
			best = took
			c.offset.Store(there.Now - began.Add(took/2).UnixNano())
		}
	}
	return nil
}

// notified takes a notification: notifications may come in another order than they were sent in.
func (c *Client) notified(req *jrpc2.Request) {
	list := new(events)
	if req.Method() != "Events" || json.Unmarshal([]byte(req.ParamString()), list) != nil || len(list.Events) == 0 {
		return
	}
	c.arrived(list)
}

// arrived tells of events in their order.
func (c *Client) arrived(list *events) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.early[list.Seq] = list; len(c.early) > mostEvents {
		delete(c.early, list.Seq) // no server sends them so
	}
	for {
		list := c.early[c.last+1]
		if list == nil {
			break
		}
		delete(c.early, list.Seq)
		for i := range list.Events {
			c.tell(&list.Events[i])
		}
		c.last += uint64(len(list.Events))
	}
	c.changed.Broadcast()
}

// tell tells of an event.
func (c *Client) tell(e *event) {
	if c.told != nil {
		at := min(e.Time-c.offset.Load(), time.Now().UnixNano())
		c.told(&cq.Event{Time: at, Kind: e.Kind, Async: e.Async, State: e.State, QP: e.QP, CQ: e.CQ, SRQ: e.SRQ})
	}
}

// await waits until all events up to a number were told: they were sent already.
func (c *Client) await(ctx context.Context, seq uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last >= seq {
		return nil
	}
	stop := context.AfterFunc(ctx, c.wakeAll)
	defer stop()
	for c.last < seq && c.broken == nil && ctx.Err() == nil {
		c.changed.Wait()
	}
	if c.last >= seq {
		return nil
	}
	return errors.Join(c.broken, ctx.Err())
}

func (c *Client) wakeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed.Broadcast()
}
