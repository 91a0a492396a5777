package agent

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibwitness/cq"
	"ibwitness/fabricagent"
	"ibwitness/hcaagent/eventlog"
	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// push pushes all that a source has through a session, frame by frame.
func push(t testing.TB, s *Session, src fabricagent.Source, each func([]rule.Change)) {
	t.Helper()
	add := func() {
		for n := len(s.in.taps); n < len(src.Taps()); n++ {
			tap := src.Taps()[n]
			tap.Dropped = 0
			if _, err := s.Tap(tap); err != nil {
				t.Fatal(err)
			}
		}
	}
	add()
	for {
		b, err := src.Next()
		add()
		if b != nil {
			for i := range b.Frames {
				list, err := s.Frame(&b.Frames[i])
				if err != nil {
					t.Fatal(err)
				}
				each(list)
			}
			b.Release()
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Log(err)
		}
	}
	for i, tap := range src.Taps() {
		dropped := tap.Dropped
		tap.Dropped = 0
		s.in.taps[i] = tap // of which some is known only now
		list, err := s.Lost(uint16(i), dropped)
		if err != nil {
			t.Fatal(err)
		}
		each(list)
	}
}

// TestSession: frames that are pushed one by one give what a run over their source gives, and what was told of the findings adds up to those of the end.
func TestSession(t *testing.T) {
	sample.Skip(t, "nothing runs beside it")
	captured(t, func(t *testing.T, open func() fabricagent.Source) {
		src := open()
		want, err := Run(context.Background(), src, Options{Workers: 1, Latencies: true, Coverage: true})
		src.Close()
		if err != nil {
			t.Log(err)
		}
		src = open()
		defer src.Close()
		s := NewSession(Options{Latencies: true, Coverage: true})
		told := map[uint32]rule.Class{}
		each := func(list []rule.Change) {
			for _, c := range list {
				_, known := told[c.Finding.Seq]
				if known == (c.Kind == rule.Found) {
					t.Errorf("%v: %v, known %t", c.Kind, c.Finding.Rule, known)
				}
				if told[c.Finding.Seq] = c.Finding.Class; c.Kind == rule.Withdrawn {
					delete(told, c.Finding.Seq)
				}
			}
		}
		push(t, s, src, each)
		got, list, err := s.End()
		if err != nil {
			t.Fatal(err)
		}
		each(list)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("run (-) and session (+):\n%s", d)
		}
		classes := map[rule.Class]int{}
		for _, c := range told {
			classes[c]++
		}
		for i := range got.Findings {
			classes[got.Findings[i].Class]--
		}
		for c, n := range classes {
			if n != 0 && got.Forgotten == (Forgotten{}) {
				t.Errorf("%v: %d more told than found", c, n)
			}
		}
	})
}

// TestSessionEventsLost: what a session was not told of a device proves something, unless it is said that events of the device are missing.
func TestSessionEventsLost(t *testing.T) {
	for _, lost := range []bool{false, true} {
		s := NewSession(Options{})
		device := packet.IPv4Addr([]byte{10, 0, 0, 1})
		var found []rule.Change
		take := func(list []rule.Change, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, list...)
		}
		q := wqe.QP{Addr: device, QPN: 0x11}
		take(s.Event(&cq.Event{Time: 1, Kind: cq.EvCreateQP, QP: q, New: &qp.InitAttr{Type: qp.TypeRC}}))
		if lost {
			take(s.EventsLost(device))
		}
		take(s.Event(&cq.Event{Time: 3, Kind: cq.EvCompletion, QP: q, Completion: &cq.Completion{ID: 2, QP: q, Status: cq.WRFlushErr}}))
		if want := map[bool]int{false: 1, true: 0}[lost]; len(found) != want {
			t.Errorf("events lost %t: %d findings: %+v", lost, len(found), found)
		}
		if _, _, err := s.End(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.EventsLost(device); !errors.Is(err, ErrEnded) {
			t.Errorf("after the end: %v", err)
		}
	}
}

// TestSessionAllocates: a session allocates nothing for a frame of a connection that goes on.
func TestSessionAllocates(t *testing.T) {
	raw := traffic.Capture(traffic.Small(64), 60_000)
	src, err := fabricagent.OpenReader("traffic", bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	s := NewSession(Options{})
	if _, err := s.Tap(src.Taps()[0]); err != nil {
		t.Fatal(err)
	}
	frames := 0
	var before, after runtime.MemStats
	for {
		b, err := src.Next()
		if err != nil {
			break
		}
		if frames < 30_000 && frames+len(b.Frames) >= 30_000 {
			runtime.ReadMemStats(&before)
		}
		for i := range b.Frames {
			if _, err := s.Frame(&b.Frames[i]); err != nil {
				t.Fatal(err)
			}
		}
		frames += len(b.Frames)
		b.Release()
	}
	runtime.ReadMemStats(&after)
	if n := after.Mallocs - before.Mallocs; n > uint64(frames)/100 {
		t.Errorf("%d allocations for %d frames", n, frames-30_000)
	}
}

// TestSessionMisused: wrong use gives an error that says what to do.
func TestSessionMisused(t *testing.T) {
	s := NewSession(Options{})
	if _, err := s.Frame(&fabricagent.Frame{}); err == nil {
		t.Error("a frame of no tap")
	}
	if _, err := s.Lost(3, 1); err == nil {
		t.Error("losses of no tap")
	}
	if _, err := s.Advance(100); err != nil {
		t.Error(err)
	}
	if _, err := s.Advance(99); err == nil {
		t.Error("the time went back")
	}
	if _, _, err := s.End(); err != nil {
		t.Error(err)
	}
	if _, _, err := s.End(); !errors.Is(err, ErrEnded) {
		t.Error(err)
	}
	if _, err := s.Advance(math.MaxInt64); !errors.Is(err, ErrEnded) {
		t.Error(err)
	}
}

// TestSessionEvents: work requests and completions are judged as they come, and what is outstanding is listed; a reset ends it.
func TestSessionEvents(t *testing.T) {
	a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	s := NewSession(Options{Near: []packet.Addr{a}})
	event := func(e cq.Event) (rules []string) {
		e.QP = wqe.QP{Addr: a, QPN: 17}
		list, err := s.Event(&e)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			rules = append(rules, c.Kind.String()+" "+c.Finding.Rule.String())
		}
		return rules
	}
	event(cq.Event{Time: 1, Kind: cq.EvCreateQP, New: &qp.InitAttr{Type: qp.TypeRC, SignalAll: true}})
	attr := qp.Attr{Known: qp.KnowsPort | qp.KnowsPKey | qp.KnowsAccess, Port: 1, PKey: 0xFFFF}
	event(cq.Event{Time: 2, Kind: cq.EvModifyQP, State: qp.Init, Attr: &attr})
	post := func(id uint64, now int64) []string {
		return event(cq.Event{Time: now, Kind: cq.EvPostSend, Send: &wqe.SendRequest{ID: id, Op: wqe.OpSend}})
	}
	if got := post(1, 3); !slices.Equal(got, []string{"found QPS-RST-001"}) {
		t.Errorf("a post in INIT: %q", got)
	}
	rtr := qp.Attr{Known: qp.KnowsDestQPN | qp.KnowsDestAddr | qp.KnowsRQPSN | qp.KnowsPMTU | qp.KnowsMaxDestRdAtomic | qp.KnowsMinRNRTimer, DestQPN: 34, DestAddr: b, PMTU: 1024}
	event(cq.Event{Time: 4, Kind: cq.EvModifyQP, State: qp.RTR, Attr: &rtr})
	rts := qp.Attr{Known: qp.KnowsSQPSN | qp.KnowsTimeout | qp.KnowsRetryCnt | qp.KnowsRNRRetry | qp.KnowsMaxRdAtomic, SQPSN: 100, Timeout: 14, RetryCnt: 7, RNRRetry: 7}
	event(cq.Event{Time: 5, Kind: cq.EvModifyQP, State: qp.RTS, Attr: &rts})
	post(2, 6)
	waits := s.Outstanding()
	if len(waits) != 1 || waits[0].Count != 2 || waits[0].ID != 1 || waits[0].QP.QPN != 17 {
		t.Errorf("outstanding: %+v", waits)
	}
	if got := event(cq.Event{Time: 7, Kind: cq.EvCompletion, Completion: &cq.Completion{ID: 9, QP: wqe.QP{Addr: a, QPN: 17}}}); !slices.Equal(got, []string{"found CPL-ORD-002"}) {
		t.Errorf("a completion of nothing: %q", got)
	}
	if _, err := s.Reset(a); err != nil {
		t.Error(err)
	}
	if waits := s.Outstanding(); len(waits) != 0 {
		t.Errorf("outstanding after a reset: %+v", waits)
	}
}

// TestSessionFlush: a flushed request without a completion is told a second after the queue pair has failed, and not only at the end; one that has it is not.
func TestSessionFlush(t *testing.T) {
	for _, missing := range []bool{false, true} {
		a := wqe.QP{Addr: packet.IPv4Addr([]byte{10, 0, 0, 1}), QPN: 17}
		s := NewSession(Options{Near: []packet.Addr{a.Addr}})
		event := func(e cq.Event) {
			if e.QP = a; e.Completion != nil {
				e.Completion.QP = a
			}
			if _, err := s.Event(&e); err != nil {
				t.Fatal(err)
			}
		}
		event(cq.Event{Time: 1, Kind: cq.EvCreateQP, New: &qp.InitAttr{Type: qp.TypeRC, SignalAll: true}})
		for i, state := range []qp.State{qp.Init, qp.RTR, qp.RTS} {
			event(cq.Event{Time: int64(2 + i), Kind: cq.EvModifyQP, State: state, Attr: &qp.Attr{}})
		}
		for id := range uint64(3) {
			event(cq.Event{Time: 6, Kind: cq.EvPostSend, Send: &wqe.SendRequest{ID: id, Op: wqe.OpSend}})
		}
		event(cq.Event{Time: 7, Kind: cq.EvModifyQP, State: qp.Err, Attr: &qp.Attr{}})
		for id := range uint64(3) {
			if id != 1 || !missing {
				event(cq.Event{Time: 8, Kind: cq.EvCompletion, Completion: &cq.Completion{ID: id, Status: cq.WRFlushErr}})
			}
		}
		told := false
		for _, now := range []int64{9e8, 11e8} {
			list, err := s.Advance(now)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range list {
				told = told || now > 1e9 && c.Kind == rule.Found && c.Finding.Rule == rule.QPSERR002
			}
		}
		if told != missing {
			t.Errorf("missing %v: told %v", missing, told)
		}
	}
}

// TestSessionLogs: so it is with logs of verbs events beside the frames, and with several workers.
func TestSessionLogs(t *testing.T) {
	var paths []string
	for _, folder := range recorded(t) {
		names, err := filepath.Glob(filepath.Join(folder, "*.pcap"))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, names...)
	}
	n := 0
	for _, path := range paths {
		names, _ := filepath.Glob(strings.TrimSuffix(path, ".pcap") + "*.jsonl")
		if len(names) == 0 {
			continue
		}
		if n++; n%sample.Stride(5) > 0 {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			opt := Options{Workers: 1}
			for _, name := range names {
				l, err := eventlog.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				opt.Events = append(opt.Events, l)
				opt.Near = append(opt.Near, l.Addr)
			}
			open := func() fabricagent.Source {
				src, err := fabricagent.Open([]string{path})
				if err != nil {
					t.Fatal(err)
				}
				return src
			}
			src := open()
			want, err := Run(context.Background(), src, opt)
			src.Close()
			if err != nil {
				t.Log(err)
			}
			for _, workers := range []int{2, 8} {
				src = open()
				o := opt
				o.Workers = workers
				got, err := Run(context.Background(), src, o)
				src.Close()
				if err != nil {
					t.Log(err)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("1 worker (-) and %d (+):\n%s", workers, d)
				}
			}
			src = open()
			defer src.Close()
			s := NewSession(opt)
			push(t, s, src, func([]rule.Change) {})
			got, _, err := s.End()
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("run (-) and session (+):\n%s", d)
			}
		})
	}
	if n < 5 {
		t.Errorf("%d captures with logs", n)
	}
}

// TestOutstandingInError: a queue pair that is in error waits for no response.
func TestOutstandingInError(t *testing.T) {
	const folder = "../internal/testkit/planted/testdata/hardware/"
	log, err := eventlog.ReadFile(folder + "surf_blackhole.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	src, err := fabricagent.Open([]string{folder + "surf_blackhole.pcap"})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	s := NewSession(Options{Near: []packet.Addr{log.Addr}})
	events := log.Events
	waited := false
	upTo := func(now int64) {
		for len(events) > 0 && events[0].Time <= now {
			if _, err := s.Event(&events[0]); err != nil {
				t.Fatal(err)
			}
			events = events[1:]
			waited = waited || len(s.Outstanding()) > 0
		}
	}
	for _, tap := range src.Taps() {
		if _, err := s.Tap(tap); err != nil {
			t.Fatal(err)
		}
	}
	for {
		b, err := src.Next()
		if b != nil {
			for i := range b.Frames {
				upTo(b.Frames[i].Time)
				if _, err := s.Frame(&b.Frames[i]); err != nil {
					t.Fatal(err)
				}
			}
			b.Release()
		}
		if err != nil {
			break
		}
	}
	upTo(math.MaxInt64)
	if list := s.Outstanding(); !waited || len(list) > 0 {
		t.Errorf("waited %v; outstanding at the end: %+v", waited, list)
	}
}
