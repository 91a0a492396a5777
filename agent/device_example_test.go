package agent_test

import (
	"context"
	"fmt"

	"ibwitness/agent"
	"ibwitness/cq"
	"ibwitness/fabricagent"
	"ibwitness/fabricagent/sim"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/soft"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// Two channel adapters that are brought up through the verbs of the transport agent, and an RDMA WRITE between them, verified.
func ExampleDevice() {
	ctx := context.Background()
	clock := sim.NewClock(0)
	fabric := sim.NewFabric(clock, sim.Options{})
	wire := sim.NewRecorder("testbench", clock.Step)
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	var logs [2]hcaagent.Log
	var ends [2]struct {
		*agent.Device
		qp         wqe.QP
		cq         wqe.CQ
		lkey, rkey uint32
	}
	for i := range ends {
		e, log := &ends[i], &logs[i]
		*log = hcaagent.Log{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(i + 1)}), Exact: true}
		var send func([]byte)
		h, err := soft.New(soft.Options{
			Addr: log.Addr, Clock: clock, Seed: uint64(i), Send: func(frame []byte) { send(frame) },
			Event: func(v *cq.Event) { e.Tell(v) },
		})
		must(err)
		send = fabric.Attach(log.Addr, h.Receive)
		e.Device = agent.NewDevice(agent.DeviceOptions{
			Addr: log.Addr, Now: clock.Now, Control: h, Query: h, Limits: h.Limits(), Event: func(v *cq.Event) { log.Events = append(log.Events, *v) },
		})
		pd, err := e.CreatePD(ctx)
		must(err)
		_, e.lkey, e.rkey, err = e.RegisterMR(ctx, hcaagent.NewMR{PD: pd, VA: 4096, Length: 4096, Access: wqe.LocalWrite | wqe.RemoteWrite})
		must(err)
		e.cq, err = e.CreateCQ(ctx, 16)
		must(err)
		e.qp, err = e.CreateQP(ctx, qp.InitAttr{Type: qp.TypeRC, PD: pd, SendCQ: e.cq, RecvCQ: e.cq, MaxSend: 8, MaxReceive: 8})
		must(err)
	}
	a, b := &ends[0], &ends[1]
	must(fabric.TapEnd(a.qp.Addr, "A", wire))
	attr := qp.Attr{PKey: 0xFFFF, Port: 1, PMTU: 1024, Timeout: 14, RetryCnt: 7, RNRRetry: 7, MinRNRTimer: 12, Access: wqe.RemoteWrite}
	attr.DestAddr, attr.DestQPN = b.qp.Addr, b.qp.QPN
	must(a.BringUp(ctx, a.qp, attr))
	attr.DestAddr, attr.DestQPN = a.qp.Addr, a.qp.QPN
	must(b.BringUp(ctx, b.qp, attr))

	write := wqe.SendRequest{Op: wqe.OpWrite, Flags: wqe.Signaled, Segments: []wqe.Segment{{VA: 4096, Length: 3000, LKey: a.lkey}}, RemoteVA: 4096, RKey: b.rkey}
	must(a.PostSend(ctx, a.qp, write))
	write.Segments = []wqe.Segment{{VA: 4096, Length: 3000}}
	fmt.Println(a.PostSend(ctx, a.qp, write))
	for clock.Step() {
	}
	var done [4]cq.Completion
	n, err := a.Poll(ctx, a.cq, done[:])
	must(err)
	fmt.Println(n, "completion:", done[0].Op, done[0].Status)

	result, err := agent.Run(ctx, fabricagent.Source(wire), agent.Options{Near: []packet.Addr{a.qp.Addr}, Events: []*hcaagent.Log{&logs[0], &logs[1]}})
	must(err)
	wrong := 0
	for i := range result.Findings {
		if result.Findings[i].Class == rule.Violation {
			wrong++
		}
	}
	fmt.Println(result.RDMA, "packets,", wrong, "violations")
	// Output:
	// qp: data segment 0: hcaagent: memory access: L_Key 0x0 is not registered
	// 1 completion: RDMA_WRITE SUCCESS
	// 4 packets, 0 violations
}
