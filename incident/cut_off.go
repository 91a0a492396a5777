package incident

import (
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/rule"
)

const (
	cutOffTimes = 20                           // for how many times the mean time between two packets of its connections a host is silent at least
	askedSoon   = int64(time.Millisecond)      // how long after the first packet of a queue pair a NAK asks for what it sent in the silence before
	askedOn     = 2                            // on how many connections at least
	cutOffSoon  = 10 * int64(time.Millisecond) // how much sooner than its host a queue pair falls silent at most, that was idle
)

// cutOff is a silence of a host to which nobody sent a request, in which it had sent what has not come to the tap, nor to its peers, or after which
// its connections were over, or it had restarted.
type cutOff struct {
	hostSilence
	nak     uint64              // frame of the first NAK that asks for what it had sent; 0: none does
	on      int                 // connections on which one does
	open    int                 // connections that it had
	stopped []*agent.Connection // of them, the busy ones: all fell silent, both ways, at its beginning
	spread  int64               // within what time they did
	lost    []*agent.Connection // of these, those that carry nothing after it
	repeats int                 // of these, those on which it retransmits after it what it had sent before
	again   *agent.Connection   // the first that it has after these; nil: none
	unseen  uint64              // packets that it sent meanwhile, as its identifications show
	begun   string              // what shows that it restarted
	certain bool                // its numbers are missing at no other time, or what came after it shows it too
	weak    bool                // only others of the host beside it show what it was
	// together says that two busy connections of it or more fell silent at once, and all of them.
	together bool
}

// cutOffs tells of hosts that were cut off while others went on, and all of what they sent was lost with what their peers would have answered:
// nothing is retransmitted in the capture meanwhile. Where nobody asked a host for anything, only what it had sent shows that: two
// queue pairs or more go on with later PSNs, and their peers ask for what is before these, or its identifications are ahead, or begin again.
func (t *teller) cutOffs() {
	if t.copied() || len(t.run.Taps) > 1 || t.run.Clock.Count > 0 {
		return
	}
	asked := map[packet.Addr][]*rule.Finding{}
	var hosts []packet.Addr
	for n := range t.run.Findings {
		if f := &t.run.Findings[n]; f.Rule == rule.EvSeqNAK && f.Class == rule.Event {
			if asked[f.Peer.Addr] == nil {
				hosts = append(hosts, f.Peer.Addr)
			}
			asked[f.Peer.Addr] = append(asked[f.Peer.Addr], f)
		}
	}
	slices.SortFunc(hosts, packet.Addr.Compare)
	for _, a := range hosts {
		if list, went := t.cutOffOf(a, asked[a]); len(list) > 0 {
			t.tellCutOff(a, list, went)
		}
	}
	for n := range t.run.Numbered {
		h := &t.run.Numbered[n]
		told := slices.ContainsFunc(t.away, func(k cutHost) bool { return k.host == h.Host })
		if !told && h.Late == 0 && len(h.Restarts)+len(h.Holes) > 0 {
			if list := t.halts(h.Host); len(list) > 0 {
				t.tellHalts(h.Host, list)
			}
		}
	}
}

// cutOffOf returns the silences of a host in which it was cut off, and who went on in all of them: those which NAKs show, and where there are
// any, those in which it lost its connections, and those that are like these.
func (t *teller) cutOffOf(a packet.Addr, asked []*rule.Finding) (list []cutOff, went []packet.Addr) {
	shown, idle, back := false, int64(0), int64(0)
	for _, s := range t.silencesOf(a) {
		if !s.ended || s.waited > 0 || s.From < back { // one in which requests to it waited is told with these, and it had no connection until it was back
			continue
		}
		k := cutOff{hostSilence: s}
		switch is, strong := t.isCutOff(&k, a, asked); {
		case is:
			list, shown = append(list, k), shown || strong
			if !strong && !k.weak {
				back = k.again.First
			}
		default:
			idle = max(idle, s.Length())
		}
	}
	if !shown {
		return nil, nil
	}
	list = t.borneOut(a, list, idle)
	went = slices.DeleteFunc(slices.Clone(list[0].went), func(x packet.Addr) bool {
		return slices.ContainsFunc(list, func(k cutOff) bool { return !slices.Contains(k.went, x) })
	})
	if len(went) == 0 {
		return nil, nil
	}
	return list, went
}

// isCutOff reports whether a host may have been cut off in a silence, and whether only that shows it.
func (t *teller) isCutOff(k *cutOff, a packet.Addr, asked []*rule.Finding) (is, strong bool) {
	if k.Length() < interruption {
		return false, false
	}
	if k.went = t.wentOnBeside(a, packet.Addr{}, &k.Silence); len(k.went) == 0 {
		return false, false
	}
	k.missed(t, a, asked)
	idle := k.on == 0 || k.idle(t, a)
	if k.on >= askedOn && !idle {
		return true, true
	}
	if k.together = k.stop(t, a) && len(k.stopped) >= askedOn; k.together && k.loses() {
		return true, false
	}
	k.weak = true
	return !idle || k.announced, false
}

// idle reports whether the identifications of a host show that it sent fewer packets in a silence than it has queue pairs of which NAKs ask for what
// they sent: these asked for what was lost before it, or when the host was heard again.
func (k *cutOff) idle(t *teller, a packet.Addr) bool {
	n := agent.NumberingOf(t.run.Numbered, a, t.run.Connections[0].FirstTap)
	if n == nil || n.Late > 0 || k.number.From != 0 && k.number.Packets == 0 { // it counts from the beginning again
		return false
	}
	lacked, known := n.Lacked(k.From, k.To)
	return known && lacked < k.on
}

// missed finds the NAKs that ask for what a host sent in a silence: of queue pairs that had been busy, right after the first packet after it.
func (k *cutOff) missed(t *teller, a packet.Addr, asked []*rule.Finding) {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for e := range c.Ends {
			x := &c.Ends[e]
			if x.Addr != a || c.Timing == nil || c.Service != packet.RC || !lostBeforeTap(x) || k.Length() < cutOffTimes*usualPause(c) {
				continue
			}
			s := c.Timing.Ends[e].Active.Silent(k.From, k.To)
			if s == nil {
				continue
			}
			i := slices.IndexFunc(asked, func(f *rule.Finding) bool {
				return f.Peer.QPN == x.QPN && f.Accused.Addr == c.Ends[1-e].Addr && f.Time >= s.To && f.Time <= s.To+askedSoon
			})
			if i < 0 {
				continue
			}
			if k.on++; k.nak == 0 || asked[i].Frame < k.nak {
				k.nak = asked[i].Frame
			}
		}
	}
}

// lostBeforeTap reports whether the tap had not seen, in order, what PSN sequence NAKs to an end have asked for.
func lostBeforeTap(e *agent.End) bool {
	return e.Trouble != nil && e.Trouble.Asked.Before > 0 && e.Trouble.Asked.After == 0
}

// loses reports whether the host lost its connections in the silence: two or more, that were all of its busy ones, and were disconnected then, and
// others follow.
func (k *cutOff) loses() bool {
	return len(k.lost) >= askedOn && len(k.lost) == len(k.stopped) && k.again != nil &&
		!slices.ContainsFunc(k.lost, func(c *agent.Connection) bool { return c.Closed.At < k.To })
}
