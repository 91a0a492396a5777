package remote_test

import (
	"net"
	"sync"
	"testing"
)

// middle is a network between a client and a server, which can fail.
type middle struct {
	address string
	mu      sync.Mutex
	ends    []net.Conn
	frozen  bool
}

// proxy passes on what comes until it is cut or frozen.
func proxy(t *testing.T, to string) *middle {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &middle{address: l.Addr().String()}
	t.Cleanup(func() {
		_ = l.Close()
		p.cut()
	})
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
				return
			}
			p.mu.Lock()
			p.ends = append(p.ends, in, out)
			p.mu.Unlock()
			go p.pass(in, out)
			go p.pass(out, in)
		}
	}()
	return p
}

func (p *middle) pass(from, to net.Conn) {
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		p.mu.Lock()
		frozen := p.frozen
		p.mu.Unlock()
		if !frozen && n > 0 {
			_, _ = to.Write(b[:n])
		}
		if err != nil {
			return
		}
	}
}

// cut ends all connections.
func (p *middle) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.ends {
		_ = c.Close()
	}
}

// freeze loses all that is sent from now on.
func (p *middle) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen = true
}
