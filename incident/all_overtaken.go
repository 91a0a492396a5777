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
	return n > 0 && k.Overtaking.All().Packets > 0 && uint64(k.Sum.Rounds[qp.SequenceAsked]) == n && seldomAfter*p.after <= p.before && placesKnown*uint64(p.before) >= n && t.arrived(c, from) != ""
}

// seldomAfter is how many times as often a receiver asks for what the tap had not seen in order as for what it had, at least, where the same
// reordering is why.
const seldomAfter = 4

// placesKnown is of how many rounds one at least has to be for what the tap had not seen in order: of others it is not known what they were for.
const placesKnown = 4

// arrived is whose IPv4 identifications the capture holds each of, of what end from of c sent, some after later ones: those of its host, or of this connection, which have a counter of their own. "": some are missing, or it has no counter.
func (t *teller) arrived(c *agent.Connection, from int) string {
	e, peer := &c.Ends[from], &c.Ends[1-from]
	switch {
	case len(t.run.Taps) > 1:
	case slices.Contains(t.run.Arrived, e.Addr), slices.ContainsFunc(t.run.Numbered, func(h agent.Numbering) bool { return h.Host == e.Addr && h.Late > 0 && h.Whole() }):
		return hostsNumbers
	case slices.Contains(t.run.ArrivedQPs, agent.NumberedPair{Host: e.Addr, DestQP: peer.QPN, Packets: e.Packets}):
		return pairsNumbers
	}
	return ""
}

// What a counter of identifications is of.
const (
	hostsNumbers = "host"
	pairsNumbers = "queue pair"
)

// holdsEach says that the capture holds each identification of a sender, or of several.
func (l *late) holdsEach(sender *Party, several bool) string {
	of := sender.Addr.String()
	switch {
	case l.arrived == pairsNumbers && several:
		of = "these queue pairs, each of which has a counter of its own"
	case l.arrived == pairsNumbers:
		of = sender.String() + ", which has a counter of its own"
	case several:
		of = "these hosts"
	}
	return "the capture holds each IPv4 identification of " + of
}

// allThatCame says, of retransmissions that follow from packets which came late, that these are why.
func (t *teller) allThatCame(i *Incident, c *agent.Connection, from int) string {
	before, seen := "", ""
	if n := placesOf(c.Ends[from].Trouble).after; n > 0 {
		before, seen = " before the tap", fmt.Sprintf("; %s for what the tap shows in order", times(uint64(n)))
	}
	return fmt.Sprintf("nothing%s: %s; %v asked for what came after later packets, or came before and was dropped for that%s",
		before, (&late{arrived: t.arrived(c, from)}).holdsEach(&i.Local, false), i.Peer.Addr, seen)
}

// noneLost tells of retransmissions of end from of c that all follow from packets which came late, and leaves out what fits a loss.
func (t *teller) noneLost(i *Incident, c *agent.Connection, from int) {
	if t.readsOvertaken(i, c, from) || !t.allOvertaken(c, from) {
		t.overtakenByPlace(i, c, from)
		return
	}
	i.noneLost = true
	i.What = strings.Replace(i.What, "packets or their answers were lost, late or overtaken", "packets came after later ones, and none was lost", 1)
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "where" || f.Label == "missing" || f.Label == "paths" })
	i.fact("lost", t.allThatCame(i, c, from))
	i.FitsWith, i.Next = []string{cameAfterLater}, []string{afterLater(i)}
}

// cameAfterLater is what fits where packets that came late are why others are retransmitted.
const cameAfterLater = "packets that came after later ones, see there: the receiver took them for lost"

// afterLater is where to look then.
func afterLater(i *Incident) string {
	return "adaptive routing of the switches for this traffic, and out_of_sequence of " + i.Peer.Addr.String()
}

// noneMissing reports whether what a receiver asked for had left in order and came after later packets, as good as all of it: hardly a packet
// came only when it was retransmitted, and hardly one was lost after the tap.
func noneMissing(k *qp.Trouble) bool {
	o := k.Overtaking.All()
	rare := func(n uint32) bool { return mostlyOvertaken*n <= o.Packets }
	return o.Packets > 0 && o.Numbered == o.Packets && o.Asked > 0 && rare(k.Missing.Filled.PSNs) && rare(k.Asked.After) &&
		rare(k.Sum.Rounds[qp.TimerExpired]) && rare(k.Sum.Rounds[qp.ResponseLost])
}

// allLate tells, of packets that came late where nothing was lost, that all NAKs and retransmissions follow from that.
func (i *Incident) allLate() {
	l := &i.late
	if i.Kind != Reordered || l.naks == 0 || !l.whole && !l.asked() {
		return
	}
	several := len(i.Also) > 0 && i.common != i.Local.Addr || l.arrived == pairsNumbers && i.Connections > 1
	if !l.whole {
		if l.arrived != "" {
			i.fact("lost", "nothing before the tap: "+l.holdsEach(&i.Local, several))
		}
		if l.naks > l.lost { // else each is known
			i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "cost" })
			i.fact("cost", fmt.Sprintf("%s of %v; %s were copies", count(l.naks, "NAK"), i.Peer.Addr, l.ofAll()))
		}
		return
	}
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "cost" })
	i.fact("lost", "nothing: "+l.holdsEach(&i.Local, several))
	i.fact("cost", fmt.Sprintf("%s for packets that came late, or that were dropped as they came before these; %s were retransmitted for it, each of which had come or was about to", count(l.naks, "NAK"), l.atMost()+count(l.copies, "packet")))
}

// asked reports whether the receiver of requests that came late asked for packets, most likely as it took such for lost, and these were retransmitted: no packet is missing at the tap, or a good part is known to
// have come late.
func (l *late) asked() bool {
	return l.name == requests.name && !l.whole && l.lost > 0 && l.copies > 0 && l.naks > 0 && (l.arrived != "" || lateOfNAKs*l.lost >= l.naks)
}

// lateOfNAKs is for which part of NAKs, one in so many, packets are known to have come late where all follow from such, it seems: copies come out of order too.
const lateOfNAKs = 4

// atMost goes before how many packets were copies, where what came late is not counted each, and the rest of it may count among these.
func (l *late) atMost() string {
	if l.most {
		return "at most "
	}
	return ""
}

// ofAll says how many of all packets were copies.
func (l *late) ofAll() string {
	all, too := l.of+l.copies, ""
	if l.answers {
		too = answersToo
	}
	return l.atMost() + fmt.Sprintf("%s of %s (%s%s)", number(l.copies), count(all, "packet"), share(l.copies, all), too)
}
