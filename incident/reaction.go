package incident

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// From which payload and from how long a time on a rate means something.
const (
	tellingBytes = 16 << 10
	tellingTime  = int64(time.Millisecond)
)

// From how many CNPs on, and from which share of the rate before them, a sender that sent as fast has not reacted.
const (
	tellingCNPs = 8
	asFast      = 0.9
)

// sends is what queue pairs sent around CNPs, in bytes a second, added up.
type sends struct {
	before, during, after float64
	fastest               float64 // before, by the time without the gaps between messages; where that is known of each: paced
	n, spanned, left      uint64  // queue pairs whose rate before is known; with a rate while CNPs came; with one after them
	pairs                 uint64  // queue pairs that CNPs came to
	paced, cnps           uint64
	pace                  pace
}

// add takes a queue pair, end from of a connection, that CNPs x came to.
func (s *sends) add(c *agent.Connection, from int, x *qp.Notified) {
	e := &c.Ends[from]
	s.pairs++
	if x.Bytes < tellingBytes || x.First-c.First < tellingTime || e.Last-x.First < tellingTime {
		return
	}
	s.before += perSecond(x.Bytes, x.First-c.First)
	s.n++
	s.cnps += x.Count
	if x.Last-x.First >= tellingTime {
		s.during += perSecond(x.Until-x.Bytes, x.Last-x.First)
		s.spanned++
	}
	if e.Last-x.Last >= tellingTime {
		s.after += perSecond(e.Bytes-x.Until, e.Last-x.Last)
		s.left++
	}
	if t := sending(c, from, x.First); t >= tellingTime {
		s.fastest += perSecond(x.Bytes, t)
		s.paced++
	}
	s.pace.add(c, from, x)
}

// merge adds the queue pairs of another host.
func (s *sends) merge(x *sends) {
	s.before, s.during, s.after, s.fastest = s.before+x.before, s.during+x.during, s.after+x.after, s.fastest+x.fastest
	s.pairs += x.pairs
	s.n, s.spanned, s.left, s.paced, s.cnps = s.n+x.n, s.spanned+x.spanned, s.left+x.left, s.paced+x.paced, s.cnps+x.cnps
	s.pace.merge(&x.pace)
}

// pauses reports whether queue pairs sent nothing for a good part of the time before the first CNP, or may have: what they send in a second on average does not tell then how fast they are.
func (s *sends) pauses() bool { return s.paced < s.n || s.fastest*asFast > s.before }

// reaction says what the queue pairs of a host that CNPs came to sent in a second until the first of these, while they came, and after the last, where that is the only host that sent, and where nothing shows
// that they reacted.
func (t *teller) reaction(i *Incident, w way, only bool) {
	s := t.around(w)
	if s.n == 0 || !t.timed() {
		return
	}
	if only {
		i.fact("rate", s.told(w.from.String()))
	}
	if only && s.spanned == s.n && s.cnps >= tellingCNPs*s.n && s.during >= asFast*s.before && !s.pace.reacted(s.n) { // it fits, though the gaps do not tell
		i.unreacting(w.from)
	}
	if s.paced < s.n || s.spanned < s.n || s.cnps < tellingCNPs*s.n || s.during < asFast*s.fastest {
		return
	}
	i.fact("reaction", fmt.Sprintf("none of %v that the rate shows: it sent as fast while CNPs came as before, the gaps between its messages then left out", w.from))
	i.unreacting(w.from)
}

// around is what the queue pairs of a host sent to another around CNPs.
func (t *teller) around(w way) (s sends) {
	for c, from := range t.notified(w) {
		s.add(c, from, c.Ends[from].Trouble.Notified)
	}
	return s
}

// notified yields the queue pairs of a host that CNPs of another came to, each as an end of its connection.
func (t *teller) notified(w way) iter.Seq2[*agent.Connection, int] {
	return func(yield func(*agent.Connection, int) bool) {
		for k := range t.run.Connections {
			c := &t.run.Connections[k]
			for from := range c.Ends {
				e := &c.Ends[from]
				if e.Addr == w.from && c.Ends[1-from].Addr == w.to && e.Trouble != nil && e.Trouble.Notified != nil && !yield(c, from) {
					return
				}
			}
		}
	}
}

// aroundAll is what the queue pairs of several hosts did.
func (t *teller) aroundAll(list []sender) (all sends) {
	for _, s := range list {
		x := t.around(s.way)
		all.merge(&x)
	}
	return all
}

// controlled says, of senders of which nothing was lost and whose marks were answered, what that leaves to be done: nothing where they were seen to slow down and to be as fast as before again.
func (t *teller) controlled(i *Incident, list []sender) {
	all := t.aroundAll(list)
	if t.timed() && all.n > 0 && all.pace.reacted(all.pairs) { // of each that a CNP came to
		i.heeding = "each of these hosts"
		i.fact("control", "the marks were answered, what was sent slowed down and was as fast as before again, and nothing was lost: this is what congestion control is for")
	}
	enough := "where throughput is enough, nothing, as nothing was retransmitted; else "
	if i.sharedFairly {
		enough = "nothing to repair: the link is full, its shares are fair, and nothing was retransmitted; for more throughput, "
	}
	i.Next[len(i.Next)-1] = enough + i.Next[len(i.Next)-1]
}

// collapsed is to which part of their rate, one in so many, senders have to slow down at least that are marked still for this to be worth telling.
const collapsed = 4

// ratesOfAll says what several senders sent in all around CNPs, and what fits where they are marked still although they send far less than before.
func (t *teller) ratesOfAll(i *Incident, list []sender, marked bool, bursts *burstsTo) {
	if bursts != nil && bursts.idle {
		if l, known := bursts.inflow(); known && t.shareLink(i, list, &l) {
			return
		}
	}
	all := t.aroundAll(list)
	if all.n == 0 || !t.timed() {
		return
	}
	if bursts != nil && bursts.idle { // averages tell nothing
		i.fact("rate", all.pace.told(all.n))
		return
	}
	fell := marked && all.spanned == all.n && all.cnps >= tellingCNPs*all.n && collapsed*all.during <= all.before
	if fell {
		l, known := t.inflowOf(i.Peer.Addr, i.Begin, i.End)
		if known && t.shareLink(i, list, &l) {
			return
		}
		fell = known && l.fell() || !known && all.n == all.pairs // else others may have sent more instead
	}
	if fell && all.pauses() {
		i.fact("rate", all.rates("they")+": on average, times without traffic counted too")
	} else {
		i.fact("rate", all.told("they"))
	}
	if fell {
		i.FitsWith = slices.Insert(i.FitsWith, 0, "a marking threshold that is too low, or other traffic in the same queue: it marks what these send now, and did not when they sent much more")
		i.Next = slices.Insert(i.Next, 0, "the ECN thresholds (WRED) and the depth of the egress queue to "+i.Peer.Addr.String()+", and what else goes through it")
	}
}

// unreacting adds that a sender may not react.
func (i *Incident) unreacting(from packet.Addr) {
	if f := unreacting(from); !slices.Contains(i.FitsWith, f) {
		i.FitsWith, i.Next = append(i.FitsWith, f), append(i.Next, reactionPoint(from))
	}
}

// told says what the queue pairs of a host sent in a second around CNPs, or how long their messages took where they pause between; "": they pause, and that is not known.
func (s *sends) told(from string) string {
	if s.pauses() {
		return s.pace.told(s.n)
	}
	return s.rates(from)
}

// rates says what they sent in a second.
func (s *sends) rates(from string) string {
	told := fmt.Sprintf("%s sent %s on %s until the first CNP to each", from, perSecondOf(s.before), count(s.n, "queue pair"))
	if s.n < s.pairs {
		told = fmt.Sprintf("%d of the %d queue pairs that CNPs came to (the others sent too little around them to compare) sent %s until the first CNP to each", s.n, s.pairs, perSecondOf(s.before))
	}
	if s.spanned == s.n {
		told += fmt.Sprintf(", %s while they came", perSecondOf(s.during))
	}
	if s.left == s.n {
		told += fmt.Sprintf(", and %s after the last", perSecondOf(s.after))
	}
	return told
}

// unreacting is what fits a sender that CNPs do not slow down.
func unreacting(from packet.Addr) string {
	return noReaction(from) + "; or a program that offers less than the limit that it sets"
}

// noReaction is the same of one that outruns others, which CNPs do slow down.
func noReaction(from packet.Addr) string {
	return fmt.Sprintf("a sender that does not react: congestion control of %v (reaction point) that is off for this priority, or CNPs that do not reach it", from)
}

// setOtherwise has an incident fit a sender that does not slow down as others do, and say where to look: there, and at one of these beside it.
func (i *Incident) setOtherwise(from packet.Addr, beside string) {
	i.FitsWith = []string{
		fmt.Sprintf("congestion control of %v (reaction point) that is off for this priority, or set otherwise than that of the others", from),
		"CNPs that are lost after the tap on the way to it",
	}
	i.Next = []string{reactionPoint(from) + ", beside those of " + beside}
}

// reactionPoint is where to look then.
func reactionPoint(from packet.Addr) string {
	return fmt.Sprintf("congestion control on %v (RoCE reaction point: ecn/roce_rp/enable), and its counters of CNPs (rp_cnp_handled, rp_cnp_ignored)", from)
}

// sending is for how long an end of a connection sent until a time, at least: the gaps between its messages, of which only the sum over the capture is known, are left out. 0: that is not known, as
// it sent responses, began messages that the tap did not see, or sent nothing for a while in a way that the gaps do not show.
func sending(c *agent.Connection, from int, until int64) int64 {
	if c.Timing == nil {
		return 0
	}
	m := &c.Timing.Ends[from]
	x := &m.Series
	gaps := m.Gaps
	if gaps == nil || x.Width == 0 || gaps.Count()+1 < c.Ends[from].Messages {
		return 0
	}
	for k := range x.Slots {
		if x.Start+int64(k)*x.Width < until && x.Slots[k].Bytes+x.Slots[k].Retransmitted == 0 {
			return 0
		}
	}
	return until - max(c.First, x.Start+x.Width) - int64(gaps.Sum)
}

// perSecond is how many bytes went in a second.
func perSecond(bytes uint64, ns int64) float64 { return float64(bytes) / time.Duration(ns).Seconds() }
