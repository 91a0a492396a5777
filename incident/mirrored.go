package incident

import (
	"fmt"
	"strings"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

const (
	// mirroredCopies is how many packets that came twice are told of, and mirroredShare of how many others that came once, as one of so many.
	mirroredCopies = 64
	mirroredShare  = 4
	// lackingShare is for how many that came twice at most one of the two is said to be missing where a packet came once, unless numbers tell copies.
	lackingShare = 4
	// lateOnce is for how many packets that came after later ones once at most one came so twice, where these are artifacts.
	lateOnce = 64
)

// mirrored tells of hosts that the packets between them are in the capture twice, and those of others are not.
func (t *teller) mirrored() {
	i := &Incident{Kind: Untrusted, Certainty: Proven, End: t.run.Last}
	pairs := map[pair]bool{}
	var a, b packet.Addr
	var alone, late, least, most uint64
	copies, once := t.mirroredTwice()
	for n := range t.run.Mirrored {
		m := &t.run.Mirrored[n]
		if mirroredShare*m.Copies < m.Once {
			continue
		}
		if len(pairs) == 0 {
			a, b, least, i.Begin, i.Tap = m.From, m.To, uint64(m.Least), m.Since, m.Tap
		}
		pairs[pairBy(m.From, m.To)] = true
		least, most = min(least, uint64(m.Least)), max(most, uint64(m.Most))
		if fewLack(m) {
			alone, late = alone+m.Alone, late+m.AllLate()
		}
		i.Begin = min(i.Begin, m.Since)
		if m.Tap == i.Tap {
			i.show(m.First, m.Newest)
		}
		if !m.Numbered {
			i.Certainty = Likely
		}
	}
	if copies < mirroredCopies {
		return
	}
	who := fmt.Sprintf("Packets between %v and %v are", a, b)
	if len(pairs) > 1 {
		who = fmt.Sprintf("Packets between %d pairs of hosts, %v and %v among them, are", len(pairs), a, b)
	}
	i.Frames = ends(i.Frames)
	i.What = fmt.Sprintf("%s in the capture twice: of %s, %s are copies of others. Each is judged once.", who, number(once+copies), number(copies))
	events, last := t.copiedEvents()
	never := t.neverAgain()
	if never {
		after := ""
		if last > 0 {
			after = fmt.Sprintf(" after frame %d", last)
		}
		i.What = strings.TrimSuffix(i.What, ".") + "; so judged, there is no retransmission" + after + ", and no NAK."
	}
	if t.timed() {
		i.fact("apart", span(int64(least))+" to "+span(int64(most)))
	}
	if i.Certainty == Proven && never {
		i.What = strings.Replace(i.What, "are copies of others.", "are copies of others, with the same IPv4 identifications.", 1)
	}
	i.copies = copies
	i.fact("events", events+t.secondEvents(events))
	if alone > 0 {
		i.fact("lacking", lackingCopies(alone, late, never))
		i.lacks = never
	}
	if never {
		missing := t.lostByCapture()
		i.fact("missing", missing)
		i.lacks = i.lacks || missing != ""
	}
	if i.lacks {
		i.What += " It is not whole, either: the capture or a mirror port lost " + atLeast(alone) + "."
		if i.Certainty == Proven && late > 0 {
			i.notNetwork = true
			i.What += " What looks retransmitted, missing or reordered between them comes of the capture, and not of the network."
		}
	}
	i.FitsWith = []string{"a mirror of two ports of one switch, which shows what passes between them as it comes in and as it goes out, and what has one of these ports to pass only once", "a mirror of both directions of a port, or a capture of all interfaces (tcpdump -i any)"}
	if i.Certainty == Likely {
		i.fact("not proven", "nothing numbers these packets: that they come twice in the same order, with new ones among the copies, tells them from retransmissions")
	}
	i.Next = []string{"for tools that take copies for retransmissions: mirror one direction of each port (what comes in), or one of the ports; in this file, editcap -d or, where many packets lie between, editcap -D 1000, which takes out what is alike in all bytes"}
	if i.lacks && !t.lossy() {
		i.Next = append(i.Next, "the drop counters of the mirror port and of the capturing host: what is missing here may have been sent")
	}
	t.order = append(t.order, i)
}

// atLeast says how many packets were lost, where that is known.
func atLeast(n uint64) string {
	if n == 0 {
		return "packets"
	}
	return "at least " + count(n, "frame")
}

// ends is the first and the last of frames in order.
func ends(frames []uint64) []uint64 {
	if len(frames) < 2 {
		return frames
	}
	return []uint64{frames[0], frames[len(frames)-1]}
}

// mayBeCopies reports whether what was retransmitted on a connection until a time may be copies that another mirrored port shows, as it was not known of then.
func (t *teller) mayBeCopies(c *agent.Connection, last int64) bool {
	for n := range t.run.Mirrored {
		if m := &t.run.Mirrored[n]; last <= m.Since && m.Between(c.Ends[0].Addr, c.Ends[1].Addr) {
			return true
		}
	}
	return false
}

// fewLack reports whether so many packets came twice that one of the two is missing where one came once: most, or at least half, of a sender that numbers its packets, where
// what came after later ones came once.
func fewLack(m *agent.Mirrored) bool {
	return lackingShare*m.Alone <= m.Copies || m.Numbered && m.Alone <= m.Copies && lateOnce*m.LateTwice <= m.AllLate()
}

// lackingCopies says of how many packets one of the two is missing, and of how many of these the first. never says that nothing is retransmitted.
func lackingCopies(n, late uint64, never bool) string {
	by := "the capture or a mirror port lost it, or the network between the two ports"
	if never {
		by = "the capture or a mirror port lost it; what a network loses is retransmitted, but for an acknowledgment that a later one covers"
	}
	said := fmt.Sprintf("one of the two of %s: %s", count(n, "packet"), by)
	if late > 0 {
		said += fmt.Sprintf("; the first of %s, so that the second comes after later packets: that is no reordering", number(late))
	}
	return said
}

// displaced takes back that packets were overtaken where another mirrored port shows them late: the capture lost the first of the two.
func (t *teller) displaced(c *agent.Connection, from int, k *qp.Trouble) {
	if t.onlySeconds(c, from) {
		k.Overtaking = nil
	}
	if o := k.Responses.All(); o.Packets > 0 && o.Packets <= t.shownLate(c, 1-from, true) {
		k.Responses = nil
	}
}

// onlySeconds reports whether all requests of end from that came after later ones are shown so by another mirrored port: the capture lost the first of each two.
func (t *teller) onlySeconds(c *agent.Connection, from int) bool {
	if len(t.run.Mirrored) == 0 || c.Ends[from].Trouble == nil {
		return false
	}
	o := c.Ends[from].Trouble.Overtaking.All()
	return o.Packets > 0 && o.Packets <= t.shownLate(c, from, false)
}

// shownLate is how many packets of end from, requests or else responses, another mirrored port shows so.
func (t *teller) shownLate(c *agent.Connection, from int, responses bool) (n uint32) {
	e, peer := &c.Ends[from], &c.Ends[1-from]
	for k := range t.run.Mirrored {
		if m := &t.run.Mirrored[k]; m.From == e.Addr && m.To == peer.Addr && fewLack(m) {
			n += m.Late(peer.QPN, responses)
		}
	}
	return n
}
