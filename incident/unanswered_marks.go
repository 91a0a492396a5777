package incident

import (
	"fmt"
	"slices"

	"ibwitness/packet"
)

// Where one receiver answers no marks with notifications, and another, to which the same hosts send, does, its notification point is why these do not slow down: what is lost of what they send to it follows.

// answering is a receiver that answers marks of what hosts send which send to another, too.
type answering struct {
	host           packet.Addr
	senders        []packet.Addr // to both
	marked, notify uint64
	again          uint64 // of what is sent to it: retransmitted, and NAKs
}

// answersBeside is the receiver with most notifications that the senders of marked packets to another send to, too, where that other answers none, though the capture holds what it sends; nil: there is none.
// of is the ways to each receiver.
func (t *teller) answersBeside(to packet.Addr, of map[packet.Addr][]*onWay) *answering {
	marked, senders := uint64(0), map[packet.Addr]bool{}
	for _, w := range of[to] {
		if w.notified.n > 0 {
			return nil
		}
		if w.marked.n >= manyMarks {
			marked, senders[w.from] = marked+w.marked.n, true
		}
	}
	if marked == 0 || t.hosts[to].last == 0 {
		return nil
	}
	var best *answering
	for host, ways := range of {
		x := answeringOn(host, ways, senders)
		if len(x.senders) == 0 || x.marked < manyMarks || x.notify < tellingCNPs || best != nil && (x.notify < best.notify || x.notify == best.notify && host.Compare(best.host) > 0) {
			continue
		}
		slices.SortFunc(x.senders, packet.Addr.Compare)
		x.again, best = t.retransmittedOn(ways), x
	}
	return best
}

// answeringOn is a receiver and how it answers marks on the ways to it; senders is who sends to another, too.
func answeringOn(host packet.Addr, ways []*onWay, senders map[packet.Addr]bool) *answering {
	x := &answering{host: host}
	for _, w := range ways {
		x.marked, x.notify = x.marked+w.marked.n, x.notify+w.notified.n
		if senders[w.from] && w.marked.n > 0 && w.notified.n > 0 {
			x.senders = append(x.senders, w.from)
		}
	}
	return x
}

// unlikeOther has congestion that its receiver does not answer tell of one that does, and to look at what is different; marks is how many packets were marked, and from whom they come.
func (t *teller) unlikeOther(i *Incident, x *answering, marks, from string) {
	to := i.Peer.Addr
	i.unanswered = true
	i.What = fmt.Sprintf("%v sent no notification (CNP), though the network marked %s from %s to it as having met congestion; %v, to which %s %s, answered %s with %s.",
		to, marks, from, x.host, someOf(x.senders), sendToo(len(x.senders)), t.atLeast(x.marked, "marked packet"), t.atLeast(x.notify, "CNP"))
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "shares" || f.Label == "rate" }) // that they share it fairly mends nothing
	if x.again == 0 {
		i.Facts = slices.Insert(i.Facts, 0, Fact{"beside", fmt.Sprintf("nothing that was sent to %v was retransmitted", x.host)})
	}
	i.FitsWith = []string{
		fmt.Sprintf("a notification point of %v that is off for the priority of this traffic, so that its senders never slow down", to),
		fmt.Sprintf("a DSCP or priority that %v does not take for that of RoCE (trust mode, DSCP mapping)", to),
	}
	i.Next = []string{
		fmt.Sprintf("congestion control on %v, beside that of %v: the RoCE notification point (ecn/roce_np/enable) for this priority, trust mode and DSCP mapping", to, x.host),
		"np_ecn_marked_roce_packets and np_cnp_sent of both",
	}
}

// pointOff is what fits marks that a receiver does not answer.
const pointOff = "a receiver whose congestion control is off: its notification point"

// pointOf is where to look then.
func pointOf(to packet.Addr) string {
	return "congestion control on " + to.String() + " (RoCE notification point, DCQCN), for this priority"
}

// pointsOff has marks that a receiver does not answer fit that first, where something else was found to fit.
func (i *Incident) pointsOff(to packet.Addr) {
	if !slices.Contains(i.FitsWith, pointOff) {
		i.FitsWith, i.Next = slices.Insert(i.FitsWith, 0, pointOff), slices.Insert(i.Next, 0, pointOf(to))
	}
}

// sendToo is the verb for so many hosts.
func sendToo(n int) string {
	if n == 1 {
		return "sends too"
	}
	return "send too"
}
