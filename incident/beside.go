package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// closesWith is how long before the last packet of a queue pair a host may close a TCP connection of the program that ends.
const closesWith = int64(2 * time.Second)

// life is what a peer whose queue pair sends nothing shows by frames that are no RDMA.
type life struct {
	fin     *agent.Sign // by which it closed a TCP connection with the requester, about when the queue pair sent its last packet
	up      *agent.Sign // the last after which the request was retransmitted in vain
	started *agent.Sign // the first by which an interface came up since; the request was retransmitted in vain after it
}

// endsNear is how far apart the last packet of a queue pair and the FIN are at most that a kernel sends for the same program, which ends.
const endsNear = int64(500 * time.Millisecond)

// ended reports whether a FIN shows that the program of an end ended when it sent its last packet there.
func (l *life) ended(e *agent.End) bool {
	return l.fin != nil && max(l.fin.At-e.Last, e.Last-l.fin.At) <= endsNear
}

// showsOf returns what the peer of a request that is not answered, which is end to of c, shows so.
func (t *teller) showsOf(c *agent.Connection, to int, k *qp.Stall) (l life) {
	peer, local := &c.Ends[to], c.Ends[1-to].Addr
	if !t.timed() || peer.Addr == local || t.movedTo(peer, k) != nil {
		return l
	}
	l.fin = t.run.Closes(peer.Addr, local, max(c.First+1, peer.Last-closesWith), k.Last)
	for n := range t.run.Signs {
		s := &t.run.Signs[n]
		if s.Host != peer.Addr {
			continue
		}
		if s.At > max(k.Since, peer.Last) && s.At < k.Last {
			l.up = s
			if s.By == fabricagent.ByDAD && l.started == nil {
				l.started = s
			}
		}
	}
	return l
}

// saidOf says what of the peer of a request that is not answered the capture holds besides.
func (t *teller) saidOf(i *Incident, l *life, to *agent.End) {
	peer := i.Peer.Addr.String()
	if s := l.fin; s != nil {
		i.fin = s
		when := "after"
		apart := s.At - to.Last
		if apart < 0 {
			when, apart = "before", -apart
		}
		said := fmt.Sprintf("%s closed a TCP connection with %v from its port %d: FIN in frame %d, %s %s the last packet of %v",
			peer, i.Local.Addr, s.Ports[0], s.Frame, span(apart), when, &i.Peer)
		if all, _ := t.closesToAll(s); all != "" {
			said += "; " + all
		}
		i.fact("TCP", said)
		i.showAt(s)
	}
	switch {
	case l.started != nil:
		i.fact("host",
			fmt.Sprintf("an interface of %s came up at %s (%v, frame %d): it had been down; what was retransmitted after that was not answered either",
				peer, t.offset(l.started.At), l.started.By, l.started.Frame))
		i.showAt(l.started)
	case l.up != nil:
		i.fact("host",
			fmt.Sprintf("%s and its link were up at %s: it sent %v in frame %d, and what was retransmitted after that was not answered either",
				peer, t.offset(l.up.At), l.up.By, l.up.Frame))
		i.showAt(l.up)
	}
}

// showAt adds the frame of a sign.
func (i *Incident) showAt(s *agent.Sign) {
	if s.Tap == i.Tap {
		i.show(s.Frame)
	}
}

// reasons says what fits of a host that shows to be up, or whose program shows to have ended, and whose queue pair sends nothing; false: it does
// not show so.
func (l *life) reasons(i *Incident) bool {
	peer := i.Peer.Addr.String()
	switch {
	case l.started != nil:
		i.FitsWith = append(i.FitsWith, "a host, "+peer+", that restarted: it is up again, and its queue pairs are gone",
			"a link of "+peer+" that was down and came back, and a queue pair that had gone into the error state meanwhile")
		i.Next = append(i.Next, "the uptime of "+peer+", and its log of that time; link events there")
		return true
	case l.fin != nil:
		i.FitsWith = append(i.FitsWith, programEnded(peer, 0))
		if l.up == nil {
			i.FitsWith = append(i.FitsWith, "less likely a host, adapter or link of "+peer+" that went down, or a path that fails")
		}
	case l.up != nil:
		i.FitsWith = append(i.FitsWith, "a process on "+peer+" that was killed or gave up, so that its queue pair is gone",
			"an RDMA device of "+peer+" that was removed or hangs", "a filter (UDP port 4791) or a path that fails on the way to "+peer)
	default:
		return false
	}
	i.Next = append(i.Next, "the process that owns "+i.Peer.String()+": its log and exit status", "rdma resource show qp, and dmesg, on "+peer)
	return true
}

// besides reports whether frames of a host that are no RDMA are in the capture after a time.
func (t *teller) besides(a packet.Addr, since int64) bool {
	return slices.ContainsFunc(t.run.Signs, func(s agent.Sign) bool { return s.Host == a && s.At > since })
}

// sentIP returns the last frame of IP that a host sent another, or any where that is the zero address, from shortly before a time on; nil: it sent
// none.
func (t *teller) sentIP(a, to packet.Addr, since int64) *agent.Sign {
	for n := len(t.run.Signs) - 1; n >= 0 && t.timed(); n-- {
		if s := &t.run.Signs[n]; s.Host == a && (s.To == to || to.IsZero()) && s.At >= since-closesWith && s.By > fabricagent.ByDAD {
			return s
		}
	}
	return nil
}
