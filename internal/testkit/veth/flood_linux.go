package veth

import (
	"net"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// message is struct mmsghdr of sendmmsg(2).
type message struct {
	unix.Msghdr
	sent uint32
	_    [4]byte
}

// Flood sends frames on an interface, so many a second, 0: as fast as it can, and returns how long that took. It takes no frame that next
// returns before the next 64 calls, and ends at the first empty one.
func Flood(t *testing.T, name string, rate int, next func() []byte) time.Duration {
	t.Helper()
	i, err := net.InterfaceByName(name)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: i.Index}); err != nil {
		t.Fatal(err)
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1); err != nil {
		t.Fatal(err)
	}
	var (
		list  [64]message
		parts [64]unix.Iovec
		start = time.Now()
		sent  = 0
	)
	for over := false; !over; {
		n := 0
		for ; n < len(list); n++ {
			frame := next()
			if over = len(frame) == 0; over {
				break
			}
			parts[n] = unix.Iovec{Base: &frame[0], Len: uint64(len(frame))}
			list[n].Iov, list[n].Iovlen = &parts[n], 1
		}
		for done := 0; done < n; {
			k, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&list[done])), uintptr(n-done), 0, 0, 0)
			switch errno {
			case 0:
				done += int(k)
			case unix.ENOBUFS, unix.EAGAIN, unix.EINTR:
				time.Sleep(time.Millisecond)
			default:
				t.Errorf("sending on %s: %v", name, errno)
				return time.Since(start)
			}
		}
		if sent += n; rate > 0 {
			time.Sleep(time.Until(start.Add(time.Duration(float64(sent) / float64(rate) * 1e9))))
		}
	}
	return time.Since(start)
}
