package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// lossSum is what was lost in one direction between a host and others, on all connections with these.
type lossSum struct {
	host    packet.Addr   // that all connections have in common
	to      bool          // what was lost went to it; else it came from it
	both    bool          // both: to it before the tap, and from it after the tap
	others  []packet.Addr // between which and the host something was lost
	senders []packet.Addr // in place of a host, where there are several: what was lost went from them to others

	lossy, all int // connections with these: on which something was lost, and in all

	before, after   uint32 // losses in that direction, by the side of the tap
	against, unsure uint32 // losses in the other one, and those of which the direction is not known
	naks, timers    uint32 // rounds of retransmission, by what had the requester go back
	sentNAKs        uint32 // PSN sequence NAKs: some have no round of their own
	implied         uint32 // likewise, for responses that came after a gap

	wentBack
	requests      uint64 // packets of requests of those that retransmitted, or all of one of which these are not known
	sent, payload uint64 // all packets of those that retransmitted, and their payload, copies among them
	begin, end    int64
	missing       qp.Filled
	tails         qp.Tails // lost after the tap
	askedAfter    uint32   // PSN sequence NAKs for what was
	overtaken     bool     // some packets came after later ones
	incast        bool     // it was lost as many sent to the host at once
	overTap       bool     // all of it left over one tap of several, and what left over others lost nothing
	lastTap       bool     // several taps had shown all of it: it was lost after the last
	onePath       bool     // it is on one path of several, on which packets stay in order
	late          uint32   // what receivers took although it had not been retransmitted
	ends          map[Party]bool
	asking        map[Party]askedFirst // of requests of these ends
	apart         map[pair]bool        // hosts of senders between which requests were retransmitted on others than its connections
}

// sumOfLosses adds up what was lost to a host, or from it, on its connections with some others: each for which among is true.
func (t *teller) sumOfLosses(host packet.Addr, to bool, among func(packet.Addr) bool) *lossSum {
	s := &lossSum{host: host, to: to, ends: map[Party]bool{}}
	t.addTo(s, among)
	return s
}

// addTo adds to a sum what was lost on connections of its host with some others.
func (t *teller) addTo(s *lossSum, among func(packet.Addr) bool) {
	with := map[packet.Addr]int{}
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		far, ok := farEnd(c, s.host)
		if !ok || !c.Service.Reliable() || far == s.host || !among(far) {
			continue
		}
		if with[far]++; !s.take(c) {
			continue
		}
		s.lossy++
		if !slices.Contains(s.others, far) {
			s.others = append(s.others, far)
		}
	}
	for _, a := range s.others {
		s.all += with[a]
	}
	slices.SortFunc(s.others, packet.Addr.Compare)
}

// take takes a connection, and reports whether something was lost on it in the direction of the sum.
func (s *lossSum) take(c *agent.Connection) (lossy bool) {
	for from := range c.Ends {
		e := &c.Ends[from]
		if e.Trouble == nil {
			continue
		}
		k := e.Trouble.Settled(e.Stalled)
		n := uint32(k.Sum.Total()) - k.Sum.Rounds[qp.NotReady]
		if n == 0 {
			continue
		}
		before, after, against := placesOf(&k).along(s.along(e.Addr))
		if s.both {
			other, later, _ := placesOf(&k).along(!s.along(e.Addr))
			before, after, against = before+other, after+later, 0
		}
		s.unsure += n - min(n, before+after+against)
		if s.against += against; before+after == 0 && against > 0 {
			continue
		}
		lossy = true
		s.sentNAKs += c.Ends[1-from].SequenceNAKs
		s.before, s.after = s.before+before, s.after+after
		s.addEnd(e, &k)
		s.asks(c, from, &k)
		requests, _, _ := requestsOf(c, from, &k)
		s.requests += requests
		tails := lostTails(c, from, &k)
		s.tails.Add(&tails)
		s.askedAfter += k.Asked.After
	}
	return lossy
}

// along reports whether what a host sends goes in the direction of the sum.
func (s *lossSum) along(a packet.Addr) bool {
	if len(s.senders) > 0 {
		return slices.Contains(s.senders, a)
	}
	return (a != s.host) == s.to
}

// along is how many rounds there were for what was lost in one direction, before the tap and after it, and in the other; requests says that requests go in that direction.
func (p places) along(requests bool) (before, after, against uint32) {
	if requests {
		return p.before + p.unseen + p.short, p.after + p.unsent, p.back + p.over + p.missing
	}
	return p.over + p.missing, p.back, p.before + p.unseen + p.short + p.after + p.unsent
}

// addEnd adds what trouble k cost end e of a connection.
func (s *lossSum) addEnd(e *agent.End, k *qp.Trouble) {
	s.ends[party(e)] = true
	s.naks, s.timers = s.naks+k.Sum.Rounds[qp.SequenceAsked], s.timers+k.Sum.Rounds[qp.TimerExpired]
	s.late += k.Asked.Late
	s.implied += k.Sum.Rounds[qp.ResponseLost] - placesOf(k).dropped
	s.add(k)
	s.sent, s.payload = s.sent+e.Packets, s.payload+e.Bytes
	if s.begin == 0 || k.Sum.Begun < s.begin {
		s.begin = k.Sum.Begun
	}
	s.end = max(s.end, k.Sum.Last, k.Sum.Ended)
	s.overtaken = s.overtaken || k.Overtaking.All().Packets > 0 || k.Responses.All().Packets > 0
	m := &k.Missing.Filled
	s.missing.PSNs, s.missing.Gaps, s.missing.Longest = s.missing.PSNs+m.PSNs, s.missing.Gaps+m.Gaps, max(s.missing.Longest, m.Longest)
}

// mostlyAlong is how many losses there are in the direction of the sum at least for each in the other.
const mostlyAlong = 10

// tells reports whether the losses of several connections have the direction of the sum in common, as far as that is known of most.
func (s *lossSum) tells() bool {
	along := s.before + s.after
	unsure := (along + s.against) / 4
	if s.lastTap {
		unsure = s.unsure // timers, for the ends of messages
	} else if (s.incast || s.overTap) && s.side() == afterTap {
		unsure = along // timers, for what was lost there last, or once more
	}
	return s.lossy > 1 && along >= tellingRounds && mostlyAlong*s.against <= along && s.unsure <= unsure && !s.overtaken
}

// The sides of the tap, as side says them.
const (
	beforeTap = " before the tap"
	afterTap  = " after the tap"
)

// side says on which side of the tap packets were lost, where that is the same of nearly all.
func (s *lossSum) side() string {
	switch {
	case mostlyAlong*s.after <= s.before:
		return beforeTap
	case mostlyAlong*s.before <= s.after:
		return afterTap
	}
	return ""
}

// mostlyTimers reports whether timers brought more of what was lost than what asked for it.
func (s *lossSum) mostlyTimers() bool { return s.timers > s.naks+s.implied }

// where is side with how often it was the other one, and that packets may have overtaken one another there.
func (s *lossSum) where() string {
	side := s.side()
	if needed := s.incast && s.timers >= tellingRounds; side == afterTap && !needed && !s.mostlyTimers() && (!s.onePath && !s.overTap || s.late > 0) && !fewSooner(&s.tails, s.askedAfter) { // which the tap does not show; what is only overtaken needs no timer, and several paths
		side += ", or overtaken there"
	}
	if n := min(s.before, s.after); side != "" && n > 0 {
		side += fmt.Sprintf(" (but %s on its other side)", times(uint64(n)))
	}
	return side
}

// what says what was lost, from where to where, how often, and on how many connections.
func (s *lossSum) what() string {
	whose, with := fmt.Sprintf("to %v", s.host), ""
	switch {
	case s.both:
		return fmt.Sprintf("Packets between %v and %s were lost, both ways, on %s: at least %s what %v sent, after the tap, and %s what came to it, before the tap",
			s.host, someOf(s.others), count(uint64(s.lossy), "connection"), times(uint64(s.after)), s.host, times(uint64(s.before)))
	case len(s.senders) > 0:
		whose = fmt.Sprintf("from %s to %s", someOf(s.senders), someOf(s.others))
	case !s.to:
		whose = fmt.Sprintf("from %v to %s", s.host, someOf(s.others))
	case len(s.others) == 1:
		whose = fmt.Sprintf("from %v to %v", s.others[0], s.host)
	default:
		with = fmt.Sprintf(" with %d hosts", len(s.others))
	}
	on := count(uint64(s.lossy), "connection")
	if s.lossy < s.all {
		on = fmt.Sprintf("%d of %s", s.lossy, count(uint64(s.all), "connection"))
	}
	return fmt.Sprintf("Packets %s were lost%s, at least %s on %s%s", whose, s.where(), times(uint64(s.before+s.after)), on, with)
}

// otherWay says how often something was lost in the other direction than that of the sum.
func (s *lossSum) otherWay(name string) string {
	text := ", and none " + name
	if s.against > 0 {
		text = fmt.Sprintf(", and %s %s", times(uint64(s.against)), name)
	}
	if s.unsure > 0 {
		text += fmt.Sprintf(" (of %s more it is not known)", number(uint64(s.unsure)))
	}
	return text
}

// asked says what had the requesters go back, and how long timers ran for it at least; 0: that is not known.
func (s *lossSum) asked(timer int64) string {
	var list []string
	for _, k := range []struct {
		n  uint32
		by string
	}{{s.naks, "by PSN sequence NAKs"}, {s.implied, "by requesters that lacked responses to READs"}, {s.timers, "by timers, as nothing asked for it, or what was asked for was lost again"}} {
		if k.n > 0 {
			list = append(list, times(uint64(k.n))+" "+k.by)
		}
	}
	if timer > 0 && s.timers > 0 {
		list[len(list)-1] += fmt.Sprintf(", after %s or longer each", span(timer))
	}
	return enumerate(list)
}

// cost says what that cost.
func (s *lossSum) cost(t *teller) string {
	text := fmt.Sprintf("%s of %s retransmitted (%s)", number(s.packets), count(s.sent, "packet"), share(s.packets, s.sent))
	if s.bytes > 0 {
		text += fmt.Sprintf(", %s of %s of payload (%s)", number(s.bytes), count(s.payload, "byte"), share(s.bytes, s.payload))
	}
	if s.implied > s.naks+s.timers {
		text = fmt.Sprintf("%s retransmitted, and the responses that they ask for once more", count(s.packets, "request packet"))
	}
	if t.timed() && s.lost > 0 {
		text = fmt.Sprintf("%s without progress in all of these connections, up to %s at a time; %s", span(s.lost), span(s.longest), text)
	}
	return text
}

// gaps says how what was lost before the tap lies in the streams of PSNs.
func (s *lossSum) gaps() string {
	if m := &s.missing; s.before > 0 && m.Gaps >= fewestGaps {
		if m.Longest == 1 {
			return fmt.Sprintf("at least %s before the tap, never two in a row", count(uint64(m.PSNs), "PSN"))
		}
		return fmt.Sprintf("at least %s before the tap, in %s of up to %d in a row", count(uint64(m.PSNs), "PSN"), count(uint64(m.Gaps), "gap"), m.Longest)
	}
	return ""
}
