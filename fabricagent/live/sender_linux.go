package live

import (
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// Sender sends frames on an interface (AF_PACKET, packet(7)), only to addresses that were named, and no faster than it may. It is not for several goroutines at once.
type Sender struct {
	opt  SendOptions
	fd   int
	to   unix.SockaddrLinklayer
	pace pace
}

// patience is how long a frame waits for room in the queue of the interface.
const patience = time.Second

// OpenSender opens an interface to send on. The error is an *OpenError, or says that no address was named.
func OpenSender(o SendOptions) (*Sender, error) {
	if len(o.To) == 0 {
		return nil, errors.New("live: frames are sent only to addresses that were named: name one")
	}
	if o.Rate <= 0 {
		o.Rate = defaultRate
	}
	i, err := net.InterfaceByName(o.Interface)
	if err != nil {
		return nil, &OpenError{o.Interface, "find it", "`ip link` lists the interfaces", err}
	}
	if i.Flags&net.FlagUp == 0 {
		return nil, openError(o.Interface, "send on it", unix.ENETDOWN)
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, openError(o.Interface, "open a packet socket", err)
	}
	return &Sender{opt: o, fd: fd, to: unix.SockaddrLinklayer{Ifindex: i.Index}, pace: pace{every: time.Second / time.Duration(o.Rate)}}, nil
}

// Send sends a frame, from its Ethernet header on and without its FCS, when its turn has come. The error is a *TargetError where it may not go there, a *GoneError where the
// interface is no longer there, or says why it cannot be sent.
func (s *Sender) Send(frame []byte) error {
	if err := s.opt.permitted(frame); err != nil {
		return err
	}
	time.Sleep(s.pace.wait(time.Now()))
	for end := time.Now().Add(patience); ; {
		err := unix.Sendto(s.fd, frame, 0, &s.to)
		switch {
		case err == nil:
			return nil
		case err == unix.EINTR:
		case (err == unix.ENOBUFS || err == unix.EAGAIN) && time.Now().Before(end):
			time.Sleep(time.Millisecond)
		default:
			return s.failed(err, len(frame))
		}
	}
}

// failed explains why a frame was not sent.
func (s *Sender) failed(err error, size int) error {
	switch err {
	case unix.ENXIO, unix.ENODEV:
		return &GoneError{s.opt.Interface}
	case unix.EMSGSIZE:
		return fmt.Errorf("live: %s: a frame of %d bytes is longer than it takes: make it shorter, or its MTU greater (ip link set %s mtu 9000)", s.opt.Interface, size, s.opt.Interface)
	}
	return openError(s.opt.Interface, "send a frame", err)
}

// Close closes the interface.
func (s *Sender) Close() error { return unix.Close(s.fd) }
