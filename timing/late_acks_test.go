package timing

import (
	"slices"
	"testing"
	"time"

	"ibwitness/packet"
	"ibwitness/wqe"
)

// TestAckWaits: a message counts with how long it waited once its last packet was sent, where that asks for an ACK; not one that does not ask, that was retransmitted, before whose ACK the answer to a READ is due, or whose ACK another tap saw.
func TestAckWaits(t *testing.T) {
	s := begin(t, nil)
	ask := func(us int, fn packet.Fn, psn packet.PSN) {
		s.n++
		s.c.Packet(&s.pair, 0, &packet.Packet{Opcode: packet.Op(packet.RC, fn), PSN: psn, PayloadLen: 64, DMALen: s.dma, AckReq: true, Time: at(us), Frame: s.n})
	}
	s.request(0, packet.SendFirst, 1, 1024)
	ask(5, packet.SendLast, 2)
	s.answer(8, packet.Acknowledge, 3)
	s.request(10, packet.SendOnly, 3, 64) // does not ask
	s.answer(18, packet.Acknowledge, 4)
	ask(20, packet.SendOnly, 4)
	ask(21, packet.SendOnly, 4) // retransmitted
	s.answer(28, packet.Acknowledge, 5)
	s.dma = 64
	s.request(30, packet.ReadRequest, 5, 0)
	ask(31, packet.SendOnly, 6)
	s.answer(38, packet.Acknowledge, 7)
	ask(40, packet.SendOnly, 7)
	s.pair.Ends[0].SQ.Una = 8
	s.c.Packet(&s.pair, 1, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), PSN: 7, Tap: 1, Time: at(900)})
	want := []AckWait{{at(5), 3 * time.Microsecond, 1088}}
	if got := s.c.Ends[0].Acks.Usual(); got != want[len(want)/2].Took {
		t.Errorf("usual %v, want %v", got, want[len(want)/2].Took)
	}
	if got := (&AckWaits{}).Usual(); got != 0 {
		t.Errorf("of none %v", got)
	}
	if got := s.c.Ends[0].Acks; !slices.Equal(got.List, want) || got.Every != 1 {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestThinned: of many messages one in so many is kept, from the first to the last.
func TestThinned(t *testing.T) {
	var a, b AckWaits
	for i := range int64(1000) {
		a.add(&Message{Op: wqe.Send, asks: true, Sent: 1000 + i, Answered: 1010 + i})
		b.add(&Message{Op: wqe.Send, asks: true, Sent: 5000 + i, Answered: 5010 + i})
	}
	if n := len(a.List); n != 250 || a.Every != 4 || a.List[0].At != 1000 || a.List[n-1].At != 1996 {
		t.Error(n, a.Every, a.List[0], a.List[n-1])
	}
	a.merge(&b)
	if n := len(a.List); n != 250 || a.Every != 8 || a.List[0].At != 1000 || a.List[n-1].At < 5900 {
		t.Error(n, a.Every, a.List[0], a.List[n-1])
	}
}

// allToAll is messages of each of some hosts to each other, as many of them, which wait as told.
func allToAll(hosts, n int, took func(from, to, i int) time.Duration) (list []Asked) {
	for from := range hosts {
		for to := range hosts {
			if from == to {
				continue
			}
			w := &AckWaits{Every: 1}
			for i := range n {
				w.List = append(w.List, AckWait{int64(1 + i*1000 + from), took(from, to, i), 4096})
			}
			list = append(list, Asked{from, to, w})
		}
	}
	return list
}

// TestLateAcks: the host is told whose ACKs come late for all, all the time or since a time; not where another's do, where one that asks it has them soon, where it gets more data than others, where they are late now and then,
// late by little, or for a while, or where there are few hosts or few messages.
func TestLateAcks(t *testing.T) {
	const soon, late = 10 * time.Microsecond, 500 * time.Microsecond
	to2 := func(from, to, i int) time.Duration { return map[bool]time.Duration{true: late, false: soon}[to == 2] }
	since := func(k int) func(from, to, i int) time.Duration {
		return func(from, to, i int) time.Duration {
			if i < k {
				return soon
			}
			return to2(from, to, i)
		}
	}
	when := func(d time.Duration, is func(from, to, i int) bool) []Asked {
		return allToAll(4, 24, func(from, to, i int) time.Duration {
			if is(from, to, i) {
				return d
			}
			return soon
		})
	}
	more := allToAll(4, 24, to2)
	for _, a := range more {
		if a.To == 2 {
			a.Every = 2
		}
	}
	whole := LateAcks{Host: 2, By: []int{0, 1, 3}, Usual: late, Others: soon}
	from := whole
	from.Since, from.Before = 12_001, soon
	for name, k := range map[string]struct {
		list []Asked
		want LateAcks
	}{
		"all the time":         {allToAll(4, 24, to2), whole},
		"since a time":         {allToAll(4, 24, since(12)), from},
		"none":                 {when(late, func(int, int, int) bool { return false }), LateAcks{}},
		"two hosts":            {when(late, func(_, to, _ int) bool { return to >= 2 }), LateAcks{}},
		"not for one":          {when(late, func(from, to, _ int) bool { return to == 2 && from != 1 }), LateAcks{}},
		"what one sends":       {when(late, func(from, _, _ int) bool { return from == 2 }), LateAcks{}},
		"gets more":            {more, LateAcks{}},
		"now and then":         {when(late, func(_, to, i int) bool { return to == 2 && i%2 == 0 }), LateAcks{}},
		"for a while":          {when(late, func(_, to, i int) bool { return to == 2 && i < 12 }), LateAcks{}},
		"by little":            {when(90*time.Microsecond, func(_, to, _ int) bool { return to == 2 }), LateAcks{}},
		"few at the end":       {allToAll(4, 24, since(22)), LateAcks{}},
		"few hosts":            {allToAll(2, 24, func(int, int, int) time.Duration { return late }), LateAcks{}},
		"few messages":         {allToAll(4, 5, to2), LateAcks{}},
		"others are not asked": {slices.DeleteFunc(allToAll(4, 24, to2), func(a Asked) bool { return a.To != 2 }), LateAcks{}},
		"asked by others": {slices.DeleteFunc(allToAll(6, 24, to2), func(a Asked) bool {
			far := a.From == 0 || a.From == 1
			return far != (a.To == 2)
		}), LateAcks{}},
	} {
		got, ok := LateAcksOf(6, k.list)
		if !ok {
			got = LateAcks{}
		}
		if got.Host != k.want.Host || !slices.Equal(got.By, k.want.By) || got.Since != k.want.Since || got.Usual != k.want.Usual || got.Before != k.want.Before || got.Others != k.want.Others {
			t.Errorf("%s: %+v, want %+v", name, got, k.want)
		}
	}
}
