package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
)

// Two ports of a host in one subnet both answer ARP for the addresses of either (ARP flux): what is sent to one address then goes to the other port, whose adapter has no queue pair for it.

// wrongPort is that packets for an address go to the Ethernet address of another one.
type wrongPort struct {
	to   uint64      // where they go
	of   packet.Addr // whose packets come from there, and no other's
	from uint64      // where those of their destination come from, and no other's
}

// toOtherPort reports whether the requests of end from of a connection, which nothing answers, go to an Ethernet address from which only another address sends, while their destination sends from one of its own.
func (t *teller) toOtherPort(c *agent.Connection, from int) (w wrongPort, is bool) {
	e, peer := &c.Ends[from], c.Ends[1-from].Addr
	if e.Hop == nil || e.Hop.To == 0 || len(t.run.Taps) > 1 || len(t.run.Connections) > mostOthers {
		return w, false
	}
	w.to = e.Hop.To
	var there, same []packet.Addr // who sends from where they go, and from where their destination sends
	for _, x := range t.hopsOf(peer) {
		if w.from != 0 && x.From != w.from || x.From == w.to || x.Turned != 0 {
			return w, false
		}
		w.from = x.From
	}
	for n := range t.run.Connections {
		for k := range t.run.Connections[n].Ends {
			switch x := &t.run.Connections[n].Ends[k]; {
			case x.Hop == nil || x.Packets == 0:
			case x.Hop.From == w.to || x.Hop.Turned == w.to:
				there = append(there, x.Addr)
			case x.Hop.From == w.from:
				same = append(same, x.Addr)
			}
		}
	}
	there, same = eachOnce(there), eachOnce(same)
	if w.from == 0 || len(there) != 1 || there[0] == peer || there[0] == e.Addr || len(same) != 1 || same[0] != peer {
		return w, false
	}
	w.of = there[0]
	return w, true
}

// hopsOf are the Ethernet addresses of the ends of connections at a host, of those that have sent something.
func (t *teller) hopsOf(a packet.Addr) (list []*agent.Hop) {
	for n := range t.run.Connections {
		for k := range t.run.Connections[n].Ends {
			if x := &t.run.Connections[n].Ends[k]; x.Addr == a && x.Packets > 0 && x.Hop != nil && x.Hop.From != 0 && !slices.Contains(list, x.Hop) {
				list = append(list, x.Hop)
			}
		}
	}
	return list
}

// tellOtherPort tells that requests go to the port of another address.
func (i *Incident) tellOtherPort(w *wrongPort) {
	local, peer := i.Local.Addr, i.Peer.Addr
	i.What += fmt.Sprintf(" What is sent goes to the Ethernet address of %v (%s), not to that of %v (%s).", w.of, station(w.to), peer, station(w.from))
	i.fact("Ethernet", fmt.Sprintf("what %v sends to %v goes to %s, from which only %v sends; %v sends from %s", local, peer, station(w.to), w.of, peer, station(w.from)))
	i.FitsWith = []string{fmt.Sprintf("two ports of one host in one subnet, %v and %v, that both answer ARP for either address (ARP flux): %v has learned the wrong one, at which the adapter has no such queue pair", peer, w.of, local)}
	i.Next = []string{
		fmt.Sprintf("ip neigh show %v on %v; flush it, or set it to %s", peer, local, station(w.from)),
		fmt.Sprintf("arp_ignore=1 and arp_announce=2 on the host of %v and %v, or a subnet for each port", peer, w.of),
	}
}
