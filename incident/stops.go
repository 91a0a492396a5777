package incident

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ibwitness/qp"
)

// stop is an interruption of a connection, before it is told as one with others.
type stop struct {
	*Incident
	more bool // the connection may have had more that are not kept
}

// stops tells of interruptions between the same hosts, which overlap in time or follow one another shortly, as one.
func (t *teller) stops() {
	slices.SortStableFunc(t.stopped, func(a, b stop) int {
		return cmp.Or(a.Local.Addr.Compare(b.Local.Addr), a.Peer.Addr.Compare(b.Peer.Addr), cmp.Compare(a.Begin, b.Begin))
	})
	for rest := t.stopped; len(rest) > 0; {
		n, end := 1, rest[0].End
		for n < len(rest) && rest[n].Local.Addr == rest[0].Local.Addr && rest[n].Peer.Addr == rest[0].Peer.Addr && rest[n].Begin <= end+together {
			end = max(end, rest[n].End)
			n++
		}
		i := stopsOf(rest[:n])
		t.tell(i, fmt.Sprint(i.Begin/together))
		rest = rest[n:]
	}
}

// longestKept is how many stalls of a requester are kept.
const longestKept = len(qp.Trouble{}.Longest)

// othersToo is the question that an interruption of several connections answers.
const othersToo = "whether other connections of these hosts stopped too"

// stopsOf is the longest of interruptions, which tells of all.
func stopsOf(list []stop) *Incident {
	longest := slices.MaxFunc(list, func(a, b stop) int { return cmp.Compare(a.Lost, b.Lost) }).Incident
	n, lost, more, unkept, rest := uint64(0), time.Duration(0), false, uint64(0), uint64(0)
	on := map[[2]Party]bool{}
	begin, end, ongoing := longest.Begin, longest.End, longest.Ongoing
	var stalls [][2]int64
	for _, s := range list {
		stalls = append(stalls, [2]int64{s.Begin, s.End})
		on[[2]Party{s.Local, s.Peer}] = true
		unkept += s.unkept
		begin, end, ongoing = min(begin, s.Begin), max(end, s.End), ongoing || s.Ongoing
		if s.Local == longest.Local && s.Peer == longest.Peer {
			n, lost, more, rest = n+1, lost+s.Lost, s.more, rest+s.unkept
		}
	}
	if n > 1 {
		least, in := "", ""
		switch {
		case rest > 0 && n >= uint64(longestKept): // each lasted as long as such a stall does at least
			in = "at least "
			n, lost = n+rest, lost+time.Duration(rest)*time.Duration(interruption)
		case more:
			least = "at least "
		}
		longest.fact("repeated", fmt.Sprintf("%s%s on this connection, %s%s in all; this is the longest", least, times(n), in, span(int64(lost))))
	}
	if len(on) > 1 {
		longest.Next = slices.DeleteFunc(longest.Next, func(s string) bool { return s == othersToo })
	}
	longest.eachLost = !slices.ContainsFunc(list, func(s stop) bool { return !s.amongLosses && !s.lostAgain && !s.endLost })
	longest.allChance = !slices.ContainsFunc(list, func(s stop) bool { return !s.amongLosses && !s.lostAgain })
	longest.amongLosses = !slices.ContainsFunc(list, func(s stop) bool { return !s.amongLosses })
	longest.lostAgain = !slices.ContainsFunc(list, func(s stop) bool { return !s.lostAgain })
	longest.answersGone = !slices.ContainsFunc(list, func(s stop) bool { return !s.answersGone })
	longest.endLost = !slices.ContainsFunc(list, func(s stop) bool { return !s.endLost })
	longest.byDamage = !slices.ContainsFunc(list, func(s stop) bool { return !s.byDamage })
	longest.each, longest.unkept, longest.on = stalls, unkept, on
	longest.answerLost = !slices.ContainsFunc(list, func(s stop) bool { return !s.answerLost })
	longest.Begin, longest.End, longest.Ongoing, longest.Connections = begin, end, ongoing, len(on)
	return longest
}
