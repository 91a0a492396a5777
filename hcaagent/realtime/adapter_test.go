package realtime_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"ibwitness/hcaagent"
	"ibwitness/hcaagent/realtime"
	"ibwitness/hcaagent/remote"
	"ibwitness/hcaagent/soft"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// TestTimer: the adapter's timers follow the clock on the wall: a request without a response is retransmitted, and ends in error.
func TestTimer(t *testing.T) {
	ctx := context.Background()
	sent := make(chan time.Time, 100)
	addr := packet.IPv4Addr([]byte{10, 0, 0, 1})
	left := false
	a, err := realtime.New(soft.Options{Addr: addr, Send: func([]byte) { sent <- time.Now() }}, remote.Info{Device: "soft"}, func() error {
		left = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	pd, err := a.CreatePD(ctx)
	check(err)
	number, err := a.CreateCQ(ctx, 4)
	check(err)
	q, err := a.CreateQP(ctx, qp.InitAttr{PD: pd, SendCQ: number, RecvCQ: number})
	check(err)
	x := qp.Attr{PKey: 0xFFFF, Port: 1, PMTU: 256, Timeout: 13, RetryCnt: 2, DestAddr: addr, DestQPN: 5} // 33.6 ms
	for _, to := range []qp.State{qp.Init, qp.RTR, qp.RTS} {
		x.Known, _ = qp.Takes(qp.TypeRC, to-1, to)
		check(a.TransitionQP(ctx, q, to, x))
	}
	check(a.PostSend(ctx, q, &wqe.SendRequest{ID: 1, Op: wqe.OpSend}))
	var times []time.Time
	for range 3 {
		select {
		case at := <-sent:
			times = append(times, at)
		case <-time.After(10 * time.Second):
			t.Fatal("no retransmission")
		}
	}
	for i := range times[1:] {
		if d := times[i+1].Sub(times[i]); d < 33*time.Millisecond {
			t.Errorf("a retransmission after %v", d)
		}
	}
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, s, err := a.QueryQP(ctx, q); err != nil || s == qp.Err {
			check(err)
			break
		}
		if time.Now().After(until) {
			t.Fatal("the queue pair is not in error")
		}
	}
	if err := a.DestroyPD(ctx, pd); !errors.Is(err, hcaagent.ErrBusy) {
		t.Error(err)
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := a.CreatePD(over); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	check(a.Close())
	check(a.Close())
	if _, err := a.CreatePD(ctx); err == nil || !left {
		t.Errorf("after Close: %v", err)
	}
}

// TestNoPort: what is no port is said so.
func TestNoPort(t *testing.T) {
	for want, o := range map[string]realtime.PortOptions{
		"`ip link` lists the interfaces": {Interface: "none0"}, "is no Ethernet interface": {Interface: "lo"}, "no fault is called": {Interface: "lo", Fault: "none"},
	} {
		if _, err := realtime.OpenPort(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := realtime.New(soft.Options{Fault: "none"}, remote.Info{}, nil); err == nil {
		t.Error("a fault that there is not")
	}
}
