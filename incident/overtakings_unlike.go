package incident

import (
	"fmt"
	"slices"

	"ibwitness/packet"
)

// taken is what came late to hosts that asked for nothing: they take packets out of order, unless these came to them in order.
type taken struct {
	hosts   []packet.Addr
	packets uint64
}

// takenLate adds up what came late to such hosts.
func takenLate(list []Incident) (k taken) {
	for n := range list {
		i := &list[n]
		if i.Kind != Reordered || i.late.name != requests.name || !i.harmless || i.late.naks > 0 || len(i.Also) > 0 && i.common == i.Local.Addr {
			continue
		}
		k.packets += i.late.packets
		if !slices.Contains(k.hosts, i.Peer.Addr) {
			k.hosts = append(k.hosts, i.Peer.Addr)
		}
	}
	slices.SortFunc(k.hosts, packet.Addr.Compare)
	return k
}

// unlikeLate says first what a receiver asked for that takes packets which come late for lost, and who does not.
func (i *Incident) unlikeLate(others taken) {
	l := &i.late
	if i.Kind != Reordered || len(i.Also) > 0 && i.common != i.Peer.Addr || !l.asked() && (!l.whole || l.naks == 0) {
		return
	}
	if len(i.Also) == 0 { // else it is said already
		i.What += fmt.Sprintf(" %v takes such for lost: it sent %s, and %s were copies%s.", i.Peer.Addr, count(l.naks, "NAK"), l.ofAll(), l.noneLost())
	}
	if len(others.hosts) > 0 && !slices.Contains(others.hosts, i.Peer.Addr) {
		i.fact("others", fmt.Sprintf("%s got %s that came late, and sent no NAK: an adapter that takes packets out of order does so, at no cost",
			someOf(others.hosts), count(others.packets, "packet")))
	}
}

// unlikeQPs says what a receiver asked for that takes most packets which come late for lost, as far as that is known, and that the same host took
// others late and asked for nothing.
func (i *Incident) unlikeQPs(list []Incident) {
	l := &i.late
	if i.Kind != Reordered || l.name != requests.name || len(i.Also) > 0 || l.naks == 0 || l.whole || tenth*l.lost < l.naks {
		return
	}
	if !l.asked() && l.copies > 0 {
		i.What += fmt.Sprintf(" %v sent %s, at least %s of them for what was only late, and %s were copies.",
			&i.Peer, count(l.naks, "NAK"), number(l.lost), l.ofAll())
	}
	var takes []string
	for n := range list {
		o := &list[n]
		alike := o.Kind == Reordered && o.late.name == l.name && o.Peer.Addr == i.Peer.Addr && len(o.Also) == 0
		if alike && o.harmless && o.late.naks == 0 && len(takes) < portsShown {
			takes = append(takes, fmt.Sprintf("%s of %s from %v came late to %v",
				number(o.late.packets), count(o.late.of, "packet"), o.Local.Addr, &o.Peer))
		}
	}
	if len(takes) > 0 {
		i.What += fmt.Sprintf(" No harm: %s, which sent no NAK.", enumerate(takes))
	}
}

// hurt is how many copies came for NAKs of a receiver, or for READs that were retransmitted.
func (l *late) hurt() uint64 {
	if l.name == responses.name {
		return l.reads.Copies
	}
	if l.naks == 0 {
		return 0
	}
	return l.copies
}

// noneLost says whether packets were lost.
func (l *late) noneLost() string {
	switch {
	case l.whole:
		return "; no packet was lost"
	case l.arrived != "":
		return "; no packet is missing at the tap"
	}
	return ""
}
