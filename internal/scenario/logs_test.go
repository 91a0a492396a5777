package scenario

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/cq"
	"ibwitness/fabricagent"
	"ibwitness/hcaagent"
	"ibwitness/internal/testkit/sample"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

const withLogs = `hcas: {a: 10.0.0.1, b: 10.0.0.2}
near: a
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1}
work:
  - {qp: b1, op: receive, length: 3000, repeat: 40, every: 7us}
  - {qp: a1, op: send, length: 3000, repeat: 40, at: 3us, every: 7us}
  - {qp: a1, op: read, length: 3000, repeat: 40, at: 4us, every: 7us}
`

// foundWith verifies a run with its logs, changed.
func foundWith(t *testing.T, change func(a *hcaagent.Log)) (list []string) {
	t.Helper()
	return foundIn(t, withLogs, func(a, _ *hcaagent.Log) { change(a) })
}

func foundIn(t *testing.T, text string, change func(a, b *hcaagent.Log)) (list []string) {
	t.Helper()
	list, _ = foundFrom(t, text, change, func(src fabricagent.Source) fabricagent.Source { return src }, agent.Options{})
	return list
}

// foundFrom does so where the frames are changed too, and with other options.
func foundFrom(t *testing.T, text string, change func(a, b *hcaagent.Log), frames func(fabricagent.Source) fabricagent.Source, opt agent.Options) (list []string, res *agent.Result) {
	t.Helper()
	s, err := Read("logs", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Start(Options{Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	r.Finish()
	logs := r.Logs()
	change(logs[0], logs[1])
	opt.Near, opt.Workers, opt.Events = r.NearAddrs(), 1, logs
	res, err = agent.Run(context.Background(), frames(r.Source), opt)
	if err != nil {
		t.Fatal(err)
	}
	for i := range res.Findings {
		if f := &res.Findings[i]; f.Class > rule.Event {
			list = append(list, fmt.Sprintf("%v %v", f.Rule, f.Class))
		}
	}
	return list, res
}

// hostClock gives logs a clock of their own.
func hostClock(logs ...*hcaagent.Log) {
	for _, l := range logs {
		l.Exact = false
		for i := range l.Events {
			l.Events[i].Time += 300_000_000
		}
	}
}

// neverLeaves adds a post that its device does not carry out, as event n.
func neverLeaves(l *hcaagent.Log, n int) {
	e := l.Events[n]
	r := *e.Send
	r.ID, r.Segments = 999, []wqe.Segment{{Length: 17}}
	e.Send, e.Summed, e.Data = &r, false, nil
	l.Events = slices.Insert(l.Events, n, e)
}

func posts(l *hcaagent.Log) (at []int) {
	for i := range l.Events {
		if l.Events[i].Kind == cq.EvPostSend {
			at = append(at, i)
		}
	}
	return at
}

// TestLogCut: where a log breaks off or ends early, what is sent without a request may have been posted after that. Where it tells of all, it has none.
func TestLogCut(t *testing.T) {
	for _, end := range []string{"breaks off", "ends early", "is complete"} {
		want := []string{"RC-SEQ-006 unproven"}
		if end == "is complete" {
			want = []string{"RC-SEQ-006 violation"}
		}
		got := foundWith(t, func(a *hcaagent.Log) {
			n := posts(a)
			a.Events, a.Cut, a.Complete = a.Events[:n[len(n)/2]], end == "breaks off", end == "is complete"
		})
		if got = slices.DeleteFunc(got, func(s string) bool { return s[:3] != "RC-" }); !slices.Equal(got, want) {
			t.Errorf("the log %s: %q, not %q", end, got, want)
		}
	}
}

// TestLogDisorder: lines that are late in a log with the clock of the packets accuse nobody, and a request that is missing is missed all the same.
func TestLogDisorder(t *testing.T) {
	disorder := func(l *hcaagent.Log, seed uint64) {
		chance := rand.New(rand.NewPCG(seed, 1))
		late := map[int64]int64{} // a thread writes what it did at a time together
		for i := range l.Events {
			if e := &l.Events[i]; late[e.Time] == 0 {
				late[e.Time] = e.Time + chance.Int64N(10_000)
			}
		}
		slices.SortStableFunc(l.Events, func(x, y cq.Event) int { return cmp.Compare(late[x.Time], late[y.Time]) })
	}
	for seed := range uint64(20) {
		if got := foundWith(t, func(a *hcaagent.Log) { disorder(a, seed) }); len(got) > 0 {
			t.Errorf("seed %d: %q", seed, got)
		}
		got := foundWith(t, func(a *hcaagent.Log) {
			n := posts(a)[20]
			a.Events = slices.Delete(a.Events, n, n+1)
			disorder(a, seed)
		})
		if !slices.Contains(got, "RC-SEQ-006 violation") {
			t.Errorf("seed %d: without a post: %q", seed, got)
		}
	}
	for _, kind := range []cq.EventKind{cq.EvPostSend, cq.EvCompletion, cq.EvArm} {
		got := foundWith(t, func(a *hcaagent.Log) {
			n := slices.IndexFunc(a.Events[100:], func(e cq.Event) bool { return e.Kind == kind }) + 100
			e := a.Events[n]
			a.Events = slices.Insert(slices.Delete(a.Events, n, n+1), n+100, e)
		})
		if slices.ContainsFunc(got, func(s string) bool { return strings.HasSuffix(s, "violation") }) {
			t.Errorf("an event of kind %d 100 lines late: %q", kind, got)
		}
	}
}

const livesTwice = `hcas: {a: 10.0.0.1, b: 10.0.0.2}
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1}
work:
  - {qp: b1, op: receive, length: 5000, repeat: 8}
  - {qp: a1, op: send, length: 3000, repeat: 4, every: 10us}
  - {qp: a1, op: modify, state: RESET, at: 100us}
  - {qp: b1, op: modify, state: RESET, at: 100us}
  - {qp: b1, op: modify, state: INIT, at: 110us}
  - {qp: b1, op: modify, state: RTR, at: 111us}
  - {qp: a1, op: modify, state: INIT, at: 112us}
  - {qp: a1, op: modify, state: RTR, at: 113us}
  - {qp: a1, op: modify, state: RTS, at: 114us}
  - {qp: b1, op: modify, state: RTS, at: 115us}
  - {qp: b1, op: receive, length: 5000, repeat: 8, at: 120us}
  - {qp: a1, op: send, length: 3000, repeat: 4, every: 10us, at: 130us}
`

// TestLogLives: a queue pair that begins again with the same PSNs is not accused of retransmissions, nor its requests compared with the packets of its other
// life, whatever the clock of the logs; data that differs is found.
func TestLogLives(t *testing.T) {
	for _, exact := range []bool{true, false} {
		for _, shift := range []int64{0, -5e9, -3e8, 3e8, 3e9, 86_400e9} {
			for _, wrong := range []bool{false, true} {
				if exact && shift != 0 {
					continue
				}
				got := foundIn(t, livesTwice, func(a, b *hcaagent.Log) {
					for _, l := range []*hcaagent.Log{a, b} {
						l.Exact = exact
						for i := range l.Events {
							l.Events[i].Time += shift
						}
					}
					if n := posts(a); wrong {
						a.Events[n[1]].Sum++
						a.Events[n[len(n)-2]].Sum++
					}
				})
				got = slices.DeleteFunc(got, func(s string) bool { return !strings.HasSuffix(s, "violation") })
				if want := []string{"CPL-MEM-003 violation", "CPL-MEM-003 violation"}; wrong != slices.Equal(got, want) || !wrong && len(got) > 0 {
					t.Errorf("exact %v, clock %d, other data posted %v: %q", exact, shift, wrong, got)
				}
			}
		}
	}
}

// TestLogApart: a log with a clock of its own that is wrong in one line gives one finding, and no right completion is accused by what that line says of the clocks.
func TestLogApart(t *testing.T) {
	swap := func(l *hcaagent.Log, i, k int) {
		l.Events[i], l.Events[k] = l.Events[k], l.Events[i]
		l.Events[i].Time, l.Events[k].Time = l.Events[k].Time, l.Events[i].Time
	}
	move := func(l *hcaagent.Log, from int, by int64) {
		e := l.Events[from]
		e.Time += by
		l.Events = slices.Delete(l.Events, from, from+1)
		n, _ := slices.BinarySearchFunc(l.Events, e.Time, func(e cq.Event, t int64) int { return cmp.Compare(e.Time, t) })
		l.Events = slices.Insert(l.Events, n, e)
	}
	attr := func(l *hcaagent.Log, state qp.State) *qp.Attr {
		n := slices.IndexFunc(l.Events, func(e cq.Event) bool { return e.Kind == cq.EvModifyQP && e.State == state })
		x := *l.Events[n].Attr
		l.Events[n].Attr = &x
		return &x
	}
	for _, c := range []struct {
		name   string
		change func(a, _ *hcaagent.Log)
		want   []string
	}{
		{"nothing", func(_, _ *hcaagent.Log) {}, nil},
		{"two posts in swapped lines", func(a, _ *hcaagent.Log) { n := posts(a); swap(a, n[20], n[21]) }, []string{"CPL-ORD-001 violation"}},
		{"a post far too late", func(a, _ *hcaagent.Log) { move(a, posts(a)[20], 150_000) }, []string{"CPL-ORD-002 violation"}},
		{"a post that never leaves", func(a, _ *hcaagent.Log) { neverLeaves(a, posts(a)[20]) }, []string{"CPL-ORD-001 violation", "RC-SEQ-006 violation"}},
		{"the start PSN one more", func(a, _ *hcaagent.Log) { attr(a, qp.RTS).SQPSN++ }, []string{"RC-PSN-001 violation"}},
		{"the start PSN 40 more", func(a, _ *hcaagent.Log) { attr(a, qp.RTS).SQPSN += 40 }, []string{"RC-PSN-001 violation"}},
		{"attributes that change after the traffic", func(a, _ *hcaagent.Log) {
			last := a.Events[len(a.Events)-1]
			n := posts(a)[0]
			for _, x := range []*qp.Attr{nil, {Known: qp.KnowsPKey | qp.KnowsDestAddr | qp.KnowsTClass, PKey: 0x8001, DestAddr: packet.Addr{Lo: 0xffff_0a00_0007}, TClass: 96}} {
				a.Events = append(a.Events, cq.Event{Kind: cq.EvModifyQP, Time: last.Time, QP: a.Events[n].QP, State: qp.SQD, Attr: x})
			}
		}, nil},
		{"a start PSN that is not taken", func(a, _ *hcaagent.Log) {
			n := posts(a)[20]
			e := cq.Event{Kind: cq.EvModifyQP, Time: a.Events[n].Time, QP: a.Events[n].QP, State: qp.RTS, Attr: &qp.Attr{Known: qp.KnowsSQPSN, SQPSN: 5}}
			a.Events = slices.Insert(a.Events, n, e)
		}, []string{"QPS-TRN-003 violation"}},
		{"a receive request and its completion are missing", func(_, b *hcaagent.Log) {
			n := slices.IndexFunc(b.Events, func(e cq.Event) bool { return e.Kind == cq.EvCompletion && e.Completion.Op == cq.DoneRecv }) + 1
			n += slices.IndexFunc(b.Events[n:], func(e cq.Event) bool { return e.Kind == cq.EvCompletion && e.Completion.Op == cq.DoneRecv })
			id := b.Events[n].Completion.ID
			b.Events = slices.DeleteFunc(b.Events, func(e cq.Event) bool {
				return e.Kind == cq.EvPostReceive && e.Receive.ID == id || e.Kind == cq.EvCompletion && e.Completion.ID == id
			})
		}, []string{"CPL-MEM-001 violation"}},
		{"a clock that was set back", func(a, _ *hcaagent.Log) {
			for i := len(a.Events) / 2; i < len(a.Events); i++ {
				a.Events[i].Time -= 3_000_000
			}
		}, nil},
		{"a queue pair reset amid its requests", func(a, _ *hcaagent.Log) {
			n := posts(a)[20]
			e := cq.Event{Kind: cq.EvModifyQP, Time: a.Events[n].Time, QP: a.Events[n].QP, State: qp.Reset, Attr: &qp.Attr{}}
			a.Events = slices.Insert(a.Events, n, e)
		}, []string{"QPS-RST-001 violation"}},
		{"connected to another QP", func(a, _ *hcaagent.Log) { attr(a, qp.RTR).DestQPN++ }, []string{"BTH-011 violation"}},
		{"connected to another host", func(a, _ *hcaagent.Log) { attr(a, qp.RTR).DestAddr.Lo++ }, []string{"ROC-V2-012 violation"}},
	} {
		got := foundIn(t, withLogs, func(a, b *hcaagent.Log) {
			hostClock(a, b)
			c.change(a, b)
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, not %q", c.name, got, c.want)
		}
	}
}

// TestLogUnseen: queue pairs of a log whose packets were not captured are named, and others are counted.
func TestLogUnseen(t *testing.T) {
	s, err := Read("logs", []byte(withLogs))
	if err != nil {
		t.Fatal(err)
	}
	for change, other := range map[string]func(*qp.Attr){
		"": nil,
		"dest_qp_num": func(a *qp.Attr) {
			if a.Has(qp.KnowsDestQPN) {
				a.DestQPN++
			}
		},
		"sq_psn": func(a *qp.Attr) {
			if a.Has(qp.KnowsSQPSN) {
				a.SQPSN = a.SQPSN.Add(100_000)
			}
		},
	} {
		r, err := s.Start(Options{Keep: true})
		if err != nil {
			t.Fatal(err)
		}
		r.Finish()
		a := r.Logs()[0]
		a.Exact = false
		for i := range a.Events {
			if x := a.Events[i].Attr; x != nil && other != nil {
				y := *x
				other(&y)
				a.Events[i].Attr = &y
			}
		}
		res, err := agent.Run(context.Background(), r.Source, agent.Options{Near: r.NearAddrs(), Workers: 1, Events: []*hcaagent.Log{a}})
		if err != nil {
			t.Fatal(err)
		}
		switch list := res.LogsUnseen; {
		case other == nil && len(list) > 0:
			t.Errorf("%+v, though all its packets were captured", list)
		case other != nil && (len(list) != 1 || list[0].QPs != 1 || list[0].Seen != 0 || list[0].Log != a.Name || list[0].QPN == 0 || list[0].Dest.IsZero()):
			t.Errorf("another %s: %+v, though no packet is one that the log tells of", change, list)
		}
	}
}

const withShared = `hcas: {a: 10.0.0.1, b: 10.0.0.2}
near: b
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1, srq: s}
  a2: {hca: a, peer: b2}
  b2: {hca: b, peer: a2, srq: s}
srqs:
  s: {hca: b}
work:
  - {srq: s, op: receive, length: 3000, repeat: 40}
  - {qp: a1, op: send, length: 2000, repeat: 20, every: 7us}
  - {qp: a2, op: send, length: 2000, repeat: 20, at: 3us, every: 7us}
`

// TestLogSlewed: a clock that runs faster or slower than that of the packets, as one that is being corrected does, accuses nobody, and a completion that comes too early is told.
func TestLogSlewed(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes many runs, one after the other, and make unit runs it whole")
	}
	text := strings.NewReplacer("repeat: 40", "repeat: 200", "7us", "20ms").Replace(withLogs)
	for _, ppm := range []int64{-5000, -500, 0, 500, 5000} {
		for _, early := range []bool{false, true} {
			got := foundIn(t, text, func(a, b *hcaagent.Log) {
				n := 0
				for _, l := range []*hcaagent.Log{a, b} {
					l.Exact = false
					begin := l.Events[0].Time
					for i := range l.Events {
						e := &l.Events[i]
						if e.Time += (e.Time - begin) / 1_000_000 * ppm; e.Kind == cq.EvCompletion && l == a {
							if n++; n == 150 && early {
								e.Time -= 9_000_000
							}
						}
					}
				}
			})
			if early != (len(got) > 0) || len(got) > 1 {
				t.Errorf("%d ppm, a completion too early %v: %q", ppm, early, got)
			}
		}
	}
}

// TestLogStamps: a clock that is coarse, or that was set ahead in the run, accuses nobody.
func TestLogStamps(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes many runs, one after the other, and make unit runs it whole")
	}
	text := strings.NewReplacer("repeat: 40", "repeat: 60", "7us", "1ms").Replace(withLogs)
	for _, grain := range []int64{1_000_000, 4_000_000, 10_000_000} {
		for phase := range int64(5) {
			got := foundIn(t, text, func(a, b *hcaagent.Log) {
				for _, l := range []*hcaagent.Log{a, b} {
					l.Exact = false
					for i := range l.Events {
						e := &l.Events[i]
						e.Time = (e.Time+phase*grain/5)/grain*grain - phase*grain/5
					}
				}
			})
			if len(got) > 0 {
				t.Errorf("stamps of %d ns, phase %d: %q", grain, phase, got)
			}
		}
	}
	for at := range 40 {
		got := foundIn(t, text, func(a, b *hcaagent.Log) {
			a.Exact, b.Exact = false, false
			for i := posts(a)[at]; i < len(a.Events); i++ {
				a.Events[i].Time += 30_000_000
			}
		})
		if len(got) > 0 {
			t.Errorf("set ahead at post %d: %q", at, got)
		}
	}
}

// TestLogPaused: a clock that was set back while nothing happened, so that its times rise all the same, accuses nobody.
func TestLogPaused(t *testing.T) {
	_, work, _ := strings.Cut(withLogs, "work:\n")
	later := strings.NewReplacer("at: 3us", "at: 10000003us", "at: 4us", "at: 10000004us", "{qp: b1", "{at: 10s, qp: b1").Replace(work)
	for _, back := range []time.Duration{0, 600 * time.Millisecond, 3 * time.Second} {
		got := foundIn(t, withLogs+later, func(a, b *hcaagent.Log) {
			for _, l := range []*hcaagent.Log{a, b} {
				l.Exact = false
				for i, begin := range l.Events {
					if begin.Time > l.Events[0].Time+int64(5*time.Second) {
						l.Events[i].Time -= int64(back)
					}
				}
			}
		})
		if len(got) > 0 {
			t.Errorf("set back by %v: %q", back, got)
		}
	}
}

// late is a source of which the first frames were not captured.
type late struct {
	fabricagent.Source
	n int
}

func (l *late) Next() (*fabricagent.Batch, error) {
	b, err := l.Source.Next()
	if b != nil {
		n := min(l.n, len(b.Frames))
		b.Frames, l.n = b.Frames[n:], l.n-n
	}
	return b, err
}

// TestLogOfMore: completions of datagrams that were not captured are not compared with those that were, although there are as many.
func TestLogOfMore(t *testing.T) {
	const text = `hcas: {a: 10.0.0.1, b: 10.0.0.2}
qps:
  a1: {hca: a, type: UD}
  b1: {hca: b, type: UD}
work:
  - {qp: b1, op: receive, length: 200, repeat: 2}
  - {qp: a1, op: send, to: b1, length: 100, repeat: 3, at: 1us, every: 1us}
`
	for first := range 2 {
		got, _ := foundFrom(t, text, func(a, _ *hcaagent.Log) { a.Events = nil }, func(src fabricagent.Source) fabricagent.Source { return &late{src, first} }, agent.Options{})
		if slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "violation") }) {
			t.Errorf("from frame %d on: %q", 1+first, got)
		}
	}
}

// TestLogUntold: a request whose posting is missing is told once, and not by the fields in which its message differs from the request after it.
func TestLogUntold(t *testing.T) {
	const rc = `hcas: {a: 10.0.0.1, b: 10.0.0.2}
near: a
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1}
work:
  - {qp: b1, op: receive, length: 3000, repeat: 40}
  - {qp: a1, op: send, length: 500, repeat: 40, at: 3us, every: 7us}
  - {qp: a1, op: write, length: 3000, repeat: 40, at: 4us, every: 7us}
`
	const ud = `hcas: {a: 10.0.0.1, b: 10.0.0.2}
near: a
qps:
  a1: {hca: a, type: UD}
  b1: {hca: b, type: UD}
  b2: {hca: b, type: UD, qkey: 0x22222222}
work:
  - {qp: b1, op: receive, length: 500, repeat: 40}
  - {qp: b2, op: receive, length: 500, repeat: 40}
  - {qp: a1, op: send, to: b1, length: 300, repeat: 20, every: 3us}
  - {qp: a1, op: send, to: b2, length: 100, repeat: 20, at: 1us, every: 3us}
`
	for _, c := range []struct {
		text, want string
		exact      bool // and its completion is missing too
	}{{rc, "CPL-ORD-002 violation", false}, {ud, "RC-SEQ-006 violation", true}} {
		for _, n := range []int{0, 17} {
			got := foundIn(t, c.text, func(a, b *hcaagent.Log) {
				a.Exact, b.Exact = c.exact, c.exact
				at := posts(a)[n]
				id := a.Events[at].Send.ID
				a.Events = slices.DeleteFunc(slices.Delete(a.Events, at, at+1), func(e cq.Event) bool { return c.exact && e.Kind == cq.EvCompletion && e.Completion.ID == id })
			})
			if !slices.Equal(got, []string{c.want}) {
				t.Errorf("post %d missing, exact %v: %q instead of %s", n, c.exact, got, c.want)
			}
		}
	}
}

// microseconds is a source whose capture has no nanoseconds.
type microseconds struct{ fabricagent.Source }

func (m microseconds) Next() (*fabricagent.Batch, error) {
	b, err := m.Source.Next()
	if b != nil {
		for i := range b.Frames {
			b.Frames[i].Time -= b.Frames[i].Time % 1000
		}
	}
	return b, err
}

// TestLogFiner: a log in nanoseconds whose clock is said to be that of a capture in microseconds accuses nobody, and the result tells of it; one in microseconds is taken as it is.
func TestLogFiner(t *testing.T) {
	text := strings.NewReplacer("3000", "64", "7us", "613ns", "at: 3us", "at: 3377ns").Replace(withLogs)
	coarse := func(src fabricagent.Source) fabricagent.Source { return microseconds{src} }
	got, res := foundFrom(t, text, func(_, _ *hcaagent.Log) {}, coarse, agent.Options{})
	if len(got) > 0 || len(res.LogClocks) != 2 || !res.LogClocks[0].Finer || !res.LogClocks[1].Finer {
		t.Errorf("nanoseconds: %q, %+v", got, res.LogClocks)
	}
	_, res = foundFrom(t, text, func(a, b *hcaagent.Log) {
		for _, l := range []*hcaagent.Log{a, b} {
			for i := range l.Events {
				l.Events[i].Time -= l.Events[i].Time % 1000
			}
		}
	}, coarse, agent.Options{})
	if len(res.LogClocks) > 0 {
		t.Errorf("microseconds: %+v", res.LogClocks)
	}
}

// TestLogPathMTU: where queue pairs were given another path MTU than they work with, that is told of the end that departs, and nothing follows from it; with one clock too, by which
// packets are judged by what events have given.
func TestLogPathMTU(t *testing.T) {
	for _, c := range []struct {
		a, b, want string
		oneClock   []string // and these, of what each end sends
	}{
		{a: "512", b: "1024", want: "CPL-LEN-004"},
		{a: "1024", b: "512", want: "RC-RSP-023"},
		{a: "2048", b: "1024", want: "CPL-LEN-004"},
		{a: "1024", b: "2048", want: "RC-RSP-023"},
		{a: "512", b: "512", want: "CPL-LEN-004", oneClock: []string{"RC-RES-002 violation", "RC-LEN-001 violation"}},
		{a: "2048", b: "2048", want: "CPL-LEN-004", oneClock: []string{"RC-RES-002 violation", "RC-LEN-001 violation"}},
	} {
		for _, one := range []bool{false, true} {
			given := func(l *hcaagent.Log, mtu string) {
				for i := range l.Events {
					if e := &l.Events[i]; e.Attr != nil && e.Attr.Has(qp.KnowsPMTU) {
						attr := *e.Attr
						fmt.Sscan(mtu, &attr.PMTU)
						e.Attr = &attr
					}
				}
			}
			got, _ := foundFrom(t, withLogs, func(a, b *hcaagent.Log) {
				given(a, c.a)
				given(b, c.b)
			}, func(src fabricagent.Source) fabricagent.Source { return src }, agent.Options{OneClock: one})
			want := []string{c.want + " violation"}
			if one {
				want = append(want, c.oneClock...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("path MTU %s and %s, one clock %v: %q instead of %q", c.a, c.b, one, got, want)
			}
		}
	}
}

// TestLogIDs: IDs of requests that repeat accuse nobody, where not all requests are signalled and where the log begins late too.
func TestLogIDs(t *testing.T) {
	for _, ids := range []uint64{1, 3} {
		for late := range 2 {
			for odd := range 3 {
				got := foundWith(t, func(a *hcaagent.Log) {
					unsignaled := map[uint64]bool{}
					for n, i := range posts(a) {
						r := *a.Events[i].Send
						if n%3 == odd {
							r.Flags &^= wqe.Signaled
							unsignaled[r.ID] = true
						}
						r.ID, a.Events[i].Send = r.ID%ids, &r
					}
					a.Events = slices.DeleteFunc(a.Events, func(e cq.Event) bool { return e.Kind == cq.EvCompletion && unsignaled[e.Completion.ID] })
					for i := range a.Events {
						if e := &a.Events[i]; e.Kind == cq.EvCompletion {
							c := *e.Completion
							c.ID, e.Completion = c.ID%ids, &c
						}
					}
					a.Events = a.Events[late*posts(a)[17]:]
				})
				if len(got) > 0 {
					t.Errorf("%d IDs, begins late %d, unsignalled from %d: %q", ids, late, odd, got)
				}
			}
		}
	}
}

// TestLogCrossed: two queue pairs that are connected to each other's peers are told apart from the first packets on.
func TestLogCrossed(t *testing.T) {
	for _, exact := range []bool{true, false} {
		got := foundIn(t, withShared, func(a, b *hcaagent.Log) {
			a.Exact, b.Exact = exact, exact
			var rtr []*qp.Attr
			for i := range a.Events {
				if e := &a.Events[i]; e.Kind == cq.EvModifyQP && e.State == qp.RTR {
					x := *e.Attr
					e.Attr, rtr = &x, append(rtr, &x)
				}
			}
			rtr[0].DestQPN, rtr[1].DestQPN = rtr[1].DestQPN, rtr[0].DestQPN
		})
		if want := []string{"BTH-011 violation", "BTH-011 violation"}; !slices.Equal(got, want) {
			t.Errorf("exact %v: %q, not %q", exact, got, want)
		}
	}
}

// TestLogSharedQueue: a completion that names another queue pair of its shared receive queue is the only one that is wrong, whichever of the two is judged first.
func TestLogSharedQueue(t *testing.T) {
	sample.Skip(t, "nothing runs beside it")
	for _, exact := range []bool{true, false} {
		for k := range 40 {
			got := foundIn(t, withShared, func(a, b *hcaagent.Log) {
				a.Exact, b.Exact = exact, exact
				var qps []wqe.QP
				b.Events = slices.DeleteFunc(b.Events, func(e cq.Event) bool { // what only rests on a completion queue is another matter
					return slices.Contains([]cq.EventKind{cq.EvCreateCQ, cq.EvArm, cq.EvNotify}, e.Kind)
				})
				n := 0
				for i := range b.Events {
					switch e := &b.Events[i]; e.Kind {
					case cq.EvCreateQP:
						x := *e.New
						x.SendCQ, x.RecvCQ = 0, 0
						e.New, qps = &x, append(qps, e.QP)
					case cq.EvCompletion:
						if e.CQ = 0; n == k {
							c := *e.Completion
							if c.QP = qps[0]; e.Completion.QP == qps[0] {
								c.QP = qps[1]
							}
							e.Completion, e.QP = &c, c.QP
						}
						n++
					}
				}
			})
			if want := []string{"CPL-QP-001 violation"}; !slices.Equal(got, want) {
				t.Errorf("exact %v, completion %d: %q, not %q", exact, k, got, want)
			}
		}
	}
}
