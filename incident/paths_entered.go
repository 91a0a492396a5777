package incident

import (
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
)

// enteredBy is where all packets of queue pairs that lost packets before the tap came by, and hardly any of those that lost none: an uplink that is a tap of its own, or the Ethernet address of the router
// before the tap.
type enteredBy struct {
	agent.Entry
	byTap                         bool // by the tap, which others do not come by; Source may be known, too
	few                           int  // queue pairs that came by there and lost none, with too few packets to tell
	back                          int  // by the tap: those whose packets go the other way there, and lost none
	beside                        int  // of some of these senders to other hosts, or of others to some of these hosts, that came by other ways and lost none
	through                       int  // by the tap, and lost after it: those of these senders to other hosts that left there, too, and lost none
	throughTo                     []packet.Addr
	sentFew, sentBack, sentBeside uint64
	sentThrough                   uint64
	answers                       []hashedFlow // that came by there, and of which nothing but timers of their peers says that some were lost
}

// is reports whether what an end sends comes by there.
func (b *enteredBy) is(e *agent.End) bool {
	x := &e.Path.Entry
	return x.Known && (b.byTap && x.Tap == b.Tap || !b.byTap && b.Source != 0 && x.Source == b.Source && x.Tap == b.Tap)
}

// entered finds out where what was lost came by, among all that the senders of losses sent to the others; nil: packets of several came by there, or that is not known.
func (a *across) entered(t *teller) *enteredBy {
	if a.sum.side() == "" || len(a.lossyEnds) < fewestHosts || t.run.Repeated > 0 { // a packet that several taps show came by each of them
		return nil
	}
	for _, byTap := range [...]bool{true, false} {
		b := &enteredBy{Entry: a.lossyEnds[0].Path.Entry, byTap: byTap}
		if byTap && len(t.run.Taps) < 2 || !byTap && a.sum.side() != beforeTap {
			continue
		}
		if !slices.ContainsFunc(a.lossyEnds, func(e *agent.End) bool { return !b.is(e) }) && b.apart(t, a) {
			if slices.ContainsFunc(a.lossyEnds, func(e *agent.End) bool { return e.Path.Source != b.Source }) {
				b.Source = 0
			}
			return b
		}
	}
	return nil
}

// apart reports whether those that lost none came by other ways, as far as that tells anything: some that did not came by there, with fewer packets than any would be lost of.
func (b *enteredBy) apart(t *teller, a *across) bool {
	elsewhere := uint64(0)
	for _, c := range a.cleanEnds {
		switch {
		case !c.end.Path.Entry.Known || !b.byTap && c.end.Path.Source == 0:
			return false
		case b.is(c.end):
			b.few, b.sentFew = b.few+1, b.sentFew+c.sent
		default:
			elsewhere += c.sent
		}
	}
	fewBeside := b.takeBeside(t, a)
	return uint64(a.rounds)*(b.sentFew+fewBeside) < tellingRounds*a.sentLossy && uint64(a.rounds)*elsewhere >= tellingMisses*a.sentLossy
}

// takeRest takes what else of the connections between the same hosts came by there: answers that only timers miss, and what goes the other way.
func (a *across) takeRest(t *teller) {
	b := a.by
	for c, from := range t.hashedEnds() {
		e, to := &c.Ends[from], &c.Ends[1-from]
		if b.byTap && b.is(e) && slices.Contains(a.others, e.Addr) && slices.Contains(a.senders, to.Addr) {
			if before, after, _, _ := t.lostFrom(c, from); before+after == 0 {
				b.back, b.sentBack = b.back+1, b.sentBack+e.Packets
			}
			continue
		}
		if !b.is(e) || !slices.Contains(a.senders, e.Addr) || !slices.Contains(a.others, to.Addr) {
			continue
		}
		before, after, _, unsure := t.lostFrom(c, from)
		s := a.sum
		if unsure == 0 || before+after > 0 || s.unsure+unsure > (s.before+s.after+s.against)/4 {
			continue
		}
		if other, later, _, _ := t.lostFrom(c, 1-from); other+later == 0 && lost(e) == 0 {
			b.answers = append(b.answers, hashedFlow{way: way{e.Addr, to.Addr}, port: e.Path.Port, answers: unsure})
			s.take(c)
		}
	}
}
