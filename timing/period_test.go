package timing

import (
	"testing"
	"time"
)

// TestPeriodsOf: a request to send, its grant, the data and their end are seen as a period that begins after the pause, and how far the newest one came; not where sizes differ each time, one end sends only, or there are few.
func TestPeriodsOf(t *testing.T) {
	steps := []Step{{0, 64}, {1, 64}, {0, 24576}, {0, 64}}
	for _, k := range []struct {
		name   string
		n      int // messages
		from   int // first one that the capture has
		change func(n int, s Step) Step
		ok     bool
		came   int
	}{
		{"whole", 80, 0, nil, true, 0},
		{"stops after the request", 81, 0, nil, true, 1},
		{"begins amid a period", 82, 2, nil, true, 2},
		{"more than are kept", 9000, 0, nil, true, 0},
		{"other sizes", 80, 0, func(n int, s Step) Step { return Step{s.From, s.Bytes + uint32(n)} }, false, 0},
		{"one end only", 80, 0, func(_ int, s Step) Step { return Step{0, s.Bytes} }, false, 0},
		{"few", 40, 0, nil, false, 0},
	} {
		c, at := New(nil), int64(time.Hour)
		for n := range k.n {
			s := steps[n%len(steps)]
			if at += int64(10 * time.Microsecond); n%len(steps) == 0 {
				at += int64(2 * time.Millisecond)
			}
			if k.change != nil {
				s = k.change(n, s)
			}
			if n >= k.from {
				c.Ends[s.From].NoteSent(Sent{Begin: at, End: at + 1000, Bytes: s.Bytes, Packets: 1})
			}
		}
		p, ok := PeriodsOf(c)
		if ok != k.ok || p.Came != k.came {
			t.Errorf("%s: %v, %d came", k.name, ok, p.Came)
		}
		if ok && (p.Steps[0] != steps[0] || p.Next() != steps[k.came] || len(p.Begun)-len(p.Complete) != min(k.came, 1)) {
			t.Errorf("%s: steps %v, begun %d, complete %d", k.name, p.Steps, len(p.Begun), len(p.Complete))
		}
	}
}
