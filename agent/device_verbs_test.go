package agent_test

import (
	"context"
	"slices"
	"testing"

	"ibwitness/agent"
	"ibwitness/cq"
	"ibwitness/fabricagent/sim"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/soft"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// silent is the Query of a device that gives no completions, and sees none.
type silent struct{ *soft.HCA }

func (silent) Completions(context.Context, wqe.CQ, []hcaagent.Completed) (int, error) { return 0, nil }

// recorded is a Device before a soft HCA, and its events.
func recorded(t *testing.T, query func(h *soft.HCA) hcaagent.Query) (d *agent.Device, clock *sim.Clock, log *[]cq.Event) {
	t.Helper()
	clock, log = sim.NewClock(1000), new([]cq.Event)
	addr := packet.IPv4Addr([]byte{10, 0, 0, 1})
	h, err := soft.New(soft.Options{Addr: addr, Clock: clock, Send: func([]byte) {}, Event: func(e *cq.Event) { d.Tell(e) }})
	if err != nil {
		t.Fatal(err)
	}
	d = agent.NewDevice(agent.DeviceOptions{Addr: addr, Now: clock.Now, Control: h, Query: query(h), Event: func(e *cq.Event) { *log = append(*log, *e) }})
	return d, clock, log
}

func itself(h *soft.HCA) hcaagent.Query { return h }

// TestDeviceVerbs: each verb that changes something is carried out and told, whether it succeeds or fails.
func TestDeviceVerbs(t *testing.T) {
	ctx := t.Context()
	d, _, log := recorded(t, itself)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	told := func(failed bool, kinds ...cq.EventKind) {
		t.Helper()
		var got []cq.EventKind
		for i := range *log {
			e := &(*log)[i]
			got = append(got, e.Kind)
			if e.Failed != failed || e.Time != 1000 || e.QP.Addr != packet.IPv4Addr([]byte{10, 0, 0, 1}) {
				t.Errorf("%+v", e)
			}
		}
		if !slices.Equal(got, kinds) {
			t.Errorf("told %v, want %v", got, kinds)
		}
		*log = nil
	}
	pd, err := d.CreatePD(ctx)
	must(err)
	number, err := d.CreateCQ(ctx, 4)
	must(err)
	must(d.ResizeCQ(ctx, number, 8))
	must(d.RequestNotification(ctx, number, cq.ArmSolicited))
	if (*log)[1].Depth != 8 || (*log)[2].Arm != cq.ArmSolicited {
		t.Errorf("%+v", *log)
	}
	told(false, cq.EvCreateCQ, cq.EvResizeCQ, cq.EvArm)

	domain, err := d.CreateXRCD(ctx)
	must(err)
	srq, err := d.CreateXRCSRQ(ctx, pd, domain, 4, 1)
	must(err)
	must(d.ModifySRQ(ctx, srq, 2))
	must(d.DestroySRQ(ctx, srq))
	must(d.DestroyXRCD(ctx, domain))
	if e := (*log)[0]; e.XRCD != domain || e.SRQ != srq || e.Depth != 4 || (*log)[1].Depth != 2 {
		t.Errorf("%+v", *log)
	}
	told(false, cq.EvCreateSRQ, cq.EvModifySRQ, cq.EvDestroySRQ)
	for _, err := range []error{d.DestroySRQ(ctx, srq), d.ModifySRQ(ctx, srq, 1), d.Deliberately().PostSharedReceive(ctx, srq, wqe.ReceiveRequest{})} {
		if err == nil {
			t.Error("a shared receive queue that was destroyed")
		}
	}
	told(true, cq.EvDestroySRQ, cq.EvModifySRQ, cq.EvPostReceive)

	ah, err := d.CreateAH(ctx, pd, wqe.AddressVector{SL: 3})
	must(err)
	must(d.ModifyAH(ctx, ah, wqe.AddressVector{SL: 4}))
	if v, err := d.QueryAH(ctx, ah); err != nil || v.SL != 4 {
		t.Errorf("%+v, %v", v, err)
	}
	must(d.DestroyAH(ctx, ah))
	told(false, cq.EvCreateAH, cq.EvModifyAH, cq.EvDestroyAH)

	mr, lkey, _, err := d.RegisterMR(ctx, hcaagent.NewMR{PD: pd, VA: 4096, Length: 4096, Access: wqe.LocalWrite | wqe.BindWindow})
	must(err)
	mw, rkey, err := d.AllocateMW(ctx, pd, 2)
	must(err)
	q, err := d.CreateQP(ctx, qp.InitAttr{Type: qp.TypeRC, PD: pd, SendCQ: number, RecvCQ: number, MaxInline: 8})
	must(err)
	must(d.BringUp(ctx, q, attributes))
	told(false, cq.EvRegisterMR, cq.EvAllocateMW, cq.EvCreateQP, cq.EvModifyQP, cq.EvModifyQP, cq.EvModifyQP)
	bind := wqe.Bind{MW: mw, MR: mr, RKey: rkey + 1, VA: 4096, Length: 64, Access: wqe.RemoteRead}
	must(d.PostSend(ctx, q, wqe.SendRequest{Op: wqe.OpBindMW, Window: &bind}))
	must(d.DeallocateMW(ctx, mw))
	if e := (*log)[1]; e.Region == nil || e.Region.RKey != rkey+1 {
		t.Errorf("%+v", e.Region)
	}
	told(false, cq.EvPostSend, cq.EvDeallocateMW)
	if err := d.DeallocateMW(ctx, mw); err == nil || (*log)[0].Region != nil {
		t.Errorf("a window that was deallocated: %v", err)
	}
	told(true, cq.EvDeallocateMW)

	list := []wqe.Segment{{VA: 4096, Length: 16, LKey: lkey}}
	if err := d.Deliberately().PostSend(ctx, q, wqe.SendRequest{Op: wqe.OpSend, Flags: wqe.Inline, Segments: list}); err == nil || (*log)[0].Summed {
		t.Errorf("too much inline: %v, %+v", err, *log)
	}
	told(true, cq.EvPostSend)
	must(d.PostSend(ctx, q, wqe.SendRequest{Op: wqe.OpSend, Segments: list}))
	if !(*log)[0].Summed {
		t.Error("nothing is said of what the request sends")
	}
	told(false, cq.EvPostSend)

	attr := qp.Attr{Known: qp.KnowsMinRNRTimer, MinRNRTimer: 5}
	must(d.ModifyQP(ctx, q, attr))
	if e := (*log)[0]; e.State != qp.RTS || e.Attr == nil || e.Attr.MinRNRTimer != 5 {
		t.Errorf("%+v", e)
	}
	got, state, err := d.QueryQP(ctx, q)
	if err != nil || state != qp.RTS || got.MinRNRTimer != 5 {
		t.Errorf("%+v, %v, %v", got, state, err)
	}
	told(false, cq.EvModifyQP, cq.EvQueryQP)
	if err := d.ModifyQP(ctx, q, qp.Attr{Known: qp.KnowsPMTU, PMTU: 512}); err == nil || len(*log) > 0 {
		t.Errorf("a path MTU in RTS: %v, told %v", err, *log)
	}
	must(d.DestroyQP(ctx, q))
	must(d.DeregisterMR(ctx, mr))
	if e := (*log)[1]; e.Region == nil || e.Region.LKey != lkey {
		t.Errorf("%+v", e.Region)
	}
	must(d.DestroyCQ(ctx, number))
	must(d.DestroyPD(ctx, pd))
	told(false, cq.EvDestroyQP, cq.EvDeregisterMR, cq.EvDestroyCQ)
	if err := d.DeregisterMR(ctx, mr); err == nil || (*log)[0].Region != nil {
		t.Errorf("a region that was deregistered: %v", err)
	}
	told(true, cq.EvDeregisterMR)
}

// TestDeviceFails: what fails puts nothing into memory, a queue pair that may have failed takes requests, and RESET forgets them.
func TestDeviceFails(t *testing.T) {
	ctx := t.Context()
	for name, query := range map[string]func(h *soft.HCA) hcaagent.Query{
		"itself": itself, "forgetful": func(h *soft.HCA) hcaagent.Query { return forgetful{h} }, "silent": func(h *soft.HCA) hcaagent.Query { return silent{h} },
	} {
		d, clock, log := recorded(t, query)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		pd, err := d.CreatePD(ctx)
		must(err)
		_, lkey, _, err := d.RegisterMR(ctx, hcaagent.NewMR{PD: pd, VA: 4096, Length: 4096, Access: wqe.LocalWrite})
		must(err)
		number, err := d.CreateCQ(ctx, 16)
		must(err)
		q, err := d.CreateQP(ctx, qp.InitAttr{Type: qp.TypeRC, PD: pd, SendCQ: number, RecvCQ: number})
		must(err)
		attr := attributes
		attr.Timeout, attr.RetryCnt = 1, 0
		must(d.BringUp(ctx, q, attr))
		list := []wqe.Segment{{VA: 4096, Length: 8, LKey: lkey}}
		must(d.PostReceive(ctx, q, wqe.ReceiveRequest{ID: 5, Segments: list}))
		must(d.PostSend(ctx, q, wqe.SendRequest{ID: 5, Op: wqe.OpRead, Segments: list}))
		for clock.Step() {
		}
		var into [8]cq.Completion
		n, err := d.Poll(ctx, number, into[:])
		if must(err); n != 2 || into[0].Status != cq.RetryExcErr || into[1].Status != cq.WRFlushErr {
			t.Fatalf("%s: %+v", name, into[:n])
		}
		must(d.PostSend(ctx, q, wqe.SendRequest{ID: 6, Op: wqe.OpRead, Segments: list})) // it is flushed
		must(d.TransitionQP(ctx, q, qp.Reset, qp.Attr{}))
		for i := range *log {
			if e := &(*log)[i]; e.Kind == cq.EvCompletion && e.Summed {
				t.Errorf("%s: %+v is said to have put something into memory", name, e.Completion)
			}
		}
	}
}

// TestDeviceTellsSums: a completion that says what its request has put into memory is not asked about.
func TestDeviceTellsSums(t *testing.T) {
	var log []cq.Event
	d := agent.NewDevice(agent.DeviceOptions{Now: func() int64 { return 1 }, Event: func(e *cq.Event) { log = append(log, *e) }})
	d.Tell(&cq.Event{Kind: cq.EvCreateQP, QP: wqe.QP{QPN: 3}, New: &qp.InitAttr{}})
	d.Tell(&cq.Event{Kind: cq.EvCompletion, Time: 9, Summed: true, Sum: 77, Completion: &cq.Completion{QP: wqe.QP{QPN: 3}, Op: cq.DoneRecv}})
	if e := log[1]; !e.Summed || e.Sum != 77 || e.Time != 9 {
		t.Errorf("%+v", e)
	}
}

// TestDeviceLeaves: a queue pair that may have left its state by itself takes what the state that it may be in takes.
func TestDeviceLeaves(t *testing.T) {
	ctx := t.Context()
	d := agent.NewDevice(agent.DeviceOptions{Now: func() int64 { return 1 }})
	q := wqe.QP{QPN: 3}
	d.Tell(&cq.Event{Kind: cq.EvCreateQP, QP: q, New: &qp.InitAttr{Type: qp.TypeUD}})
	attr := attributes
	for from := qp.Reset; from < qp.RTS; from++ {
		attr.Known, _ = qp.Takes(qp.TypeUD, from, from+1)
		if err := d.TransitionQP(ctx, q, from+1, attr); err != nil {
			t.Fatal(err)
		}
	}
	sqe := qp.Attr{Known: qp.KnowsCurState, CurState: qp.SQE}
	back := func() error { return d.TransitionQP(ctx, q, qp.RTS, sqe) }
	if err := back(); err != nil {
		t.Errorf("to RTS from SQE, as its consumer says: %v", err)
	}
	drain := func() error { return d.TransitionQP(ctx, q, qp.Init, qp.Attr{Known: qp.KnowsPKey}) }
	if drain() == nil {
		t.Error("from RTS to INIT")
	}
	d.Tell(&cq.Event{Kind: cq.EvAsync, QP: q, Async: cq.AsyncQPFatal})
	if drain() == nil {
		t.Error("from ERR to INIT")
	}
	if err := d.TransitionQP(ctx, q, qp.Reset, qp.Attr{}); err != nil {
		t.Errorf("from ERR to RESET: %v", err)
	}
	if d.PostReceive(ctx, q, wqe.ReceiveRequest{}) == nil {
		t.Error("a receive request in RESET")
	}
	if d.PostSend(ctx, q, wqe.SendRequest{}) == nil {
		t.Error("a send request in RESET")
	}
	attr.Known, _ = qp.Takes(qp.TypeUD, qp.Reset, qp.Init)
	if err := d.TransitionQP(ctx, q, qp.Init, attr); err != nil {
		t.Fatal(err)
	}
	if d.PostSend(ctx, q, wqe.SendRequest{}) == nil {
		t.Error("a send request in INIT")
	}
	d.Tell(&cq.Event{Kind: cq.EvAsync, QP: q, Async: cq.AsyncQPFatal})
	if err := d.PostSend(ctx, q, wqe.SendRequest{}); err != nil {
		t.Errorf("a send request in ERR: %v", err)
	}
	if err := d.ModifyQP(ctx, q, qp.Attr{}); err != nil {
		t.Error(err)
	}
	if err := d.PostSend(ctx, q, wqe.SendRequest{}); err != nil {
		t.Errorf("a send request in ERR, after attributes were set: %v", err)
	}
}
