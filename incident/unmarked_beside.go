package incident

import (
	"fmt"
	"slices"
)

// unmarkedPart is which part of the payload to a receiver, one in so many, a sender sends at least of which it is told that the network cannot mark it.
const unmarkedPart = 10

// unmarkedBeside tells of the senders to the receiver of an incident that cannot be marked, where it is not known at which rates they and those that are sent: a good part of what congested it may be theirs.
func (t *teller) unmarkedBeside(i *Incident, list []sender) {
	if !t.timed() || !slices.ContainsFunc(list, func(s sender) bool { return s.marked.n > 0 && s.notified.n >= tellingCNPs }) {
		return
	}
	to, all := i.Peer.Addr, uint64(0)
	for _, x := range t.sendersTo()[to] {
		all += x.c.Ends[x.end].Bytes
	}
	for _, u := range t.unmarkableTo(to, list) {
		if unmarkedPart*u.bytes < all || u.first == 0 || u.first >= i.End || u.last <= i.Begin {
			continue
		}
		i.fact("not ECT", fmt.Sprintf("%v sends to it too, %s of all payload, from %s to %s, not ECN-capable (ECN 00 in the first packet of each of its queue pairs): the network marked none of its %s, and no CNP slows it down",
			u.from, share(u.bytes, all), t.offset(u.first), t.offset(u.last), count(u.packets, "packet")))
		i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("traffic of %v, which is not ECN-capable: congestion control takes the link from those that it can slow down", u.from))
		i.Next = slices.Insert(i.Next, 0, u.beCapable())
		i.harmless = false
	}
}
