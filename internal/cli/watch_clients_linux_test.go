package cli

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"ibwitness/internal/testkit/programs"
	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/internal/testkit/veth"
)

// TestIdleClients: more clients than there are descriptors connect, most of which send nothing, while some ask and read nothing. Those that are served
// are fewer, so that there are descriptors to turn the log, and Prometheus is answered at once in place of one that is silent.
func TestIdleClients(t *testing.T) {
	sample.Skip(t, "it takes many findings to turn a log")
	if raced {
		t.Skip("the race detector makes findings too slow to turn a log soon: make unit runs this without it")
	}
	if !veth.Network(t) {
		return
	}
	const address, descriptors = "127.0.0.1:9846", 96
	path := filepath.Join(t.TempDir(), "findings.jsonl")
	p := launch(t, nil, programs.Find(t, "bash"), "-c", fmt.Sprintf(`ulimit -n %d; exec "$0" "$@"`, descriptors), os.Args[0],
		"watch", "-i", "right", "--promiscuous", "--listen", address, "--repeats", "0", "--events", "--log", path, "--log-size", "1", "--write", filepath.Join(t.TempDir(), "flight.pcapng"))
	p.logs("watching")
	for i := range 2 * descriptors {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%12 == 0 {
			if _, err := c.Write([]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
				t.Fatal(err)
			}
		}
	}
	prompt := http.Client{Timeout: 5 * time.Second} // before the server would drop them for their silence
	r, err := prompt.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	shape := traffic.Small(40)
	shape.Faults = 10
	raw := traffic.Capture(shape, 20_000)
	if !until(func() bool { // how much is found depends on how much is dropped
		replay(t, raw, "left")
		_, err := os.Stat(path + ".1")
		return err == nil
	}) {
		log, _ := os.ReadFile(p.log)
		t.Errorf("the log does not turn:\n%s", log)
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.Process.Pid))
	if err != nil || len(open) >= descriptors {
		t.Errorf("%d descriptors are open, %v", len(open), err)
	}
	p.settled(address) // by the word of its metrics
	if n := p.counted(address, "ibwitness_log_lost_lines_total"); n != 0 {
		t.Errorf("%d lines are lost", n)
	}
	if log, _ := os.ReadFile(p.log); regexp.MustCompile(`too many open files|"level":"error"`).Match(log) {
		t.Errorf("it logs\n%s", log)
	}
	p.stop()
}
