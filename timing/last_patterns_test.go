package timing

import (
	"math/rand/v2"
	"testing"
	"time"
)

// collective is a job on hosts that form a ring of some channels, or a chain: in each round every host computes, calls for the data of the host before it, and sends data to the next once it has been called
// for them and has those of the host before it.
type collective struct {
	hosts, channels, steps int
	chain                  bool                         // the first host sends by itself, and each of the others passes on
	calls                  bool                         // for data
	jitter                 time.Duration                // by which computing takes longer, at random
	late                   func(host, round int) bool   // a host takes 50 ms longer
	within                 func(step int) time.Duration // by how much each step of data begins later than it might
}

func (c collective) run(rounds int) (list []Link) {
	const compute, late, took, hop = 60 * time.Millisecond, 50 * time.Millisecond, 20 * time.Microsecond, 5 * time.Microsecond
	random := rand.New(rand.NewPCG(1, 2))
	links := c.hosts
	if c.chain {
		links--
	}
	for range c.channels {
		for h := range links {
			list = append(list, Link{Hosts: [2]int{h, (h + 1) % c.hosts}, Bytes: [2]uint64{128 << 10, 64}})
		}
	}
	send := func(l *Link, way int, at, d time.Duration) time.Duration {
		l.Sent[way] = append(l.Sent[way], Sent{Begin: int64(at), End: int64(at + d)})
		return at + d
	}
	for now, round := time.Second, 0; round < rounds; round++ {
		start, over := make([]time.Duration, c.hosts), now
		for h := range start {
			start[h] = now + compute
			if c.jitter > 0 {
				start[h] += time.Duration(random.Int64N(int64(c.jitter)))
			}
			if c.late != nil && c.late(h, round) {
				start[h] += late
			}
		}
		for channel := range c.channels {
			had, sent := make([]time.Duration, c.hosts), make([]time.Duration, c.hosts)
			for step := range c.steps {
				next := make([]time.Duration, c.hosts)
				for h := range links {
					to := (h + 1) % c.hosts
					l := &list[channel*links+h]
					at := max(start[h]+time.Duration(channel)*hop, had[h], sent[h])
					if c.chain && h > 0 {
						at = max(start[h], next[h])
					}
					if c.calls {
						at = max(at, send(l, 1, max(start[to], sent[h]), time.Microsecond)+hop)
					}
					if c.within != nil {
						at += c.within(step)
					}
					sent[h] = send(l, 0, at+hop, took)
					next[to] = sent[h] + hop
					over = max(over, sent[h])
				}
				had = next
			}
		}
		now = over
	}
	return list
}

// TestLastOfPatterns: of a ring or a chain, the host is told that begins last in all rounds, or most; nobody is where none is late, where each
// is by chance, or more than one is.
func TestLastOfPatterns(t *testing.T) {
	one := func(h, _ int) bool { return h == 3 }
	slow := func(int) time.Duration { return 2 * time.Millisecond }
	for name, k := range map[string]struct {
		of     collective
		host   int
		rounds int
	}{
		"ring":                     {collective{hosts: 6, channels: 1, steps: 4, calls: true, late: one}, 3, 24},
		"ring, jitter":             {collective{hosts: 6, channels: 1, steps: 4, calls: true, jitter: 8 * time.Millisecond, late: one}, 3, 24},
		"two channels, jitter":     {collective{hosts: 6, channels: 2, steps: 4, calls: true, jitter: 8 * time.Millisecond, late: one}, 3, 24},
		"steps that take long":     {collective{hosts: 6, channels: 1, steps: 4, calls: true, jitter: 8 * time.Millisecond, late: one, within: slow}, 3, 24},
		"nobody calls for data":    {collective{hosts: 6, channels: 1, steps: 4, jitter: 8 * time.Millisecond, late: one}, 3, 24},
		"none is late":             {collective{hosts: 6, channels: 1, steps: 4, calls: true}, 0, 0},
		"none is, and jitter":      {collective{hosts: 6, channels: 2, steps: 4, calls: true, jitter: 30 * time.Millisecond}, 0, 0},
		"none is, steps take long": {collective{hosts: 6, channels: 1, steps: 4, calls: true, jitter: 8 * time.Millisecond, within: slow}, 0, 0},
		"two in turn":              {collective{hosts: 6, channels: 1, steps: 4, calls: true, late: func(h, round int) bool { return h == 1+round%2 }}, 0, 0},
		"two in turn, jitter":      {collective{hosts: 6, channels: 2, steps: 4, calls: true, jitter: 8 * time.Millisecond, late: func(h, round int) bool { return h == 1+round%2 }}, 0, 0},
		"late in some rounds":      {collective{hosts: 6, channels: 1, steps: 4, calls: true, jitter: 8 * time.Millisecond, late: func(h, round int) bool { return h == 3 && round%3 == 0 }}, 3, 8},
		"late in five rounds":      {collective{hosts: 6, channels: 1, steps: 4, calls: true, jitter: 800 * time.Microsecond, late: func(h, round int) bool { return h == 3 && round%5 == 4 || h == 3 && round == 7 }}, 3, 5},
		"each of five by another":  {collective{hosts: 6, channels: 1, steps: 4, calls: true, jitter: 800 * time.Microsecond, late: func(h, round int) bool { return round%5 == 4 && h == round/5 || h == 5 && round == 7 }}, 0, 0},
		"late in four":             {collective{hosts: 6, channels: 1, steps: 4, calls: true, jitter: 800 * time.Microsecond, late: func(h, round int) bool { return h == 3 && round%6 == 5 }}, 3, 4},
		"and another once":         {collective{hosts: 6, channels: 1, steps: 4, calls: true, jitter: 800 * time.Microsecond, late: func(h, round int) bool { return h == 3 && round > 0 && round%4 == 0 || h == 1 && round == 10 }}, 3, 5},
		"and others twice": {collective{hosts: 6, channels: 1, steps: 4, calls: true, jitter: 800 * time.Microsecond, late: func(h, round int) bool {
			return h == 3 && round%6 == 5 || h == 1 && round == 10 || h == 2 && round == 7
		}}, 0, 0},
		"once for very long":          {collective{hosts: 6, channels: 1, steps: 4, calls: true, jitter: 8 * time.Millisecond, late: func(h, round int) bool { return h == 3 && round == 9 }}, 0, 0},
		"chain":                       {collective{hosts: 6, channels: 1, steps: 4, chain: true, calls: true, jitter: 8 * time.Millisecond, late: one}, 3, 24},
		"chain, nobody is late":       {collective{hosts: 6, channels: 1, steps: 4, chain: true, calls: true, jitter: 8 * time.Millisecond}, 0, 0},
		"chain, nobody calls":         {collective{hosts: 6, channels: 1, steps: 4, chain: true, late: one}, 3, 24}, // those after it follow it
		"chain, nobody calls or late": {collective{hosts: 6, channels: 1, steps: 4, chain: true, jitter: 30 * time.Millisecond}, 0, 0},
	} {
		got, ok := LastOf(k.of.hosts, k.of.run(24))
		if ok != (k.rounds > 0) || ok && (got.Host != k.host || got.Count != k.rounds || got.Rounds != 24) {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
}

// TestSlowestOfIdle: of a ring that calls for data, whose hosts owe one another answers while all compute, only the one that begins late is told to be waited for.
func TestSlowestOfIdle(t *testing.T) {
	for name, late := range map[string]func(h, _ int) bool{"one is late": func(h, _ int) bool { return h == 3 }, "none is": nil} {
		list := collective{hosts: 6, channels: 1, steps: 4, calls: true, late: late}.run(24)
		if got, ok := SlowestOf(6, list); ok && (late == nil || got.Host != 3 || got.Most > 51*time.Millisecond) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// tree is a reduction to the first host, and back, of seven, in which one begins late by a time, or another one in each round (-1).
func tree(late int, by time.Duration) (list []Link) {
	const hosts, took = 7, 20 * time.Microsecond
	for h := 1; h < hosts; h++ {
		list = append(list, Link{Hosts: [2]int{h, (h - 1) / 2}, Bytes: [2]uint64{4096, 4096}})
	}
	send := func(h, way int, at time.Duration) time.Duration {
		l := &list[h-1]
		l.Sent[way] = append(l.Sent[way], Sent{Begin: int64(at), End: int64(at + took)})
		return at + took
	}
	now := time.Second
	for round := range 24 {
		var ready [hosts]time.Duration
		for h := range ready {
			ready[h] = now + 20*time.Millisecond + time.Duration(h)*time.Microsecond
			if h == late || late < 0 && h == round%hosts {
				ready[h] += by
			}
		}
		for h := hosts - 1; h > 0; h-- {
			ready[(h-1)/2] = max(ready[(h-1)/2], send(h, 0, ready[h])+time.Microsecond)
		}
		for h := 1; h < hosts; h++ {
			ready[h] = send(h, 1, ready[(h-1)/2]) + time.Microsecond
			now = max(now, ready[h])
		}
	}
	return list
}

// TestLastOfTree: the leaf of a tree is told that half of the others wait for, and the rest follow, and how much later it begins; not where another one is late each time.
func TestLastOfTree(t *testing.T) {
	for late, want := range map[int]bool{4: true, -1: false} {
		got, ok := LastOf(7, tree(late, 2*time.Millisecond))
		if ok != want {
			t.Fatalf("%d: %+v, %v", late, got, ok)
		}
		if lag := got.After.Round(100 * time.Microsecond); ok && (got.Host != late || got.Begun != 4 || got.Others != 6 || got.Count != 24 || lag != 2*time.Millisecond || got.Spread > 50*time.Microsecond) {
			t.Errorf("%+v", got)
		}
	}
}
