package agent

import (
	"slices"

	"ibwitness/agent/internal/connection"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// Sign is a frame without RDMA by which a host shows to be up, or its port. Of what a host sends another, but ARP, IPv6 neighbor discovery and the
// end of TCP connections, the first and last frame
// of a short time are known.
type Sign struct {
	fabricagent.Presence
	At    int64 // nanoseconds since the Unix epoch
	Frame uint64
	Tap   uint16
}

// mostSigns is how many of a sort are kept at most.
const mostSigns = 4096

// signs are those of a run.
type signs struct {
	near   fewSigns // ARP, LLDP and IPv6 neighbor discovery
	closes fewSigns // of TCP connections
	pings  fewSigns // echo requests
	beside besides

	answers answers
}

// fewSigns is a list; of more than mostSigns none is known, so that they do not depend on who counts them.
type fewSigns struct {
	list []Sign
	many bool
}

// frame takes a frame that holds no RDMA packet.
func (s *signs) frame(f *fabricagent.Frame) {
	p, ok := fabricagent.PresenceOf(f)
	if !ok {
		return
	}
	switch x := (Sign{p, f.Time, f.Number, f.Tap}); {
	case p.By <= fabricagent.ByDAD:
		s.near.add(x)
	case p.By.Closes():
		s.closes.add(x)
	default:
		if _, _, ping := fabricagent.EchoRequest(f); ping {
			s.pings.add(x)
		}
		s.answers.presence(&x)
		s.beside.frame(&x)
	}
}

func (s *fewSigns) add(x Sign) {
	if s.many = s.many || len(s.list) == mostSigns; !s.many {
		s.list = append(s.list, x)
	}
}

func (s *fewSigns) addAll(o *fewSigns) {
	for _, x := range o.list {
		s.add(x)
	}
	s.many = s.many || o.many
}

func (s *signs) addAll(o *signs) {
	s.near.addAll(&o.near)
	s.closes.addAll(&o.closes)
	s.pings.addAll(&o.pings)
	s.beside.addAll(o.beside.list)
	s.answers.addAll(&o.answers)
}

// of returns them in the order of frames, those of ports by the one host whose packets go there, as hosts show, where that is one, and those of
// IPv6 neighbor discovery by the one host that ARP says is there.
func (s *signs) of(hosts []*connection.Host) (list []Sign) {
	var owner, by owners
	for _, h := range hosts {
		for at, to := range h.Stations() {
			owner.add(at, to)
		}
	}
	near := s.near.list
	if s.near.many {
		near = nil
	}
	for i := range near {
		if x := &near[i]; x.By == fabricagent.ByARP {
			by.add(x.Station, x.Host)
		}
	}
	for _, x := range near {
		switch x.By {
		case fabricagent.ByLLDP:
			x.Host = owner[x.Station]
		case fabricagent.ByND, fabricagent.ByDAD:
			if at := by[x.Station]; !at.IsZero() {
				x.Host = at
			}
		default:
		}
		if !x.Host.IsZero() {
			list = append(list, x)
		}
	}
	if !s.closes.many {
		list = append(list, s.closes.list...)
	}
	list = append(list, s.beside.signs()...)
	sortSigns(list)
	return list
}

// sortSigns sorts signs in the order of frames.
func sortSigns(list []Sign) {
	slices.SortStableFunc(list, func(a, b Sign) int {
		switch {
		case earlier(&a, &b):
			return -1
		case earlier(&b, &a):
			return 1
		}
		return 0
	})
}

// all returns those of a list in the order of frames; nil: there are too many.
func (s *fewSigns) all() []Sign {
	if s.many {
		return nil
	}
	sortSigns(s.list)
	return s.list
}

// owners are the hosts of Ethernet addresses: zero for that of a router, or of a host with several addresses.
type owners map[uint64]packet.Addr

func (o *owners) add(at uint64, host packet.Addr) {
	if *o == nil {
		*o = owners{}
	}
	if was, known := (*o)[at]; known && was != host {
		host = packet.Addr{}
	}
	(*o)[at] = host
}
