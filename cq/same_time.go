package cq

// Several threads may write a log: that one line comes before another of the same time proves nothing. What is told one by one, and not read from a log, is in its order.

const sameTime = "the completion queue was armed and told of itself at the same time: their order in the log proves nothing"

// unordered reports whether it is not certain that an event comes after another one of time t.
func unordered(e *Event, t int64) bool { return e.Line > 0 && e.Time == t }

// untold is a completion that nothing told of before, or a notification of a queue that was not armed. What makes it right may have the same time.
type untold struct {
	c     *completionQueue
	of    candidate // the completion; of neither queue: it is a notification
	event *Event
	tell  func()
}

// unless has something told when all events of its time have come, unless one of them makes it right.
func (a *Agent) unless(s *Source, u untold) {
	if u.event.Line == 0 || u.event.Time < s.newest || a.ended {
		u.tell()
		return
	}
	s.untold = append(s.untold, u)
}

// timeOver tells what was held back: nothing more has the time of the newest event.
func (a *Agent) timeOver(s *Source) {
	if len(s.untold) == 0 {
		return
	}
	list := s.untold
	s.untold = nil
	for _, u := range list {
		u.tell()
	}
}

// withdraws drops what was held back that an event of the queue makes right.
func (s *Source) withdraws(right func(u *untold) bool) (any bool) {
	left := s.untold[:0]
	for i := range s.untold {
		if u := &s.untold[i]; right(u) {
			any = true
		} else {
			left = append(left, *u)
		}
	}
	s.untold = left
	return any
}

// notifiedOf takes over that a queue has told of itself: the completions of that time come after it.
func (s *Source) notifiedOf(c *completionQueue, e *Event) {
	if c.toldAt = e.Time; !unordered(e, c.polledAt) {
		return
	}
	for _, x := range c.polledNow {
		switch {
		case x.w != nil:
			x.w.due = nil
		case x.t != nil:
			x.t.due = nil
		}
	}
	s.withdraws(func(u *untold) bool { return u.c == c && (u.of.w != nil || u.of.t != nil) })
}

// armedOf takes over that a queue was armed: a notification of that time comes after it. It reports whether the queue may have told of itself since.
func (s *Source) armedOf(c *completionQueue, e *Event) (vague bool) {
	c.armedAt = e.Time
	s.withdraws(func(u *untold) bool { return u.c == c && u.of == candidate{} && unordered(e, u.event.Time) })
	return unordered(e, c.toldAt)
}
