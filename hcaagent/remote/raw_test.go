package remote

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"ibwitness/cq"
	"ibwitness/qp"
)

// inert is a device that does nothing.
type inert struct {
	Device
	closed chan struct{}
}

func (inert) Info() Info        { return Info{} }
func (inert) Limits() qp.Limits { return qp.Limits{} }
func (d inert) Close() error    { close(d.closed); return nil }

// raw is a connection to a server whose device is inert, which speaks what it likes.
func raw(t *testing.T) (c *tls.Conn, closed chan struct{}) {
	t.Helper()
	secret := NewSecret()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed = make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{Secret: secret, Open: func(func(*cq.Event)) (Device, error) { return inert{closed: closed}, nil }}
	done := make(chan error)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	config, err := secret.config(clientEnd, serverEnd)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = tls.Dial("tcp", l.Addr().String(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, closed
}

// say sends a message, of which it says that it is so long, and returns the answer.
func say(t *testing.T, c *tls.Conn, length int, message string) string {
	t.Helper()
	if _, err := c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(length)), message...)); err != nil {
		return err.Error()
	}
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return err.Error()
	}
	b := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(c, b); err != nil {
		return err.Error()
	}
	return string(b)
}

const greet = `{"jsonrpc":"2.0","id":1,"method":"Hello","params":{"Version":1}}`

// TestMistakes: a client that makes mistakes is told, and the session goes on.
func TestMistakes(t *testing.T) {
	c, _ := raw(t)
	for _, x := range []struct{ message, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"CreatePD"}`, "has not said hello"},
		{`{"jsonrpc":"2.0","id":1,"method":"Hello","params":{"Version":7}}`, "use the same ibwitness on both machines"},
		{greet, `"Info"`},
		{greet, "has said hello before"},
		{`no JSON`, "-32700"},
		{`{"jsonrpc":"2.0","id":2,"method":"Destroy"}`, "-32601"},
		{`{"jsonrpc":"2.0","id":3,"method":"Poll","params":{"Most":1,"More":2}}`, `unknown field \"More\"`},
		{`{"jsonrpc":"2.0","id":4,"method":"Poll","params":{"Most":-1}}`, "at most -1 completions"},
		{`{"jsonrpc":"2.0","id":5,"method":"Poll","params":{"Most":"x"}}`, "-32602"},
		{`{"jsonrpc":"2.0","id":6,"method":"MemoryData","params":{"Length":-1}}`, "-1 bytes of memory"},
		{`{"jsonrpc":"2.0","id":7,"method":"MemoryData","params":{"Length":99999999}}`, "ask for at most"},
		{`{"jsonrpc":"2.0","id":8,"method":"RegisterMR","params":{"Length":18446744073709551615}}`, "a client has at most"},
		{`{"jsonrpc":"2.0","id":9,"method":"Ping"}`, `"Now"`},
		{`{"jsonrpc":"2.0","id":10,"method":"Bye"}`, `"Seq":0`},
		{`{"jsonrpc":"2.0","id":11,"method":"CreatePD"}`, "or has said bye"},
	} {
		if got := say(t, c, len(x.message), x.message); !strings.Contains(got, x.want) {
			t.Errorf("%s: %s, not %q", x.message, got, x.want)
		}
	}
}

// TestViolations: a client that does not keep to the protocol is disconnected, and the device is closed.
func TestViolations(t *testing.T) {
	for name, x := range map[string]struct {
		length  int
		message string
	}{
		"too long": {mostMessage + 1, "{"}, "a batch": {len(greet) + 2, "[" + greet + "]"}, "longest": {1<<32 - 1, ""},
	} {
		c, closed := raw(t)
		if got := say(t, c, len(greet), greet); !strings.Contains(got, "Info") {
			t.Fatal(got)
		}
		if got := say(t, c, x.length, x.message); got != io.EOF.Error() && !strings.Contains(got, "reset") {
			t.Errorf("%s: %s", name, got)
		}
		select {
		case <-closed:
		case <-time.After(10 * time.Second):
			t.Errorf("%s: the device is not closed", name)
		}
	}
}

// TestEvents: events that come in any order are told in theirs, and a call returns after those that were sent before its answer.
func TestEvents(t *testing.T) {
	var q eventQueue
	q.wake = make(chan struct{}, 1)
	for range mostEvents + 10 {
		q.add(&cq.Event{Kind: cq.EvNotify})
	}
	if n := len(q.waiting); n != mostEvents+1 || q.waiting[mostEvents].Kind != cq.EvLost {
		t.Errorf("%d events wait", n)
	}
	var told []cq.Event
	c := &Client{told: func(e *cq.Event) { told = append(told, *e) }, early: map[uint64]*events{}}
	c.changed = sync.NewCond(&c.mu)
	c.arrived(&events{3, []event{{Kind: cq.EvAsync, Async: cq.AsyncQPFatal}}})
	soon, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := c.await(soon, 3); !errors.Is(err, context.DeadlineExceeded) || len(told) != 0 {
		t.Errorf("%v, %+v", err, told)
	}
	go c.arrived(&events{1, []event{{Kind: cq.EvNotify, CQ: 1}, {Kind: cq.EvNotify, CQ: 2}}})
	if err := c.await(context.Background(), 3); err != nil || len(told) != 3 || told[0].CQ != 1 || told[1].CQ != 2 || told[2].Async != cq.AsyncQPFatal {
		t.Errorf("%v, %+v", err, told)
	}
}
