package agent

import (
	"math"

	"ibwitness/agent/internal/connection"
)

// looks says which connection is to be looked at when, for what its ends leave undone, so that no other one is read: when something of it may be due at the earliest after a packet,
// and again as long as something may be. It is a heap; of a connection the entry of its newest Look counts.
type looks struct {
	heap []look
	now  int64 // up to which all that was due is told
}

// look is a connection that is to be looked at when a time is over.
type look struct {
	at int64
	c  *connection.Connection
	n  uint8 // by which look of the connection it is
}

// look has a connection be looked at, of which a packet has come at a time.
func (t *Transport) look(c *connection.Connection, at int64) {
	if c.Reliable() {
		t.looks.push(look{max(at, t.looks.now) + t.rc.Patience(&c.Pair), c, c.Look()})
	}
}

// due judges the connections whose ends have left something undone before time now, each as it was when its time was over: it does not matter how often the time
// is told.
func (t *Transport) due(now int64) {
	for {
		c, at := t.looks.next(now)
		if c == nil {
			return
		}
		if due := t.rc.Silent(&c.Pair, at+1); due != math.MaxInt64 {
			t.looks.push(look{min(due, at+1+t.rc.Patience(&c.Pair)), c, c.Look()}) // what comes until then is not due before
		}
	}
}

// soonest is when something may be due at the earliest.
func (l *looks) soonest() int64 {
	if len(l.heap) == 0 {
		return math.MaxInt64
	}
	return l.heap[0].at
}

// next takes the earliest connection whose time is over before now, and that time.
func (l *looks) next(now int64) (*connection.Connection, int64) {
	for len(l.heap) > 0 && l.heap[0].at < now {
		x := l.heap[0]
		if l.pop(); x.c.Watched() && x.c.Awaits(x.n) {
			x.c.Unlook()
			return x.c, x.at
		}
	}
	return nil, 0
}

// before orders looks of one time as the connections began.
func (x *look) before(y *look) bool {
	a, b := x.c, y.c
	return x.at < y.at || x.at == y.at && (a.FirstTime < b.FirstTime || a.FirstTime == b.FirstTime && a.FirstFrame < b.FirstFrame)
}

func (l *looks) push(x look) {
	l.heap = append(l.heap, x)
	i := len(l.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !x.before(&l.heap[up]) {
			break
		}
		l.heap[i] = l.heap[up]
		i = up
	}
	l.heap[i] = x
}

func (l *looks) pop() {
	n := len(l.heap) - 1
	x := l.heap[n]
	l.heap[n] = look{}
	if l.heap = l.heap[:n]; n == 0 {
		return
	}
	i := 0
	for {
		down := 2*i + 1
		if down+1 < n && l.heap[down+1].before(&l.heap[down]) {
			down++
		}
		if down >= n || !l.heap[down].before(&x) {
			break
		}
		l.heap[i] = l.heap[down]
		i = down
	}
	l.heap[i] = x
}
