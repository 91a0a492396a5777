package guard

import (
	"net"
	"sync"
	"sync/atomic"
)

// limited is a listener with at most so many clients at a time. Where one more comes, it takes the place of the one that has sent and taken nothing for the
// longest time, whether that is silent between two requests or reads no answer.
type limited struct {
	net.Listener
	most  int
	clock atomic.Uint64 // counts what all clients send and take
	mu    sync.Mutex
	open  map[*client]struct{}
}

// client is the connection of one.
type client struct {
	net.Conn
	of   *limited
	last atomic.Uint64 // the clock when it last sent or took anything
}

func limit(l net.Listener, most int) *limited {
	return &limited{Listener: l, most: most, open: map[*client]struct{}{}}
}

// Accept waits for the next client.
func (l *limited) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &client{Conn: conn, of: l}
	c.moved(1)
	if stale := l.admit(c); stale != nil {
		stale.Close()
	}
	return c, nil
}

// admit notes a new client, and returns the one that makes room for it; nil: there is room.
func (l *limited) admit(c *client) (stale *client) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= l.most {
		for o := range l.open {
			if stale == nil || o.last.Load() < stale.last.Load() {
				stale = o
			}
		}
		delete(l.open, stale)
	}
	l.open[c] = struct{}{}
	return stale
}

// moved notes that a client has sent or taken n bytes.
func (c *client) moved(n int) {
	if n > 0 {
		c.last.Store(c.of.clock.Add(1))
	}
}

func (c *client) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.moved(n)
	return n, err
}

func (c *client) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.moved(n)
	return n, err
}

func (c *client) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
