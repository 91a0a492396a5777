package incident

import (
	"fmt"
	"slices"

	"ibwitness/packet"
)

// Losses after one of several taps may be at its link, or farther on: where what left over that tap to other hosts lost nothing, they are farther on, on the way to those whose packets were lost.

// leftAlike reports whether what was lost on two ways left over the same one of several taps, and was lost after it: so that they may be one fault, though no traffic ties their hosts.
func (t *teller) leftAlike(a, b way) bool {
	if len(t.run.Taps) < 2 || t.run.Repeated > 0 {
		return false
	}
	at, left := t.leftOver(a)
	of, too := t.leftOver(b)
	return left && too && at == of
}

// leftOver is the tap over which all left that was lost on a way, where it was lost after it; false: there are several, it was lost elsewhere, or that is not known.
func (t *teller) leftOver(w way) (tap uint16, known bool) {
	for c, from := range t.hashedEnds() {
		e := &c.Ends[from]
		if (way{e.Addr, c.Ends[1-from].Addr}) != w {
			continue
		}
		before, after, _, _ := t.lostFrom(c, from)
		switch {
		case before+after == 0:
			continue
		case after < mostlyAlong*before || !e.Path.Entry.Known || known && e.Path.Entry.Tap != tap:
			return 0, false
		}
		tap, known = e.Path.Entry.Tap, true
	}
	return tap, known
}

// takeBeside takes those between one of these hosts and others that lost none, and returns how many packets of them came by there, as far as they speak against it. What left over a tap to other hosts
// does not, where it is enough to tell: the losses are farther on then.
func (b *enteredBy) takeBeside(t *teller, a *across) (few uint64) {
	x := fates{lossyOf: a.lossyOf}
	after := b.byTap && a.sum.side() == afterTap
	for c, from := range t.hashedEnds() {
		e, to := &c.Ends[from], c.Ends[1-from].Addr
		by, with := slices.Contains(a.senders, e.Addr), slices.Contains(a.others, to)
		if by && with || slices.Contains(a.others, e.Addr) || slices.Contains(a.senders, to) || e.Packets < steadyPackets {
			continue
		}
		switch before, later, _, unsure := t.lostFrom(c, from); {
		case before+later+unsure > 0:
		case b.is(e) && by && after && e.Bytes > 0:
			b.through, b.sentThrough, b.throughTo = b.through+1, b.sentThrough+e.Packets, withHost(b.throughTo, to)
			x.steadyOf.add(c, e)
		case b.is(e) && (by || with || b.Source != 0 && e.Path.Source == b.Source):
			few += e.Packets
		case e.Path.Entry.Known && (by || with) && !b.is(e):
			b.beside, b.sentBeside = b.beside+1, b.sentBeside+e.Packets
		}
	}
	if x.unlike() || uint64(a.rounds)*b.sentThrough < tellingMisses*a.sentLossy {
		few += b.sentThrough
		b.through, b.sentThrough, b.throughTo = 0, 0, nil
	}
	slices.SortFunc(b.throughTo, packet.Addr.Compare)
	return few
}

// throughSaid tells of those that left over the same tap to other hosts; "": there are none.
func (b *enteredBy) throughSaid(a *across) string {
	if b.through == 0 {
		return ""
	}
	return fmt.Sprintf("%s over the same tap from these hosts to %s, with %s, lost nothing: so it is likely not the link of this tap, but what is after its far end, on the way to %s",
		count(uint64(b.through), "connection"), someOf(b.throughTo), count(b.sentThrough, "packet"), someOf(a.others))
}
