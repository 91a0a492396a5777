package timing

// Messages is when the end sent messages, but READs and atomics, and its longest silences between them, of which no frames are known; false: not of
// all it is kept when they were.
func (e *End) Messages() (a Activity, ok bool) {
	list, until := e.Runs()
	for _, s := range e.Sent {
		a.goesOn(s.Begin, s.End)
	}
	for _, r := range list {
		a.goesOn(r.Begin, r.End)
	}
	return a, until == 0
}

// goesOn takes something that was sent from a time until another, with no silence between.
func (a *Activity) goesOn(from, to int64) {
	switch {
	case a.First == 0:
		a.First = from
	case from-a.Last >= leastSilence:
		a.keep(Silence{From: a.Last, To: from})
	}
	a.Last = max(a.Last, to)
}

// Next is when the first message, or run of messages, that the end sent at a time or later began; 0: none that is kept.
func (e *End) Next(from int64) int64 {
	for _, s := range e.Sent {
		if s.Begin >= from {
			return s.Begin
		}
	}
	for _, r := range e.runs.list {
		if r.Begin >= from {
			return r.Begin
		}
	}
	return 0
}
