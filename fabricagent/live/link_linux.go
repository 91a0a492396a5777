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
	for tap := range s.stats {
		name, of := s.stats[tap].Interface, tap*s.opt.Sockets // which is its first ring
		l, err := linkOf(s.rings[of].fd, name)
		if err != nil {
			continue // it is as it was
		}
		gone, back := false, false
		for i, r := range s.rings[of : of+s.opt.Sockets] {
			if l.index != r.index {
				r.dead = true
				s.polled[of+i].Fd = -1
				if l.index != 0 && r.rebind(l.index, s.opt.Promiscuous) == nil {
					s.polled[of+i].Fd = int32(r.fd)
					back = true
				}
			}
			gone = gone || r.dead
		}
		if back {
			s.errs = slices.DeleteFunc(s.errs, func(e error) bool { return e.(*GoneError).Interface == name })
			s.lost(uint16(tap))
		}
		s.note(uint16(tap), func(t *Stats) { t.Down, t.Gone = !l.up || gone, gone })
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

// rebind has the socket of an interface that is gone capture from the one that has its name now: a new socket needs privileges, which were given up.
func (r *ring) rebind(index int, promiscuous bool) error {
	if err := r.bind(index); err != nil {
		return err
	}
	r.index, r.dead = index, false
	if promiscuous {
		m := unix.PacketMreq{Ifindex: int32(index), Type: unix.PACKET_MR_PROMISC}
		return unix.SetsockoptPacketMreq(r.fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &m)
	}
	return nil
}
