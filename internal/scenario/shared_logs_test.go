package scenario

import (
	"slices"
	"testing"

	"ibwitness/cq"
	"ibwitness/hcaagent"
)

const withSharedData = `hcas: {a: 10.0.0.1, b: 10.0.0.2}
srqs:
  s: {hca: b}
qps:
  a1: {hca: a, peer: b1}
  a2: {hca: a, peer: b2}
  b1: {hca: b, peer: a1, srq: s}
  b2: {hca: b, peer: a2, srq: s}
work:
  - {srq: s, op: receive, length: 2000, repeat: 60}
  - {qp: a1, op: send, length: 64, repeat: 8, at: 3us, every: 30us}
  - {qp: a2, op: send, length: 64, repeat: 8, at: 8us, every: 30us}
  - {qp: a1, op: send_imm, length: 1500, imm: 5, repeat: 8, at: 13us, every: 30us}
  - {qp: a2, op: send, length: 700, repeat: 8, at: 18us, every: 30us}
  - {qp: a1, op: send_imm, length: 64, imm: 5, repeat: 8, at: 23us, every: 30us}
`

// TestLogSharedOrder: a log of queue pairs with a shared receive queue whose lines are wrong in one place gives one finding, or two, wherever that is: the completions after it are compared
// with their own messages.
func TestLogSharedOrder(t *testing.T) {
	completions := func(l *hcaagent.Log) (at []int) {
		for i := range l.Events {
			if l.Events[i].Kind == cq.EvCompletion {
				at = append(at, i)
			}
		}
		return at
	}
	for _, c := range []struct {
		name   string
		change func(b *hcaagent.Log, list []int, k int)
		want   []string
	}{
		{"nothing", func(*hcaagent.Log, []int, int) {}, nil},
		{"a completion missing", func(b *hcaagent.Log, list []int, k int) { b.Events = slices.Delete(b.Events, list[k], list[k]+1) }, []string{"CPL-ORD-001 violation"}},
		{"a request and its completion twice", func(b *hcaagent.Log, list []int, k int) {
			e := b.Events[list[k]]
			n := slices.IndexFunc(b.Events, func(x cq.Event) bool { return x.Kind == cq.EvPostReceive && x.Receive.ID == e.Completion.ID })
			post := b.Events[n]
			post.Time = e.Time
			b.Events = slices.Insert(b.Events, list[k]+1, post, e)
		}, []string{"CPL-ORD-002 violation"}},
		{"a completion seven too late", func(b *hcaagent.Log, list []int, k int) {
			e := b.Events[list[k]]
			e.Time = b.Events[list[k+7]].Time
			b.Events = slices.Insert(slices.Delete(b.Events, list[k], list[k]+1), list[k+7], e)
		}, []string{"CPL-ORD-001 violation"}},
	} {
		for k := range 25 {
			got := foundIn(t, withSharedData, func(a, b *hcaagent.Log) {
				hostClock(a, b)
				for _, l := range []*hcaagent.Log{a, b} {
					l.Events = slices.DeleteFunc(l.Events, func(e cq.Event) bool { // what only rests on a completion queue is another matter
						return slices.Contains([]cq.EventKind{cq.EvCreateCQ, cq.EvArm, cq.EvNotify}, e.Kind)
					})
					for i := range l.Events {
						e := &l.Events[i]
						if e.Kind == cq.EvCreateQP {
							x := *e.New
							x.SendCQ, x.RecvCQ = 0, 0
							e.New = &x
						}
						e.CQ = 0
					}
				}
				c.change(b, completions(b), 5+k)
			})
			if !slices.Equal(got, c.want) {
				t.Errorf("%s, completion %d: %q, not %q", c.name, 5+k, got, c.want)
			}
		}
	}
}
