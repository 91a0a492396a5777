package incident

import (
	"cmp"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/timing"
)

// hostSilence is a time in which the capture holds nothing of a host on any connection, though its connections had begun, and what else the capture
// holds that shows whether it was idle then. All times are nanoseconds since the Unix epoch.
type hostSilence struct {
	timing.Silence               // as the connections show it
	from, to       int64         // of its last frame before what is owed, and of its first after, of any kind; to is 0 where it has none
	before, after  uint64        // these frames
	by             string        // what its first frame after is, where that is neither RDMA nor management: "ARP", "TCP"
	owed, asked    int64         // when the first request was sent that waited for it, and the last retransmission of any, or REQ or ARP request where it answers later; owed is from where none did
	waited         int           // connections on which one did
	rounds         uint64        // of retransmission of the one that had most
	survived       bool          // one was answered after it: the queue pair was still there
	number         agent.Hole    // what its identifications show in the middle of it, as numberedAround returns it
	announced      bool          // its first frame after is a gratuitous ARP request, as an interface sends that comes up
	missed         int64         // when the first request was sent in it that was retransmitted only after it, and answered; 0: none was
	lone           bool          // only one request was lost in it, and others that are like it tell what it was
	brief          bool          // several were, which were retransmitted when it was back, or once before
	seen           bool          // the capture holds frames of it in that time that are of no connection
	ended          bool          // the host sent more after it, on a connection
	went           []packet.Addr // who sent to others meanwhile, where somebody has asked
}

// silencesOf returns the silences of a host, in order, and after these the time after its last packet; none where the capture may lack packets.
func (t *teller) silencesOf(a packet.Addr) []hostSilence {
	list, known := t.quiet[a]
	if known || !t.timed() || t.lossy() || len(t.run.Connections) > mostOthers {
		return list
	}
	k, waited, signs := t.activityOf(a), t.owingOf(a), t.signsOf(a)
	last := timing.Silence{From: k.Last, To: t.run.Last + 1, Frames: [2]uint64{k.Frames[1], 0}}
	for _, s := range append(slices.Clone(k.Silences), last) {
		list = append(list, t.hostSilence(a, s, waited, signs))
	}
	if t.quiet == nil {
		t.quiet = map[packet.Addr][]hostSilence{}
	}
	t.quiet[a] = list
	return list
}

// hostSilence returns what the capture shows of a silence of a host, of all requests that waited for it and all its signs.
func (t *teller) hostSilence(a packet.Addr, s timing.Silence, waited []owing, signs []agent.Sign) hostSilence {
	h := hostSilence{Silence: s, from: s.From, to: s.To, before: s.Frames[0], after: s.Frames[1], ended: s.To <= t.run.Last}
	on := map[*agent.Connection]bool{}
	for n := range waited {
		k := &waited[n]
		if !k.all(&s) {
			if k.missed(&s) && (h.missed == 0 || k.Since < h.missed) {
				h.missed = k.Since
			}
			continue
		}
		if since := max(k.Since, s.From); h.owed == 0 || since < h.owed {
			h.owed = since
		}
		h.asked, h.rounds, on[k.on], h.survived = max(h.asked, k.Last), max(h.rounds, k.Total()), true, h.survived || k.ended
	}
	if h.asked != 0 && h.ended {
		h.asked = max(h.asked, t.lastAsked(a, &s))
	}
	h.waited, h.number = len(on), t.numberedAround(a, s.From+s.Length()/2)
	if h.waited == 0 {
		if h.number.From > h.from {
			h.from, h.before = h.number.From, h.number.Before
		}
		h.owed = h.from
	}
	h.seen = slices.ContainsFunc(signs, func(x agent.Sign) bool { return x.At > s.From && x.At < s.To })
	h.narrow(signs)
	t.narrowNumbered(a, &h)
	if h.asked = min(h.asked, h.to); h.to > t.run.Last {
		h.to = 0
	}
	return h
}

// narrow has a time begin with the last frame before what is owed, and end with the first after it, that are not of a connection.
func (h *hostSilence) narrow(seen []agent.Sign) {
	for n := range seen {
		switch s := &seen[n]; {
		case s.At > h.from && s.At <= h.owed:
			h.from, h.before = s.At, s.Frame
		case s.At > h.owed && s.At < h.to:
			h.to, h.after = s.At, s.Frame
			h.announced = gratuitous(s)
			if h.by = s.By.String(); s.Host.IsZero() {
				h.by = ""
			}
			return
		}
	}
}

// narrowNumbered has a time begin and end with the packets of the host between which its identifications lack numbers, or begin again: some are of no
// connection.
func (t *teller) narrowNumbered(a packet.Addr, h *hostSilence) {
	k := t.numberedAround(a, h.owed)
	if k.From > h.from {
		h.from, h.before = k.From, k.Before
	}
	if k.To != 0 && k.To < h.to {
		h.to, h.after, h.by, h.announced = k.To, k.After, "", false
	}
}

// numberedAround is the hole in the identifications of a host that covers a time, or where they begin again then, with 0 packets; the zero value:
// there is none, or it has no one counter.
func (t *teller) numberedAround(a packet.Addr, at int64) agent.Hole {
	if len(t.run.Taps) > 1 {
		return agent.Hole{}
	}
	for n := range t.run.Numbered {
		h := &t.run.Numbered[n]
		if h.Host != a {
			continue
		}
		for _, k := range h.Restarts {
			if k.From <= at && k.At > at {
				return agent.Hole{Before: k.Before, After: k.After, From: k.From, To: k.At}
			}
		}
		for _, k := range h.Holes {
			if k.From <= at && k.To > at {
				return k
			}
		}
	}
	return agent.Hole{}
}

// signsOf returns when the capture holds a frame of a host beside those of its connections: that are no RDMA, and of management, in order.
func (t *teller) signsOf(a packet.Addr) (list []agent.Sign) {
	for n := range t.run.Signs {
		if s := &t.run.Signs[n]; s.Host == a {
			list = append(list, *s)
		}
	}
	for n := range t.run.Findings {
		if f := &t.run.Findings[n]; f.Rule == rule.EvReject && f.Class == rule.Event && f.Accused.Addr == a {
			list = append(list, agent.Sign{At: f.Time, Frame: f.Frame, Tap: f.Tap})
		}
	}
	slices.SortStableFunc(list, func(a, b agent.Sign) int { return cmp.Compare(a.At, b.At) })
	return list
}

// mayAnswerPings reports whether a host may have answered pings in a silence.
func (t *teller) mayAnswerPings(a packet.Addr, s *timing.Silence) bool {
	return slices.ContainsFunc(t.run.Echoes, func(o agent.Echo) bool { return o.Addr == a && o.Answers(s.From, s.To) })
}
