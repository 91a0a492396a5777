package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/timing"
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
}

// cutOffs tells of hosts that were cut off while others went on, and all of what they sent was lost with what their peers would have answered: nothing is retransmitted in the capture meanwhile. Where nobody asked a host for anything, only what it had sent shows that: two
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

// cutOffOf returns the silences of a host in which it was cut off, and who went on in all of them: those which NAKs show, and where there are any, those in which it lost its connections.
func (t *teller) cutOffOf(a packet.Addr, asked []*rule.Finding) (list []cutOff, went []packet.Addr) {
	shown := false
	for _, s := range t.silencesOf(a) {
		if !s.ended || s.waited > 0 || s.Length() < interruption { // one in which requests to it waited is told with these
			continue
		}
		k := cutOff{hostSilence: s}
		if k.went = t.wentOnBeside(a, packet.Addr{}, &s.Silence); len(k.went) == 0 {
			continue
		}
		if k.missed(t, a, asked); k.on >= askedOn {
			shown = true
		} else if !k.stop(t, a) || !k.loses() {
			continue
		}
		others := k.went
		if len(list) > 0 {
			others = slices.DeleteFunc(went, func(x packet.Addr) bool { return !slices.Contains(others, x) })
		}
		list, went = append(list, k), others
	}
	if !shown || len(went) == 0 {
		return nil, nil
	}
	return list, went
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

// usualPause is the mean time between two packets of a connection, nanoseconds.
func usualPause(c *agent.Connection) int64 {
	return (max(c.Ends[0].Last, c.Ends[1].Last) - c.First) / int64(max(c.Ends[0].Packets+c.Ends[1].Packets, 1))
}

// tellAway begins an incident of a host that was cut off, or restarted, in some silences.
func (t *teller) tellAway(a packet.Addr, list []cutOff) *Incident {
	i := &Incident{Kind: Interrupted, Certainty: Likely, Peer: Party{Addr: a}, Begin: list[0].from, Tap: t.run.Connections[0].FirstTap, listed: true}
	away := cutHost{host: a}
	for n := range list {
		k := &list[n]
		i.End, i.Lost = max(i.End, k.to), i.Lost+time.Duration(k.length())
		i.show(k.before, k.after, k.nak)
		away.in = append(away.in, k.hostSilence)
	}
	i.Local.Addr = t.peerIn(a, &away.in[0])
	t.away = append(t.away, away)
	t.order, t.keys = append(t.order, i), append(t.keys, group{kind: Interrupted, local: i.Local.Addr, peer: a, what: "cut off"})
	return i
}

// tellCutOff tells of silences in which a host was cut off while others went on.
func (t *teller) tellCutOff(a packet.Addr, list []cutOff, went []packet.Addr) {
	i := t.tellAway(a, list)
	said, shown, ended := make([]string, len(list)), 0, ""
	for n := range list {
		k := &list[n]
		said[n] = fmt.Sprintf("%s from %s on", span(k.length()), t.offset(k.from))
		i.Connections = max(i.Connections, k.on, len(k.lost))
		if k.nak != 0 && k.on >= askedOn {
			shown++
			continue
		}
		said[n] = "up to " + said[n] + ", in which it lost its connections"
		closed := &k.lost[0].Closed
		ended = fmt.Sprintf("%s that had been busy: they fell silent at %s for good, and %v disconnected the first in frame %d, at %s; "+
			"the next connection began in frame %d, at %s: %s after the last packet",
			count(uint64(len(k.lost)), "connection"), t.offset(k.from), closed.By, closed.Frame, t.offset(closed.At), k.again.FirstFrame,
			t.offset(k.again.First), span(k.again.First-k.from))
		i.Lost += time.Duration(max(k.again.First-k.to, 0))
		i.End = max(i.End, k.again.First)
	}
	i.What = fmt.Sprintf("%v was cut off %s, while %s went on: %s.", a, times(uint64(len(list))), someOf(went), enumerateSeparately(said))
	after := "after that"
	if len(list) > 1 {
		after = "after each of these times"
		if shown < len(list) {
			after = "after " + ofThese(shown)
		}
	}
	i.fact("lost", fmt.Sprintf("%s two queue pairs or more of %v went on with later PSNs, and PSN sequence NAKs asked at once for those before: what it had sent came neither to the tap nor to its peer", after, a))
	i.fact("ended", ended)
	i.fact("tap", "the capture holds packets of the others all that time: it is not the tap that stopped")
	i.FitsWith = []string{fmt.Sprintf("the link of %v, its cable or optics, its adapter or its switch port, that was down for that long", a), fmt.Sprintf("a switch or link between %v and the tap, that the others do not pass", a)}
	if len(list) > 1 {
		i.FitsWith[0] = fmt.Sprintf("the link of %v, its cable or optics, its adapter or its switch port, that fails and comes back again and again", a)
	}
	i.Next = []string{fmt.Sprintf("link events of %v and of its switch port at these times (dmesg, the log of the switch), and what they count: link_downed, symbol and FEC errors", a)}
	if ended != "" {
		i.Next = append(i.Next, fmt.Sprintf("the timeout and retry_cnt of %v, and its reconnect delay: how long it is to outlast, and how soon to be back", a))
	}
}

// ofThese says how many of several times.
func ofThese(n int) string {
	if n == 1 {
		return "one of these times"
	}
	return number(uint64(n)) + " of these times"
}

// enumerateSeparately lists what may hold commas.
func enumerateSeparately(list []string) (s string) {
	for n, k := range list {
		switch {
		case n > 0 && n == len(list)-1:
			s += "; and "
		case n > 0:
			s += "; "
		}
		s += k
	}
	return s
}

// peerIn is with which host one had connections that it was cut off from: the first.
func (t *teller) peerIn(a packet.Addr, k *hostSilence) packet.Addr {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if far, ok := farEnd(c, a); ok && far != a && c.First < k.from && max(c.Ends[0].Last, c.Ends[1].Last) >= k.from-cutOffTimes*usualPause(c) {
			return far
		}
	}
	return a
}

// cutHost is a host that was cut off, and when.
type cutHost struct {
	host packet.Addr
	in   []hostSilence
}

// ofCutOff reports whether stall s of end from of a connection is told with a host that was cut off meanwhile: PSNs are missing, or the host
// retransmitted only when it was back.
func (t *teller) ofCutOff(c *agent.Connection, from int, s *qp.Stall) bool {
	missing := s.Total() == 0 && s.Before
	return slices.ContainsFunc(t.away, func(h cutHost) bool {
		return endOf(c, h.host) != nil && slices.ContainsFunc(h.in, func(k hostSilence) bool {
			own := c.Ends[from].Addr == h.host && s.Total() > 0 && s.Begun >= k.to
			return k.from >= s.Since && k.to <= max(s.Ended, s.Last) && (missing || own)
		})
	})
}

// lostWhenCutOff has losses of hosts that were cut off fit that.
func (t *teller) lostWhenCutOff(list []Incident) {
	for _, h := range t.away {
		for n := range list {
			list[n].lostInDown(h.host, h.in)
		}
	}
}

// unseenBeside takes back that the tap may have recorded nothing in stall s, of which PSNs are missing, where it holds packets of others all that time.
func (t *teller) unseenBeside(i *Incident, s *qp.Stall) {
	on := i.Peer.Addr
	if s.Request.Frame == 0 {
		on = i.Local.Addr
	}
	went := t.wentOnBeside(on, packet.Addr{}, &timing.Silence{From: s.Since, To: s.Ended})
	if len(went) == 0 || s.Ended == 0 || t.lossy() || len(t.run.Taps) > 1 || len(t.run.Connections) > mostOthers {
		return
	}
	i.fact("meanwhile", someOf(went)+" went on: it is not the tap that stopped")
	i.FitsWith = []string{fmt.Sprintf("a link or path from %v to the tap that was down: PSNs are missing", on), "a path of several, of which the tap sees some"}
	i.Next = []string{fmt.Sprintf("link events of %v and of the switch ports between it and the tap, at that time", on)}
}
