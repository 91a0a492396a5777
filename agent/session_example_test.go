package agent_test

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// A testbench in Go pushes each frame that it sees at a port of the device under test, and is told at once what is wrong. Here the frames come from a capture of a device
// that forgets to pad a WRITE.
func ExampleSession() {
	session := agent.NewSession(agent.Options{Near: []packet.Addr{packet.IPv4Addr([]byte{10, 0, 0, 1})}})
	port, err := session.Tap(fabricagent.Tap{File: "dut", Link: fabricagent.LinkEthernet})
	if err != nil {
		panic(err)
	}
	show := func(changes []rule.Change, err error) {
		if err != nil {
			panic(err)
		}
		for _, c := range changes {
			if f := &c.Finding; f.Class == rule.Violation {
				fmt.Printf("%v: %v %v, frame %d: expected %s, actual %s\n", c.Kind, f.Rule, f.Accused.Addr, f.Frame, f.Expected, f.Actual)
			}
		}
	}
	src, err := fabricagent.Open([]string{"../internal/testkit/planted/testdata/hardware/fns_odd.pcap"})
	if err != nil {
		panic(err)
	}
	defer src.Close()
	var now int64
	for {
		batch, err := src.Next()
		if batch != nil {
			for i := range batch.Frames {
				frame := batch.Frames[i]
				frame.Tap, now = port, frame.Time
				show(session.Frame(&frame))
			}
			batch.Release()
		}
		if err != nil {
			break
		}
	}
	show(session.Advance(now + 1e6))
	for _, w := range session.Outstanding() {
		fmt.Printf("%v waits: %v\n", w.QP.Addr, w.What)
	}
	result, changes, err := session.End()
	show(changes, err)
	fmt.Printf("%d packets, %d violations\n", result.RDMA, result.Violations(rule.Error))
	// Output:
	// found: BTH-006 10.0.0.1, frame 13: expected payload and pad a multiple of 4 bytes, actual payload 61, PadCnt 0
	// 26 packets, 1 violations
}
