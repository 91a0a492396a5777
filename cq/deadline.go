package cq

import "slices"

// Time is that of the packets. Events of a device with a clock of its own wait until the packets have passed them, as far as the two clocks are known by then.

const (
	// patience is how long an event waits whose log has shown nothing that packets have shown too, so that its clock is not known.
	patience = int64(10e9)
	// mostWaiting is how many messages or completions of one queue pair wait for the other half of what they are compared with.
	mostWaiting = 1 << 16
)

// Advance says that the packets up to a time have been seen.
func (a *Agent) Advance(now int64) {
	a.wire = max(a.wire, now)
	a.expire()
}

// GoOn is Advance after a packet that was judged by Within.
func (a *Agent) GoOn(now int64) {
	if a.wire = max(a.wire, now); a.stirred || len(a.deadlines) > 0 && a.deadlines[0].at <= a.wire {
		a.expire()
	}
}

// expire judges the queue pairs whose time has come.
func (a *Agent) expire() {
	for _, s := range a.sources {
		if len(s.untold) > 0 && s.newest < a.wire {
			a.timeOver(s)
		}
		if c := s.content; c != nil && len(c.observations)+len(c.covers)+len(c.wrong) > 0 {
			a.contents(s)
		}
		if len(s.rebinds) > 0 {
			a.boundAgain(s)
		}
	}
	for len(a.deadlines) > 0 && a.deadlines[0].at <= a.wire {
		d := a.deadlines.pop()
		d.q.sending.rests.set = false
		switch d.at {
		case d.q.due:
			d.q.due = 0
		case d.q.dueLater:
			d.q.dueLater = 0
		default:
			continue // it was set again
		}
		a.step(d.q)
	}
	a.stirred = slices.ContainsFunc(a.sources, (*Source).awaitsTime)
}

// awaitsTime reports whether something of a source is judged by the time of the packets, whatever they are.
func (s *Source) awaitsTime() bool {
	c := s.content
	return len(s.untold)+len(s.rebinds) > 0 || c != nil && len(c.observations)+len(c.covers)+len(c.wrong) > 0
}

// passed reports whether all packets up to the time of an event have been seen for certain: what is missing then was not sent before it.
func (a *Agent) passed(s *Source, t int64) bool {
	if s.clock.exact && !a.ended {
		return t < a.wire
	}
	return !s.clock.mayBeAfter(t, a.wire)
}

// reached reports whether nothing more is to be waited for before an event is compared with the packets.
func (a *Agent) reached(s *Source, t int64) bool {
	c := &s.clock
	switch {
	case s.ordered, a.ended:
		return true
	case c.exact:
		return t < a.wire // what has the same time may come before it
	case s.begun == 0:
		s.begun = a.wire
	}
	if a.wire-s.begun > patience {
		return !c.aligned() || a.passed(s, t)
	}
	return c.compared >= enough && a.passed(s, t)
}

// wait has a queue pair judged again when the packets have passed the time of an event.
func (a *Agent) wait(q *queuePair, t int64) {
	switch c := &q.src.clock; {
	case c.exact:
		t = max(t, a.wire) + 1
	case !c.aligned():
		t = max(a.wire, q.src.begun) + patience
	default:
		t = max(t+c.most(t)+c.slack, a.wire+1)
	}
	a.until(q, t)
}

// until has a queue pair judged again at a time of the packets. Of times that are far away only the earliest is kept: what is due later is asked for again then.
func (a *Agent) until(q *queuePair, t int64) {
	due := &q.due
	if t > a.wire+hold {
		due = &q.dueLater
	}
	if *due == 0 || t < *due {
		*due = t
		a.deadlines.push(deadline{t, q})
	}
}

// deadline is when a queue pair is to be judged again.
type deadline struct {
	at int64
	q  *queuePair
}

// deadlines is a heap, the earliest first.
type deadlines []deadline

func (h *deadlines) push(d deadline) {
	list := append(*h, d)
	for i := len(list) - 1; i > 0; {
		up := (i - 1) / 2
		if list[up].at <= list[i].at {
			break
		}
		list[up], list[i] = list[i], list[up]
		i = up
	}
	*h = list
}

func (h *deadlines) pop() deadline {
	list := *h
	first, n := list[0], len(list)-1
	list[0] = list[n]
	list[n] = deadline{}
	list = list[:n]
	for i := 0; ; {
		least := i
		for k := 2*i + 1; k <= 2*i+2 && k < n; k++ {
			if list[k].at < list[least].at {
				least = k
			}
		}
		if least == i {
			break
		}
		list[least], list[i] = list[i], list[least]
		i = least
	}
	*h = list
	return first
}
