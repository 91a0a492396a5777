package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
)

// A capture has lost many packets from manyLost on, where these are one in lostPart of all that was sent.
const (
	manyLost = 64
	lostPart = 20
)

// lostMany has what tells that the capture lost so many packets, beside so many that it holds, say which part that is, and what shows of the network, and come first: where they are many.
func (t *teller) lostMany(i *Incident, lost, held uint64) {
	if lost < manyLost || lostPart*lost < lost+held || len(t.run.Taps) > 1 {
		return
	}
	i.lostMany = true
	i.What = fmt.Sprintf("%s That is at least %s of all that was sent.", i.What, share(lost, lost+held))
	if t.noneRetransmitted() {
		i.What += " Nothing in it says that the network lost any: it holds no PSN sequence NAK and no retransmission."
	}
	i.Next = append(i.Next, "the counters of the adapters, for what the network loses (out_of_sequence, packet_seq_err, local_ack_timeout_err)")
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
		return copiesFirst(beforeHarmless(list))
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
	return slices.Insert(list, n, capture)
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
