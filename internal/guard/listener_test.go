package guard

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestStale: of as many clients as there may be, the one that has sent and taken nothing for the longest time makes room for one more, and is told so by
// the end of its connection. One that asks for more than it reads does, and one that does not send the body that it tells.
func TestStale(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const places = 4
	began, stuck := make(chan struct{}), make(chan struct{}, 1)
	server := Server(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			_, _ = io.WriteString(w, "ok")
			return
		case "/body":
			began <- struct{}{}
			return
		}
		began <- struct{}{}
		b := make([]byte, 1<<20)
		for range 64 { // more than the system keeps for a client that reads nothing
			if _, err := w.Write(b); err != nil {
				stuck <- struct{}{}
				return
			}
		}
		t.Error("all was taken by a client that reads nothing")
	}))
	served := make(chan error, 1)
	go func() { served <- server.Serve(limit(l, places)) }()
	defer func() {
		server.Close()
		<-served
	}()
	connect := func(request string) net.Conn {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if _, err := io.WriteString(c, request); err != nil {
			t.Fatal(err)
		}
		return c
	}
	ask := func(c net.Conn) {
		t.Helper()
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(r.Body); string(b) != "ok" || err != nil {
			t.Errorf("the answer is %q, %v", b, err)
		}
	}
	dropped := func(c net.Conn) {
		t.Helper()
		if _, err := io.Copy(io.Discard, c); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Error(err)
		}
	}

	active := connect("")
	ask(active)
	silent := connect("")
	large := connect("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
	<-began
	body := connect("POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n")
	<-began
	ask(active)
	ask(connect(""))
	dropped(silent)
	ask(active)
	for full := false; !full; { // until the system keeps no more of the large answer, that goes on
		select {
		case <-stuck:
			full = true
		default:
			ask(active)
			ask(connect(""))
		}
	}
	for range 3 * places {
		ask(active)
		ask(connect(""))
	}
	dropped(large)
	dropped(body)
}
