package eventlog

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"testing"
	"time"

	"ibwitness/cq"
)

// TestLive: the events of writers come as they are written, of one after the other, and a wrong line ends the log with an error that names it.
func TestLive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	failed := make(chan error, 1)
	log := Live(ctx, path, func(err error) { failed <- err })
	var got []cq.Event
	upTo := func(n int) {
		t.Helper()
		for until := time.Now().Add(10 * time.Second); len(got) < n; time.Sleep(time.Millisecond) {
			for _, e := range log.More() {
				got = append(got, *e)
			}
			if time.Now().After(until) {
				t.Fatalf("%d events, not %d", len(got), n)
			}
		}
	}
	for writer := range 2 {
		c, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(c, `{"ev":"device","gid":"10.0.0.1"}`)
		for i := range 3 {
			fmt.Fprintf(c, `{"ev":"destroy_qp","t":%d,"qpn":%d}`+"\n", i+1, i)
			upTo(3*writer + i + 1)
		}
		c.Close()
	}
	for i, e := range got {
		if e.QP.QPN != uint32(i%3) || e.QP.Addr.String() != "10.0.0.1" || e.Line != i%3+2 {
			t.Errorf("%d: %+v", i, e)
		}
	}
	c, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(c, "nonsense")
	fmt.Fprintln(c, "{}")
	if err := <-failed; err == nil {
		t.Error("no error")
	}
	c.Close()
}
