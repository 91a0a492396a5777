package incident

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ibwitness/packet"
)

// late is how many packets came after later ones, of an incident that tells of them: of how many, and how many of these their receiver took for lost.
type late struct {
	name              string // of one
	packets, of, lost uint64 // of: without copies
	naks, copies      uint64 // that the receiver sent for it, and that were retransmitted for it
	answers           bool   // of counts answers to requests of the receiver, too
	least             bool   // at least so many packets
	most              bool   // at most so many copies: some of them may be the first of their PSN
	whole             bool   // nothing was lost: see allOvertaken
	numbered          bool   // by their IPv4 identifications each had left first
	depth             uint32 // how many PSNs ahead others were, at most
	reads             readsLate
	arrived           string // at the tap nothing is missing: whose IPv4 identifications the capture holds each of, see teller.arrived
}

func (l *late) add(m late) {
	l.packets, l.of, l.lost = l.packets+m.packets, l.of+m.of, l.lost+m.lost
	l.naks, l.copies, l.whole = l.naks+m.naks, l.copies+m.copies, l.whole && m.whole
	l.answers, l.least, l.most = l.answers || m.answers, l.least || m.least, l.most || m.most
	l.numbered, l.depth = l.numbered && m.numbered, max(l.depth, m.depth)
	l.reads.add(&m.reads)
	if l.arrived == hostsNumbers || m.arrived == "" {
		l.arrived = m.arrived
	}
}

// overtakings makes incidents one that tell of what several hosts sent to one host, or one host to several, and that came after later packets.
func overtakings(list []Incident) []Incident {
	merged := map[*Incident]bool{}
	for _, end := range []func(*Incident) packet.Addr{func(i *Incident) packet.Addr { return i.Peer.Addr }, func(i *Incident) packet.Addr { return i.Local.Addr }} {
		type lateAt struct {
			host  packet.Addr
			asked bool // the receiver sent NAKs: what it takes for lost is no harm to others
		}
		of := map[lateAt][]*Incident{}
		var order []lateAt
		for n := range list {
			if i := &list[n]; i.Kind == Reordered && i.late.packets > 0 && len(i.Also) == 0 && !merged[i] {
				k := lateAt{end(i), i.late.naks > 0}
				if of[k] == nil {
					order = append(order, k)
				}
				of[k] = append(of[k], i)
			}
		}
		for _, a := range order {
			first := of[a][0]
			all := slices.DeleteFunc(of[a], func(i *Incident) bool {
				return i.late.name != first.late.name || i.Certainty != first.Certainty
			})
			if len(othersOf(a.host, all)) > 1 {
				asOne(a.host, all, merged)
			}
		}
	}
	list = atCapture(without(list, merged))
	unlike := takenLate(list)
	for n := range list {
		list[n].allLate()
		list[n].unlikeLate(unlike)
		list[n].unlikeQPs(list)
	}
	return list
}

// othersOf is the hosts at the other ends of incidents that have one host in common.
func othersOf(common packet.Addr, all []*Incident) map[packet.Addr]bool {
	others := map[packet.Addr]bool{}
	for _, i := range all {
		others[i.otherThan(common)] = true
	}
	return others
}

// otherThan is the host at the other end of an incident than one.
func (i *Incident) otherThan(host packet.Addr) packet.Addr {
	if i.Local.Addr == host {
		return i.Peer.Addr
	}
	return i.Local.Addr
}

// asOne has the first of several incidents of packets that came late, which have a host in common, tell of all.
func asOne(common packet.Addr, all []*Incident, merged map[*Incident]bool) {
	slices.SortStableFunc(all, func(a, b *Incident) int { return cmp.Compare(a.Begin, b.Begin) })
	first, names, sum := all[0], []string(nil), late{name: all[0].late.name, whole: true, numbered: true, arrived: hostsNumbers, reads: readsLate{came: true, each: true, none: true}}
	for _, i := range all {
		other, side := i.otherThan(common), "from"
		if i.Local.Addr == common {
			side = "to"
		}
		names = append(names, fmt.Sprintf("%s %v: %s of %s", side, other, number(i.late.packets), number(i.late.of)))
		sum.add(i.late)
		if i == first {
			continue
		}
		merged[i] = true
		first.Also = append(first.Also, other)
		first.Connections += i.Connections
		first.Begin, first.End = min(first.Begin, i.Begin), max(first.End, i.End)
		first.foundToo(i.Found)
	}
	hosts := len(othersOf(common, all))
	way := fmt.Sprintf("%d hosts sent to %v", hosts, common)
	if first.Local.Addr == common {
		way = fmt.Sprintf("%v sent to %d hosts", common, hosts)
	}
	first.common = common
	lost := ""
	switch {
	case sum.asked(), sum.whole && sum.naks > 0:
		lost = fmt.Sprintf(" %v sent %s, and %s were copies%s.", first.Peer.Addr, count(sum.naks, "NAK"), sum.ofAll(), sum.noneLost())
	case sum.reads.said() != "":
		lost = sum.reads.said()
	case sum.lost > 0 && !sum.whole:
		lost = fmt.Sprintf(" At least %s of them were taken for lost.", number(sum.lost))
		if first.common == first.Peer.Addr && sum.naks > sum.lost {
			lost = fmt.Sprintf(" %v sent %s, at least %s of them for what was only late.", common, count(sum.naks, "NAK"), number(sum.lost))
		}
	}
	least := ""
	if sum.least {
		least = "At least "
	}
	first.What = fmt.Sprintf("%s%s that %s came after later ones.%s The first: %s", least, count(sum.packets, first.late.name), way, lost, strings.Replace(first.What, "At least", "at least", 1))
	first.fact("hosts", enumerate(names))
	first.late = sum
}
