package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// alive reports whether packets still came to the peer when the requester began to retransmit, as what it sent since on connections that had begun shows: what it sent shortly after the
// request it may have sent before that came. Where the peer has never sent anything on the connection, that it only retransmits on others does not count: the same is wrong with them.
func (t *teller) alive(i *Incident, k *qp.Stall) bool {
	s := t.seen[i.Peer.Addr].by(k.Last)
	return s.reaches.at > k.Begun || i.Kind == NeverAnswered && s.lasts.at > k.Begun
}

// cutOff reports whether the peer sends, but only retransmissions that nothing answers: its packets come to the tap, and nothing shows that any come to it.
func (t *teller) cutOff(i *Incident, k *qp.Stall) bool {
	return !t.alive(i, k) && t.seen[i.Peer.Addr].by(k.Last).lasts.at > k.Begun
}

// answersPings says that a host answered pings, or sent other packets of IP from shortly before a time on, though no RDMA packet of it is in the capture; "": it did not, as far as is known, or is gone since.
func (t *teller) answersPings(a packet.Addr, since int64) string {
	if t.goneSince(a, since) != nil {
		return ""
	}
	for _, e := range t.run.Echoes {
		if e.Addr == a {
			in := ""
			if e.Replies > 1 {
				in = t.within(" in %s", e.Last-e.First)
			}
			return fmt.Sprintf(", but it answered %s%s%s: it is up", count(e.Replies, "ping"), in, t.tcpOf(a))
		}
	}
	if s := t.sentIP(a, packet.Addr{}, since); s != nil {
		return fmt.Sprintf(", but it sent %v to %v, the last in frame %d, at %s: it was up", s.By, s.To, s.Frame, t.offset(s.At))
	}
	return ""
}

// downOr returns what fits of a host that answers no request: that it is down, where it sent nothing else either, and that its RDMA does not work.
func (t *teller) downOr(a packet.Addr, since int64) string {
	if t.answersPings(a, since) != "" {
		return "a host whose RDMA does not work, or not at this address: no RDMA driver for it, another RoCE version (v1), or a filter of it for UDP port 4791"
	}
	return "a host that is down or does not run RDMA"
}

// peer says what the host of the peer, which is end to of c, has sent since a time, that of what event names, and which of its connections had begun until another.
func (t *teller) peer(i *Incident, c *agent.Connection, to int, since, last int64, event string) {
	h, newest := t.seen[i.Peer.Addr], t.hosts[i.Peer.Addr].last
	peer, here, elsewhere := i.Peer.Addr.String(), c.Ends[to].Last, h.by(last).lasts.but(keyOf(c))
	if before := h.by(since).lasts.but(keyOf(c)); before <= since && elsewhere > since { // on such as began meanwhile, before the last retransmission
		elsewhere, last = before, since
	}
	nothing := "nothing of "
	if t.besides(i.Peer.Addr, since) {
		nothing = "no InfiniBand or RoCE packet of "
	}
	switch {
	case newest == 0:
		i.fact("peer", "the capture holds no InfiniBand or RoCE packet of "+peer+t.answersPings(i.Peer.Addr, since))
	case !t.timed():
	case here > since && elsewhere > here:
		i.fact("peer", fmt.Sprintf("%s sent its last packet on this connection %s after %s, and went on sending on others", peer, span(here-since), event))
	case here > since && h.next(last) != 0:
		i.fact("peer", fmt.Sprintf("%s sent its last packet on this connection %s after %s; its next connection began %s after that", peer, span(here-since), event, span(h.next(last)-here)))
	case here > since:
		i.fact("peer", fmt.Sprintf("%s sent its last packet %s after %s, on this connection", peer, span(here-since), event))
		if n := t.fellSilentOn(i.Peer.Addr, here); n > 1 {
			i.What += fmt.Sprintf(" Nothing of %s is in the capture from %s on until the end, %s later, on any of its %d connections.", peer, t.offset(here), span(t.run.Last-here), n)
		}
	case elsewhere > since:
		i.fact("peer", fmt.Sprintf("%s went on sending on other connections: last %s after %s%s", peer, span(elsewhere-since), event, t.toSameHost(i, c, last)))
	case h.next(last) != 0:
		i.fact("peer", fmt.Sprintf(nothing+"%s, management aside, is in the capture until its next connection, which began %s after %s", peer, span(h.next(last)-since), event))
	case newest > since:
		i.fact("peer", fmt.Sprintf(nothing+"%s but management is in the capture since, the last %s after %s", peer, span(newest-since), event))
	case max(here, elsewhere) == since:
		i.fact("peer", fmt.Sprintf(nothing+"%s is in the capture since its last answer", peer))
	default:
		i.fact("peer", fmt.Sprintf(nothing+"%s is in the capture since: its last packet came %s before %s", peer, span(since-newest), event))
	}
}

// others says that the host of a requester had packets of others than a peer that sends nothing any more: it is not the one that was cut off.
func (t *teller) others(i *Incident, c *agent.Connection, k *qp.Stall) {
	if !t.timed() || t.alive(i, k) || t.hosts[i.Peer.Addr].last > k.Begun {
		return
	}
	if heard := t.seen[i.Local.Addr].by(k.Last).heard.but(keyOf(c)); heard > k.Begun {
		i.fact("others", fmt.Sprintf("%swent on sending to %v: last %s after this request", t.whoSends(i, k, heard), i.Local.Addr, span(heard-k.Since)))
	}
}

// whoSends names the hosts that went on sending to that of a requester for half as long as the last of them at least; "": there are too many connections to
// look at.
func (t *teller) whoSends(i *Incident, k *qp.Stall, last int64) string {
	if len(t.run.Connections) > mostOthers {
		return ""
	}
	var hosts []packet.Addr
	for n := range t.run.Connections {
		d := &t.run.Connections[n]
		if far, with := farEnd(d, i.Local.Addr); with && far != i.Local.Addr && far != i.Peer.Addr && !slices.Contains(hosts, far) &&
			d.First <= k.Last && heardUntil(endOf(d, far)) > k.Begun+(last-k.Begun)/2 {
			hosts = append(hosts, far)
		}
	}
	if len(hosts) == 0 {
		return ""
	}
	return sorted(hosts) + " "
}

// toSameHost says on how many other connections of the service that had begun before a time the peer went on sending to the same host after it; "": on none. What began later, as when a process was started
// again, shows nothing of those times.
func (t *teller) toSameHost(i *Incident, c *agent.Connection, since int64) string {
	list, n := t.siblings(c), uint64(0)
	if len(list) > mostOthers {
		return ""
	}
	for _, d := range list {
		if e := endOf(d, i.Peer.Addr); d != c && e != nil && e.Last > since && d.First <= since {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; on %s with %v, too", number(n), i.Local.Addr)
}

// fellSilentOn is how many connections a host had that sent its last frame of all at a time, well before the end; 0: it sent others later.
func (t *teller) fellSilentOn(a packet.Addr, at int64) (n int) {
	if t.hosts[a].last > at || t.besides(a, at) || t.run.Last-at < silence {
		return 0
	}
	for k := range t.run.Connections {
		c := &t.run.Connections[k]
		e := endOf(c, a)
		switch {
		case e == nil || e.Packets == 0:
		case e.Last > at:
			return 0
		case c.Service.Reliable() && (c.Closed.At == 0 || c.Closed.At > at):
			n++
		}
	}
	return n
}
