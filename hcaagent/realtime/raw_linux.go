package realtime

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// rawSocket sends and receives frames on a network interface (packet(7)).
type rawSocket struct {
	file *os.File
	conn interface {
		Read(func(uintptr) bool) error
		Write(func(uintptr) bool) error
	}
	to   unix.SockaddrLinklayer
	room []byte
}

// mostFrame is how many bytes a frame has at most, and receiveRoom how many wait to be read.
const (
	mostFrame   = 1 << 14
	receiveRoom = 4 << 20
)

// openRaw opens a network interface.
func openRaw(card *net.Interface) (*rawSocket, error) {
	all := uint16(unix.ETH_P_ALL)
	all = binary.NativeEndian.Uint16([]byte{byte(all >> 8), byte(all)})
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		if errors.Is(err, unix.EPERM) {
			err = fmt.Errorf("%w: it takes the capability CAP_NET_RAW: run it as root", err)
		}
		return nil, fmt.Errorf("realtime: %s: open a packet socket: %w", card.Name, err)
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, receiveRoom)
	_ = unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1) // kernels before 4.20 show the port what it sends, which it drops
	to := unix.SockaddrLinklayer{Protocol: all, Ifindex: card.Index}
	if err := unix.Bind(fd, &to); err != nil {
		return nil, fmt.Errorf("realtime: %s: %w", card.Name, errors.Join(err, unix.Close(fd)))
	}
	// As the kernel's own stack does, it takes what is sent to multicast groups of Ethernet too.
	all16 := unix.PacketMreq{Ifindex: int32(card.Index), Type: unix.PACKET_MR_ALLMULTI}
	if err := unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &all16); err != nil {
		return nil, fmt.Errorf("realtime: %s: %w", card.Name, errors.Join(err, unix.Close(fd)))
	}
	file := os.NewFile(uintptr(fd), card.Name)
	conn, err := file.SyscallConn()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &rawSocket{file: file, conn: conn, to: to, room: make([]byte, mostFrame)}, nil
}

// receive waits for a frame, and fails where the socket is closed.
func (s *rawSocket) receive() ([]byte, error) {
	for {
		n, errno := 0, error(nil)
		err := s.conn.Read(func(fd uintptr) bool {
			n, _, errno = unix.Recvfrom(int(fd), s.room, 0)
			return errno != unix.EAGAIN
		})
		switch {
		case err != nil:
			return nil, err
		case errno == unix.EINTR || errno == unix.ENETDOWN: // it may come up again
		case errno != nil:
			return nil, errno
		default:
			return append([]byte(nil), s.room[:n]...), nil
		}
	}
}

// send sends a frame, and reports whether it has left.
func (s *rawSocket) send(frame []byte) bool {
	var errno error
	err := s.conn.Write(func(fd uintptr) bool {
		errno = unix.Sendto(int(fd), frame, 0, &s.to)
		return errno != unix.EAGAIN
	})
	return err == nil && errno == nil
}

func (s *rawSocket) close() error { return s.file.Close() }
