package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// overtaken says which packets of an end were overtaken.
type overtaken struct {
	name string // of one
	cost string // of taking them for a loss, with how often
	next string // counter of that, at the host that received them
}

var (
	requests  = &overtaken{"packet", "the receiver took that for a loss %s, and had the requester go back: what that retransmitted had arrived, or was about to", "out_of_sequence"}
	responses = &overtaken{"READ response", "the requester asked once more, %s, for what had arrived or was about to", "implied_nak_seq_err"}
)

// manyNAKs is how many NAKs make it likely that retransmissions came between late packets, so that not each of these is counted.
const manyNAKs = 10

// reordered tells of packets of end from that came after later ones, though nothing had asked for them again.
func (t *teller) reordered(c *agent.Connection, from int, o qp.Overtaken, of *overtaken) {
	if o.Packets == 0 || t.mayBeCopies(c, o.Last) {
		return
	}
	if o.Numbered < o.Packets && t.cut[way{c.Ends[from].Addr, c.Ends[1-from].Addr}] {
		return // a copy of what came trimmed is the first of its PSN that came whole
	}
	i := t.between(Reordered, c, from)
	i.Begin, i.End, i.Tap = o.First, o.Last, o.Tap
	e := &c.Ends[from]
	i.late = late{
		name: of.name, packets: uint64(o.Packets), of: e.Packets, lost: uint64(o.Asked),
		naks: uint64(c.Ends[1-from].NAKs), copies: uint64(e.Retransmissions),
		whole: of == requests && t.allOvertaken(c, from) && placesOf(e.Trouble).after == 0, arrived: t.arrived(c, from),
		answers: of == requests && c.Ends[1-from].Messages > 0, numbered: o.Numbered == o.Packets, depth: o.Depth,
	}
	if of == responses {
		if i.late.reads = t.readsLateOf(c, 1-from); i.late.reads.Responses >= i.late.packets {
			i.late.of = i.late.reads.Responses
		}
	}
	copies := ""
	exact := of == requests && i.late.countCopies(e.Trouble) && len(t.run.Taps) <= 1 && !t.damaged[way{e.Addr, c.Ends[1-from].Addr}]
	if of == requests && e.Retransmissions > 0 {
		i.late.of -= min(i.late.of, i.late.copies)
		copies = i.late.more(e.Trouble)
	}
	i.show(o.Frame, o.Newest)
	how := ", though they had left first."
	switch one := o.Packets == 1; {
	case o.Numbered == o.Packets && one:
		how = ", though it had left first."
	case o.Numbered == o.Packets:
	case c.Service == packet.UC:
		how = "; UC retransmits nothing."
	case one:
		how = ", and nothing in the capture had asked for it again."
	default:
		how = ", and nothing in the capture had asked for them again."
	}
	least := ""
	if i.late.least = of == responses && c.Ends[1-from].Retransmissions > 0 || of == requests && tenth*uint64(e.Retransmissions) >= e.Packets && i.late.naks >= manyNAKs; i.late.least {
		i.late.most = !exact
		least = "At least " // of those that were asked for once more, or came after others in their place, not each is counted
	}
	i.What = least + fmt.Sprintf("%s that %v sent to %v came after later ones, up to %s ahead%s", count(uint64(o.Packets), of.name), &i.Local, &i.Peer, count(uint64(o.Depth), "PSN"), how)
	if c.Service != packet.UC && o.Numbered < o.Packets {
		i.Certainty = Likely // a requester that took them for lost early would look the same
	}
	i.fact("share", fmt.Sprintf("%s of %s%s", share(uint64(o.Packets), i.late.of), count(i.late.of, i.late.ofWhat()), copies))
	switch {
	case o.Numbered == o.Packets:
		i.fact("order", "by the IPv4 identifications, which count up as packets leave")
	case o.Numbered > 0:
		i.fact("order", number(uint64(o.Numbered))+" of them had left before what came first, by the IPv4 identifications, which count up as packets leave")
	}
	if of == requests && c.Service == packet.RC && o.Asked == 0 && c.Ends[1-from].NAKs == 0 {
		i.unasked(c, from, o)
	}
	if o.Asked > 0 {
		often := times(uint64(o.Asked))
		if of == requests && i.late.naks > i.late.lost {
			often = fmt.Sprintf("at least %s (it sent %s)", often, count(i.late.naks, "NAK"))
		}
		i.fact("cost", fmt.Sprintf(of.cost, often))
	}
	i.FitsWith = t.orderFits(e.Near, &o)
	i.Next = []string{"adaptive routing of the switches, and whether both adapters take packets out of order: if they do, --profile adaptive-routing judges them so, and --profile selective-repeat responders that keep what comes after a gap"}
	if o.Asked > 0 {
		i.Next = []string{fmt.Sprintf("adaptive routing or packet spraying of the switches for this traffic, and %s of %v: %v does not take packets out of order",
			of.next, i.Peer.Addr, &i.Peer)}
	}
	t.tell(i, fmt.Sprint(of.name, o.Asked > 0))
}

// countCopies takes what came as the first of its PSN out of the copies of an end, which had trouble k: it counts as retransmitted, as a later PSN had come. It reports whether nothing else of what had been
// missing can count so: all of that has come.
func (l *late) countCopies(k *qp.Trouble) bool {
	m := &k.Missing
	l.copies -= min(l.copies, uint64(m.Filled.Packets))
	return m.Filled.PSNs == m.PSNs
}

// more says how many others of an end, which had trouble k, were retransmitted or came late too.
func (l *late) more(k *qp.Trouble) string {
	if l.naks == 0 && (k == nil || k.Settled(false).Sum.Rounds[qp.TimerExpired] == 0) {
		return fmt.Sprintf("; %s more came after later ones too, or were retransmitted, though nothing asked for that", number(l.copies))
	}
	return fmt.Sprintf("; %s more were retransmitted", number(l.copies))
}

// What fits packets that came after later ones.
const (
	orderOfNetwork = "a network that uses several paths for one connection: adaptive routing, packet spraying, or a link that changed"
	orderOfCapture = "a capture that holds them in another order than they passed: several receive queues of the capturing host, or a mirror of several ports"
)

// orderFits is what fits packets that came after later ones. near says that the capture is at their sender.
func (t *teller) orderFits(near bool, o *qp.Overtaken) (list []string) {
	if !near {
		list = append(list, orderOfNetwork)
	}
	if o.Asked == 0 && (near || o.Numbered < o.Packets || !t.reorders()) { // else it came to the receiver so
		list = append(list, orderOfCapture)
	}
	if near {
		list = append(list, "an adapter that sends in another order on purpose (selective repeat, multipath)")
	}
	return list
}

// reorders reports whether a receiver asked for packets that the capture shows after later ones though they had left before: they came to it so,
// and not only to the capture.
func (t *teller) reorders() bool {
	return len(t.run.Taps) <= 1 && slices.ContainsFunc(t.run.Connections, func(c agent.Connection) bool {
		return slices.ContainsFunc(c.Ends[:], func(e agent.End) bool {
			if e.Trouble == nil {
				return false
			}
			o := e.Trouble.Overtaking.All()
			return o.Asked >= tellingRounds && o.Numbered > 0
		})
	})
}

// unasked says what it cost that requests came late which their receiver did not ask for again.
func (i *Incident) unasked(c *agent.Connection, from int, o qp.Overtaken) {
	e := &c.Ends[from]
	switch {
	case o.Numbered == o.Packets && e.Retransmissions == 0:
		i.harmless = true
		if everyOnce(c, from) {
			i.fact("lost", fmt.Sprintf("nothing: every PSN came once, and %v sent no NAK: packets left in order and arrived in another", i.Peer.Addr))
			i.fact("cost", fmt.Sprintf("none: %v takes them out of order, unless they came to it in order", i.Peer.Addr))
			break
		}
		i.fact("cost", fmt.Sprintf("none: %v sent no NAK, and nothing was retransmitted: it takes them out of order, unless they came to it in order", i.Peer.Addr))
	case onlyLate(c, from, e.Trouble, 1), hardlyCopies(o, e):
		i.harmless = i.harmless || hardlyCopies(o, e)
		i.fact("cost", fmt.Sprintf("none that shows: %v sent no NAK, and hardly a packet came twice: it seems to take them out of order, unless they came to it in order", i.Peer.Addr))
	}
}

// hardlyCopies reports whether packets that left in order came after later ones, and hardly any was retransmitted, by no timer.
func hardlyCopies(o qp.Overtaken, e *agent.End) bool {
	return o.Numbered == o.Packets && mostlyOvertaken*e.Retransmissions <= o.Packets && (e.Trouble == nil || e.Trouble.Settled(false).Sum.Rounds[qp.TimerExpired] == 0)
}

// everyOnce reports whether the capture holds each request of an end once, between the first and the newest of them.
func everyOnce(c *agent.Connection, from int) bool {
	e := &c.Ends[from]
	return e.Retransmissions == 0 && e.Trouble.Missing.PSNs == 0 && c.Ends[1-from].Duplicates == 0
}
