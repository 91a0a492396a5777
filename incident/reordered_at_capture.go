package incident

import (
	"fmt"
	"slices"

	"ibwitness/packet"
)

const (
	shallowest        = 2 // PSNs ahead at most are packets that the capture may hold in another order
	sendersMisordered = 3 // hosts at least whose packets are so
)

// atCapture makes one incident of those in which packets of several hosts came just after the next ones, and no receiver sent a NAK: several paths would
// part them by more, so that it is rather the capture that holds them so, as of several ports.
func atCapture(list []Incident) []Incident {
	var all []*Incident
	var hosts []packet.Addr
	for n := range list {
		i := &list[n]
		if i.Kind != Reordered || i.late.name != requests.name || i.late.packets == 0 || i.late.naks > 0 || !i.late.numbered || i.late.depth > shallowest {
			continue
		}
		all = append(all, i)
		if !slices.Contains(hosts, i.Local.Addr) {
			hosts = append(hosts, i.Local.Addr)
		}
	}
	if len(hosts) < sendersMisordered {
		return list
	}
	first, sum, merged := all[0], late{}, map[*Incident]bool{}
	for _, i := range all {
		sum.add(i.late)
		if i == first {
			continue
		}
		merged[i] = true
		first.Connections += i.Connections
		first.Begin, first.End = min(first.Begin, i.Begin), max(first.End, i.End)
		first.foundToo(i.Found)
		for _, a := range []packet.Addr{i.Local.Addr, i.Peer.Addr} {
			if a != first.Local.Addr && a != first.Peer.Addr && !slices.Contains(first.Also, a) {
				first.Also = append(first.Also, a)
			}
		}
	}
	first.harmless = true
	first.What = fmt.Sprintf("%s of %d hosts came after later ones in the capture, by %s at most, though they had left first; no receiver sent a NAK: it is likely the capture that holds them in another order.",
		count(sum.packets, first.late.name), len(hosts), count(uint64(sum.depth), "PSN"))
	first.Facts = []Fact{
		{"share", fmt.Sprintf("%s of %s", share(sum.packets, sum.of), count(sum.of, "packet"))},
		{"order", "by the IPv4 identifications, which count up as packets leave"},
	}
	first.FitsWith = []string{orderOfCapture, orderOfNetwork}
	first.Next = []string{
		"how the capture orders what several ports or receive queues bring (one clock for all of them, time stamps of hardware)",
		"adaptive routing of the switches only where out_of_sequence of the receivers counts up",
	}
	return without(list, merged)
}
