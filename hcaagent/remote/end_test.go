package remote_test

import (
	"sync"
	"testing"
	"time"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/remote"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// end is a client of a device.
type end struct {
	*remote.Client
	t    *testing.T
	pd   wqe.PD
	cq   wqe.CQ
	mr   wqe.MR
	lkey uint32
	rkey uint32

	mu     sync.Mutex
	events []*cq.Event
}

// Where the memory of an end is, and how much.
const (
	base = 0x7f0000010000
	size = 64 << 10
)

const everything = wqe.LocalWrite | wqe.RemoteWrite | wqe.RemoteRead | wqe.RemoteAtomic

// dial makes an end with memory and a completion queue.
func dial(t *testing.T, address string, secret remote.Secret) *end {
	t.Helper()
	e := &end{t: t}
	var err error
	e.Client, err = remote.Dial(ctx, address, secret, e.told)
	e.check(err)
	t.Cleanup(func() { _ = e.Close() })
	e.pd, err = e.CreatePD(ctx)
	e.check(err)
	e.cq, err = e.CreateCQ(ctx, 64)
	e.check(err)
	e.mr, e.lkey, e.rkey, err = e.RegisterMR(ctx, hcaagent.NewMR{PD: e.pd, VA: base, Length: size, Access: everything})
	e.check(err)
	return e
}

// check fails the test on an error.
func (e *end) check(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

func (e *end) told(v *cq.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.events = append(e.events, v)
}

// event waits for an event.
func (e *end) event(what string, is func(*cq.Event) bool) {
	e.t.Helper()
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(time.Millisecond) {
		e.mu.Lock()
		for _, v := range e.events {
			if is(v) {
				e.mu.Unlock()
				return
			}
		}
		e.mu.Unlock()
	}
	e.t.Errorf("no event: %s", what)
}

// patience is how long something may take that is to come.
const patience = 10 * time.Second

// queuePair makes a queue pair of a type.
func (e *end) queuePair(kind qp.Type) wqe.QP {
	e.t.Helper()
	q, err := e.CreateQP(ctx, qp.InitAttr{
		Type: kind, PD: e.pd, SendCQ: e.cq, RecvCQ: e.cq, MaxSend: 8, MaxReceive: 8, MaxSendSegments: 2, MaxRecvSegments: 2, MaxInline: 32,
	})
	e.check(err)
	return q
}

// attr are the attributes that a connection to a queue pair is made with.
func attr(to wqe.QP) qp.Attr {
	return qp.Attr{
		PKey: 0xFFFF, Port: 1, PMTU: 1024, Timeout: 14, RetryCnt: 7, RNRRetry: 7, MinRNRTimer: 12, MaxRdAtomic: 1, MaxDestRdAtomic: 1,
		Access: everything &^ wqe.LocalWrite, DestAddr: to.Addr, DestQPN: to.QPN, SQPSN: 0xFFFFF0, RQPSN: 0xFFFFF0, HopLimit: 64, QKey: 0x1234,
	}
}

// up brings a queue pair to RTS.
func (e *end) up(kind qp.Type, q wqe.QP, a qp.Attr) {
	e.t.Helper()
	for _, to := range []qp.State{qp.Init, qp.RTR, qp.RTS} {
		e.check(e.to(kind, q, to, a))
	}
}

// to brings a queue pair from the state before to a state.
func (e *end) to(kind qp.Type, q wqe.QP, to qp.State, a qp.Attr) error {
	a.Known, _ = qp.Takes(kind, to-1, to)
	if a.Known&qp.KnowsDestAddr != 0 {
		a.Known |= qp.KnowsHopLimit
	}
	return e.TransitionQP(ctx, q, to, a)
}

// connect makes two queue pairs that are connected.
func connect(a, b *end, change func(*qp.Attr)) (p, q wqe.QP) {
	a.t.Helper()
	p, q = a.queuePair(qp.TypeRC), b.queuePair(qp.TypeRC)
	x, y := attr(q), attr(p)
	if change != nil {
		change(&x)
		change(&y)
	}
	a.up(qp.TypeRC, p, x)
	b.up(qp.TypeRC, q, y)
	return p, q
}

// segment is a part of the memory.
func (e *end) segment(at uint64, n uint32) []wqe.Segment {
	return []wqe.Segment{{VA: base + at, Length: n, LKey: e.lkey}}
}

func (e *end) memory(at, n uint64) wqe.Memory {
	return wqe.Memory{Key: wqe.Key{Addr: e.Info().Addr, Key: e.lkey, Local: true}, VA: base + at, Length: n}
}

// set stores data in memory.
func (e *end) set(at uint64, data []byte) {
	e.t.Helper()
	e.check(e.SetMemory(ctx, e.memory(at, uint64(len(data))), data))
}

// holds checks what memory holds.
func (e *end) holds(at uint64, want []byte) {
	e.t.Helper()
	got := make([]byte, len(want))
	n, err := e.MemoryData(ctx, e.memory(at, uint64(len(want))), got)
	e.check(err)
	if n != len(want) || string(got) != string(want) {
		e.t.Errorf("memory at %#x holds %x, not %x", base+at, got[:min(n, 32)], want[:min(len(want), 32)])
	}
}

// completes waits for a completion, and checks it.
func (e *end) completes(id uint64, status cq.Status, op cq.CompletionOp) hcaagent.Completed {
	e.t.Helper()
	into := make([]cq.Completion, 1)
	for until := time.Now().Add(patience); time.Now().Before(until); {
		if _, err := e.Await(ctx, []wqe.CQ{e.cq}, 1, time.Second); err != nil {
			e.t.Fatal(err)
		}
		n, err := e.Poll(ctx, e.cq, into)
		e.check(err)
		if n == 0 {
			continue
		}
		if c := into[0]; c.ID != id || c.Status != status || status == cq.Success && c.Op != op {
			e.t.Errorf("completion of %d: %v %v; expected %d: %v %v", c.ID, c.Op, c.Status, id, op, status)
		}
		held := make([]hcaagent.Completed, 1)
		if n, err := e.Completions(ctx, e.cq, held); err != nil || n != 1 || held[0].Completion != into[0] {
			e.t.Errorf("Completions: %d, %v, %+v", n, err, held[0])
		}
		return held[0]
	}
	e.t.Fatalf("no completion of %d", id)
	return hcaagent.Completed{}
}
