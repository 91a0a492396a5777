package timing

import (
	"testing"
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
)

// talk is messages of two ends, each of one packet that is acknowledged at once.
type talk struct {
	c    *Connection
	pair qp.Pair
	sent [2]uint32
	now  int64
}

func newTalk(before uint32) *talk {
	s := &talk{c: New(nil), pair: qp.Pair{Service: packet.RC, Paired: true}, sent: [2]uint32{before, before}, now: at(0)}
	for k := range s.pair.Ends {
		s.pair.Ends[k].Direction = qp.NewDirection()
	}
	return s
}

func (s *talk) message(from int, fn packet.Fn) {
	psn := packet.PSN(s.sent[from])
	s.sent[from]++
	s.now += int64(time.Millisecond)
	s.c.Packet(&s.pair, from, &packet.Packet{Opcode: packet.Op(packet.RC, fn), PSN: psn, Time: s.now})
	s.pair.Ends[from].SQ.Una = psn.Add(1)
	s.c.Packet(&s.pair, 1-from, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), MSN: s.sent[from], PSN: psn, Time: s.now + 1})
}

// rounds has the first end send some messages, and the second answer each.
func (s *talk) rounds(n, depth int, fn packet.Fn) {
	for range n {
		for range depth {
			s.message(0, fn)
		}
		for range depth {
			s.message(1, packet.SendOnly)
		}
	}
}

// TestExchange: who answers whom is known from the beginning of a connection on, or where ACKs count messages before; not where one sends more than the other, where there are messages of other kinds
// before, or where MSNs do not count messages.
func TestExchange(t *testing.T) {
	for _, k := range []struct {
		name   string
		before uint32
		talk   func(s *talk)
		ok     bool
		by     int
		depth  int
		open   int
	}{
		{"from the beginning", 0, func(s *talk) { s.rounds(100, 4, packet.SendOnly) }, true, 1, 4, 0},
		{"WRITEs with immediate", 0, func(s *talk) { s.rounds(100, 4, packet.WriteOnlyImm) }, true, 1, 4, 0},
		{"of two packets", 0, func(s *talk) {
			for range 200 {
				psn := packet.PSN(s.sent[0] * 2)
				s.sent[0]++
				s.now += int64(time.Millisecond)
				for k, fn := range []packet.Fn{packet.WriteFirst, packet.WriteLastImm} {
					s.c.Packet(&s.pair, 0, &packet.Packet{Opcode: packet.Op(packet.RC, fn), PSN: psn.Add(k), Time: s.now})
				}
				s.pair.Ends[0].SQ.Una = psn.Add(2)
				s.c.Packet(&s.pair, 1, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), MSN: s.sent[0], PSN: psn.Add(1), Time: s.now + 1})
				s.message(1, packet.SendOnly)
			}
		}, true, 1, 1, 0},
		{"midstream", 7000, func(s *talk) { s.rounds(100, 4, packet.SendOnly) }, true, 1, 4, 0},
		{"after MSNs have come round", 1<<24 - 50, func(s *talk) { s.rounds(100, 4, packet.SendOnly) }, true, 1, 4, 0},
		{"one waits", 0, func(s *talk) { s.rounds(100, 4, packet.SendOnly); s.message(0, packet.SendOnly) }, true, 1, 4, 1},
		{"the second asks", 0, func(s *talk) {
			for range 200 {
				s.message(1, packet.SendOnly)
				s.message(0, packet.SendOnly)
			}
		}, true, 0, 1, 0},
		{"data with the answer", 0, func(s *talk) {
			for range 200 {
				s.message(0, packet.SendOnly)
				s.message(1, packet.WriteOnly)
				s.message(1, packet.SendOnly)
			}
		}, true, 1, 1, 0},
		{"data with the answer, midstream", 7000, func(s *talk) {
			for range 200 {
				s.message(0, packet.SendOnly)
				s.message(1, packet.WriteOnly)
				s.message(1, packet.SendOnly)
			}
		}, false, 0, 0, 0},
		{"two for one", 0, func(s *talk) {
			for range 200 {
				s.message(0, packet.SendOnly)
				s.rounds(1, 1, packet.SendOnly)
			}
		}, false, 0, 0, 0},
		{"one more now and then", 0, func(s *talk) {
			for range 20 {
				s.rounds(10, 1, packet.SendOnly)
				s.message(0, packet.SendOnly)
			}
		}, false, 0, 0, 0},
		{"one more now and then, and as many back", 0, func(s *talk) {
			for range 20 {
				s.rounds(10, 1, packet.SendOnly)
				s.rounds(1, 2, packet.SendOnly)
			}
		}, true, 1, 2, 0},
		{"now one ahead, now the other", 0, func(s *talk) {
			for i := range 400 {
				s.message(i/2%2, packet.SendOnly)
				s.message(1-i/2%2, packet.SendOnly)
			}
		}, false, 0, 0, 0},
		{"both when they like", 7000, func(s *talk) { // ahead by a random walk
			for range 60 {
				s.message(0, packet.SendOnly)
			}
			walk := uint32(1)
			for range 1500 {
				walk = walk*1664525 + 1013904223
				s.message(int(walk>>31), packet.SendOnly)
			}
		}, false, 0, 0, 0},
		{"many at once", 0, func(s *talk) { s.rounds(100, 16, packet.SendOnly) }, true, 1, 16, 0},
		{"few", 0, func(s *talk) { s.rounds(31, 1, packet.SendOnly) }, false, 0, 0, 0},
		{"no MSN", 0, func(s *talk) {
			for range 200 {
				s.sent[0], s.sent[1] = s.sent[0]+2, s.sent[1]+1
				s.rounds(1, 1, packet.SendOnly)
			}
		}, false, 0, 0, 0},
	} {
		s := newTalk(k.before)
		k.talk(s)
		a, ok := s.c.Exchange.Answers()
		ok = ok && !a.Chance
		if ok != k.ok || ok && (a.By != k.by || a.Depth != k.depth || a.Open != k.open || a.Waits.Latency.Count() < 100) {
			t.Errorf("%s: %v, %+v", k.name, ok, a)
		}
	}
}

// TestInARow: an end whose peer sent more in the end than it was ever ahead has nothing to answer; not one that owes as many as before.
func TestInARow(t *testing.T) {
	s := newTalk(7000)
	s.message(1, packet.WriteOnly)
	s.rounds(100, 2, packet.SendOnly)
	for n := range 4 {
		if got := s.c.Exchange.InARow(1); got != (n > 2) {
			t.Errorf("%d in a row: %v", n, got)
		}
		s.message(0, packet.SendOnly)
	}
	if new(Exchange).InARow(0) {
		t.Error("of nothing")
	}
}

// TestStopped: an end that kept pace with its peer and sends nothing any more has stopped, whoever answers; not while it is as far apart as before, where it never kept pace, or where few were seen.
func TestStopped(t *testing.T) {
	for _, k := range []struct {
		name         string
		rounds, more int
		ok           bool
	}{{"stopped", 100, 20, true}, {"as far apart as before", 100, 2, false}, {"few", 20, 20, false}} {
		s := newTalk(7000)
		s.message(1, packet.WriteOnly) // so that MSNs do not tell
		s.rounds(k.rounds, 2, packet.SendOnly)
		for range k.more {
			s.message(0, packet.SendOnly)
		}
		x, ok := s.c.Exchange.Stopped(1)
		if ok != k.ok || ok && (x.More != k.more || x.Apart != 2 || x.Count != uint64(2*k.rounds)) {
			t.Errorf("%s: %v, %+v", k.name, ok, x)
		}
		if _, ok := s.c.Exchange.Stopped(0); ok {
			t.Errorf("%s: the other end", k.name)
		}
	}
	s := newTalk(7000)
	for range 100 {
		s.message(1, packet.SendOnly)
	}
	for range 200 {
		s.message(0, packet.SendOnly)
	}
	if x, ok := s.c.Exchange.Stopped(1); ok {
		t.Errorf("it never kept pace: %+v", x)
	}
}

// TestExchangeRest: how long messages of an end waited for those of its peer, and how long none did.
func TestExchangeRest(t *testing.T) {
	s := newTalk(0)
	for range 200 {
		s.now += int64(9 * time.Millisecond)
		s.rounds(1, 2, packet.SendOnly)
	}
	a, ok := s.c.Exchange.Answers()
	if !ok || a.Waits.Mean() != 2*time.Millisecond || a.Waits.Most != 2*time.Millisecond || a.Rest < 199*9*time.Millisecond || a.Served < 199*3*time.Millisecond || a.Served > 200*3*time.Millisecond {
		t.Errorf("%v, %+v", ok, a)
	}
}

// TestExchangeMerged: what two halves of a connection have counted is what one has.
func TestExchangeMerged(t *testing.T) {
	a, b := newTalk(0), newTalk(0)
	a.rounds(100, 2, packet.SendOnly)
	b.pair.Paired = false
	for range 3 {
		b.message(1, packet.SendOnly)
	}
	for range 3 {
		a.message(0, packet.SendOnly)
	}
	a.c.Merge(b.c, false)
	a.sent[1] += 3
	a.rounds(100, 2, packet.SendOnly)
	if k, ok := a.c.Exchange.Answers(); !ok || k.By != 1 || k.Count != 403 || k.Requests != 403 || k.Depth != 2 || k.Open != 0 {
		t.Errorf("%v, %+v", ok, k)
	}
}

// TestChange: a part of the time is found in which messages waited many times as long as in the rest; not one in which there were many more, and not now and then.
func TestChange(t *testing.T) {
	const ms = time.Millisecond
	for _, k := range []struct {
		name    string
		took    func(i int) time.Duration
		apart   func(i int) time.Duration
		ok      bool
		b, a    bool
		from    int // milliseconds
		sampled int
	}{
		{"from then on", func(i int) time.Duration { return ms * time.Duration(1+i/400*19) }, nil, true, true, false, 400, 800},
		{"until then", func(i int) time.Duration { return ms * time.Duration(20-i/400*19) }, nil, true, false, true, 0, 800},
		{"meanwhile", func(i int) time.Duration { return ms * []time.Duration{1, 20, 1, 1}[i/200] }, nil, true, true, true, 200, 800},
		{"now and then", func(i int) time.Duration { return ms * []time.Duration{1, 20}[i/50%2] }, nil, false, false, false, 0, 800},
		{"one of many", func(i int) time.Duration { return ms * []time.Duration{20, 1}[min(i%100, 1)] }, nil, false, false, false, 0, 800},
		{"a little", func(i int) time.Duration { return ms * time.Duration(1+i/400*2) }, nil, false, false, false, 0, 800},
		{"short", func(i int) time.Duration { return time.Microsecond * time.Duration(1+i/400*19) }, nil, false, false, false, 0, 800},
		{"few", func(i int) time.Duration { return ms * time.Duration(1+i/30*19) }, nil, false, false, false, 0, 60},
		{"many more", func(i int) time.Duration { return ms * time.Duration(1+i/100*19) }, func(i int) time.Duration { return ms / time.Duration(1+min(i/100, 1)*9) }, false, false, false, 0, 800},
	} {
		var w Waits
		now := at(0)
		for i := range k.sampled {
			step := ms
			if k.apart != nil {
				step = k.apart(i)
			}
			w.Add(k.took(i), now, uint64(i))
			now += int64(step)
		}
		c, ok := w.Change()
		if ok != k.ok || ok && (c.Before != k.b || c.After != k.a || c.Usual != ms || c.Then != 20*ms || max(c.From-at(1000*k.from), at(1000*k.from)-c.From) > int64(20*ms)) {
			t.Errorf("%s: %v, %+v", k.name, ok, c)
		}
	}
	if (*Waits)(nil).Changes() {
		t.Error("of nothing")
	}
}
