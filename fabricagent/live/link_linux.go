package live

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// looks is how often the state of the interfaces is looked at: no frame tells that one came up and is silent.
const looks = time.Second

// link is the state of an interface.
type link struct {
	index int // 0: there is none of this name
	up    bool
}

// linkOf asks the kernel, by a socket that is open already: there may be no descriptor left.
func linkOf(fd int, name string) (l link, err error) {
	r, err := unix.NewIfreq(name)
	if err != nil {
		return l, err
	}
	switch err := unix.IoctlIfreq(fd, unix.SIOCGIFINDEX, r); err {
	case nil:
	case unix.ENODEV:
		return l, nil
	default:
		return l, err
	}
	l.index = int(r.Uint32())
	if unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, r) == nil {
		l.up = r.Uint16()&unix.IFF_UP != 0
	}
	return l, nil
}

// look looks at the state of the interfaces. One that is gone and comes back, as another of the same name, is captured from again.
func (s *Source) look(now time.Time) {
	s.looked = now
	for i, r := range s.rings {
		name := s.stats[r.tap].Interface
		l, err := linkOf(r.fd, name)
		if err != nil {
			continue // it is as it was
		}
		if l.index != r.index {
			r.dead = true
			s.polled[i].Fd = -1
			if l.index != 0 && r.rebind(l.index, s.opt.Promiscuous) == nil {
				s.polled[i].Fd = int32(r.fd)
				s.errs = slices.DeleteFunc(s.errs, func(e error) bool { return e.(*GoneError).Interface == name })
				s.lost(r.tap)
			}
		}
		gone := r.dead
		s.note(r.tap, func(t *Stats) { t.Down, t.Gone = !l.up || gone, gone })
	}
}

// lost notes that frames may have been missed of an interface: how many, nobody knows.
func (s *Source) lost(tap uint16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats[tap].Dropped++
	s.taps = slices.Clone(s.taps)
	s.taps[tap].Dropped++
}

// rebind has the socket of an interface that is gone capture from the one that has its name now: a new socket needs privileges, which were given up. One
// of several that share an interface cannot.
func (r *ring) rebind(index int, promiscuous bool) error {
	if err := unix.Bind(r.fd, &unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_ALL), Ifindex: index}); err != nil {
		return err
	}
	r.index, r.dead = index, false
	if promiscuous {
		m := unix.PacketMreq{Ifindex: int32(index), Type: unix.PACKET_MR_PROMISC}
		return unix.SetsockoptPacketMreq(r.fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &m)
	}
	return nil
}
