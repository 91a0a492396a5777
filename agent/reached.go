package agent

import (
	"slices"

	"ibwitness/packet"
)

// How many ports at most are kept of a capture of several taps, and how many hosts of each: those with the least addresses, whatever comes first.
const (
	mostStations = 1 << 16
	mostBehind   = 32
)

// stationAt is an Ethernet address that packets go to at a tap.
type stationAt struct {
	tap     uint16
	station uint64
}

// reached is, of a capture of several taps, for which hosts packets go to an Ethernet address at each: at the link of a host those for it only, and before a switch those for each that is reached over it.
type reached map[stationAt][]packet.Addr

func (r reached) packet(p *packet.Packet) {
	at := stationAt{p.Tap, p.Station}
	list, known := r[at]
	k, is := slices.BinarySearchFunc(list, p.Dst, packet.Addr.Compare)
	if is || k == mostBehind || p.Station == 0 || !known && len(r) >= mostStations || p.Dst.IsMulticast() {
		return
	}
	r[at] = slices.Insert(list[:min(len(list), mostBehind-1)], k, p.Dst)
}

// reachedBy puts together what agents know of that.
func reachedBy(agents []*Transport) reached {
	all := reached{}
	for _, t := range agents {
		for at, list := range t.reached {
			l := slices.Concat(all[at], list)
			slices.SortFunc(l, packet.Addr.Compare)
			l = slices.Compact(l)
			all[at] = l[:min(len(l), mostBehind)]
		}
	}
	return all
}

// atTap lists the hosts for which packets go to each address at a tap, where these are several.
func (r reached) atTap(tap uint16) (list [][]packet.Addr) {
	for at, hosts := range r {
		if at.tap == tap && len(hosts) > 1 {
			list = append(list, hosts)
		}
	}
	slices.SortFunc(list, func(a, b []packet.Addr) int { return slices.CompareFunc(a, b, packet.Addr.Compare) })
	return list
}
