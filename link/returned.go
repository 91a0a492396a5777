package link

import (
	"ibwitness/packet"
)

const (
	// Waiting is how long a pause lasts at least after which it is looked who goes on, and Returning for how long, nanoseconds.
	Waiting   = int64(1e6)
	Returning = int64(100e3)
	// mostReturned is how many senders of a port are kept.
	mostReturned = 64
)

// Returned is an end whose requests came to a port right after pauses that its frames ended, and in which nothing came.
type Returned struct {
	From, To    packet.Addr
	QPN         uint32 // of the receiver
	Pauses      uint64 // after how many they did
	Least, Most int64  // how long after the frame that resumed the first of them came, nanoseconds
	newest      uint64 // the last of these pauses
}

// after is what came while a pause lasts, and right after it.
type after struct {
	came    bool  // something came though it was paused
	resumed int64 // when the frame came that ended it, where it is looked who goes on; 0: it lasts, or was short, or something came
}

// resume ends a pause by a frame that resumes.
func (s *span) resume(at int64) {
	if at-s.since >= Waiting && !s.came {
		s.Calm++
		s.resumed = at
	}
}

// looks is until when packets are to be looked at.
func (s *span) looks() int64 {
	if s.held {
		_, most := s.lasts()
		return s.asked + most
	}
	return s.resumed + Returning
}

// Looking reports whether Came is to be called at a time for packets that go to a MAC address with a pause.
func (p *Pauses) Looking(now int64) bool { return now <= p.looks }

// Asked reports whether a MAC address is of a port that has sent pause frames at a tap.
func (p *Pauses) Asked(to [6]byte, tap uint16) bool {
	for _, port := range p.ports {
		if port.from == to && port.tap == tap {
			return true
		}
	}
	return false
}

// Sends takes a packet that came from the MAC address of a port: whether that is the port of the host that sends it, or of a router.
func (p *Pauses) Sends(m *Sent) {
	for _, port := range p.ports {
		if port.from != m.From || port.tap != m.Tap || port.foreign {
			continue
		}
		known := port.own.HopLimit != 0
		switch m.HopLmt {
		case 64, 128, 255: // what hosts send with
			port.foreign = known && port.own.Host != m.Src
			port.own = Own{m.Src, m.HopLmt}
		default:
			port.foreign = true
		}
		if port.foreign {
			port.own = Own{}
		}
	}
}

// Came takes a packet that came to a port.
func (p *Pauses) Came(m *Sent) {
	for _, port := range p.ports {
		if port.from != m.To || port.tap != m.Tap {
			continue
		}
		for i := range port.by {
			if s := &port.by[i]; s.Begun > 0 && (i == untagged || !m.Tagged || int(m.Priority&7) == i) {
				s.packet(m)
			}
		}
	}
}

// packet takes a packet of the priority.
func (s *span) packet(m *Sent) {
	switch {
	case s.held:
		s.came = s.came || m.Time-s.since > settling
	case s.resumed == 0 || m.Time < s.resumed || m.Time-s.resumed > Returning || !m.Info().Request:
	default:
		s.back(m, m.Time-s.resumed)
	}
}

// back notes who has sent a request right after a pause.
func (s *span) back(m *Sent, after int64) {
	for k := range s.Back {
		if r := &s.Back[k]; r.From == m.Src && r.To == m.Dst && r.QPN == m.DestQP {
			if r.newest != s.Calm {
				r.Pauses, r.newest = r.Pauses+1, s.Calm
				r.Least, r.Most = min(r.Least, after), max(r.Most, after)
			}
			return
		}
	}
	if len(s.Back) < mostReturned {
		s.Back = append(s.Back, Returned{From: m.Src, To: m.Dst, QPN: m.DestQP, Pauses: 1, Least: after, Most: after, newest: s.Calm})
	}
}
