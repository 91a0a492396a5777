package sim

// Clock is virtual time in nanoseconds. What is due at the same time happens in the order of the calls of After. The zero value
// is at 0.
type Clock struct {
	now  int64
	seq  uint64
	heap []appointment
}

// appointment is what happens at a time.
type appointment struct {
	at  int64
	seq uint64
	f   func()
	row *row // in place of f
}

// row is appointments in a row, of which one at a time is in the heap.
type row struct {
	every int64
	next  int
	n     int
	f     func(i int)
}

func (a *appointment) before(b *appointment) bool {
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}

// NewClock returns a clock that is at start, nanoseconds since the Unix epoch.
func NewClock(start int64) *Clock { return &Clock{now: start} }

// Now returns the time.
func (c *Clock) Now() int64 { return c.now }

// After has f called d nanoseconds from now; where d is negative, now, after all else that is due now.
func (c *Clock) After(d int64, f func()) {
	c.seq++
	c.add(appointment{at: c.now + max(d, 0), seq: c.seq, f: f})
}

// Repeat has f called n times, with 0 to n-1, for the first time d nanoseconds from now and then every so many later, as n calls of After would.
func (c *Clock) Repeat(d, every int64, n int, f func(i int)) {
	if n <= 0 {
		return
	}
	c.add(appointment{at: c.now + max(d, 0), seq: c.seq + 1, row: &row{max(every, 0), 0, n, f}})
	c.seq += uint64(n)
}

// add puts an appointment into the heap.
func (c *Clock) add(a appointment) {
	c.heap = append(c.heap, a)
	h, i := c.heap, len(c.heap)-1
	for i > 0 {
		up := (i - 1) / 2
		if !a.before(&h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = a
}

// Step goes to the next appointment and keeps it. It is false where there is none.
func (c *Clock) Step() bool {
	if len(c.heap) == 0 {
		return false
	}
	a := c.heap[0]
	c.now = a.at
	if r := a.row; r != nil && r.next+1 < r.n {
		c.heap[0].at += r.every
		c.heap[0].seq++
		c.sink()
		r.next++
		r.f(r.next - 1)
		return true
	}
	last := len(c.heap) - 1
	c.heap[0] = c.heap[last]
	c.heap[last] = appointment{}
	c.heap = c.heap[:last]
	c.sink()
	if r := a.row; r != nil {
		r.f(r.next)
	} else {
		a.f()
	}
	return true
}

// sink brings the first element of the heap to its place.
func (c *Clock) sink() {
	h, i := c.heap, 0
	if len(h) == 0 {
		return
	}
	a := h[0]
	for {
		next := 2*i + 1
		if next >= len(h) {
			break
		}
		if next+1 < len(h) && h[next+1].before(&h[next]) {
			next++
		}
		if !h[next].before(&a) {
			break
		}
		h[i] = h[next]
		i = next
	}
	h[i] = a
}

// Run keeps all appointments up to and with the time until, which it then is.
func (c *Clock) Run(until int64) {
	for len(c.heap) > 0 && c.heap[0].at <= until {
		c.Step()
	}
	c.now = max(c.now, until)
}

// Len returns how many appointments there are, those in a row as one.
func (c *Clock) Len() int { return len(c.heap) }

// Next returns the time of the next appointment; false where there is none.
func (c *Clock) Next() (int64, bool) {
	if len(c.heap) == 0 {
		return 0, false
	}
	return c.heap[0].at, true
}
