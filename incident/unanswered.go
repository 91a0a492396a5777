package incident

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// silence is for how long a request that is not retransmitted waits before that is worth telling: longer than most retransmission timers take.
const silence = int64(time.Second)

// restart is for how long a host is silent at least that restarts.
const restart = int64(10 * time.Second)

// patience is for how long a request that was retransmitted once waits before that is worth telling.
const patience = int64(100 * time.Millisecond)

// unanswered tells of a request of end from that was retransmitted and never answered.
func (t *teller) unanswered(c *agent.Connection, from int, k *qp.Stall) {
	e, peer := &c.Ends[from], &c.Ends[1-from]
	if k.Total() < 2 && t.run.Last-k.Since < patience {
		return // the capture may have ended before the answer came
	}
	i := t.between(Unanswered, c, from)
	if peer.Packets == 0 {
		i.Kind = NeverAnswered
	}
	if t.lossy() {
		i.Certainty = Likely // the answer may be among what the capture has lost
	}
	i.during(k)
	i.End, i.Ongoing, i.Lost = t.run.Last, c.Closed.At == 0, time.Duration(t.run.Last-k.Since)
	if c.Closed.At > k.Since {
		i.End, i.Lost = c.Closed.At, time.Duration(c.Closed.At-k.Since)
		i.show(c.Closed.Frame)
	}
	never := "never answered it"
	switch {
	case i.Kind == NeverAnswered:
		never = "has never sent anything on this connection"
	case k.Rounds[qp.SequenceAsked] > 0:
		never = "asked for it with a PSN sequence NAK, and never acknowledged it"
	case rest(&k.Request):
		never = "never answered that"
	}
	i.What = fmt.Sprintf("%v %s%s; %v %s.", &i.Local, sent(&k.Request, k.Total()), t.within(" in %s", k.Last-k.Since), &i.Peer, never)
	i.fact("request", retransmitted(&k.Request))
	i.fact("sent", t.when(k))
	i.fact("gave up", t.gaveUp(c, from, k))
	i.fact("waits", waiting(e, k))
	t.cause(i, c, from, k)
	t.command(i, c)
	t.peer(i, c, 1-from, k.Since, k.Last, "this request")
	if t.cutOff(i, k) {
		i.fact("but", fmt.Sprintf("of %v came only retransmissions in the end: nothing shows that packets still came to it", i.Peer.Addr))
	}
	t.others(i, k)
	t.after(i, c, k)
	t.reasons(i, c, from, k)
	t.lossFits(i)
	if s := t.partitions(c, from); s != "" {
		i.explain(s)
		t.tellAs(i, partition(i))
		return
	}
	i.fact("P_Keys", t.pkeys(c, from))
	i.gone = t.gone(i, k)
	t.tell(i, "")
}

// alive reports whether packets still came to the peer when the requester began to retransmit, as what it sent since on connections that had begun shows: what it sent shortly after the
// request it may have sent before that came. Where the peer has never sent anything on the connection, that it only retransmits on others does not count: the same is wrong with them.
func (t *teller) alive(i *Incident, k *qp.Stall) bool {
	s := t.of(i.Peer.Addr).by(k.Last)
	return s.reaches.at > k.Begun || i.Kind == NeverAnswered && s.lasts.at > k.Begun
}

// cutOff reports whether the peer sends, but only retransmissions that nothing answers: its packets come to the tap, and nothing shows that any come to it.
func (t *teller) cutOff(i *Incident, k *qp.Stall) bool {
	return !t.alive(i, k) && t.of(i.Peer.Addr).by(k.Last).lasts.at > k.Begun
}

// gone says what of the peer a requester has lost, whose request is not answered.
func (t *teller) gone(i *Incident, k *qp.Stall) gone {
	switch {
	case k.Rounds[qp.SequenceAsked] > 0 || !t.timed():
		return notGone
	case t.alive(i, k):
		return goneHere
	}
	return goneQuiet
}

// waits reports whether a request of an end has waited for long, at a time.
func waits(e *agent.End, now int64) bool {
	return e.Open > 0 && e.OpenSince != 0 && now-e.OpenSince >= silence
}

// silent tells of a request of end from that waits without having been retransmitted.
func (t *teller) silent(c *agent.Connection, from int) {
	e := &c.Ends[from]
	if c.Closed.At != 0 || !t.timed() || !waits(e, t.run.Last) {
		return
	}
	open, lossy := e.Open, t.lossy()
	if lossy {
		open -= min(open, e.OpenEnded)
	}
	if open == 0 {
		return // what is missing of the answers the capture may have lost
	}
	i := t.between(Unanswered, c, from)
	i.Certainty = Likely // nothing shows that the requester lacks the answer
	i.Begin, i.End, i.Ongoing, i.Lost = e.OpenSince, t.run.Last, true, time.Duration(t.run.Last-e.OpenSince)
	i.show(e.OpenFrame)
	i.What = fmt.Sprintf("%v waits for %v to answer %s, and has retransmitted nothing%s.", &i.Local, &i.Peer, count(uint64(open), "request"), t.within(" for %s", t.run.Last-e.OpenSince))
	i.fact("request", fmt.Sprintf("the oldest begins in frame %d", e.OpenFrame))
	t.command(i, c)
	t.peer(i, c, 1-from, e.OpenSince, t.run.Last, i.Local.Addr.String()+" last asked, or was answered")
	i.FitsWith = []string{"a retransmission timer that is long or off (timeout 0)", "a requester that has stopped: its process, its host, or its queue pair in the error state"}
	i.Next = []string{"the queue pair's timeout and state on " + i.Local.Addr.String() + " (rdma resource show qp)", "what " + i.Peer.Addr.String() + " did since: it owes the answer"}
	if lossy {
		i.doubt(fmt.Sprintf("The capture, which lost packets, holds no answer of %v to %s of %v%s, nor a retransmission.", &i.Peer, count(uint64(open), "request"), &i.Local, t.within(" for %s", t.run.Last-e.OpenSince)))
	}
	t.tell(i, "silent")
}

// cause names the command of the protocol above that the READ or WRITE of a stall belongs to.
func (t *teller) cause(i *Incident, c *agent.Connection, from int, k *qp.Stall) {
	if o := c.Cause(from, k); o != nil {
		i.fact("for", fmt.Sprintf("%s, which began in frame %d", o.Name, o.Frame))
	}
}

// command names the command of the protocol above that waits.
func (t *teller) command(i *Incident, c *agent.Connection) {
	if c.Upper == nil || c.Upper.Oldest == nil {
		return
	}
	o := c.Upper.Oldest
	s := fmt.Sprintf("%s waits since frame %d%s", o.Name, o.Frame, t.within(", for %s", t.run.Last-o.Since))
	if c.Closed.At > o.Since {
		s = fmt.Sprintf("%s, in frame %d, had waited%s when %v disconnected", o.Name, o.Frame, t.within(" for %s", c.Closed.At-o.Since), c.Closed.By)
	}
	if o.Unsure {
		s += ", unless it ended where the capture has lost packets"
	}
	i.fact("command", s)
}

// when says when a request was retransmitted, and how regularly.
func (t *teller) when(k *qp.Stall) string {
	n := k.Total()
	s := fmt.Sprintf("first retransmitted%s in frame %d", t.within(" %s after it was sent,", k.Begun-k.Since), k.Frames.Begun[0])
	if n > 1 {
		s += fmt.Sprintf(", last in frame %d%s", k.Frames.Last, t.within("; on average every %s", (k.Last-k.Begun)/int64(n-1)))
	}
	return s
}

// gaveUp says that a requester, which is end from of c, has stopped to retransmit: its retries are used up.
func (t *teller) gaveUp(c *agent.Connection, from int, k *qp.Stall) string {
	n := k.Total()
	since := t.run.Last - k.Last
	if !t.timed() || n < 2 || since < 3*(k.Last-k.Begun)/int64(n-1) {
		return ""
	}
	setting := fmt.Sprintf("as with a retry_cnt of %d, which the capture does not tell", n)
	switch e, peer := &c.Ends[from], &c.Ends[1-from]; {
	case e.Knows(qp.KnowsRetryCnt):
		setting = fmt.Sprintf("retry_cnt is %d", e.RetryCnt)
	case peer.Knows(qp.KnowsRetryCnt):
		setting = fmt.Sprintf("CM asked for a retry_cnt of %d at the other end, which Linux sets at both", peer.RetryCnt)
	}
	return fmt.Sprintf("no further retransmission in %s, after %d retries: it seems that they are used up (%s), which completes in error as transport retry counter exceeded", span(since), n, setting)
}

// waiting says what else waits.
func waiting(e *agent.End, k *qp.Stall) string {
	s := ""
	if e.Open > 1 {
		s = count(uint64(e.Open), "request") + " in all wait for an answer; "
	}
	return s + count(uint64(k.Packets), "packet") + " retransmitted in vain, " + count(k.Bytes, "byte") + " of payload"
}

// peer says what the host of the peer, which is end to of c, has sent since a time, that of what event names, and which of its connections had begun until another.
func (t *teller) peer(i *Incident, c *agent.Connection, to int, since, last int64, event string) {
	h := t.of(i.Peer.Addr)
	peer, here, elsewhere := i.Peer.Addr.String(), c.Ends[to].Last, h.by(last).lasts.but(keyOf(c))
	switch {
	case h.last == 0:
		i.fact("peer", "the capture holds no packet of "+peer)
	case !t.timed():
	case here > since && elsewhere > since:
		i.fact("peer", fmt.Sprintf("%s sent its last packet on this connection %s after %s, and went on sending on others", peer, span(here-since), event))
	case here > since:
		i.fact("peer", fmt.Sprintf("%s sent its last packet %s after %s, on this connection", peer, span(here-since), event))
	case elsewhere > since:
		i.fact("peer", fmt.Sprintf("%s went on sending on other connections: last %s after %s", peer, span(elsewhere-since), event))
	case h.next(last) != 0:
		i.fact("peer", fmt.Sprintf("nothing of %s but management is in the capture until its next connection, which began %s after %s", peer, span(h.next(last)-since), event))
	case h.last > since:
		i.fact("peer", fmt.Sprintf("nothing of %s but management is in the capture since, the last %s after %s", peer, span(h.last-since), event))
	case max(here, elsewhere) == since:
		i.fact("peer", fmt.Sprintf("nothing of %s is in the capture since its last answer", peer))
	default:
		i.fact("peer", fmt.Sprintf("nothing of %s is in the capture since: its last packet came %s before %s", peer, span(since-h.last), event))
	}
}

// others says that the host of a requester had packets of others than a peer that sends nothing any more: it is not the one that was cut off.
func (t *teller) others(i *Incident, k *qp.Stall) {
	if heard := t.of(i.Local.Addr).heard; t.timed() && !t.alive(i, k) && t.of(i.Peer.Addr).last <= k.Begun && heard > k.Begun {
		i.fact("others", fmt.Sprintf("went on sending to %v: last %s after this request", i.Local.Addr, span(heard-k.Since)))
	}
}

// after says what came of it.
func (t *teller) after(i *Incident, c *agent.Connection, k *qp.Stall) {
	if c.Closed.At > k.Since {
		i.fact("then", fmt.Sprintf("%v disconnected%s, in frame %d", c.Closed.By, t.within(" %s after the last of them", c.Closed.At-k.Last), c.Closed.Frame))
	}
	if next := t.nextOf(c, k.Last); next != nil {
		i.fact("then", fmt.Sprintf("the same hosts began another connection%s, in frame %d", t.within(" %s later", next.First-k.Last), next.FirstFrame))
	}
}

// pair is two hosts and a service, in either order of the hosts.
type pair struct {
	a, b    packet.Addr
	service packet.Service
}

func pairOf(c *agent.Connection) pair {
	p := pairBy(c.Ends[0].Addr, c.Ends[1].Addr)
	p.service = c.Service
	return p
}

// pairBy is a pair of hosts without a service.
func pairBy(a, b packet.Addr) pair {
	if b.Compare(a) < 0 {
		a, b = b, a
	}
	return pair{a: a, b: b}
}

// siblings returns the connections of the service between the hosts of c, itself among them, in the order in which they began.
func (t *teller) siblings(c *agent.Connection) []*agent.Connection {
	if t.pairs == nil { // few runs ask
		t.pairs = map[pair][]*agent.Connection{}
		for i := range t.run.Connections {
			d := &t.run.Connections[i]
			t.pairs[pairOf(d)] = append(t.pairs[pairOf(d)], d)
		}
		for _, list := range t.pairs {
			slices.SortStableFunc(list, func(x, y *agent.Connection) int { return cmp.Compare(x.First, y.First) })
		}
	}
	return t.pairs[pairOf(c)]
}

// nextOf returns the first connection of the service between the hosts of c that began after a time; nil: there is none.
func (t *teller) nextOf(c *agent.Connection, after int64) *agent.Connection {
	list := t.siblings(c)
	if i, _ := slices.BinarySearchFunc(list, after+1, func(d *agent.Connection, at int64) int { return cmp.Compare(d.First, at) }); i < len(list) {
		return list[i]
	}
	return nil
}

// otherStart is what would look like a connection on which the peer has never sent anything.
const otherStart = "a P_Key or starting PSN that the two ends do not agree on"

// reasons says what would look like an unanswered request, and what to look at.
func (t *teller) reasons(i *Incident, c *agent.Connection, from int, k *qp.Stall) {
	local, peer := i.Local.Addr.String(), i.Peer.Addr.String()
	alive, known := t.alive(i, k), t.of(i.Peer.Addr).last != 0
	if size := t.blackHole(c, from, k); size != "" {
		i.fact("size", size)
		i.FitsWith = append(i.FitsWith, "a path whose MTU is smaller than the path MTU of the queue pair: large packets vanish, small ones arrive")
		i.Next = append(i.Next, "the MTU of every interface and switch port between "+local+" and "+peer+": ping -M do -s with the size of the packet")
	}
	switch {
	case k.Rounds[qp.SequenceAsked] > 0:
		i.FitsWith = append(i.FitsWith, "a path that drops these packets and not those after them: by their size, by a filter, or since they are damaged")
		i.Next = append(i.Next, "discards and errors of the switch ports between (ethtool -S), and out_of_sequence of "+peer)
	case i.Kind == NeverAnswered && known && alive:
		i.FitsWith = append(i.FitsWith, "a wrong destination QPN, or a queue pair of "+peer+" that is not yet in RTR or is in the error state",
			otherStart)
		i.Next = append(i.Next, "both ends' QPN, rq_psn, sq_psn, P_Key and GID as the application exchanged them", "rdma resource show qp on "+peer+", and the counters of its port (out_of_sequence, resp_local_qp_error)")
	case i.Kind == NeverAnswered:
		i.FitsWith = append(i.FitsWith, "a route, GID, VLAN or firewall (UDP port 4791) that keeps packets from "+peer+", or its answers from "+local,
			"a host that is down; a wrong destination QPN would look the same")
		i.Next = append(i.Next, "ping and rping from "+local+" to "+peer, "the GID that was used: its index, RoCE version and VLAN")
	case t.inError(i, c, from, k):
		i.FitsWith = append(i.FitsWith, "a queue pair of "+peer+" that is in the error state, since nothing answered its own request on this connection: see there")
		i.Next = append(i.Next, "why the request of "+i.Peer.String()+" was not answered: that came first")
	case i.Kind == Unanswered && c.Ends[1-from].Last > k.Last && !t.cutOff(i, k):
		t.oneWay(i, c, from, k)
	case t.cutOff(i, k):
		i.FitsWith = append(i.FitsWith, "a path that fails on the way to "+peer+": what it sends comes through, and nothing comes to it")
		i.Next = append(i.Next, "routes, filters (UDP port 4791) and switch ports on the way from "+local+" to "+peer+", and not only the way back", "the receive counters of "+peer+" (ethtool -S): whether anything arrives")
	case alive:
		i.FitsWith = append(i.FitsWith, "a queue pair of "+peer+" that was destroyed or is in the error state: its process was killed or gave up", "a responder that hangs",
			"one path of several that fails, which this queue pair takes (by its UDP source port)")
		i.Next = append(i.Next, "the process that owns "+i.Peer.String()+": its log and exit status", "rdma resource show qp, and dmesg, on "+peer)
	case t.of(i.Peer.Addr).connections > 1:
		i.FitsWith = append(i.FitsWith, "a host, adapter or link of "+peer+" that went down", "a path that fails: a link, a switch, a route")
		i.Next = append(i.Next, "the link and dmesg of "+peer+", and the switch ports between", reached(peer))
	default:
		i.FitsWith = append(i.FitsWith, "a process on "+peer+" that was killed or gave up, so that its queue pair is gone", "a host, adapter or link of "+peer+" that went down, or a path that fails: "+
			"as "+peer+" had nothing else to send here, the capture does not tell which")
		i.Next = append(i.Next, "the process that owns "+i.Peer.String()+": its log and exit status", "the link and dmesg of "+peer+", and the switch ports between")
	}
	if next := t.of(i.Peer.Addr).next(k.Last); !alive && t.timed() && next > k.Last+restart {
		i.FitsWith = append([]string{"a host that restarted, or was cut off: it is back with its next connection"}, i.FitsWith...)
	}
	if !c.Ends[0].Near && !c.Ends[1].Near {
		i.Next = append(i.Next, "a capture at "+peer+": whether the requests arrived there")
	}
}

// inError reports whether the peer, which is not end from of c, has used up the retries of its own request on this connection before the requester began to retransmit.
func (t *teller) inError(i *Incident, c *agent.Connection, from int, k *qp.Stall) bool {
	e := &c.Ends[1-from]
	return i.Kind == Unanswered && e.Stalled && e.Trouble.Now.Last < k.Begun && t.gaveUp(c, 1-from, &e.Trouble.Now) != ""
}

// oneWay says what fits where the peer still sends on the connection itself: its queue pair is there.
func (t *teller) oneWay(i *Incident, c *agent.Connection, from int, k *qp.Stall) {
	local, peer := i.Local.Addr.String(), i.Peer.Addr.String()
	i.fact("its end", "sent on this connection after the last retransmission: its queue pair was there, and not in the error state")
	if size := largeResponses(c, from, k); size != "" {
		i.fact("size", size)
		i.FitsWith = append(i.FitsWith, "a path from "+peer+" whose MTU is smaller than the path MTU of the queue pair: large responses vanish, small packets arrive")
		i.Next = append(i.Next, "the MTU of every interface and switch port from "+peer+" to "+local+": ping -M do -s with the size of the packet")
	}
	i.FitsWith = append(i.FitsWith, "requests that are lost on the way to "+peer+", or answers on the way back: by their size, by a filter, or since a path fails in one direction", "a responder that hangs, while its requester works")
	i.Next = append(i.Next, "discards and errors of the switch ports between (ethtool -S)")
}

// largeResponses says how the size of the responses that a READ of end from asks for differs from what its peer sends, which arrives; "": it does not.
func largeResponses(c *agent.Connection, from int, k *qp.Stall) string {
	r, peer := &k.Request, &c.Ends[1-from]
	size := min(r.Length, max(c.PMTU, 256))
	if r.Op != wqe.Read || r.Answered != 0 || peer.Packets == 0 || k.Rounds[qp.TimerExpired] < 2 {
		return ""
	}
	mean := peer.Bytes / peer.Packets
	if size <= 512 || mean*4 > uint64(size) {
		return ""
	}
	return fmt.Sprintf("it asks for packets with %s of payload; those that came of %v carried %s on average", count(uint64(size), "byte"), &peer.Addr, count(mean, "byte"))
}

// blackHole says how the size of a request that nothing answers differs from the sizes that were answered; "": it does not, or not enough is known.
func (t *teller) blackHole(c *agent.Connection, from int, k *qp.Stall) string {
	r := &k.Request
	size, what := r.Payload, "carries"
	if r.Op == wqe.Read {
		size, what = min(r.Length, max(c.PMTU, 256)), "asks for packets with"
	}
	if r.Answered == 0 || size < 2*r.Answered || size <= 512 || k.Rounds[qp.TimerExpired] < 2 || t.passed(c, from, r) {
		return ""
	}
	return fmt.Sprintf("it %s %s of payload; the largest packet that was answered just before carried %s", what, count(uint64(size), "byte"), count(uint64(r.Answered), "byte"))
}

// passed reports whether larger packets than those that were answered just before request r of end from of c have passed between the hosts: those that carry its payload are larger on average, on
// this connection before, or on another on which every request was answered.
func (t *teller) passed(c *agent.Connection, from int, r *qp.StalledRequest) bool {
	local, sends := c.Ends[from].Addr, from
	if r.Op == wqe.Read {
		sends = 1 - from
	}
	for _, d := range t.siblings(c) {
		e := &d.Ends[sends]
		if d.Ends[from].Addr != local {
			e = &d.Ends[1-sends]
		}
		if keyOf(d) != keyOf(c) && (d.Ends[0].Stalled || d.Ends[1].Stalled) {
			continue
		}
		packets, bytes := e.Packets, e.Bytes
		if keyOf(d) == keyOf(c) && e.Trouble != nil && e.Stalled { // without what was not answered
			k := &e.Trouble.Now
			vain := uint64(k.Packets) + uint64(k.Packets)/max(k.Total(), 1)
			packets, bytes = packets-min(packets, vain), bytes-min(bytes, k.Bytes+k.Bytes/max(k.Total(), 1))
		}
		if packets > 0 && bytes/packets > uint64(r.Answered) {
			return true
		}
	}
	return false
}
