package agent

import (
	"encoding/binary"
	"slices"

	"ibwitness/agent/internal/connection"
	"ibwitness/link"
	"ibwitness/packet"
)

// mostNamed is how many hosts are named of a port that pauses.
const mostNamed = 4

// namePorts names, for each port that had the other end of its link pause, the hosts whose packets go to its Ethernet address, and says where those of each host are known to go to
// others.
func namePorts(list []link.Paused, hosts []*connection.Host, agents []*Transport) {
	if len(list) == 0 {
		return
	}
	atTaps := reachedBy(agents)
	named, reached := map[uint64][]packet.Addr{}, map[packet.Addr]bool{}
	for i := range list {
		named[station(&list[i])] = nil
	}
	for _, h := range hosts {
		for _, a := range h.Way(0) {
			if _, known := reached[a]; !known && !a.IsMulticast() {
				reached[a] = false
			}
		}
		for at, to := range h.Stations() {
			reached[to] = true
			if known, asked := named[at]; asked && !slices.Contains(known, to) {
				named[at] = append(known, to)
			}
		}
	}
	somewhere := map[uint64]bool{} // at any tap
	for at, to := range atTaps {
		somewhere[at.station] = true
		for _, a := range to {
			reached[a] = true
		}
	}
	for i := range list {
		to := named[station(&list[i])]
		to = append(to, atTaps[stationAt{list[i].Tap, station(&list[i])}]...)
		slices.SortFunc(to, packet.Addr.Compare)
		to = slices.Compact(to)
		list[i].Hosts, list[i].Over = to[:min(len(to), mostNamed)], atTaps.atTap(list[i].Tap)
		list[i].Unowned = len(to) == 0 && (len(reached) > 1 && all(reached) && !somewhere[station(&list[i])] || len(list[i].Over) > 0)
	}
}

// all reports whether it is known to which Ethernet address the packets for each host go.
func all(reached map[packet.Addr]bool) bool {
	for _, is := range reached {
		if !is {
			return false
		}
	}
	return true
}

// station is the Ethernet address of a port as packets have it.
func station(p *link.Paused) uint64 {
	var b [8]byte
	copy(b[2:], p.From[:])
	return binary.BigEndian.Uint64(b[:])
}
