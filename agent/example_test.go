package agent_test

import (
	"context"
	"fmt"

	"ibwitness/agent"
	"ibwitness/cq"
	"ibwitness/fabricagent/sim"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/soft"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// A testbench: two channel adapters in software on a simulated fabric, one of which acknowledges with a wrong MSN once. A device under test takes
// the place of either: it sends and receives frames, and tells what its consumer does.
func Example() {
	ctx := context.Background()
	clock := sim.NewClock(0)
	fabric := sim.NewFabric(clock, sim.Options{})
	wire := sim.NewRecorder("testbench", clock.Step)
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}

	// attach brings an adapter with a queue pair to the fabric.
	attach := func(n byte, fault string) (*agent.Device, wqe.QP, *hcaagent.Log) {
		log := &hcaagent.Log{Addr: packet.IPv4Addr([]byte{10, 0, 0, n}), Exact: true}
		var d *agent.Device
		var send func([]byte)
		h, err := soft.New(soft.Options{
			Addr: log.Addr, Clock: clock, Fault: fault, FaultAt: 1, Send: func(frame []byte) { send(frame) },
			Event: func(e *cq.Event) { d.Tell(e) },
		})
		must(err)
		send = fabric.Attach(log.Addr, h.Receive)
		d = agent.NewDevice(agent.DeviceOptions{
			Addr: log.Addr, Now: clock.Now, Control: h, Query: h, Limits: h.Limits(), Event: func(e *cq.Event) { log.Events = append(log.Events, *e) },
		})
		pd, err := d.CreatePD(ctx)
		must(err)
		cq, err := d.CreateCQ(ctx, 16)
		must(err)
		q, err := d.CreateQP(ctx, qp.InitAttr{Type: qp.TypeRC, PD: pd, SendCQ: cq, RecvCQ: cq, MaxSend: 8, MaxReceive: 8})
		must(err)
		return d, q, log
	}
	a, qpA, logA := attach(1, "")
	b, qpB, logB := attach(2, "wrong-msn")
	must(fabric.TapEnd(qpA.Addr, "A", wire))

	attr := qp.Attr{PKey: 0xFFFF, Port: 1, PMTU: 1024, SQPSN: 100, RQPSN: 100, Timeout: 14, RetryCnt: 7, RNRRetry: 7, MinRNRTimer: 12}
	attr.DestAddr, attr.DestQPN = qpB.Addr, qpB.QPN
	must(a.BringUp(ctx, qpA, attr))
	attr.DestAddr, attr.DestQPN = qpA.Addr, qpA.QPN
	must(b.BringUp(ctx, qpB, attr))
	for id := range uint64(3) {
		must(b.PostReceive(ctx, qpB, wqe.ReceiveRequest{ID: id}))
		must(a.PostSend(ctx, qpA, wqe.SendRequest{ID: id, Op: wqe.OpSend, Flags: wqe.Signaled}))
		for clock.Step() {
		}
	}

	result, err := agent.Run(ctx, wire, agent.Options{Near: []packet.Addr{qpA.Addr}, Events: []*hcaagent.Log{logA, logB}})
	must(err)
	for i := range result.Findings {
		if f := &result.Findings[i]; f.Class == rule.Violation {
			fmt.Printf("%v: %v accused, frame %d: expected %s, actual %s\n", f.Rule, f.Accused.Addr, f.Frame, f.Expected, f.Actual)
		}
	}
	// Output:
	// RC-RSP-013: 10.0.0.2 accused, frame 4: expected MSN 2, actual MSN 3
}
