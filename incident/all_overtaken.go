package incident

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// allOvertaken reports whether nothing that end from of c sent was lost, though it retransmitted: the capture holds each IPv4 identification of its host, some after later ones, and the receiver asked only for
// what the tap had not seen in order.
func (t *teller) allOvertaken(c *agent.Connection, from int) bool {
	e := &c.Ends[from]
	if c.Service != packet.RC || e.Trouble == nil || len(t.run.Taps) > 1 || t.damaged[way{e.Addr, c.Ends[1-from].Addr}] || t.cut[way{e.Addr, c.Ends[1-from].Addr}] {
		return false
	}
	k := e.Trouble
	n := k.Sum.Total() - uint64(k.Sum.Rounds[qp.NotReady])
	p := placesOf(k)
	return n > 0 && k.Overtaking.All().Packets > 0 && uint64(k.Sum.Rounds[qp.SequenceAsked]) == n && p.after == 0 && 2*uint64(p.before) >= n && slices.ContainsFunc(t.run.Numbered, func(h agent.Numbering) bool {
		return h.Host == e.Addr && h.Late > 0 && h.Whole()
	})
}

// noneLost tells of retransmissions of end from of c that all follow from packets which came late, and leaves out what fits a loss.
func (t *teller) noneLost(i *Incident, c *agent.Connection, from int) {
	if !t.allOvertaken(c, from) {
		return
	}
	i.noneLost = true
	i.What = strings.Replace(i.What, "packets or their answers were lost, late or overtaken", "packets came after later ones, and none was lost", 1)
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "where" || f.Label == "missing" || f.Label == "paths" })
	i.fact("lost", fmt.Sprintf("nothing: the capture holds each IPv4 identification of %v; %v asked for what came after later packets, or came before and was dropped for that", i.Local.Addr, i.Peer.Addr))
	i.FitsWith = []string{"packets that came after later ones, see there: the receiver took them for lost"}
	i.Next = []string{"adaptive routing of the switches for this traffic, and out_of_sequence of " + i.Peer.Addr.String()}
}

// allLate tells, of packets that came late where nothing was lost, that all NAKs and retransmissions follow from that.
func (i *Incident) allLate() {
	l := &i.late
	if i.Kind != Reordered || l.naks == 0 || !l.whole && !l.asked() {
		return
	}
	whose := i.Local.Addr.String()
	if len(i.Also) > 0 && i.common != i.Local.Addr {
		whose = "these hosts"
	}
	if !l.whole {
		if l.arrived {
			i.fact("missing", fmt.Sprintf("nothing at the tap: the capture holds each IPv4 identification of %s", whose))
		}
		if l.naks > l.lost { // else each is known
			i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "cost" })
			i.fact("cost", fmt.Sprintf("%s of %v; %s were copies", count(l.naks, "NAK"), i.Peer.Addr, l.ofAll()))
		}
		return
	}
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "cost" })
	i.fact("lost", "nothing: the capture holds each IPv4 identification of "+whose)
	i.fact("cost", fmt.Sprintf("%s for packets that came late, or that were dropped as they came before these; %s were retransmitted for it, each of which had come or was about to", count(l.naks, "NAK"), count(l.copies, "packet")))
}

// asked reports whether the receiver of requests that came late asked for packets, most likely as it took such for lost, and these were retransmitted: no packet is missing at the tap, or a good part is known to
// have come late.
func (l *late) asked() bool {
	return l.name == requests.name && !l.whole && l.lost > 0 && l.copies > 0 && l.naks > 0 && (l.arrived || lateOfNAKs*l.lost >= l.naks)
}

// lateOfNAKs is for which part of NAKs, one in so many, packets are known to have come late where all follow from such, it seems: copies come out of order too.
const lateOfNAKs = 4

// ofAll says how many of all packets were copies.
func (l *late) ofAll() string {
	all := l.of + l.copies
	return fmt.Sprintf("%s of %s (%s)", number(l.copies), count(all, "packet"), share(l.copies, all))
}
