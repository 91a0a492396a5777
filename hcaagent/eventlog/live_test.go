package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ibwitness/cq"
)

// TestLive: the events of writers come as they are written, of one after the other, and a wrong line ends the log with an error that names it.
func TestLive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.sock")
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	failed, waits := make(chan error, 1), make(chan error, 1)
	log := Live(ctx, path, func(err error, ends bool) {
		if ends {
			failed <- err
		} else {
			waits <- err
		}
	})
	if err := <-waits; !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing is there yet: %v", err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
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
		if fmt.Fprint(c, `{"ev":"destroy_`); writer == 1 {
			fmt.Fprintln(c, `qp","t":4,"qpn":3}`)
			upTo(7)
			got = got[:6]
		}
		c.Close()
	}
	if err := <-waits; !strings.Contains(err.Error(), "line 5: the writer has gone") {
		t.Errorf("a writer that goes in the middle of a line: %v", err)
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
