package remote_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"ibwitness/cq"
	"ibwitness/hcaagent/realtime"
	"ibwitness/hcaagent/remote"
	"ibwitness/hcaagent/soft"
	"ibwitness/packet"
	"ibwitness/wqe"
)

var ctx = context.Background()

func addr(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }

// wire joins adapters in software: what one sends, all others receive.
type wire struct {
	mu   sync.Mutex
	ends map[*realtime.Adapter]bool
}

// attach makes an adapter at the wire.
func (w *wire) attach(n byte, told func(*cq.Event)) (*realtime.Adapter, error) {
	var a *realtime.Adapter
	leave := func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.ends, a)
		return nil
	}
	send := func(frame []byte) {
		w.mu.Lock()
		defer w.mu.Unlock()
		for other := range w.ends {
			if other != a {
				other.Receive(frame)
			}
		}
	}
	opt := soft.Options{Addr: addr(n), MAC: [6]byte{2, 0, 10, 0, 0, n}, Send: send, Event: told, Seed: uint64(n)}
	info := remote.Info{Device: "soft", Addr: addr(n), GIDs: []remote.GID{{GID: wqe.GID{Addr: addr(n)}}}, Active: true, MTU: 4096}
	w.mu.Lock()
	defer w.mu.Unlock()
	a, err := realtime.New(opt, info, leave)
	if err == nil {
		w.ends[a] = true
	}
	return a, err
}

// served is a device that is served.
type served struct {
	address string
	stop    func()

	mu      sync.Mutex
	device  remote.Device // of the client that has it
	opened  int
	refused []error
	went    []error
}

// serve serves a device until the test ends.
func serve(t *testing.T, secret remote.Secret, open remote.Open) *served {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &served{address: l.Addr().String()}
	running, cancel := context.WithCancel(ctx)
	server := &remote.Server{
		Secret: secret,
		Open: func(told func(*cq.Event)) (remote.Device, error) {
			d, err := open(told)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.device, s.opened = d, s.opened+1
			return d, err
		},
		Went: func(_ net.Addr, err error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.went = append(s.went, err)
		},
		Refused: func(_ net.Addr, err error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.refused = append(s.refused, err)
		},
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(running, l) }()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.stop)
	return s
}

// eventually waits until something holds.
func (s *served) eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for until := time.Now().Add(15 * time.Second); time.Now().Before(until); time.Sleep(time.Millisecond) {
		s.mu.Lock()
		ok := holds()
		s.mu.Unlock()
		if ok {
			return
		}
	}
	t.Errorf("there is no %s", what)
}

// serveSoft serves an adapter in software.
func serveSoft(t *testing.T, secret remote.Secret, w *wire, n byte) *served {
	return serve(t, secret, func(told func(*cq.Event)) (remote.Device, error) { return w.attach(n, told) })
}

// pair connects to two adapters in software that are at one wire.
func pair(t *testing.T) (a, b *end) {
	t.Helper()
	secret, w := remote.NewSecret(), newWire()
	return dial(t, serveSoft(t, secret, w, 1).address, secret), dial(t, serveSoft(t, secret, w, 2).address, secret)
}
