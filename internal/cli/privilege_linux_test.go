package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"ibwitness/internal/testkit/veth"
)

// threads returns a field of the status of each thread of a process.
func threads(t *testing.T, pid int, field string) (list []string) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(files) == 0 {
		t.Fatalf("no threads: %v", err)
	}
	re := regexp.MustCompile(`(?m)^` + field + `:\s*(.*)$`)
	for _, f := range files {
		b, err := os.ReadFile(f)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // it has ended
		}
		m := re.FindSubmatch(b)
		if m == nil {
			t.Fatalf("no %s in %s", field, b)
		}
		list = append(list, string(m[1]))
	}
	return list
}

// other is the number of a user who is not this one. It is false in a user namespace of a test that root has not started, which knows one user.
func other(t *testing.T) (string, bool) {
	t.Helper()
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		t.Fatal(err)
	}
	f := bytes.Fields(b)
	return nobody.Uid, len(f) == 3 && string(f[2]) != "1"
}

// TestPrivileges: once the interfaces are open no thread may do anything that others may not, and the capture goes on, also when an interface has been
// down meanwhile.
func TestPrivileges(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	name, ok := other(t)
	if !ok {
		name = "0"
	}
	p := start(t, "watch", "-i", "right", "--promiscuous", "--listen", "127.0.0.1:9846", "--user", name)
	p.logs("watching")
	for field, want := range map[string]string{
		"CapEff": "0000000000000000", "CapPrm": "0000000000000000", "CapInh": "0000000000000000", "CapAmb": "0000000000000000", "CapBnd": "0000000000000000", "NoNewPrivs": "1",
		"Uid": strings.Repeat(name+"\t", 3) + name,
	} {
		for i, got := range threads(t, p.Process.Pid, field) {
			if got != want {
				t.Errorf("%s of thread %d is %s, not %s", field, i, got, want)
			}
		}
	}
	const address = "127.0.0.1:9846"
	replayFile(t, naks, "left")
	p.tell(address, `ibwitness_packets_total{class="send",service="RC"} 16`)
	veth.IP(t, "link set right down")
	p.tell(address, `ibwitness_capture_interface_up{interface="right"} 0`)
	veth.Up(t)
	replayFile(t, naks, "left")
	p.tell(address, `ibwitness_packets_total{class="send",service="RC"} 32`)
	p.tell(address, `ibwitness_capture_interface_up{interface="right"} 1`)
	for i, got := range threads(t, p.Process.Pid, "CapEff") {
		if got != "0000000000000000" {
			t.Errorf("later CapEff of thread %d is %s", i, got)
		}
	}
	p.stop()

	out, err := exec.Command("env", asCommand+"=1", os.Args[0], "watch", "-i", "right", "--listen", "", "--user", "no such user").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "cannot become user no such user: there is no such user") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestServiceUser: a user with only CAP_NET_RAW, as the service has, captures, and is told what takes more.
func TestServiceUser(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	attr := &syscall.SysProcAttr{AmbientCaps: []uintptr{unix.CAP_NET_RAW}}
	if name, ok := other(t); ok {
		n, err := strconv.ParseUint(name, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		attr.Credential = &syscall.Credential{Uid: uint32(n), Gid: uint32(n)}
	}
	const self = "/proc/self/exe" // that user may not look into its folder
	p := launchAs(t, attr, nil, self, "watch", "-i", "right", "--promiscuous", "--sockets", "2", "--listen", "127.0.0.1:9846")
	p.logs("watching")
	replayFile(t, naks, "left")
	p.tell("127.0.0.1:9846", `ibwitness_packets_total{class="send",service="RC"} 16`)
	for i, got := range threads(t, p.Process.Pid, "CapEff") {
		if got != "0000000000000000" {
			t.Errorf("CapEff of thread %d is %s", i, got)
		}
	}
	p.stop()
	if attr.Credential != nil {
		p = launchAs(t, attr, nil, self, "watch", "-i", "right", "--hardware-time", "--listen", "")
		p.logs("right: ask for hardware time stamps: operation not permitted: give the program the capability CAP_NET_ADMIN too")
	}
}
