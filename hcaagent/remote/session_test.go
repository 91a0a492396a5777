package remote_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/realtime"
	"ibwitness/hcaagent/remote"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// TestSecret: a secret is written so that only its owner can read it, and read only then.
func TestSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	if err := remote.NewSecret().WriteFile(path); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if _, err := remote.ReadSecret(path); err != nil {
		t.Error(err)
	}
	if err := remote.NewSecret().WriteFile(path); !errors.Is(err, os.ErrExist) {
		t.Errorf("a secret is overwritten: %v", err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := remote.ReadSecret(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("others can read it: %v", err)
	}
	short := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(short, []byte("c2hvcnQ=\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{short, filepath.Join(t.TempDir(), "none"), t.TempDir()} {
		if _, err := remote.ReadSecret(name); err == nil {
			t.Errorf("%s is taken for a secret", name)
		}
	}
	if _, err := remote.Dial(ctx, "127.0.0.1:1", remote.Secret{}, nil); err == nil || !strings.Contains(err.Error(), "no secret") {
		t.Errorf("without a secret: %v", err)
	}
}

// TestWrongSecret: both ends say that they do not have the same secret, and nobody gets the device.
func TestWrongSecret(t *testing.T) {
	s := serveSoft(t, remote.NewSecret(), newWire(), 1)
	if _, err := remote.Dial(ctx, s.address, remote.NewSecret(), nil); !errors.Is(err, remote.ErrSecret) {
		t.Errorf("the client: %v", err)
	}
	s.eventually(t, "refusal", func() bool { return len(s.refused) == 1 && errors.Is(s.refused[0], remote.ErrSecret) })
	if c, err := net.Dial("tcp", s.address); err == nil { // one that speaks no TLS
		_, _ = io.WriteString(c, "{\"jsonrpc\":\"2.0\",\"method\":\"Hello\",\"id\":1}")
		_, _ = io.ReadAll(c)
		_ = c.Close()
	}
	s.eventually(t, "another refusal", func() bool { return len(s.refused) == 2 })
	s.stop()
	if s.opened != 0 {
		t.Errorf("the device was opened %d times", s.opened)
	}
}

// TestSecondClient: one client has the device; when it has closed, another can have it at once, and finds nothing that was made before.
func TestSecondClient(t *testing.T) {
	secret, w := remote.NewSecret(), newWire()
	s := serveSoft(t, secret, w, 1)
	a := dial(t, s.address, secret)
	q := a.queuePair(qp.TypeRC)
	if _, err := remote.Dial(ctx, s.address, secret, nil); !errors.Is(err, remote.ErrInUse) || !strings.Contains(err.Error(), "127.0.0.1:") {
		t.Errorf("a second client: %v", err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if err := a.DestroyQP(ctx, q); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("after Close: %v", err)
	}
	b := dial(t, s.address, secret)
	if err := b.DestroyQP(ctx, q); !errors.Is(err, hcaagent.ErrNotFound) {
		t.Errorf("what was made before is there: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	s.stop()
	if s.opened != 2 || len(s.went) != 2 || s.went[0] != nil || s.went[1] != nil || len(w.ends) != 0 {
		t.Errorf("opened %d times, went %v, %d adapters are left", s.opened, s.went, len(w.ends))
	}
}

// TestDisconnect: the objects of a client that vanishes are destroyed, also while it waits for completions.
func TestDisconnect(t *testing.T) {
	secret, w := remote.NewSecret(), newWire()
	s := serveSoft(t, secret, w, 1)
	p := proxy(t, s.address)
	e := dial(t, p.address, secret)
	waits := make(chan error, 1)
	go func() {
		_, err := e.Await(ctx, []wqe.CQ{e.cq}, 1, time.Minute)
		waits <- err
	}()
	time.Sleep(20 * time.Millisecond)
	p.cut()
	if err := <-waits; err == nil || !strings.Contains(err.Error(), p.address) {
		t.Errorf("the call: %v", err)
	}
	if _, err := e.CreatePD(ctx); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("a later call: %v", err)
	}
	s.eventually(t, "end", func() bool { return len(s.went) == 1 })
	w.mu.Lock()
	left := len(w.ends)
	w.mu.Unlock()
	if left != 0 {
		t.Errorf("%d adapters are left", left)
	}
	dial(t, s.address, secret)
}

// TestServerEnds: calls fail when the server ends, also those in flight.
func TestServerEnds(t *testing.T) {
	secret := remote.NewSecret()
	s := serveSoft(t, secret, newWire(), 1)
	e := dial(t, s.address, secret)
	waits := make(chan error, 1)
	go func() {
		_, err := e.Await(ctx, []wqe.CQ{e.cq}, 1, time.Minute)
		waits <- err
	}()
	time.Sleep(20 * time.Millisecond)
	s.stop()
	if err := <-waits; err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("the call in flight: %v", err)
	}
	if _, err := e.CreatePD(ctx); err == nil {
		t.Error("a later call succeeds")
	}
	if _, err := remote.Dial(ctx, s.address, secret, nil); err == nil || !strings.Contains(err.Error(), "start ibwitness dut there") {
		t.Errorf("a new connection: %v", err)
	}
}

// TestSilence: a machine that does not answer any more ends the connection within seconds, and so does a client that says nothing any more.
func TestSilence(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes 10 seconds")
	}
	t.Parallel()
	secret := remote.NewSecret()
	s := serveSoft(t, secret, newWire(), 1)
	p := proxy(t, s.address)
	e := dial(t, p.address, secret)
	p.freeze()
	began := time.Now()
	if _, err := e.CreatePD(ctx); err == nil || !strings.Contains(err.Error(), "was not answered within") {
		t.Errorf("the call: %v", err)
	}
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("the call took %v", took)
	}
	if err := e.Close(); err == nil {
		t.Error("Close succeeds")
	}
	s.eventually(t, "end", func() bool {
		return len(s.went) == 1 && s.went[0] != nil && strings.Contains(s.went[0].Error(), "has sent nothing")
	})
}

// TestIdle: a client that has nothing to do keeps the device.
func TestIdle(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes 11 seconds")
	}
	t.Parallel()
	secret := remote.NewSecret()
	e := dial(t, serveSoft(t, secret, newWire(), 1).address, secret)
	time.Sleep(11 * time.Second)
	if _, err := e.CreatePD(ctx); err != nil {
		t.Error(err)
	}
}

// TestCancel: a call ends with its context, and completions that it had waited for are not lost.
func TestCancel(t *testing.T) {
	a, b := pair(t)
	p, q := connect(a, b, nil)
	waiting, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if _, err := b.Await(waiting, []wqe.CQ{b.cq}, 4, time.Second); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Await: %v", err)
	}
	b.check(b.PostReceive(ctx, q, &wqe.ReceiveRequest{ID: 7, Segments: b.segment(0, 64)}))
	a.check(a.PostSend(ctx, p, &wqe.SendRequest{ID: 1, Op: wqe.OpSend, Segments: a.segment(0, 8)}))
	b.completes(7, cq.Success, cq.DoneRecv)
}

// TestBounds: what is too much is refused, and the connection goes on.
func TestBounds(t *testing.T) {
	secret := remote.NewSecret()
	e := dial(t, serveSoft(t, secret, newWire(), 1).address, secret)
	q := e.queuePair(qp.TypeRC)
	size := (*remote.SizeError)(nil)
	if err := e.PostSend(ctx, q, &wqe.SendRequest{Segments: make([]wqe.Segment, 40000)}); !errors.As(err, &size) {
		t.Errorf("a call that is too long: %v", err)
	}
	if _, _, _, err := e.RegisterMR(ctx, hcaagent.NewMR{PD: e.pd, VA: 1 << 40, Length: 1 << 40}); err == nil || !strings.Contains(err.Error(), "at most 1073741824 bytes") {
		t.Errorf("a region that is too long: %v", err)
	}
	mr, lkey, _, err := e.RegisterMR(ctx, hcaagent.NewMR{PD: e.pd, VA: 1 << 40, Length: 5 << 20, Access: everything})
	e.check(err)
	m := wqe.Memory{Key: wqe.Key{Addr: e.Info().Addr, Key: lkey, Local: true}, VA: 1 << 40, Length: 300<<10 - 3}
	data, got := pattern(300<<10-3, 1), make([]byte, 300<<10-3)
	e.check(e.SetMemory(ctx, m, data))
	if n, err := e.MemoryData(ctx, m, got); err != nil || n != len(got) || !bytes.Equal(data, got) {
		t.Errorf("%d bytes, %v", n, err)
	}
	if err := e.SetMemory(ctx, m, make([]byte, 300<<10)); err == nil {
		t.Error("more than the range is stored")
	}
	if n, err := e.MemoryData(ctx, e.memory(0, 4), got); err != nil || n != 4 {
		t.Errorf("%d bytes of 4, %v", n, err)
	}
	e.check(e.DeregisterMR(ctx, mr))
	for _, most := range []int{0, 5000} {
		if _, err := e.Await(ctx, []wqe.CQ{e.cq}, most, 0); err == nil {
			t.Errorf("%d completions are asked for", most)
		}
	}
	if _, err := e.Completions(ctx, 12345, nil); !errors.Is(err, hcaagent.ErrNotFound) {
		t.Errorf("no such queue: %v", err)
	}
	if _, err := e.Poll(ctx, 12345, make([]cq.Completion, 1)); !errors.Is(err, hcaagent.ErrNotFound) {
		t.Errorf("no such queue: %v", err)
	}
	if a, err := e.QPAttr(ctx, q); err != nil || a.Has(qp.KnowsPMTU) {
		t.Errorf("%+v, %v", a, err)
	}
	if l := e.Limits(); l.MaxRdAtomic != 16 || l.Ports != 1 {
		t.Errorf("%+v", l)
	}
}

// TestAtOnce: many goroutines call at once.
func TestAtOnce(t *testing.T) {
	secret := remote.NewSecret()
	e := dial(t, serveSoft(t, secret, newWire(), 1).address, secret)
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			number, err := e.CreateCQ(ctx, 4)
			if err != nil {
				t.Error(err)
			}
			for range 5 {
				if _, err := e.Poll(ctx, number, make([]cq.Completion, 2)); err != nil {
					t.Error(err)
				}
			}
			if err := e.DestroyCQ(ctx, number); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// unknowing is a device that does not know what requests have put into memory.
type unknowing struct{ remote.Device }

func (unknowing) Completions(context.Context, wqe.CQ, []hcaagent.Completed) (int, error) {
	return 0, &qp.UnknownError{What: "memory"}
}

// TestUnknown: what a device does not know the client does not either.
func TestUnknown(t *testing.T) {
	secret, w := remote.NewSecret(), newWire()
	a := dial(t, serveSoft(t, secret, w, 1).address, secret)
	b := dial(t, serve(t, secret, func(told func(*cq.Event)) (remote.Device, error) {
		d, err := w.attach(2, told)
		return unknowing{d}, err
	}).address, secret)
	p, q := connect(a, b, nil)
	b.check(b.PostReceive(ctx, q, &wqe.ReceiveRequest{ID: 7, Segments: b.segment(0, 64)}))
	a.check(a.PostSend(ctx, p, &wqe.SendRequest{ID: 1, Op: wqe.OpSend, Segments: a.segment(0, 8)}))
	ready, err := b.Await(ctx, []wqe.CQ{b.cq}, 4, patience)
	if err != nil || len(ready) != 1 || ready[0] != (remote.Ready{CQ: b.cq, Completions: 1}) {
		t.Fatalf("%+v, %v", ready, err)
	}
	into := make([]cq.Completion, 1)
	if n, err := b.Poll(ctx, b.cq, into); n != 1 || err != nil || into[0].ID != 7 {
		t.Errorf("%d, %v, %+v", n, err, into[0])
	}
	if _, err := b.Completions(ctx, b.cq, make([]hcaagent.Completed, 1)); !errors.Is(err, qp.ErrUnknown) {
		t.Errorf("Completions: %v", err)
	}
}

// TestOpenFails: a device that cannot be opened is said so, and can be opened later.
func TestOpenFails(t *testing.T) {
	secret, w, fails := remote.NewSecret(), newWire(), true
	s := serve(t, secret, func(told func(*cq.Event)) (remote.Device, error) {
		if fails {
			return nil, errors.New("no device rxe0")
		}
		return w.attach(1, told)
	})
	if _, err := remote.Dial(ctx, s.address, secret, nil); err == nil || !strings.Contains(err.Error(), "no device rxe0") {
		t.Errorf("%v", err)
	}
	fails = false
	dial(t, s.address, secret)
}

func newWire() *wire { return &wire{ends: map[*realtime.Adapter]bool{}} }
