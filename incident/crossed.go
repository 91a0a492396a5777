package incident

import (
	"fmt"
	"slices"

	"ibwitness/packet"
)

// crossed are two incidents that are very likely the halves of one connection: what one end sends to an address that sends nothing in the capture, and what another address sends to that end.
type crossed struct{ away, back *Incident }

// crossedHalves says of two incidents that they are very likely the halves of one connection, one end of which was given another address of the other end, where exactly one such pairing is possible.
func (t *teller) crossedHalves(list []Incident) {
	if !t.timed() {
		return
	}
	var all []crossed
	for n := range list {
		for m := range list {
			if t.crosses(&list[n], &list[m]) {
				all = append(all, crossed{&list[n], &list[m]})
			}
		}
	}
	for k := range all {
		x := &all[k]
		if !slices.ContainsFunc(all, func(o crossed) bool { return o != *x && (o.away == x.away || o.back == x.back) }) && !t.sentElsewhere(list, x) {
			t.tellCrossed(x)
		}
	}
}

// crosses reports whether two incidents may be the halves of one connection: one is of requests to a host that sends nothing in the capture, the other of those of a third host to the one that sends these, which
// answers others; they began at the same time, and each was retransmitted while the other was.
func (t *teller) crosses(away, back *Incident) bool {
	a, b := away.Local.Addr, back.Local.Addr
	switch {
	case away.Kind != NeverAnswered || back.Kind != NeverAnswered || away.Certainty == Possible || back.Certainty == Possible:
	case back.Peer.Addr != a || a == b || b == away.Peer.Addr || len(away.Also)+len(back.Also) > 0 || away.Connections != back.Connections:
	case t.hosts[away.Peer.Addr].last != 0 || t.hosts[a].connections < 2 || !t.hosts[a].heard: // a sends on this connection, too
	case max(away.Begin, back.Begin)-min(away.Begin, back.Begin) >= together || max(away.Begin, back.Begin) >= min(away.End, back.End):
	default:
		return t.nearOwn(b, &away.Peer) && t.nearOwn(a, &back.Peer)
	}
	return false
}

// nearOwn reports whether a queue pair may be one of a host: its number is near those that the host uses on other connections, or these are not known.
func (t *teller) nearOwn(host packet.Addr, p *Party) bool {
	used, known := t.qpnsOf(host)
	return !known || p.QPNKnown && p.QPN+nearQPNs >= used.least && p.QPN <= used.most+nearQPNs
}

// sentElsewhere reports whether requests of others than those of x to the same silent address are not answered either: it is what does not answer then.
func (t *teller) sentElsewhere(list []Incident, x *crossed) bool {
	return slices.ContainsFunc(list, func(i Incident) bool {
		return i.Kind == NeverAnswered && i.Peer.Addr == x.away.Peer.Addr && i.Local.Addr != x.away.Local.Addr
	})
}

// tellCrossed tells it, first in both.
func (t *teller) tellCrossed(x *crossed) {
	a, b, other := x.away.Local.Addr, x.back.Local.Addr, x.away.Peer.Addr
	said := fmt.Sprintf("Very likely the two halves of one connection, for which %v was given the address %v in place of %v: %v sends to %v QP 0x%x, and %v to %v QP 0x%x, from the same time on (within %s), and neither is ever answered. ",
		a, other, b, a, other, x.away.Peer.QPN, b, a, x.back.Peer.QPN, span(max(x.away.Begin, x.back.Begin)-min(x.away.Begin, x.back.Begin)))
	for _, i := range []*Incident{x.away, x.back} {
		i.What = said + i.What
		i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "begin" })
		i.Facts = slices.Insert(i.Facts, 0,
			Fact{"halves", fmt.Sprintf("%v to %v from %s on, in frame %d; %v to %v from %s on, in frame %d%s", &x.away.Local, &x.away.Peer, t.offset(x.away.Begin), x.away.Frames[0], &x.back.Local, &x.back.Peer, t.offset(x.back.Begin), x.back.Frames[0], t.nearOthers(x))},
			Fact{"unknown", fmt.Sprintf("whether %v announced the address %v, or %v took it for another: that exchange is not in the capture, and packets of RC do not tell the queue pair that they come from", b, other, a)})
		i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("a GID of another port of the host of %v that %v was given (its index, or another adapter): what %v sends goes to where no such queue pair is, and what comes from %v has not the source address that its queue pair expects, and is dropped without an answer", b, a, a, b))
		i.Next = slices.Insert(i.Next, 0, fmt.Sprintf("which GID %v announced for this connection, and which %v used: the GID index and adapter of both (show_gids; NCCL_IB_GID_INDEX, NCCL_IB_HCA, UCX_NET_DEVICES), and the order of the adapters", b, a))
	}
}

// nearOthers says near which other queue pairs of their hosts the numbers of the halves are.
func (t *teller) nearOthers(x *crossed) (s string) {
	if used, known := t.qpnsOf(x.back.Local.Addr); known {
		s = fmt.Sprintf("; 0x%x is near those that %v uses (%s)", x.away.Peer.QPN, x.back.Local.Addr, extentOf(used.least, used.most))
	}
	if used, known := t.qpnsOf(x.away.Local.Addr); known {
		s += fmt.Sprintf("; 0x%x is near those that %v uses (%s)", x.back.Peer.QPN, x.away.Local.Addr, extentOf(used.least, used.most))
	}
	return s
}
