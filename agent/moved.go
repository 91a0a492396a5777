package agent

import (
	"cmp"
	"slices"

	"ibwitness/agent/internal/connection"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// Moved is that the address of a host is at another Ethernet address than before: packets to it went to one, and then to another that had it by ARP.
type Moved struct {
	Host  packet.Addr
	From  uint64 // the Ethernet address before
	First Sign   // of ARP, of the newest one
}

// movedHosts finds them, by address, in signs that are in order.
func movedHosts(hosts []*connection.Host, list []Sign) (moved []Moved) {
	for _, h := range hosts {
		var newest uint64
		var of packet.Addr
		for at, to := range h.Stations() { // the newest of each direction first
			if to != of {
				newest, of = at, to
				continue
			}
			n := slices.IndexFunc(list, func(s Sign) bool { return s.By == fabricagent.ByARP && s.Host == to && s.Station == newest })
			if n >= 0 && !slices.ContainsFunc(moved, func(o Moved) bool { return o.Host == to }) {
				moved = append(moved, Moved{to, at, list[n]})
			}
		}
	}
	slices.SortFunc(moved, func(a, b Moved) int { return cmp.Or(a.Host.Compare(b.Host), cmp.Compare(a.First.At, b.First.At)) })
	return moved
}
