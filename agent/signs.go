package agent

import (
	"cmp"
	"slices"

	"ibwitness/agent/internal/connection"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// Sign is a frame without RDMA by which a host shows to be up, or its port.
type Sign struct {
	Host  packet.Addr
	At    int64 // nanoseconds since the Unix epoch
	Frame uint64
	Tap   uint16
	LLDP  bool // of its port; else ARP
}

// mostSigns is how many of them are kept at most.
const mostSigns = 4096

// signs are those of a run; of more than mostSigns none is known, so that they do not depend on who counts them.
type signs struct {
	list []sign
	many bool
}

type sign struct {
	Sign
	port uint64
}

// frame takes a frame that holds no RDMA packet.
func (s *signs) frame(f *fabricagent.Frame) {
	if p, ok := fabricagent.PresenceOf(f); ok {
		s.add(sign{Sign{p.Host, f.Time, f.Number, f.Tap, p.Host.IsZero()}, p.Port})
	}
}

func (s *signs) add(x sign) {
	if s.many = s.many || len(s.list) == mostSigns; !s.many {
		s.list = append(s.list, x)
	}
}

func (s *signs) addAll(o *signs) {
	for _, x := range o.list {
		s.add(x)
	}
	s.many = s.many || o.many
}

// of returns them in the order of frames, those of ports by the one host whose packets go there, as hosts show, where that is one; nil: there are none, or too many.
func (s *signs) of(hosts []*connection.Host) (list []Sign) {
	if s.many || len(s.list) == 0 {
		return nil
	}
	owner := map[uint64]packet.Addr{}
	for _, h := range hosts {
		for at, to := range h.Stations() {
			if was, known := owner[at]; known && was != to {
				to = packet.Addr{} // that of a router, or of a host with several addresses
			}
			owner[at] = to
		}
	}
	for _, x := range s.list {
		if x.LLDP {
			x.Host = owner[x.port]
		}
		if !x.Host.IsZero() {
			list = append(list, x.Sign)
		}
	}
	slices.SortStableFunc(list, func(a, b Sign) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Frame, b.Frame)) })
	return list
}
