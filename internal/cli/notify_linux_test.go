package cli

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ibwitness/internal/testkit/veth"
)

// TestNotify: a service manager hears when the program is ready, that it is alive, when it reads its configuration again, and when it stops.
func TestNotify(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	p := launch(t, []string{"NOTIFY_SOCKET=" + path, "WATCHDOG_USEC=4000000"}, os.Args[0], "watch", "-i", "right", "--listen", "")
	hear := func(want string) {
		t.Helper()
		buf := make([]byte, 1024)
		for {
			if err := socket.SetReadDeadline(time.Now().Add(eventually)); err != nil {
				t.Fatal(err)
			}
			n, err := socket.Read(buf)
			if err != nil {
				t.Fatalf("%s is not told: %v", want, err)
			}
			if got := string(buf[:n]); strings.HasPrefix(got, want) {
				return
			} else if got != "WATCHDOG=1" {
				t.Errorf("told %q, not %q", got, want)
			}
		}
	}
	hear("READY=1")
	hear("WATCHDOG=1")
	hear("WATCHDOG=1")
	if err := p.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	hear("RELOADING=1\nMONOTONIC_USEC=")
	hear("READY=1")
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	hear("STOPPING=1")
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
}
