package timing

import (
	"math"
	"slices"
	"time"
)

// begun is which hosts have sent something in a round, and when each began.
type begun struct {
	hostSet
	at []int64
}

func newBegun(hosts int) begun { return begun{newHostSet(hosts), make([]int64, hosts)} }

func (b *begun) begins(m *roundMessage) {
	if !b.sent[m.from] {
		b.at[m.from] = m.Begin
	}
	b.add(m.from)
}

// before adds to a wait how many hosts had begun before, within which time, and how much later the one begins for which they wait.
func (b *begun) before(m *roundMessage, w lastWait) lastWait {
	first, last := m.Begin, int64(0)
	for h, sent := range b.sent {
		if sent && h != m.from {
			w.begun++
			first, last = min(first, b.at[h]), max(last, b.at[h])
		}
	}
	w.after, w.spread = time.Duration(m.Begin-last), time.Duration(last-first)
	return w
}

// pendingWait is that a host begins after nothing was sent for long, and others have not sent anything: they waited for it if each begins when
// something has come to it.
type pendingWait struct {
	lastWait
	host int
	data bool    // and not anything
	left hostSet // that have not begun
	came []int64 // when something has come to each since, the newest; 0: nothing has
}

// waits takes that a host sends a message in a round after nothing was sent for long.
func (r *roundsWalk) waits(m *roundMessage, w lastWait) {
	r.pending = nil
	switch {
	case m.data && r.data.butOne(m.from, r.sends.n-1):
		r.of[m.from] = append(r.of[m.from], r.data.before(m, w))
	case r.some.butOne(m.from, r.every.n-1):
		r.of[m.from] = append(r.of[m.from], r.some.before(m, w))
	case m.data && !r.data.sent[m.from] && r.data.n >= lastBegun && 2*r.data.n >= r.sends.n:
		r.pending = newPending(m, r.data.before(m, w), &r.sends, &r.data.hostSet)
	case !r.some.sent[m.from] && r.some.n >= lastBegun && 2*r.some.n >= r.every.n:
		r.pending = newPending(m, r.some.before(m, w), &r.every, &r.some.hostSet)
		r.pending.data = false
	}
}

func newPending(m *roundMessage, w lastWait, all, begun *hostSet) *pendingWait {
	p := &pendingWait{w, m.from, true, newHostSet(len(all.sent)), make([]int64, len(all.sent))}
	for h, sends := range all.sent {
		if sends && !begun.sent[h] && h != m.from {
			p.left.add(h)
		}
	}
	return p
}

// follows takes a message after which it may be known that others waited for the host that ended a silence, or that they did not.
func (r *roundsWalk) follows(m *roundMessage) {
	p := r.pending
	if p == nil {
		return
	}
	if p.left.sent[m.from] && (m.data || !p.data) {
		if came := p.came[m.from]; came == 0 || came > m.Begin || (m.Begin-came)*goesOn > int64(p.silence) {
			r.pending = nil // it goes on by itself
			return
		}
		p.left.remove(m.from)
	}
	p.came[m.to] = max(p.came[m.to], m.came())
	if p.left.n == 0 {
		r.of[p.host] = append(r.of[p.host], p.lastWait)
		r.pending = nil
	}
}

// lateness notes by how much the host begins later than others, of the waits that count, and how many had begun.
func (l *Last) lateness(list []lastWait) {
	var after, spread []time.Duration
	for _, w := range list {
		if w.silence*lastAlike < l.Most {
			continue
		}
		l.Times = append(l.Times, LateStart{w.at + int64(w.silence), w.after})
		if after, spread = append(after, w.after), append(spread, w.spread); len(after) == 1 || w.begun < l.Begun {
			l.Begun = w.begun
		}
	}
	if len(after) > 0 {
		l.After, l.Spread = median(after), median(spread)
	}
}

// usual notes by how much later than the last of the others the host begins at most in rounds in which nobody waited for it, or not as long.
func (l *Last) usual(r *roundsWalk) {
	most := int64(math.MinInt64)
	for n, at := range r.begins {
		if slices.ContainsFunc(r.of[l.Host], func(w lastWait) bool { return w.round == n+1 && w.silence*lastAlike >= l.Most }) {
			continue
		}
		others := int64(0)
		for h := range at {
			if h != l.Host && r.sends.sent[h] {
				others = max(others, at[h])
			}
		}
		l.Usually++
		most = max(most, at[l.Host]-others)
	}
	l.Usual = time.Duration(most)
}

func (s *hostSet) remove(host int) {
	if s.sent[host] {
		s.sent[host] = false
		s.n--
	}
}
