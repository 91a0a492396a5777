package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/handler"
)

// Server serves a device to one client at a time.
type Server struct {
	Secret Secret
	Open   Open
	// Came and Went, where not nil, are told of each client that gets the device, and of its end. The error of Went says why where the client did not end it itself.
	Came func(client net.Addr)
	Went func(client net.Addr, err error)
	// Refused, where not nil, is told of each client that does not get the device, and why.
	Refused func(client net.Addr, err error)

	mu   sync.Mutex
	user net.Addr // who has the device
}

// mostConnections is how many clients may be connected at a time: more are not listened to until one goes.
const mostConnections = 16

// Serve accepts clients until the context ends, which is no error, or the listener fails. It returns when all clients have gone and their objects are destroyed, and
// closes the listener.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	config, err := s.Secret.config(serverEnd, clientEnd)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	var clients sync.WaitGroup
	defer clients.Wait()
	room := make(chan struct{}, mostConnections)
	for {
		room <- struct{}{}
		c, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("remote: %w", errors.Join(err, l.Close()))
		}
		clients.Go(func() {
			defer func() { <-room }()
			s.client(ctx, c, config)
		})
	}
}

// client serves a connection until it ends.
func (s *Server) client(ctx context.Context, c net.Conn, config *tls.Config) {
	addr := c.RemoteAddr()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	defer c.Close()
	secured := tls.Server(c, config)
	_ = c.SetDeadline(time.Now().Add(dialTime))
	if err := secured.HandshakeContext(ctx); err != nil {
		s.refuse(addr, refused(err))
		return
	}
	_ = c.SetDeadline(time.Time{})
	x := &session{server: s, addr: addr, lengths: map[uint32]uint64{}}
	x.events.wake = make(chan struct{}, 1)
	ch := &channel{Conn: secured, idle: idleTime, room: make(chan struct{}, mostInFlight)}
	x.rpc = jrpc2.NewServer(x.methods(), &jrpc2.ServerOptions{
		AllowPush: true, DisableBuiltin: true, Concurrency: mostInFlight, RPCLog: answered{ch},
	})
	x.rpc.Start(ch)
	done := make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() { x.tell(done) })
	status := x.rpc.WaitStatus()
	close(done)
	telling.Wait()
	closed := x.release()
	if !x.had {
		return
	}
	err := errors.Join(status.Err, closed)
	if ctx.Err() != nil || x.left {
		err = closed
	} else if ne := net.Error(nil); errors.As(status.Err, &ne) && ne.Timeout() {
		err = fmt.Errorf("remote: it has sent nothing for %v", idleTime)
	}
	if s.Went != nil {
		s.Went(addr, err)
	}
}

func (s *Server) refuse(client net.Addr, err error) {
	if s.Refused != nil {
		s.Refused(client, err)
	}
}

// take gives the device to a client.
func (s *Server) take(client net.Addr) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.user != nil {
		return fmt.Errorf("%w by the client at %v: wait until it has ended", ErrInUse, s.user)
	}
	s.user = client
	return nil
}

// free takes it back.
func (s *Server) free() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.user = nil
}

// answered makes room for another call when one is answered.
type answered struct{ ch *channel }

// LogRequest does nothing.
func (answered) LogRequest(context.Context, *jrpc2.Request) {}

// LogResponse makes the room.
func (a answered) LogResponse(context.Context, *jrpc2.Response) {
	select {
	case <-a.ch.room:
	default:
	}
}

// method is the handler of a method of the device.
func method[P, R any](x *session, f func(context.Context, Device, *P) (R, error)) jrpc2.Handler {
	return func(ctx context.Context, req *jrpc2.Request) (any, error) {
		p := new(P)
		if err := req.UnmarshalParams(jrpc2.StrictFields(p)); err != nil {
			return nil, err
		}
		x.using.RLock()
		defer x.using.RUnlock()
		if x.device == nil {
			return nil, encode(errors.New("remote: the client has not said hello, or has said bye"), 0)
		}
		r, err := f(ctx, x.device, p)
		seq := x.events.flush(ctx, x.rpc)
		if err != nil {
			return nil, encode(err, seq)
		}
		return reply[R]{seq, r}, nil
	}
}

// verb makes a method of a verb that has no result.
func verb[P any](x *session, f func(context.Context, Device, *P) error) jrpc2.Handler {
	return method(x, func(ctx context.Context, d Device, p *P) (none, error) { return none{}, f(ctx, d, p) })
}

// methods are all methods.
func (x *session) methods() handler.Map {
	m := handler.Map{
		"Hello": x.hello,
		"Bye":   x.bye,
		"Ping": func(context.Context, *jrpc2.Request) (any, error) {
			return reply[clock]{0, clock{time.Now().UnixNano()}}, nil
		},
	}
	x.queuePairs(m)
	x.queues(m)
	x.memory(m)
	x.addresses(m)
	return m
}
