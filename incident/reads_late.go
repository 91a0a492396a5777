package incident

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// Where READ responses came after later ones, and as many bytes came as READs asked for, those too that were retransmitted, or the capture holds each IPv4 identification of their
// responder, none of them was lost before the tap: what was retransmitted follows from their order, and is told with that.

// readsLate is what the READs asked for of which an incident tells that responses to them came late, and what came.
type readsLate struct {
	timing.Tally
	came           bool // as much came as was asked for, on each connection
	each           bool // each response that others had overtaken came, by its IPv4 identification, and no timer ran out
	none           bool // none was lost before the tap: one of these, or the capture holds all that their responders sent
	rounds, timers uint64
	byOrder        uint64        // of the rounds, those which a response began that had come before one which it needs, and which had not come
	held           []packet.Addr // responders of which the capture holds each IPv4 identification
}

func (r *readsLate) add(o *readsLate) {
	r.Tally.Add(&o.Tally)
	r.came, r.each, r.none = r.came && o.came, r.each && o.each, r.none && o.none
	r.rounds, r.timers, r.byOrder = r.rounds+o.rounds, r.timers+o.timers, r.byOrder+o.byOrder
	for _, a := range o.held {
		if !slices.Contains(r.held, a) {
			r.held = append(r.held, a)
		}
	}
}

// readsLateOf is what the READs of end from of c asked for, of which responses came after later ones, and what came; nothing where some of that may have been lost.
func (t *teller) readsLateOf(c *agent.Connection, from int) (r readsLate) {
	e, peer := &c.Ends[from], &c.Ends[1-from]
	if c.Timing == nil || e.Trouble == nil || len(t.run.Taps) > 1 || t.lossy() {
		return r
	}
	for _, w := range []way{{e.Addr, peer.Addr}, {peer.Addr, e.Addr}} {
		if t.damaged[w] || t.cut[w] {
			return r
		}
	}
	if t.arrived(c, 1-from) == hostsNumbers {
		r.held = []packet.Addr{peer.Addr}
	}
	r.Tally = c.Timing.Ends[from].Tally
	k := e.Trouble.Settled(false)
	r.rounds, r.timers = k.Sum.Total()-uint64(k.Sum.Rounds[qp.NotReady]), uint64(k.Sum.Rounds[qp.TimerExpired])
	r.byOrder = uint64(k.Sum.Rounds[qp.ResponseLost] - min(k.Passed, k.Sum.Rounds[qp.ResponseLost]))
	late := e.Trouble.Responses.All().Packets > 0 || r.byOrder > 0 && !r.Numbered
	r.came = late && r.AllCame()
	r.each = late && r.EachCame() && r.Numbered && r.Filled == 0 && r.timers == 0
	r.none = r.came || r.each || late && len(r.held) > 0 && r.Responses > 0
	return r
}

// follows reports whether what was retransmitted follows from the order of responses, none of which was lost before the tap: nearly each time one had come before one which the requester needs.
func (r *readsLate) follows() bool {
	return r.none && r.Again > 0 && seldomAfter*(r.rounds-min(r.rounds, r.byOrder)) <= r.rounds
}

// readAnswered reports whether the request that end from of c waits for in the end, with trouble k, is a READ all responses to which came, some after later ones, as often as they were asked for.
func (t *teller) readAnswered(c *agent.Connection, from int, k *qp.Trouble) bool {
	if k.Now.Request.Op != wqe.Read || k.Refusal.Time != 0 || k.NAK.Time != 0 || k.Now.NAKs > 0 {
		return false
	}
	return t.readsLateOf(c, from).came
}

// readsOvertaken tells of retransmissions of end from of c, in an incident, that all follow from READ responses which came late, and leaves out what fits a loss. It reports whether it is so.
func (t *teller) readsOvertaken(i *Incident, c *agent.Connection, from int) bool {
	r := t.readsLateOf(c, from)
	if !r.follows() {
		return false
	}
	k := c.Ends[from].Trouble.Settled(false)
	if p := placesOf(&k); k.Sum.Rounds[qp.SequenceAsked]+p.unseen+p.earlier+p.unsent > 0 {
		return false // requests were lost
	}
	i.noneLost, i.readsCame = true, true
	i.What = strings.Replace(i.What, "packets or their answers were lost, late or overtaken", "READ responses came after later ones, and none was lost before the tap", 1)
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "where" || f.Label == "missing" || f.Label == "paths" })
	i.fact("lost", "nothing before the tap: all READ responses came, some after later ones")
	i.FitsWith, i.Next = []string{"READ responses that came after later ones: the requester took them for lost"}, nextOfReads(i.Local.Addr, []packet.Addr{i.Peer.Addr})
	return true
}

// nextOfReads is where to look where READ responses of some hosts to one come late.
func nextOfReads(to packet.Addr, from []packet.Addr) []string {
	return []string{
		fmt.Sprintf("adaptive routing or packet spraying of the switches for this traffic, on the way from %s to %v", someOf(from), to),
		fmt.Sprintf("implied_nak_seq_err of %v, which does not take READ responses out of order, and whether its adapter can (out-of-order support)", to),
	}
}

// said says that of all READs nothing was lost; "": that is not known, or nothing was asked for again.
func (r *readsLate) said() string {
	switch {
	case !r.none || r.Again == 0:
		return ""
	case !r.came:
		return fmt.Sprintf(" None of them was lost before the tap, and %s %s retransmitted.", count(r.Again, "READ"), wasWere(r.Again))
	}
	return fmt.Sprintf(" Nothing was lost before the tap: READs, with %s that %s retransmitted, ask for %s, and as many came.", number(r.Again), wasWere(r.Again), count(r.Asked, "byte"))
}

func wasWere(n uint64) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// tellReadsLate says, in incidents of READ responses that came late, what that cost, and has them tell of the retransmissions and stalls that follow from it.
func (t *teller) tellReadsLate(list []Incident) []Incident {
	merged := map[*Incident]bool{}
	for n := range list {
		i := &list[n]
		r := &i.late.reads
		if i.Kind != Reordered || i.late.name != responses.name || !r.none || r.Again == 0 {
			continue
		}
		if len(i.Also) == 0 {
			i.What += r.said()
		}
		if len(i.Also) == 0 || i.common == i.Peer.Addr {
			senders := append([]packet.Addr{i.Local.Addr}, i.Also...)
			slices.SortFunc(senders, packet.Addr.Compare)
			i.Next = nextOfReads(i.Peer.Addr, slices.Compact(senders))
		}
		i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "cost" })
		i.fact("lost", "nothing before the tap: "+r.arrived())
		i.fact("cost", fmt.Sprintf("%s retransmitted, in %s%s%s", count(r.Again, "READ"), count(r.rounds, "round"), r.byTimer(), r.copies()))
		i.fact("in order", t.readsInOrder(i))
		var of, stalls []*Incident
		for m := range list {
			if o := &list[m]; o.readsCame && !merged[o] && len(o.Also) == 0 && i.lateOn(o.Peer.Addr, o.Local.Addr) && i.overlaps(o) {
				of = append(of, o)
				if merged[o] = true; o.Kind == Interrupted {
					stalls = append(stalls, o)
				}
			}
		}
		i.includesAll(of)
		i.stallsUntil(stalls, "until a timer ran out: what was retransmitted came out of order too")
	}
	return withMerged(list, merged)
}

// byTimer says how many of the rounds a timer began.
func (r *readsLate) byTimer() string {
	if r.timers == 0 {
		return ""
	}
	return fmt.Sprintf(", %s of which the ACK timeout began", number(r.timers))
}

// copies says how many responses had come before; "": not known.
func (r *readsLate) copies() string {
	if !r.EachCame() {
		return ""
	}
	return fmt.Sprintf("; %s of %s (%s) were copies of what had come", number(r.Copies), count(r.Responses, "response"), share(r.Copies, r.Responses))
}

// arrived says that all came.
func (r *readsLate) arrived() string {
	s := "all that was sent came"
	switch {
	case r.came:
		s = fmt.Sprintf("%s asked for, with those retransmitted, and %s came", count(r.Asked, "byte"), number(r.Came))
	case r.each:
		s = "each response came, those late that had left before others, by their IPv4 identifications"
	}
	if r.byOrder == r.rounds {
		s += ", and each time a READ was retransmitted as others had come first"
	} else {
		s += fmt.Sprintf(", and %s of %s READs were retransmitted as others had come first", number(r.byOrder), count(r.rounds, "time"))
	}
	if len(r.held) > 0 {
		s += "; the capture holds each IPv4 identification of " + someOf(r.held)
	}
	return s
}

// surelyLate is how many of the READ responses of a host would have come late at least, where they had as often as others did, to say that it is unlike these.
const surelyLate = 10

// readsInOrder says of which other hosts READ responses came to the same one in the same time, and none late; "": there is none.
func (t *teller) readsInOrder(i *Incident) string {
	if len(i.Also) > 0 && i.common != i.Peer.Addr || i.late.of == 0 {
		return ""
	}
	came, lates := map[packet.Addr]uint64{}, map[packet.Addr]bool{}
	var hosts []packet.Addr
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for from := range c.Ends {
			e, peer := &c.Ends[from], &c.Ends[1-from]
			if e.Addr != i.Peer.Addr || peer.Addr == e.Addr || i.lateOn(peer.Addr, e.Addr) {
				continue
			}
			if k, o := e.Trouble, peer.Trouble; k != nil && k.Responses.All().Packets > 0 || o != nil && o.Overtaking.All().Packets > 0 {
				lates[peer.Addr] = true
			}
			if c.Timing == nil || c.Timing.Ends[from].Tally.Responses == 0 {
				continue
			}
			if came[peer.Addr] == 0 {
				hosts = append(hosts, peer.Addr)
			}
			came[peer.Addr] += sentWithin(&c.Timing.Ends[1-from].Series, c.Timing.Ends[from].Tally.Responses, i.Begin, i.End)
		}
	}
	hosts = slices.DeleteFunc(hosts, func(a packet.Addr) bool {
		return lates[a] || came[a]*i.late.packets < surelyLate*i.late.of
	})
	if len(hosts) == 0 {
		return ""
	}
	slices.SortFunc(hosts, packet.Addr.Compare)
	sum := uint64(0)
	for _, a := range hosts {
		sum += came[a]
	}
	return fmt.Sprintf("none of about %s of %s came late in this time: what reorders is not on their way", count(sum, "READ response"), someOf(hosts))
}

// sentWithin is about how many of n packets of an end came in a time, by the bytes that it sent.
func sentWithin(s *timing.Series, n uint64, from, to int64) uint64 {
	in, all := 0.0, 0.0
	for k := range s.Slots {
		at, bytes := s.Start+int64(k)*s.Width, float64(s.Slots[k].Bytes)
		all += bytes
		in += bytes * float64(max(min(at+s.Width, to)-max(at, from), 0)) / float64(s.Width)
	}
	if all == 0 {
		return 0
	}
	return uint64(float64(n) * in / all)
}

// readWaits reports whether a READ of end from of c waited in a stall, all responses to which came, some after later ones, as often as they were asked for.
func (t *teller) readWaits(c *agent.Connection, from int, s *qp.Stall) bool {
	if s.Request.Op != wqe.Read || s.Total() == 0 || s.NAKs > 0 || s.Rounds[qp.SequenceAsked] > 0 {
		return false
	}
	r := t.readsLateOf(c, from)
	return r.came && r.follows()
}

// ofWhat is of what packets that came late are a share.
func (l *late) ofWhat() string {
	if l.name == responses.name && l.of == l.reads.Responses {
		return l.name
	}
	return "packet"
}
