package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ibwitness/internal/testkit/veth"
)

// TestWatchVerbs: verbs events that a device writes to a FIFO are judged while it is at work, and a line that is wrong ends only them.
func TestWatchVerbs(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	fifo := filepath.Join(t.TempDir(), "verbs")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "watch", "-i", "right", "--promiscuous", "--listen", "127.0.0.1:9846", "--verbs", fifo)
	p.logs("watching")
	f, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	write := func(lines ...string) {
		t.Helper()
		if _, err := f.WriteString(strings.Join(lines, "\n") + "\n"); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"ev":"device","gid":"10.0.0.1"}`, `{"ev":"create_qp","t":1000,"qpn":17,"type":"rc"}`, `{"ev":"post_send","t":2000,"qpn":17,"wr_id":1,"opcode":"SEND","length":64}`)
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if b, err := os.ReadFile(p.out); err == nil && strings.Contains(string(b), "QPS-RST-001") {
			break
		}
		if time.Now().After(until) {
			t.Fatal("a request that was accepted in RESET is not told")
		}
	}
	write("nonsense", "")
	p.logs("no more verbs events are read from here")
	f.Close()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
}
