package scenario

import (
	"slices"
	"strings"
	"testing"

	"ibwitness/cq"
	"ibwitness/hcaagent"
)

const withUD = `hcas: {a: 10.0.0.1, b: 10.0.0.2}
near: [a, b]
attributes: {type: UD}
qps:
  a1: {hca: a}
  b1: {hca: b}
work:
  - {qp: b1, op: receive, length: 2000, repeat: 60}
  - {qp: a1, to: b1, op: send, length: 100, repeat: 12, at: 3us, every: 20us}
  - {qp: a1, to: b1, op: send_imm, length: 1000, imm: 7, repeat: 12, at: 8us, every: 20us}
  - {qp: a1, to: b1, op: send, length: 0, repeat: 12, at: 13us, every: 20us}
  - {qp: a1, to: b1, op: send, length: 700, repeat: 12, at: 18us, every: 20us}
`

const withUC = `hcas: {a: 10.0.0.1, b: 10.0.0.2}
near: [a, b]
attributes: {type: UC}
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1}
work:
  - {qp: b1, op: receive, length: 3000, repeat: 60}
  - {qp: a1, op: send, length: 100, repeat: 12, at: 3us, every: 20us}
  - {qp: a1, op: write_imm, length: 2500, imm: 7, repeat: 12, at: 8us, every: 20us}
  - {qp: a1, op: send, length: 0, repeat: 12, at: 13us, every: 20us}
  - {qp: a1, op: write, length: 1000, repeat: 12, at: 18us, every: 20us}
`

const lossy = `errors:
  - {do: drop, from: a, probability: 0.1, where: before}
`

// TestLogUnreliable: a log of UC or UD with a clock of its own that is wrong in one place gives few findings, wherever that is: the requests after it are compared with their own messages.
func TestLogUnreliable(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes many runs, one after the other, and make unit runs it whole")
	}
	done := func(l *hcaagent.Log, id uint64) int {
		return slices.IndexFunc(l.Events, func(e cq.Event) bool { return e.Kind == cq.EvCompletion && e.Completion.ID == id })
	}
	moved := func(l *hcaagent.Log, n, by int) {
		list := posts(l)
		k := list[slices.Index(list, n)+by]
		e := l.Events[n]
		e.Time = l.Events[k].Time
		l.Events = slices.Insert(slices.Delete(l.Events, n, n+1), k, e)
	}
	for _, c := range []struct {
		name   string
		change func(a *hcaagent.Log, post int)
		want   []string
	}{
		{"nothing", func(*hcaagent.Log, int) {}, nil},
		{"a post twice", func(a *hcaagent.Log, n int) { a.Events = slices.Insert(a.Events, n, a.Events[n]) }, []string{"CPL-ORD-001 violation", "RC-SEQ-006 violation"}},
		{"a post of another length that never leaves", neverLeaves, []string{"CPL-ORD-001 violation", "RC-SEQ-006 violation"}},
		{"no post", func(a *hcaagent.Log, n int) { a.Events = slices.Delete(a.Events, n, n+1) }, []string{"CPL-ORD-002 violation", "RC-SEQ-006 unproven"}},
		{"neither a post nor its completion", func(a *hcaagent.Log, n int) {
			d := done(a, a.Events[n].Send.ID)
			a.Events = slices.Delete(a.Events, d, d+1)
			a.Events = slices.Delete(a.Events, n, n+1)
		}, []string{"RC-SEQ-006 violation"}},
		{"four posts and their completions missing", func(a *hcaagent.Log, n int) {
			for range 4 {
				d := done(a, a.Events[n].Send.ID)
				a.Events = slices.Delete(a.Events, d, d+1)
				a.Events = slices.Delete(a.Events, n, n+1)
				n += slices.IndexFunc(a.Events[n:], func(e cq.Event) bool { return e.Kind == cq.EvPostSend })
			}
		}, []string{"RC-SEQ-006 violation"}},
		{"a post told two requests too late", func(a *hcaagent.Log, n int) { moved(a, n, 2) }, []string{"CPL-ORD-002 violation"}},
		{"a post told two requests too early", func(a *hcaagent.Log, n int) { moved(a, n, -2) }, []string{"CPL-ORD-001 violation"}},
		{"two posts exchanged", func(a *hcaagent.Log, n int) {
			list := posts(a)
			k := list[slices.Index(list, n)+3]
			x, y := &a.Events[n], &a.Events[k]
			*x, *y = *y, *x
			x.Time, y.Time = y.Time, x.Time
		}, []string{"CPL-ORD-002 violation"}},
		{"a post of other data", func(a *hcaagent.Log, n int) { a.Events[n].Sum++; a.Events[n].Summed, a.Events[n].Data = true, nil }, []string{"CPL-MEM-003 violation"}},
	} {
		for service, text := range map[string]string{"UC": withUC, "UD": withUD, "UD that loses": strings.Replace(withUD, "near: [a, b]", "taps: [middle]", 1) + lossy} {
			for k := range 30 {
				got := foundIn(t, text, func(a, b *hcaagent.Log) {
					hostClock(a, b)
					c.change(a, posts(a)[8+k])
				})
				got = slices.DeleteFunc(got, func(s string) bool { return s == "UD-PSN-002 unproven" }) // the first message is lost
				if i := slices.Index(got, "RC-LEN-009 violation"); i >= 0 {
					got[i] = "CPL-MEM-003 violation" // of a WRITE
				}
				if service == "UD that loses" && c.want != nil && len(got) <= 4 { // what is wrong may be what is lost
					continue
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("%s, %s, request %d: %q, not %q", service, c.name, 8+k, got, c.want)
				}
			}
		}
	}
}
