package incident

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/packet"
)

// lostOnceMoreIn has incidents of losses tell of the interruptions in which what was retransmitted was lost once more, before others take these for a host that had stopped.
func lostOnceMoreIn(list []Incident) []Incident {
	merged := map[*Incident]bool{}
	for n := range list {
		i := &list[n]
		if !i.lostAgain || i.storm != 0 || i.within != 0 {
			continue
		}
		if m := slices.IndexFunc(list, func(o Incident) bool { return o.explainsWait(i) }); m >= 0 {
			list[m].fact("waits", i.asWait())
			list[m].includes(i)
			merged[i] = true
		}
	}
	return without(list, merged)
}

// oneOfMany has incidents of losses tell of the interruptions at the same time in which what was lost was one of many packets that were, and only a timer brought it, and one that tells of all
// connections between two hosts of those of one of them: it is the same fault.
func oneOfMany(list []Incident) []Incident {
	merged := map[*Incident]bool{}
	for n := range list {
		i := &list[n]
		if i.storm != 0 || i.within != 0 || len(i.Also) > 0 {
			continue
		}
		for m := range list {
			o := &list[m]
			switch {
			case o == i || merged[o]:
				continue
			case o.explainsWait(i):
				o.fact("waits", i.asWait())
			case o.ofAll && i.joins() && i.Local.Addr == o.Local.Addr && i.Peer.Addr == o.Peer.Addr && o.overlaps(i):
				o.fact("also", i.again.said)
			case o.explainsAnswers(i):
				o.fact("answers", i.asAnswers())
			default:
				continue
			}
			o.includes(i)
			merged[i] = true
			break
		}
	}
	out := without(list, merged)
	if len(merged) > 0 {
		slices.SortStableFunc(out, func(a, b Incident) int { return order(&a, &b) })
	}
	return out
}

// explainsWait reports whether losses explain an interruption: of what the same host sent to the same other, or of an answer that was lost on the same side of the tap.
func (i *Incident) explainsWait(o *Incident) bool {
	if i.Kind != Loss && i.Kind != Retransmitting || i.again.late || i.explained || !i.overlaps(o) {
		return false
	}
	if o.amongLosses || o.lostAgain || o.allChance {
		return i.Local.Addr == o.Local.Addr && i.Peer.Addr == o.Peer.Addr
	}
	return o.answerLost && i.Local.Addr == o.Peer.Addr && i.Peer.Addr == o.Local.Addr && slices.Contains(i.lossyBeyond, o.Local.Addr)
}

// explainsAnswers reports whether losses explain others, of answers to a host on the side of which both were lost.
func (i *Incident) explainsAnswers(o *Incident) bool {
	return (i.Kind == Loss || i.Kind == Retransmitting) && !i.explained && o.joins() && o.allAnswers && i.Local.Addr == o.Peer.Addr && slices.Equal(i.lossyBeyond, []packet.Addr{o.Local.Addr})
}

// asAnswers is what losses say of the answers that were lost.
func (i *Incident) asAnswers() string {
	said := fmt.Sprintf("answers to %v were lost on that side too, so that its timer had it retransmit %s", i.Local.Addr, times(i.again.rounds))
	if i.Connections > 1 {
		said += " on " + count(uint64(i.Connections), "connection")
	}
	return fmt.Sprintf("%s; the worst: %s, without progress for %s in all", said, i.again.said, span(int64(i.Lost)))
}

// asWait is what losses say of an interruption.
func (i *Incident) asWait() string {
	said := fmt.Sprintf("%s until a timer brought what was lost again", span(int64(i.Lost)))
	if i.answerLost {
		said = fmt.Sprintf("%s of %v, to which an answer was lost, after the tap", span(int64(i.Lost)), &i.Local)
	}
	more := ""
	for _, f := range i.Facts {
		switch f.Label {
		case "request":
			said += ": " + f.Text
		case "repeated":
			more = "; " + strings.TrimSuffix(f.Text, "; this is the longest")
		}
	}
	if n := i.Connections; n > 1 {
		more += "; likewise on " + count(uint64(n-1), "more connection")
	}
	return said + more
}

// includes has an incident take the times, frames and findings of another that it tells of.
func (i *Incident) includes(o *Incident) {
	if o.Tap == i.Tap {
		i.show(o.Frames...)
	}
	i.foundToo(o.Found)
	i.Begin, i.End, i.Lost, i.Ongoing = min(i.Begin, o.Begin), max(i.End, o.End), max(i.Lost, o.Lost), i.Ongoing || o.Ongoing
	i.Connections = max(i.Connections, o.Connections)
}
