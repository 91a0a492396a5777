package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/verifier/cm"
)

// discarded returns what ICMP says most often of what one host sends another, from a time on: why it was discarded, and where;
// nil: it says nothing.
func (t *teller) discarded(from, to packet.Addr, since int64) *agent.Discards {
	for k := range t.run.Discards {
		if d := &t.run.Discards[k]; d.From == from && d.To == to && d.Last >= since {
			return d
		}
	}
	return nil
}

// discardReasons says of a request that nothing answers why such were discarded, where ICMP tells, what fits of that and what to look at,
// and reports whether it does.
// sent is the hop limit with which it passed the tap; 0: not known.
func (t *teller) discardReasons(i *Incident, since int64, sent uint8) bool {
	from, to := i.Local.Addr, i.Peer.Addr
	d := t.discarded(from, to, since)
	if d == nil {
		return false
	}
	by := d.By.String()
	why := [...]string{
		"their hop limit (TTL) ran out there",
		"it has no route to " + to.String(), "it does not reach " + to.String(), "nothing takes UDP port 4791 there",
		"a filter there refuses them",
	}[d.Reason]
	if d.Reason == fabricagent.NoHopsLeft && sent != 0 {
		why = fmt.Sprintf("they were sent with a hop limit (TTL) of %d, which ran out there", sent)
	}
	i.What = fmt.Sprintf("%s %s discarded RoCE packets of %v to %v: %s.", i.What, by, from, to, why)
	i.fact("ICMP", fmt.Sprintf("%s sent %v %s (%v) that quote them, the first in frame %d", by, from, count(d.Count, "message"), d.Reason, d.Frame))
	i.show(d.Frame)
	if d.Reason == fabricagent.NoHopsLeft && sent == 1 {
		i.fact("loop", "a routing loop is excluded: a hop limit of 1 runs out at the first router")
	}
	if d.By != to {
		i.fact("so", fmt.Sprintf("nothing shows that they came to %v, or that its RDMA does not work", to))
	}
	i.FitsWith, i.Next = discardFits(d, sent)
	return true
}

// mostRouters is how many routers there are at most between two hosts of one network, so that a higher hop limit ran out in a routing loop.
const mostRouters = 16

// discardFits says what fits of packets that were discarded, as ICMP says, and what to look at.
func discardFits(d *agent.Discards, sent uint8) (fits, next []string) {
	by, from, to := d.By.String(), d.From.String(), d.To.String()
	loop := "a routing loop on the way from " + from + " to " + to
	way := fmt.Sprintf("the routes on %s and beyond it to %s (traceroute from %s)", by, to, from)
	switch d.Reason {
	case fabricagent.NoHopsLeft:
		if sent > mostRouters {
			return []string{loop}, []string{way}
		}
		fits, next = []string{hopLimitFits(from)}, []string{hopLimitNext(from, to)}
		if sent == 0 {
			fits, next = append(fits, loop), append(next, way)
		}
	case fabricagent.NoRoute:
		fits = []string{"a route to " + to + " that is missing on " + by}
		next = []string{"the routes on " + by + ": whether there is one to " + to + " in its VRF"}
	case fabricagent.NoHost:
		fits = []string{"a host " + to + " that is down or cut off, or not at this address: " +
			by + ", which would deliver to it, gets no answer of ARP or neighbor discovery"}
		next = []string{"whether " + to + " is up and has this address (ip address, rdma link), and ARP on " + by + " (ip neighbor)"}
	case fabricagent.NoPort:
		fits = []string{"a host " + by + " that does not speak RoCEv2 at this address: RDMA is off, " +
			"its driver is not loaded (rdma_rxe), or the address belongs to an interface without RDMA"}
		next = []string{"rdma link on " + by + ", and the GID of its address (show_gids)"}
	case fabricagent.Prohibited:
		fits = []string{"a filter of " + by + " that refuses UDP port 4791 from " + from + " to " + to}
		next = []string{"the filter rules (ACL, firewall) of " + by + " for UDP port 4791"}
	}
	return fits, next
}

// hopLimitFits is what fits of packets whose hop limit is too small.
func hopLimitFits(from string) string {
	return "a hop limit (TTL) that " + from + " sets too small, as for a peer in its own subnet: " +
		"its route, GID entry or path record, or the program that sets it"
}

// hopLimitNext is what to look at then.
func hopLimitNext(from, to string) string {
	return fmt.Sprintf("on %s: which hop limit its RDMA packets to %s get: ip route get %s (hoplimit), sysctl net.ipv4.ip_default_ttl, and "+
		"the program, where it sets the address itself (grh.hop_limit)", from, to, to)
}

// usualHopLimits are those with which hosts send.
var usualHopLimits = [...]uint8{64, 128, 255}

// routersTo is through how many routers the answers of a host to pings came to the tap, as their hop limit, hops, tells;
// 0: none, or it is not known.
func (t *teller) routersTo(a packet.Addr) (routers, hops uint8) {
	k := slices.IndexFunc(t.run.Echoes, func(e agent.Echo) bool { return e.Addr == a })
	if k < 0 || len(t.run.Taps) > 1 || t.run.Echoes[k].HopLimit == 0 {
		return 0, 0
	}
	hops = t.run.Echoes[k].HopLimit
	at := slices.IndexFunc(usualHopLimits[:], func(n uint8) bool { return n >= hops })
	return usualHopLimits[at] - hops, hops
}

// fewHops says, of a REQ that nothing answers, whose hop limit is used up on the way, as pings of the host that it goes to tell, what fits
// of that, and reports whether it is.
func (t *teller) fewHops(i *Incident, q *cm.Unanswered) bool {
	routers, hops := t.routersTo(q.To)
	if q.HopLimit == 0 || q.HopLimit > routers || routers > mostRouters {
		return false
	}
	i.fact("hop limit", fmt.Sprintf("%v sent the REQs with %d (TTL); answers of %v to pings came with %d, thus through %s, "+
		"where it seems that the REQs are discarded",
		q.From, q.HopLimit, q.To, hops, count(uint64(routers), "router")))
	i.FitsWith = []string{hopLimitFits(q.From.String()) +
		"; the REQs do not come to " + q.To.String()}
	i.Next = []string{hopLimitNext(q.From.String(), q.To.String())}
	return true
}
