package incident

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
)

// A capture has lost many packets from manyLost on, where these are one in lostPart of all that was sent.
const (
	manyLost = 64
	lostPart = 20
)

// lostMany has what tells that the capture lost so many packets, beside so many that it holds, say what shows of the network, and, where they are a
// large part, which part that is, and come first.
func (t *teller) lostMany(i *Incident, lost, held uint64) {
	i.lacking = lost
	if lost < manyLost || len(t.run.Taps) > 1 {
		return
	}
	if lostPart*lost >= lost+held {
		i.lostMany = true
		i.What = fmt.Sprintf("%s That is at least %s of all that was sent.", i.What, share(lost, lost+held))
	}
	if s := t.networkWell(); s != "" {
		i.noLoss = true
		i.What += " Nothing in it says that the network lost any: " + s
	}
	if k := t.run.Clock; k.Count > 0 && i.noLoss {
		i.Facts = slices.Insert(i.Facts, 0, Fact{"clock", fmt.Sprintf("it was set, too, in frame %d: see there", k.Frame)})
	}
	if !i.lostMany {
		return
	}
	i.What += " What it lacks may have been sent: capture again, as next says, before you judge counts, times or missing answers by it."
	i.Next = append(i.Next, "the counters of the adapters, for what the network loses (out_of_sequence, packet_seq_err, local_ack_timeout_err)")
}

// networkWell says that a capture holds nothing that shows a loss in the network, but packets that a mirror shows twice; "": it does, or has no
// reliable connection.
func (t *teller) networkWell() string {
	copies, _ := t.mirroredTwice()
	switch {
	case copies < mirroredCopies && t.noneRetransmitted():
		return "it holds no PSN sequence NAK and no retransmission."
	case copies >= mirroredCopies && (t.noneRetransmitted() || t.neverAgain()):
		return fmt.Sprintf("it holds no PSN sequence NAK and no retransmission; "+
			"%s copies that look like some are of packets that a mirror shows twice, see there.", number(copies))
	}
	return ""
}

// mirroredTwice is how many packets are copies of others that a mirror shows at two ports, and how many are none, of those between the same hosts.
func (t *teller) mirroredTwice() (copies, once uint64) {
	for n := range t.run.Mirrored {
		if m := &t.run.Mirrored[n]; mirroredShare*m.Copies >= m.Once {
			copies, once = copies+m.Copies, once+m.Once
		}
	}
	return copies, once
}

// noneRetransmitted reports whether no reliable connection shows that anything was asked for once more or retransmitted, and there is one.
func (t *teller) noneRetransmitted() (none bool) {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if !c.Service.Reliable() {
			continue
		}
		none = true
		if slices.ContainsFunc(c.Ends[:], func(e agent.End) bool {
			return e.Stalled || e.Retransmissions > 0 || e.SequenceNAKs > 0 || e.Trouble != nil && e.Trouble.Sum.Count > 0
		}) {
			return false
		}
	}
	return none
}

// capturesFirst has what tells of a capture that lost many packets come before what is no failure that a capture shows which has lost some, and tell in a line of what only such holes make: answers, and ends of messages, that nobody asked for again.
func capturesFirst(list []Incident) []Incident {
	n := slices.IndexFunc(list, func(i Incident) bool { return i.lostMany })
	if n < 0 {
		return copiesFirst(beforeHarmless(beforeHoled(underLosses(list))))
	}
	capture := list[n]
	var holed []string
	list = slices.DeleteFunc(list, func(i Incident) bool {
		if i.inHole && i.Certainty == Possible {
			holed = append(holed, fmt.Sprintf("%v to %v", &i.Local, &i.Peer))
		}
		return i.lostMany || i.inHole && i.Certainty == Possible
	})
	if len(holed) > 0 {
		capture.fact("open", "it holds no answer to a request, or not all of a message, and no retransmission of it, from "+enumerate(holed)+": that, too, may be among what it lost")
	}
	n = slices.IndexFunc(list, func(i Incident) bool { return !i.foremost && (!i.Failed() || i.Certainty == Possible) })
	if n < 0 {
		n = len(list)
	}
	list = slices.Insert(list, n, capture)
	if m := slices.IndexFunc(list, func(i Incident) bool { return i.notNetwork }); m > n { // which says why it lost them
		copies := list[m]
		list = slices.Insert(slices.Delete(list, m, m+1), n, copies)
	}
	return list
}

// beforeHoled has what tells of the capture come first where it lost packets, and all that is told before are answers which it does not hold, and losses
// of the network that are few beside so many holes, and cost little: of these it tells, and what may be holes comes last.
func beforeHoled(list []Incident) []Incident {
	at := slices.IndexFunc(list, func(i Incident) bool { return i.lacks && (i.noLoss || i.losesFrames && i.lacking >= manyLost) })
	if at <= 0 {
		return list
	}
	var captures, others, holed []Incident
	rounds := uint64(0)
	for _, i := range list {
		switch {
		case i.Kind == Untrusted:
			captures = append(captures, i)
		case i.inHole:
			holed = append(holed, i)
		case i.Kind == Loss && i.cost() < time.Duration(interruption) && !list[at].noLoss:
			rounds += i.again.rounds
			others = append(others, i)
		default:
			return list
		}
	}
	if copiesTimes*rounds > list[at].lacking {
		return list
	}
	if rounds > 0 {
		capture := &captures[slices.IndexFunc(captures, func(i Incident) bool { return i.losesFrames })]
		capture.What += fmt.Sprintf(" Of the network it shows few losses: %s of retransmission, see below.", count(rounds, "round"))
	}
	for k := range holed {
		for n, next := range holed[k].Next {
			holed[k].Next[n] = strings.Replace(next, "see what it lost below", "see what it lost above", 1)
		}
	}
	return slices.Concat(captures, others, holed)
}

// beforeHarmless has what tells that the capture lost packets come before congestion for which nothing was retransmitted.
func beforeHarmless(list []Incident) []Incident {
	n := slices.IndexFunc(list, func(i Incident) bool { return i.lacks })
	first := slices.IndexFunc(list, func(i Incident) bool { return i.Kind == Congestion && i.harmless })
	if first < 0 || n < first {
		return list
	}
	capture := list[n]
	return slices.Insert(slices.Delete(list, n, n+1), first, capture)
}
