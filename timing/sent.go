package timing

import (
	"cmp"
	"slices"
)

// Sent is when a message, but a READ or an atomic, was sent, as the tap saw its first and its last packet.
type Sent struct {
	Begin, End int64
	Bytes      uint32
	Packets    uint32
}

// MostSent is of how many messages of an end it is kept when they were sent: the first ones, which take 24 KiB.
const MostSent = 1 << 10

// MostNewest is of how many of the newest messages of an end it is kept, too, where it has more than those: they take 6 KiB.
const MostNewest = 1 << 8

// newestSent are the newest messages after the first MostSent.
type newestSent struct {
	list []Sent
	at   int // of the oldest, whose place the next one takes
	n    int // how many there were, those that are no more kept too
}

func (l *newestSent) add(s Sent) {
	if len(l.list) < MostNewest {
		l.list = append(l.list, s)
	} else {
		l.list[l.at] = s
		l.at = (l.at + 1) % MostNewest
	}
	l.n++
}

// inOrder are those that are kept, in the order in which they came.
func (l *newestSent) inOrder() []Sent { return slices.Concat(l.list[l.at:], l.list[:l.at]) }

// Run is messages of an end that followed one another without a pause of LongSilence.
type Run struct {
	Begin, End int64 // of the first and of the last, nanoseconds since the Unix epoch
	Count      uint32
}

// MostRuns is of how many runs of messages of an end after the first MostSent it is kept when they were: they take 6 KiB.
const MostRuns = 1 << 8

// runs are those of the messages after the first MostSent.
type runs struct {
	list []Run
	more bool // there were more than are kept
}

// add adds a run that began after all others, or in the newest of them.
func (r *runs) add(x Run) {
	if n := len(r.list) - 1; n >= 0 && x.Begin-r.list[n].End < LongSilence {
		r.list[n].End, r.list[n].Count = max(r.list[n].End, x.End), r.list[n].Count+x.Count
	} else if r.more = r.more || len(r.list) == MostRuns; !r.more {
		r.list = append(r.list, x)
	}
}

// merge adds those of another end, and some messages.
func (r *runs) merge(o *runs, sent []Sent) {
	all := slices.Concat(r.list, o.list)
	for _, s := range sent {
		all = append(all, Run{s.Begin, s.End, 1})
	}
	slices.SortFunc(all, func(a, b Run) int { return cmp.Compare(a.Begin, b.Begin) })
	r.list, r.more = nil, r.more || o.more
	for _, x := range all {
		r.add(x)
	}
}

// Runs are the runs of the messages after those of which it is kept when each was sent, and until when all are known, nanoseconds since the Unix epoch; 0: to the last.
func (e *End) Runs() (list []Run, until int64) {
	if list = e.runs.list; e.runs.more {
		until = list[len(list)-1].End
	}
	return list, until
}

// sent notes when a message was sent.
func (e *End) sent(m *Message) {
	e.NoteSent(Sent{m.Begin, m.Sent, m.Length, uint32(m.last.Diff(m.PSN)) + 1})
}

// NoteSent adds that a message was sent, the newest of the end.
func (e *End) NoteSent(s Sent) {
	if len(e.Sent) < MostSent {
		e.Sent = append(e.Sent, s)
	} else {
		e.newest.add(s)
		e.runs.add(Run{s.Begin, s.End, 1})
	}
}

// AllSent are the messages of the end of which it is kept when they were sent, in the order in which they began, and how many the end sent, but for READs and atomics. Those after the first MostSent,
// and before the newest MostNewest, are not kept.
func (e *End) AllSent() (first, newest []Sent, count int) {
	return e.Sent, e.newest.inOrder(), len(e.Sent) + e.newest.n
}

// mergeSent adds when the messages of another end were sent.
func (e *End) mergeSent(g *End) {
	firsts := slices.Concat(e.Sent, g.Sent)
	all, n := slices.Concat(e.Sent, g.Sent, e.newest.list, g.newest.list), e.newest.n+g.newest.n+len(e.Sent)+len(g.Sent)
	slices.SortFunc(all, func(a, b Sent) int { return cmp.Compare(a.Begin, b.Begin) })
	e.Sent, e.newest = all[:min(len(all), MostSent)], newestSent{}
	for _, s := range all[len(e.Sent):] {
		e.newest.add(s)
	}
	e.newest.n = n - len(e.Sent)
	slices.SortFunc(firsts, func(a, b Sent) int { return cmp.Compare(a.Begin, b.Begin) })
	e.runs.merge(&g.runs, firsts[min(len(firsts), MostSent):])
}
