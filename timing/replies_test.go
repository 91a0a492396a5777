package timing

import (
	"testing"
	"time"
)

// calls are the messages of two ends, of which the second answers each of the first after 5 µs, and every 50th after a time. from: how long before
// such a request it begins to send a long message, which is over just before its answer; 0: it
// does not.
func calls(n int, late, from time.Duration) (asks, answers *End) {
	asks, answers = new(End), new(End)
	for i := range n {
		at, d := int64(time.Second)+int64(i)*int64(5*time.Millisecond), int64(5*time.Microsecond)
		if i%50 == 30 {
			if d = int64(late); from != 0 {
				answers.NoteSent(Sent{at - int64(from), at + d/2, 1 << 20, 256})
				answers.NoteSent(Sent{at + d/2 + 1, at + d - 1000, 1 << 20, 256})
			}
		}
		asks.NoteSent(Sent{at, at, 100, 1})
		answers.NoteSent(Sent{at + d, at + d, 100, 1})
	}
	return asks, answers
}

// TestReplies: slow answers are told apart by what was sent meanwhile: long messages that had begun before the request, or nothing; not by those
// that began after it, which may be the answer.
func TestReplies(t *testing.T) {
	const ms, us = time.Millisecond, time.Microsecond
	for _, k := range []struct {
		name                  string
		n                     int
		late, from            time.Duration
		slow, behind, nothing int
		tail                  bool
	}{
		{"after long messages", 500, ms, 100 * us, 10, 10, 0, true},
		{"of a program", 500, ms, 0, 10, 0, 10, true},
		{"with data", 500, ms, -10 * us, 10, 0, 0, true},
		{"quick", 500, 20 * us, 0, 0, 0, 0, false},
		{"a little later", 500, 60 * us, 0, 10, 0, 10, false},
	} {
		asks, answers := calls(k.n, k.late, k.from)
		r, ok := RepliesOf(asks, answers)
		if !ok || r.Count != k.n || r.Usual != 5*us || r.Slow != k.slow || r.Behind != k.behind || r.Nothing != k.nothing || r.Tail() != k.tail {
			t.Errorf("%s: %v %+v", k.name, ok, r)
		}
		if r.Behind > 0 && (len(r.Long) != 10 || r.Long[0].Bytes != 2<<20 || r.Most != ms) {
			t.Errorf("%s: %+v", k.name, r)
		}
		if r, ok := RepliesOf(answers, asks); ok {
			t.Errorf("%s: the one that asks answers: %+v", k.name, r)
		}
	}
	asks, answers := calls(100, ms, 0)
	if _, ok := RepliesOf(asks, answers); ok {
		t.Error("few")
	}
	asks, answers = calls(500, ms, 0)
	answers.Sent = append([]Sent{{int64(time.Second) - 9, int64(time.Second) - 9, 100, 1}}, answers.Sent...)
	if r, ok := RepliesOf(asks, answers); !ok || r.Slow != 10 {
		t.Errorf("an answer before the first request: %v %+v", ok, r)
	}
	for range 50 {
		answers.NoteSent(Sent{int64(time.Hour), int64(time.Hour), 100, 1})
	}
	asks.Sent = asks.Sent[:450]
	asks.NoteSent(Sent{int64(2 * time.Hour), int64(2 * time.Hour), 100, 1})
	if _, ok := RepliesOf(asks, answers); ok {
		t.Error("more answers than requests")
	}
}
