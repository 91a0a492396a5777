package report

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// ranks are the hosts of a ring, or of a chain, that send data on to the next, and give the one before a credit for each: one may send as many as it has credits for.
type ranks struct {
	n                        int
	chain                    bool // the last does not send to the first
	holds                    bool // each gives a credit back when it has sent on
	window                   int
	rounds                   int
	pause                    time.Duration // between rounds
	took                     func(rank int) time.Duration
	acks                     time.Duration // how soon adapters acknowledge
	sent                     [2][][]timing.Sent
	have, owes, credits, got []int
	now                      int64
	due                      []dueAt
}

type dueAt struct {
	at int64
	do func()
}

const ringSteps = 14 // that a rank sends in a round

func (r *ranks) at(after time.Duration, do func()) {
	r.due = append(r.due, dueAt{r.now + int64(after), do})
}

// send has a rank send data (0) to the next, or a credit (1) back on the connection that its number is of.
func (r *ranks) send(kind, link int, do func()) {
	took := []time.Duration{2 * time.Microsecond, 0}[kind]
	r.sent[kind][link] = append(r.sent[kind][link], timing.Sent{Begin: r.now, End: r.now + int64(took)})
	r.at(took+time.Microsecond, do)
}

// next has a rank send what it may.
func (r *ranks) next(rank int) {
	if r.chain && rank == r.n-1 {
		for ; r.holds && r.have[rank] > 0; r.have[rank]-- {
			r.credit(rank)
		}
		return
	}
	for r.have[rank] > 0 && r.credits[rank] > 0 {
		r.have[rank]--
		r.credits[rank]--
		to := (rank + 1) % r.n
		r.send(0, rank, func() { r.comes(to) })
		if r.holds && r.owes[rank] > 0 {
			r.owes[rank]--
			r.credit(rank)
		}
	}
}

func (r *ranks) credit(rank int) {
	from := (rank + r.n - 1) % r.n
	r.send(1, from, func() { r.credits[from]++; r.next(from) })
}

// comes has data come to a rank.
func (r *ranks) comes(rank int) {
	r.at(r.took(rank), func() {
		r.got[rank]++
		if r.holds {
			r.owes[rank]++
		} else {
			r.credit(rank)
		}
		if r.chain || r.got[rank]%ringSteps != 0 {
			r.have[rank]++
		} else if r.holds {
			r.owes[rank]--
			r.credit(rank)
		}
		r.next(rank)
	})
}

// run is what a tap sees of them.
func (r *ranks) run(random *rand.Rand) *agent.Result {
	r.have, r.owes, r.credits, r.got = make([]int, r.n), make([]int, r.n), make([]int, r.n), make([]int, r.n)
	r.sent = [2][][]timing.Sent{make([][]timing.Sent, r.n), make([][]timing.Sent, r.n)}
	r.now = 1
	for rank := range r.n {
		for range r.window {
			if rank > 0 || !r.chain {
				r.credit(rank)
			}
		}
	}
	for round := range r.rounds {
		for rank := range r.n {
			if r.chain && rank > 0 {
				continue
			}
			own := 1
			if r.chain {
				own = ringSteps
			}
			r.at(time.Millisecond+time.Duration(round)*r.pause+time.Duration(random.Int64N(90_000)), func() { r.have[rank] += own; r.next(rank) })
		}
	}
	for len(r.due) > 0 {
		n := 0
		for i := range r.due {
			if r.due[i].at < r.due[n].at {
				n = i
			}
		}
		d := r.due[n]
		r.due = slices.Delete(r.due, n, n+1)
		r.now = d.at
		d.do()
	}
	res := &agent.Result{RDMA: 1, Packets: 1, First: 1, Last: r.now}
	for rank := range r.n {
		if len(r.sent[0][rank]) == 0 {
			continue
		}
		c := agent.Connection{Service: packet.RC, First: 1, Timing: timing.New(nil)}
		for k, host := range []int{rank, (rank + 1) % r.n} {
			e, sent := &c.Ends[k], r.sent[k][rank]
			e.Addr, e.Messages, e.Bytes = packet.IPv4Addr([]byte{10, 0, 0, byte(host)}), uint64(len(sent)), uint64(len(sent))*[]uint64{49152, 64}[k]
			c.Timing.Ends[k].Sent = sent
			o := new(timing.Operation)
			o.Observe(r.acks)
			c.Timing.Ends[k].Ops[wqe.Write] = o
		}
		res.Connections = append(res.Connections, c)
	}
	return res
}

// TestRing: of a ring or a chain the rank is told that takes long to send on and to give credits back; none of those that wait for it, and none where all take as long, or where all are idle between rounds.
func TestRing(t *testing.T) {
	const us = time.Microsecond
	random := rand.New(rand.NewPCG(1, 2))
	between := func(a, b time.Duration) time.Duration { return a + time.Duration(random.Int64N(int64(b-a))) }
	soon := func() time.Duration { return between(25*us, 60*us) }
	slow := func(ranks ...int) func(int) time.Duration {
		return func(rank int) time.Duration {
			if slices.Contains(ranks, rank) {
				return between(2300*us, 3900*us)
			}
			return soon()
		}
	}
	seldom := func(rank int) time.Duration {
		if rank == 5 && random.IntN(50) == 0 {
			return between(15*time.Millisecond, 30*time.Millisecond)
		}
		return soon()
	}
	const told = "Waits: all wait for 10.0.0.5. It answers each message of 10.0.0.4 with one of its own, usually "
	for _, k := range []struct {
		name string
		of   ranks
		want string
	}{
		{"one is slow", ranks{n: 8, took: slow(5)}, told},
		{"none is", ranks{n: 8, took: slow()}, ""},
		{"all are", ranks{n: 8, took: slow(0, 1, 2, 3, 4, 5, 6, 7)}, ""},
		{"one is at times", ranks{n: 8, rounds: 30, took: seldom}, "Waits: all wait for 10.0.0.5 at times. It answers each message of 10.0.0.4 with one of its own, usually "},
		{"some are", ranks{n: 8, took: slow(0, 3, 4, 6, 7)}, ""},
		{"credits are held", ranks{n: 8, holds: true, took: slow(5)}, told},
		{"a chain", ranks{n: 7, chain: true, took: slow(5)}, told},
		{"a chain that holds credits", ranks{n: 7, chain: true, holds: true, took: slow(5)}, told},
		{"a chain, none is slow", ranks{n: 7, chain: true, took: slow()}, ""},
		{"the last of a chain is", ranks{n: 6, chain: true, took: slow(5)}, told},
		{"its adapter is", ranks{n: 8, took: slow(5), acks: 3 * time.Millisecond}, told},
	} {
		for range 5 {
			r := k.of
			r.window, r.rounds, r.pause, r.acks = 4, max(r.rounds, 10), 60*time.Millisecond, max(r.acks, 5*us)
			var b bytes.Buffer
			x := &text{Options: Options{Width: 2000}, out: bufio.NewWriter(&b), res: r.run(random)}
			x.waits()
			if err := x.out.Flush(); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(strings.Fields(b.String()), " "); !strings.HasPrefix(got, k.want) || k.want == "" && got != "" {
				t.Errorf("%s: %q\nwant %q", k.name, got, k.want)
			}
		}
	}
}

// TestBetweenRounds: where the ranks of a ring have nothing to send between rounds, it is not told of one that it took long then; it is where the others wait for it.
func TestBetweenRounds(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, k := range []struct {
		name  string
		owing bool
	}{{"all are idle", false}, {"one owes an answer", true}} {
		r := ranks{n: 8, window: 4, rounds: 10, pause: 60 * time.Millisecond, acks: 5 * time.Microsecond, took: func(int) time.Duration { return 40 * time.Microsecond }}
		res := r.run(random)
		if k.owing { // the last credit of the round comes late
			credit := &res.Connections[2].Timing.Ends[1].Sent[6*ringSteps+r.window-1]
			credit.Begin += int64(50 * time.Millisecond)
			credit.End = credit.Begin
		}
		c := &res.Connections[0]
		last := c.Timing.Ends[0].Sent[6*ringSteps].Begin // the first of a round
		for n := range c.Ends {
			c.Timing.Ends[n].Turns = timing.Turns{Count: 140, Usual: 5 * time.Millisecond}
		}
		x := &c.Timing.Ends[0].Turns
		x.Long, x.Slow, x.Most, x.At, x.Frame = 1, 59*time.Millisecond, 58*time.Millisecond, last, 99
		text := &text{Options: Options{Width: 2000}, res: res}
		if got := strings.Join(text.longTurns(0), " "); strings.Contains(got, "58ms (frame 99)") != k.owing {
			t.Errorf("%s: %q", k.name, got)
		}
	}
}
