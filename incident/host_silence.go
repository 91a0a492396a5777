package incident

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
)

// silencesTold is how many queue pairs are named.
const silencesTold = 3

// activityOf is when a host sent packets, on all connections, as far as that was measured: of one that was not, it may have been all the time.
func (t *teller) activityOf(a packet.Addr) *timing.Activity {
	if k := t.active[a]; k != nil {
		return k
	}
	k := new(timing.Activity)
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if c.Closed.At != 0 && c.Closed.By == a {
			k.Join(&timing.Activity{First: c.Closed.At, Last: c.Closed.At, Frames: [2]uint64{c.Closed.Frame, c.Closed.Frame}})
		}
		for e := range c.Ends {
			if c.Ends[e].Addr == a {
				k.Join(activeOn(c, e))
			}
		}
	}
	for n := range t.run.REQs {
		if r := &t.run.REQs[n]; r.From == a {
			k.Join(&timing.Activity{First: r.First, Last: r.Last})
		}
	}
	if t.active == nil {
		t.active = map[packet.Addr]*timing.Activity{}
	}
	t.active[a] = k
	return k
}

// activeOn is when an end of a connection sent packets: of management when it last did.
func activeOn(c *agent.Connection, e int) *timing.Activity {
	switch end := &c.Ends[e]; {
	case c.Timing != nil:
		return &c.Timing.Ends[e].Active
	case end.Packets == 0:
		return new(timing.Activity)
	case c.Service == packet.UD && end.QPNKnown && end.QPN <= 1:
		return &timing.Activity{First: end.Last, Last: end.Last}
	default:
		return &timing.Activity{First: c.First, Last: end.Last}
	}
}

// silentFor returns the time in which a host sent nothing on any connection, which covers another; nil: there is none.
func (t *teller) silentFor(a packet.Addr, since, until int64) *timing.Silence {
	if !t.timed() || t.lossy() || len(t.run.Connections) > mostOthers {
		return nil
	}
	return t.activityOf(a).Silent(since, until)
}

// wentOnBeside are the hosts other than one that sent packets, but on connections with host a, all the time in which that was silent, on one
// connection or on several together.
func (t *teller) wentOnBeside(a, local packet.Addr, s *timing.Silence) []packet.Addr {
	return t.sendersBeside(a, local, func(x *timing.Activity) bool { return x.Sends(s, 2) })
}

// sendersBeside are the hosts other than one whose activity, but on connections with host a, is so on one connection or on several together.
func (t *teller) sendersBeside(a, local packet.Addr, so func(*timing.Activity) bool) (hosts []packet.Addr) {
	joint := map[packet.Addr]*timing.Activity{}
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if _, with := farEnd(c, a); with || c.Timing == nil {
			continue
		}
		for e := range c.Ends {
			x, active := c.Ends[e].Addr, &c.Timing.Ends[e].Active
			switch {
			case x == local || slices.Contains(hosts, x):
			case so(active):
				hosts = append(hosts, x)
			case joint[x] == nil:
				joint[x] = &timing.Activity{}
				joint[x].Join(active)
			default:
				joint[x].Join(active)
			}
		}
	}
	for x, active := range joint {
		if !slices.Contains(hosts, x) && so(active) {
			hosts = append(hosts, x)
		}
	}
	slices.SortFunc(hosts, packet.Addr.Compare)
	return hosts
}

// silentOnAll says that a host, where the retries of a request were used up, sent nothing at all then. It reports whether others went on.
func (t *teller) silentOnAll(i *Incident, s *timing.Silence) bool {
	peer := i.Peer.Addr
	others := func(o *timing.Silence) string {
		if went := t.wentOnBeside(peer, i.Local.Addr, o); len(went) > 0 {
			return ", while " + someOf(went) + " went on"
		}
		return ""
	}
	while := others(s)
	said := fmt.Sprintf("the capture holds nothing of %v on any connection for %s from %s on%s: all retransmissions fall into that", peer, span(s.Length()), t.offset(s.From), while)
	i.fact("peer", said)
	if len(t.run.Taps) == 1 {
		i.show(s.Frames[:]...)
	}
	i.What = fmt.Sprintf("%s; the capture holds nothing of %v on any connection for %s meanwhile.", strings.TrimSuffix(i.What, "."), peer, span(s.Length()))
	return while != ""
}

// silentMeanwhile says that a host that sends on other connections sent nothing there either while stall k was retransmitted: that it goes on shows nothing of that time.
func (t *teller) silentMeanwhile(i *Incident, k *qp.Stall) {
	s := t.silentFor(i.Peer.Addr, k.Begun, k.Last)
	if s == nil {
		return
	}
	i.fact("but", fmt.Sprintf("the capture holds nothing of it on any connection for %s from %s on: all retransmissions fall into that", span(s.Length()), t.offset(s.From)))
	i.FitsWith = append(i.FitsWith, fmt.Sprintf("the link of %v or its switch port, or the host itself, that was down or stopped for that long, where it had something to send meanwhile", i.Peer.Addr))
	i.Next = append(i.Next, fmt.Sprintf("link events of %v and of its switch port at that time", i.Peer.Addr))
}

// offset writes a time as that since the first frame of the capture.
func (t *teller) offset(at int64) string {
	return fmt.Sprintf("%+.3f s", float64(at-t.run.First)/1e9)
}

// shown reports whether another connection than one shows that a host which was silent for a time had something to send, or to answer: it was busy and fell silent with the host, or what waits there is answered only after that.
func (t *teller) shown(but *agent.Connection, a packet.Addr, s *timing.Silence) bool {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if c == but || c.Timing == nil {
			continue
		}
		for e := range c.Ends {
			if c.Ends[e].Addr == a && (busyIn(c, s.From, s.To) && fellSilent(&c.Timing.Ends[e].Active, s) || waitedFor(&c.Ends[1-e], s)) {
				return true
			}
		}
	}
	return false
}

// fellSilent reports whether an end fell silent about when its host did, and went on no sooner.
func fellSilent(a *timing.Activity, s *timing.Silence) bool {
	o := a.Silent(s.From, s.To)
	return o != nil && (s.From-o.From)*tenth <= s.Length()
}

// waitedFor reports whether what an end retransmitted while the host of its peer was silent was answered, and only after that.
func waitedFor(e *agent.End, s *timing.Silence) bool {
	if e.Trouble == nil {
		return false
	}
	settled := e.Trouble.Settled(e.Stalled)
	return slices.ContainsFunc(settled.Longest[:], func(k qp.Stall) bool {
		return interrupts(&k) && k.Total() > 0 && !k.AnswerLost && k.Begun < s.To && k.Ended >= s.To && k.Since >= s.From-interruption
	})
}

// outlastedBy says which connections between the hosts of c went on after a silence in which the retries of c were used up, and with which ACK timeout, where that is longer than that of c.
func (t *teller) outlastedBy(i *Incident, c *agent.Connection, s *timing.Silence) {
	of, known := retryTimerOf(c, i.Local.Addr)
	if !known {
		return
	}
	var names []string
	var longer retryTimer
	for _, d := range t.siblings(c) {
		e := endOf(d, i.Peer.Addr)
		if d == c || e == nil || d.First >= s.From || e.Last < s.To {
			continue
		}
		if r, ok := retryTimerOf(d, i.Local.Addr); ok && r.least() > of.least() && (len(names) == 0 || r == longer) {
			longer = r
			names = append(names, fmt.Sprintf("QP 0x%x", e.QPN))
		}
	}
	if len(names) == 0 {
		return
	}
	on := fmt.Sprintf("%d connections", len(names))
	if len(names) <= silencesTold {
		on = enumerate(names)
	}
	i.fact("outlasts", fmt.Sprintf("%s of %v went on after it: %v; of this connection: %v", on, i.Peer.Addr, longer, of))
	i.Next = append(i.Next, fmt.Sprintf("a longer ACK timeout for the others, as that of %s (code %d)", on, longer.timeout))
}
