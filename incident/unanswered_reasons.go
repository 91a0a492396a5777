package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
)

// restart is for how long a host is silent at least that restarts.
const restart = int64(10 * time.Second)

// sizes says whether what was not answered is larger than what was.
func (t *teller) sizes(i *Incident, c *agent.Connection, from int, k *qp.Stall, l *life) {
	if !t.bySize(i, c, from, k) && !t.shrinks(i, c, from, k, l) {
		t.byKeptSizes(i, c, from, k)
	}
}

// reasons says what would look like an unanswered request, and what to look at.
func (t *teller) reasons(i *Incident, c *agent.Connection, from int, k *qp.Stall, l *life) {
	local, peer := i.Local.Addr.String(), i.Peer.Addr.String()
	alive, known := t.alive(i, k), t.hosts[i.Peer.Addr].last != 0
	if m := t.movedHop(c, from); m != nil && i.Kind == Unanswered && c.Closed.At == 0 {
		t.nothingArrives(i, c, from)
		t.tellHop(i, m)
		return
	}
	t.sizes(i, c, from, k, l)
	switch {
	case closedBefore(c, from, k), closedAtOnce(c, from, k):
		i.FitsWith = append(i.FitsWith, "a queue pair of "+peer+" that was destroyed when it disconnected: its program ended, was killed, or closed the connection; the DREQ did not come to "+local+", or its program had not looked yet")
		i.Next = append(i.Next, "the log and the exit status of the process on "+peer+" at that time", "what "+local+" did with the DREQ: it answers with a DREP")
	case k.Unshown:
		i.FitsWith = append(i.FitsWith, "a path that drops the packets before these, ahead of the tap, and not these: by their size, by a filter, or since they are damaged")
		i.Next = append(i.Next, "discards and errors of the switch ports between "+local+" and the tap (ethtool -S), and the MTU there; a capture at "+local+": how large the packets are that are missing")
		t.bySizeUnshown(i, c, from, k)
	case k.Rounds[qp.SequenceAsked] > 0 && !k.OnlyNAKed:
		i.FitsWith = append(i.FitsWith, "a path that drops these packets and not those after them: by their size, by a filter, or since they are damaged")
		i.Next = append(i.Next, "discards and errors of the switch ports between (ethtool -S), and out_of_sequence of "+peer)
	case took(c, from, k):
		t.responseLost(i, c, from, k)
	case i.Kind == NeverAnswered && known && alive:
		if !t.hosts[i.Local.Addr].heard {
			i.fact("source", "the capture holds no packet to "+local+", from any host")
			i.FitsWith = append(i.FitsWith, "a source address, "+local+", that the queue pair of "+peer+" does not expect, or that has no way back: another GID index than the one that was exchanged")
			i.Next = append(i.Next, "the GID index that the program uses, and whether "+local+" is its address (show_gids, ip address)")
		}
		t.neverRight(i, c, from)
	case i.Kind == NeverAnswered:
		t.neverReached(i, c)
	case i.Kind == Unanswered && t.neverTaken(c, from):
		t.wrongQPN(i, c, from)
	case t.inError(i, c, from, k):
		i.follows = true
		i.FitsWith = append(i.FitsWith, "a queue pair of "+peer+" that is in the error state, since its own request on this connection was not answered, or too late: see there")
		i.Next = append(i.Next, "why the request of "+i.Peer.String()+" was not answered: that came first")
	case t.ended()[c] && c.Closed.By == i.Peer.Addr:
		i.FitsWith = append(i.FitsWith, "a program on "+peer+" that ended: it was killed, crashed or exited, and its queue pairs were gone; its host disconnected for it, and refused REQs as nothing listened any more")
		i.Next = append(i.Next, "the log and exit status of the program that owned "+i.Peer.String()+", and dmesg of "+peer+" (out of memory, segmentation fault)")
		return
	case i.Kind == Unanswered && t.nothingArrives(i, c, from):
	case i.Kind == Unanswered && c.Ends[1-from].Last > k.Last && !t.cutOff(i, k):
		t.oneWay(i, c, from, k)
	case t.cutOff(i, k) && t.bothWays(c, from):
		i.FitsWith = append(i.FitsWith, "a link, switch or route between "+local+" and "+peer+" that fails in both directions, after the tap: it sees what each of them sends, and nothing shows that any of it arrives")
		i.Next = append(i.Next, "link events in the logs of both hosts and of the switches between", "the receive counters of both (ethtool -S): whether anything arrives")
	case t.cutOff(i, k):
		i.FitsWith = append(i.FitsWith, "a path that fails on the way to "+peer+": what it sends comes through, and nothing comes to it")
		i.Next = append(i.Next, "routes, filters (UDP port 4791) and switch ports on the way from "+local+" to "+peer+", and not only the way back", "the receive counters of "+peer+" (ethtool -S): whether anything arrives")
	case alive:
		t.goneAlone(i, c, from, k, l)
		if !l.ended(&c.Ends[1-from]) {
			t.failedBySize(i, c, from, k)
		}
		t.silentMeanwhile(i, k)
	case i.Kind == Unanswered && t.moved(i, &c.Ends[1-from], k), t.goneReasons(i, max(k.Begun, c.Ends[1-from].Last)), l.reasons(i):
	case t.hosts[i.Peer.Addr].connections > 1:
		i.FitsWith = append(i.FitsWith, wentDown(i.Peer.Addr), pathFails)
		if t.backAtOnce(c, from, k) {
			i.FitsWith = append(i.FitsWith, "an address of "+peer+" that was taken from it for that time: the queue pair is lost, and its host accepts the next connection at once")
		}
		i.Next = append(i.Next, linkOf(peer), reached(peer))
	default:
		i.FitsWith = append(i.FitsWith, "a process on "+peer+" that was killed or gave up, so that its queue pair is gone", "a host, adapter or link of "+peer+" that went down, or a path that fails: "+
			"as "+peer+" had nothing else to send here, the capture does not tell which")
		i.Next = append(i.Next, "the process that owns "+i.Peer.String()+": its log and exit status", linkOf(peer))
	}
	if n := t.lossesBeside(c, k); n > 0 {
		sent, least := rounds(k)
		i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("packets that were lost, as others between these hosts were, for which there were %s of retransmission: it was sent %s, and each time it or its answer was lost", count(n, "round"), least+times(sent+1)))
	}
	t.alsoFits(i, c, from, k, alive)
}

// atOnceAgain is within what time of a DREQ the next connection is accepted by a host that has neither restarted nor been cut off until then.
const atOnceAgain = int64(time.Second)

// backAtOnce reports whether end from of c gave it up with a DREQ, and the same host accepted the next connection at once after that.
func (t *teller) backAtOnce(c *agent.Connection, from int, k *qp.Stall) bool {
	if c.Closed.At <= k.Since || !closedByPeer(c, 1-from) {
		return false
	}
	next := t.nextOf(c, c.Closed.At)
	return next != nil && next.PairedBy == agent.ByCM && next.First-c.Closed.At < atOnceAgain && next.Ends[0].Addr == c.Ends[from].Addr
}

// neverReached says why nothing of a peer may ever have come to a requester, or of it to the peer.
func (t *teller) neverReached(i *Incident, c *agent.Connection) {
	local, peer := i.Local.Addr.String(), i.Peer.Addr.String()
	if c.Encap == packet.RoCEv2IPv6 && (linkLocal(i.Local.Addr) || linkLocal(i.Peer.Addr)) {
		i.FitsWith = append(i.FitsWith, "link-local addresses (fe80::/10), which no router forwards: the GIDs of the lowest indexes, where the hosts are in different subnets")
		i.Next = append(i.Next, "a GID index of both hosts whose address is routed (show_gids; NCCL_IB_GID_INDEX, UCX_IB_GID_INDEX, ib_write_bw -x)")
	}
	look, other := "; a wrong destination QPN would look the same", "route, GID, VLAN or firewall (UDP port 4791)"
	if c.PairedBy != agent.ByCM && t.sentIP(i.Peer.Addr, i.Local.Addr, i.Begin) != nil {
		i.FitsWith = append(i.FitsWith, "a wrong destination QPN, or a queue pair of "+peer+" that is not in RTR: the host and the way to it work for IP, and what comes to such a queue pair is dropped, and not answered")
		i.Next = append(i.Next, "the QPNs that both ends exchanged (over TCP), and rdma resource show qp on "+peer+": whether it has the one to which the requests go")
		look, other = "", "filter of UDP port 4791, or another VLAN or GID"
	}
	if look == "" && t.othersWork(c) {
		return // no filter, and its RDMA works
	}
	i.FitsWith = append(i.FitsWith, "a "+other+" that keeps packets from "+peer+", or its answers from "+local, t.downOr(i.Peer.Addr, i.Begin)+look)
	i.Next = append(i.Next, "ping and rping from "+local+" to "+peer, "the GID that was used: its index, RoCE version and VLAN")
}

// othersWork reports whether messages on other connections between the hosts of c, of the same encapsulation, were answered.
func (t *teller) othersWork(c *agent.Connection) bool {
	return slices.ContainsFunc(t.siblings(c), func(d *agent.Connection) bool {
		return d != c && d.Encap == c.Encap && d.Timing != nil &&
			slices.ContainsFunc(d.Timing.Ends[:], func(e timing.End) bool { return e.Acked.Count+e.Read.Count > 0 })
	})
}

// lossesBeside is how many rounds of retransmission there were between the hosts of c for what was answered then, where stall k has few; 0: few, too.
func (t *teller) lossesBeside(c *agent.Connection, k *qp.Stall) (n uint64) {
	list := t.siblings(c)
	if k.Total() > fewRounds || len(list) > mostOthers {
		return 0
	}
	for _, d := range list {
		for e := range d.Ends {
			if x := d.Ends[e].Trouble; x != nil {
				n += uint64(x.Sum.Rounds[qp.SequenceAsked] + x.Sum.Rounds[qp.TimerExpired] + x.Sum.Rounds[qp.ResponseLost])
			}
		}
	}
	if n < manyLosses {
		return 0
	}
	return n
}

// alsoFits says what would look like an unanswered request besides, and what to look at besides. alive says that the peer was.
func (t *teller) alsoFits(i *Incident, c *agent.Connection, from int, k *qp.Stall, alive bool) {
	t.mayBeGone(i, c, k)
	if next := t.seen[i.Peer.Addr].next(k.Last); !alive && !i.sized && t.timed() && next > k.Last+restart {
		i.FitsWith = append([]string{restarts}, i.FitsWith...)
	}
	if !c.Ends[0].Near && !c.Ends[1].Near && !k.Unshown && !took(c, from, k) {
		i.Next = append(i.Next, captureAt(i.Peer.Addr.String())+"whether the requests arrived there")
	}
}

// linkLocal reports whether an IPv6 address is of the own link only (RFC 4291 2.5.6).
func linkLocal(a packet.Addr) bool { return a.Hi>>54 == 0xFE80>>6 }

// byKeptSizes says that the size of the packets may be why, as far as those show that were kept.
func (t *teller) byKeptSizes(i *Incident, c *agent.Connection, from int, k *qp.Stall) {
	if size := t.blackHole(c, from, k); size != "" {
		i.fact("size", size)
		i.FitsWith = append(i.FitsWith, "a path whose MTU is smaller than the path MTU of the queue pair: large packets vanish, small ones arrive")
		i.Next = append(i.Next, fmt.Sprintf("the MTU of every interface and switch port between %v and %v: ping -M do -s with the size of the packet", i.Local.Addr, i.Peer.Addr))
	}
}

// bothWays reports whether the peer of end from of c has requests, too, that the host of that end answers on none of their connections.
func (t *teller) bothWays(c *agent.Connection, from int) bool {
	list := t.siblings(c)
	return len(list) <= mostOthers && slices.ContainsFunc(list, func(d *agent.Connection) bool {
		return slices.ContainsFunc(d.Ends[:], func(e agent.End) bool { return e.Addr == c.Ends[1-from].Addr && e.Stalled })
	})
}

// inError reports whether the peer, which is not end from of c, has used up the retries of its own request on this connection before the requester began to retransmit.
func (t *teller) inError(i *Incident, c *agent.Connection, from int, k *qp.Stall) bool {
	if i.Kind != Unanswered {
		return false
	}
	if s := t.tooLate(c, 1-from); s != nil {
		return true
	}
	first, vain := t.vain(c, 1-from)
	return vain && first.Last < k.Begun && t.gaveUp(c, 1-from, &first) != ""
}

// oneWay says what fits where the peer still sends on the connection itself: its queue pair is there.
func (t *teller) oneWay(i *Incident, c *agent.Connection, from int, k *qp.Stall) {
	local, peer := i.Local.Addr.String(), i.Peer.Addr.String()
	t.itsEnd(i, c, from, k)
	if size := t.largeResponses(c, from, k); size != "" && !i.sized {
		i.fact("size", size)
		i.FitsWith = append(i.FitsWith, "a path from "+peer+" whose MTU is smaller than the path MTU of the queue pair: large responses vanish, small packets arrive")
		i.Next = append(i.Next, "the MTU of every interface and switch port from "+peer+" to "+local+": ping -M do -s with the size of the packet")
	}
	lost := "requests that are lost on the way to " + peer + ", or answers on the way back: by their size, or by a filter"
	if len(i.FitsWith) == 0 {
		lost += ", or since a path fails in one direction"
	}
	i.FitsWith = append(i.FitsWith, lost, "a responder that hangs, while its requester works")
	i.Next = append(i.Next, "discards and errors of the switch ports between (ethtool -S)")
}

// itsEnd says that the peer, which is not end from of c, still sends on the connection itself, where it does.
func (t *teller) itsEnd(i *Incident, c *agent.Connection, from int, k *qp.Stall) {
	if c.Ends[1-from].Last > k.Last {
		i.fact("its end", "sent on this connection after the last retransmission: its queue pair was there, and not in the error state")
	}
}

// took reports whether the responder, which is not end from of c, has taken the request of a stall, and is still there, as what it sent shows: a part of the response, or what acknowledges a later one.
func took(c *agent.Connection, from int, k *qp.Stall) bool {
	return k.OnlyNAKed || c.Ends[1-from].Last > k.Begun && (k.PassedOver != 0 || k.Part > 0 || k.Partly)
}

// responseLost says what fits where the responder has taken the request: its response is missing.
func (t *teller) responseLost(i *Incident, c *agent.Connection, from int, k *qp.Stall) {
	local, peer := i.Local.Addr.String(), i.Peer.Addr.String()
	t.itsEnd(i, c, from, k)
	i.FitsWith = append(i.FitsWith, "responses that are lost on the way from "+peer+" to the tap: by their size, by a filter, or since they are damaged", "a responder that did not send them")
	i.Next = append(i.Next, "discards and errors of the switch ports on the way from "+peer+" to "+local+" (ethtool -S)", captureAt(peer)+"whether it sent the responses")
}

// linkOf is what to look at where a host may be down, or its link.
func linkOf(host string) string {
	return "the link and dmesg of " + host + ", and the switch ports between"
}
