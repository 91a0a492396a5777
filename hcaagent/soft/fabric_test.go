package soft_test

import (
	"container/heap"
	"context"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/verifier"
)

// clock is virtual time.
type clock struct {
	now    int64
	seq    int
	agenda agenda
}

type appointment struct {
	at  int64
	seq int
	do  func()
}

type agenda []appointment

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].seq < a[j].seq
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(appointment)) }
func (a *agenda) Pop() any {
	old := *a
	x := old[len(old)-1]
	*a = old[:len(old)-1]
	return x
}

func (c *clock) Now() int64 { return c.now }

func (c *clock) After(d int64, f func()) {
	c.seq++
	heap.Push(&c.agenda, appointment{c.now + max(d, 0), c.seq, f})
}

// run lets time pass until nothing is left to do, or for so long.
func (c *clock) run(most int64) {
	end := c.now + most
	for len(c.agenda) > 0 && c.agenda[0].at <= end {
		a := heap.Pop(&c.agenda).(appointment)
		c.now = a.at
		a.do()
	}
	c.now = end
}

// capture is what a tap saw. It is a source of frames.
type capture struct {
	frames []fabricagent.Frame
	near   []packet.Addr
	also   func(f *fabricagent.Frame) // may be nil

	profile verifier.Profile
}

func (c *capture) add(at int64, frame []byte) {
	c.frames = append(c.frames, fabricagent.Frame{
		Time: at, Number: uint64(len(c.frames) + 1), Link: fabricagent.LinkEthernet, Len: uint32(len(frame)), Data: frame,
	})
	if c.also != nil {
		c.also(&c.frames[len(c.frames)-1])
	}
}

// replace puts another frame in the place of the newest.
func (c *capture) replace(frame []byte) {
	f := &c.frames[len(c.frames)-1]
	f.Data, f.Len = frame, uint32(len(frame))
}

type source struct{ left []fabricagent.Frame }

func (s *source) Next() (*fabricagent.Batch, error) {
	if len(s.left) == 0 {
		return nil, io.EOF
	}
	n := min(len(s.left), fabricagent.BatchSize)
	b := &fabricagent.Batch{Frames: slices.Clone(s.left[:n])}
	s.left = s.left[n:]
	return b, nil
}

func (s *source) Taps() []fabricagent.Tap {
	return []fabricagent.Tap{{File: "tap", Link: fabricagent.LinkEthernet}}
}
func (s *source) Progress() (int64, int64) { return 0, 0 }
func (s *source) Close() error             { return nil }

// verify has the agent verify a capture, with events beside it where there are some.
func (c *capture) verify(t testing.TB, events ...*hcaagent.Log) *agent.Result {
	t.Helper()
	r, err := agent.Run(context.Background(), &source{c.frames}, agent.Options{Workers: 1, Near: c.near, Events: events, Profile: c.profile})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// link carries frames between two ports. There is a tap at each of them and one half way. What happens to a frame happens on either side of
// the tap in the middle.
type link struct {
	*clock
	*rand.Rand
	ends   [2]func(frame []byte)
	taps   [3]capture // at the first port, at the second, between
	delay  int64      // of each half
	jitter int64      // by which a delay differs; frames overtake each other
	loss   float64
	twice  float64
	seen   func(from int, frame []byte) // may be nil
	mark   func(frame []byte) bool      // whether the network marks a frame before the middle; may be nil
	logs   [2]*hcaagent.Log             // what the devices told
}

// send takes a frame from a port.
func (l *link) send(from int, frame []byte) {
	if l.seen != nil {
		l.seen(from, frame)
	}
	l.taps[from].add(l.now, frame)
	if l.mark != nil && l.mark(frame) {
		frame = marked(frame)
	}
	l.half(func() {
		l.taps[2].add(l.now, frame)
		l.half(func() {
			l.taps[1-from].add(l.now, frame)
			l.ends[1-from](frame)
		})
	})
}

// half carries a frame over half of the link.
func (l *link) half(arrive func()) {
	if l.loss > 0 && l.Float64() < l.loss {
		return
	}
	n := 1
	if l.twice > 0 && l.Float64() < l.twice {
		n = 2
	}
	for range n {
		d := l.delay
		if l.jitter > 0 && l.IntN(4) == 0 {
			d += l.Int64N(l.jitter)
		}
		l.After(d, arrive)
	}
}
