// Package veth gives a test a network of its own: a namespace with two interfaces that are joined, left and right. It needs Linux, the ip command of the
// package iproute2, and root or user namespaces; where one is missing the test fails.
package veth

import (
	"flag"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var inside = flag.Bool("veth.inside", false, "set by the tests themselves: this process has a network of its own")

// Network runs the test that calls it once more, in a process in a namespace of its own, beside other tests. There it returns true, and here, when that is over, false.
func Network(t *testing.T) bool {
	t.Helper()
	if *inside {
		// Addresses that the kernel gives the interfaces, some seconds later, are none of the test, and a browser drops its connections where one comes.
		for _, args := range []string{
			"link set lo up", "link add left type veth peer name right", "link set left addrgenmode none", "link set right addrgenmode none", "link set left up",
		} {
			IP(t, args)
		}
		Up(t)
		return true
	}
	t.Parallel()
	args := []string{"-test.run", "^" + t.Name() + "$", "-test.v", "-veth.inside"}
	if end, ok := t.Deadline(); ok { // it says where it hangs, before this process is ended
		args = append(args, "-test.timeout="+max(time.Until(end)*9/10, time.Second).String())
	}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	flag.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") {
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	cmd := exec.Command(os.Args[0], args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	t.Log(string(out))
	if err != nil {
		t.Errorf("in a network namespace: %v", err)
	}
	return false
}

// patience is how long anything may take that happens.
const patience = 2 * time.Minute

// Up brings the right interface up and waits until frames pass: those that are sent before the kernel has noticed the link are lost, and nothing says so.
func Up(t *testing.T) {
	t.Helper()
	IP(t, "link set right up")
	const experimental = 0x88B5 // an EtherType of nobody
	i, err := net.InterfaceByName("right")
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: experimental>>8 | experimental&0xFF<<8, Ifindex: i.Index}); err != nil {
		t.Fatal(err)
	}
	wait := unix.NsecToTimeval(int64(10 * time.Millisecond))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait); err != nil {
		t.Fatal(err)
	}
	frame := make([]byte, 60)
	copy(frame, []byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2, 0, 0, 0, 0, 1, experimental >> 8, experimental & 0xFF})
	send := Sender(t, "left")
	for end := time.Now().Add(patience); time.Now().Before(end); {
		send(frame)
		if _, _, err := unix.Recvfrom(fd, make([]byte, 100), 0); err == nil {
			return
		}
	}
	t.Fatal("nothing passes from left to right")
}

// IP runs the ip command.
func IP(t *testing.T, args string) {
	t.Helper()
	if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s (of the package iproute2): %v: %s", args, err, out)
	}
}

// Sender returns what sends frames on an interface.
func Sender(t *testing.T, name string) func(frame []byte) {
	t.Helper()
	i, err := net.InterfaceByName(name)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	to := &unix.SockaddrLinklayer{Ifindex: i.Index}
	return func(frame []byte) {
		for {
			err := unix.Sendto(fd, frame, 0, to)
			if err == nil {
				return
			}
			if err != unix.ENOBUFS {
				t.Errorf("sending on %s: %v", name, err)
				return
			}
			time.Sleep(time.Millisecond)
		}
	}
}
