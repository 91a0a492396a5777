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

// namePorts names, for each port that had the other end of its link pause, the hosts whose packets go to its Ethernet address.
func namePorts(list []link.Paused, hosts []*connection.Host) {
	if len(list) == 0 {
		return
	}
	named := map[uint64][]packet.Addr{}
	for i := range list {
		named[station(&list[i])] = nil
	}
	for _, h := range hosts {
		for at, to := range h.Stations() {
			if known, asked := named[at]; asked && !slices.Contains(known, to) {
				named[at] = append(known, to)
			}
		}
	}
	for i := range list {
		to := named[station(&list[i])]
		slices.SortFunc(to, packet.Addr.Compare)
		list[i].Hosts = to[:min(len(to), mostNamed)]
	}
}

// station is the Ethernet address of a port as packets have it.
func station(p *link.Paused) uint64 {
	var b [8]byte
	copy(b[2:], p.From[:])
	return binary.BigEndian.Uint64(b[:])
}
