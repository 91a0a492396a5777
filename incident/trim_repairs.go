package incident

import (
	"cmp"
	"fmt"
	"slices"

	"ibwitness/packet"
	"ibwitness/rule"
)

// A receiver that makes use of trimmed packets sends a NAK for each at once. One that drops them sends one only when a later packet comes whole: of
// the last packets of what a sender has outstanding nothing tells it, and they wait for the sender's timer.

// repairs is how packets to a host that were trimmed were repaired.
type repairs struct {
	asked, timed      uint64 // by a PSN sequence NAK, by a timer
	soonest, latest   int64  // after how long a NAK came, nanoseconds
	late              uint64 // NAKs of which that was longer than askedWithin
	soonestLate       int64  // after how long the first of these came
	waited            int64  // how long all of these took together
	shortest, longest int64  // likewise a timer
	first             uint64 // frame of the first packet that one retransmitted
	senders           []timedOut
	all               bool // with those of no event, of which only the longest is known
	trims             map[trimmedQP][]trimmedPSN
	naked             nakedTrims
	dscps             []trimmedDSCPs
}

// trimmedQP is a queue pair of a sender.
type trimmedQP struct {
	from packet.Addr
	qpn  uint32
}

// trimmedPSN is a packet of it that was trimmed.
type trimmedPSN struct {
	psn   packet.PSN
	time  int64
	frame uint64
	came  uint64 // frame in which it came whole; 0: it has not
}

// timedOut is how often a timer repaired what was trimmed of a sender.
type timedOut struct {
	from packet.Addr
	n    uint64
}

// repairsTo is how packets to a host that were trimmed were repaired, as far as events tell.
func (t *teller) repairsTo(to packet.Addr) *repairs {
	if r := t.repairs[to]; r != nil {
		return r
	}
	r := &repairs{trims: map[trimmedQP][]trimmedPSN{}, naked: newNakedTrims()}
	if t.repairs == nil {
		t.repairs = map[packet.Addr]*repairs{}
	}
	t.repairs[to] = r
	for k := range t.run.Findings {
		f := &t.run.Findings[k]
		switch {
		case f.Rule == rule.EvSeqNAK && f.Accused.Addr == to:
			since, trimmed := r.naked.asks(f)
			if x := r.oldest(qpOf(&f.Peer), f.PSN, f.Frame); x != nil && x.psn == f.PSN {
				r.soonest, r.latest = widened(r.asked, r.soonest, r.latest, f.Time-x.time)
				if r.asked++; f.Time-x.time > askedWithin {
					r.soonestLate, _ = widened(r.late, r.soonestLate, 0, f.Time-x.time)
					r.late, r.waited = r.late+1, r.waited+f.Time-x.time
				}
			} else if trimmed { // a copy came whole, though before the request that goes before it
				r.soonest, r.latest = widened(r.asked, r.soonest, r.latest, f.Time-since)
				r.asked++
			}
		case f.Peer.Addr != to:
		case f.Rule == rule.EvTrimmed:
			q := qpOf(&f.Accused)
			r.naked.came(q, f.PSN, f.Time)
			r.takeDSCP(f.Detail)
			left := slices.DeleteFunc(r.trims[q], func(x trimmedPSN) bool { return x.psn == f.PSN || x.came != 0 && x.came != f.Frame })
			r.trims[q] = append(left, trimmedPSN{psn: f.PSN, time: f.Time, frame: f.Frame})
		case f.Rule == rule.EvRetransmission:
			list := r.trims[qpOf(&f.Accused)]
			for n := range list {
				if x := &list[n]; x.psn == f.PSN && x.frame != f.Frame && x.came == 0 {
					x.came = f.Frame
				}
			}
		case f.Rule == rule.EvTimeout:
			if x := r.oldest(qpOf(&f.Accused), f.PSN, f.Frame); x != nil {
				r.byTimer(f, f.Time-x.time)
			}
		}
	}
	return r
}

func qpOf(e *rule.Endpoint) trimmedQP { return trimmedQP{e.Addr, e.QPN} }

// oldest is the first packet from a PSN on that was trimmed and had not come whole before a frame; nil: there is none.
func (r *repairs) oldest(q trimmedQP, from packet.PSN, frame uint64) (first *trimmedPSN) {
	list := r.trims[q]
	for n := range list {
		x := &list[n]
		if x.frame < frame && (x.came == 0 || x.came >= frame) && !x.psn.Before(from) && (first == nil || x.psn.Before(first.psn)) {
			first = x
		}
	}
	return first
}

// byTimer takes a retransmission that a timer began.
func (r *repairs) byTimer(f *rule.Finding, since int64) {
	r.shortest, r.longest = widened(r.timed, r.shortest, r.longest, since)
	if r.timed++; r.timed == 1 || f.Frame < r.first {
		r.first = f.Frame
	}
	r.senders = addTimed(r.senders, f.Accused.Addr, 1)
}

// addTimed adds n timers of a sender to a list.
func addTimed(list []timedOut, from packet.Addr, n uint64) []timedOut {
	at := slices.IndexFunc(list, func(s timedOut) bool { return s.from == from })
	if at < 0 {
		at, list = len(list), append(list, timedOut{from: from})
	}
	list[at].n += n
	return list
}

// takeTimers takes the timers of all connections, where events tell of fewer: of what had come trimmed only, none tells. Where packets were lost after the tap it is not known which timers ran out for these.
func (r *repairs) takeTimers(cost *trimsCost) {
	n := uint64(0)
	for _, s := range cost.senders {
		n += s.n
	}
	if r.timed > 0 && n > r.timed && cost.whole == 0 {
		r.timed, r.senders, r.longest, r.all = n, cost.senders, max(r.longest, cost.longest), true
	}
}

// widened is a range of n values with one more.
func widened(n uint64, least, most, x int64) (from, to int64) {
	if n == 0 {
		return x, x
	}
	return min(least, x), max(most, x)
}

// unused reports whether the receiver makes no use of what comes trimmed: so often nothing but a timer repaired it.
func (r *repairs) unused() bool { return r.timed >= tellingRounds }

// tellRepairs says how what was trimmed was repaired, and whether the receiver makes use of it.
func (t *teller) tellRepairs(i *Incident, to packet.Addr, r *repairs) {
	if r.asked+r.timed == 0 || !t.timed() {
		return
	}
	least := ""
	if t.limited() {
		least = "at least "
	}
	said := fmt.Sprintf("%s%s for a trimmed packet, %s after it", least, count(r.asked, "PSN sequence NAK"), between(span(r.soonest), span(r.latest)))
	if r.late > 0 && r.late < r.asked {
		said += fmt.Sprintf("; %d of these only after %s or longer", r.late, span(r.soonestLate))
	}
	if r.asked == 0 {
		said = "no PSN sequence NAK asked for one"
	}
	if r.timed > 0 {
		slices.SortStableFunc(r.senders, func(a, b timedOut) int { return cmp.Or(cmp.Compare(b.n, a.n), a.from.Compare(b.from)) })
		var names []string
		for _, s := range r.senders[:min(len(r.senders), portsShown)] {
			names = append(names, fmt.Sprintf("%v %s", s.from, number(s.n)))
		}
		if more := len(r.senders) - portsShown; more > 0 {
			names = append(names, number(uint64(more))+" more")
		}
		if r.all {
			said += fmt.Sprintf("; %s the timer of a sender ran out, after up to %s (%s)", times(r.timed), span(r.longest), enumerate(names))
		} else {
			said += fmt.Sprintf("; for at least %s none came, and the timer of the sender ran out, %s after it (%s; the first: frame %d)",
				number(r.timed), between(span(r.shortest), span(r.longest)), enumerate(names), r.first)
		}
	}
	i.fact("repaired", said)
	if !r.unused() {
		return
	}
	waited := fmt.Sprintf("it asked for none of at least %s, each of which waited %s for the timer of the sender", number(r.timed), between(span(r.shortest), span(r.longest)))
	if r.all {
		waited = fmt.Sprintf("%s the timer of a sender had to run out, after up to %s", times(r.timed), span(r.longest))
	}
	i.What = fmt.Sprintf("%s %v likely makes no use of them: %s.", i.What, to, waited)
	i.Next[0], i.Next[2] = "whether the adapter of "+to.String()+" can use trimmed packets and is set to; "+
		"else trimming off for this traffic class, or a shorter timer",
		"ECN thresholds and pacing of the senders, where many of them send at once (incast)"
}
