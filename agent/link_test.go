package agent_test

import (
	"bytes"
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestLinksAgree verifies a capture of several links, on each of which one port sends more than the other offers: what is found does not depend on the
// number of workers, and data packets are also those of a connection.
func TestLinksAgree(t *testing.T) {
	const links = 7
	var file bytes.Buffer
	w := fabricagent.NewWriter(&file, "test")
	tap, err := w.AddTap(fabricagent.Tap{Interface: "links", Link: fabricagent.LinkTap})
	if err != nil {
		t.Fatal(err)
	}
	now := int64(1e18)
	write := func(b []byte) {
		now += 100
		if err := w.Write(&fabricagent.Frame{Time: now, Tap: tap, Link: fabricagent.LinkTap, Data: b}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range uint16(links) {
		for port := range uint8(2) {
			fc := link.FlowControl{Op: link.Init, FCCL: 20}
			write(fc.Append(link.AppendHeader(nil, link.Packet, link.Mark{Link: n, Port: port})))
			fc.Op = link.Normal
			write(fc.Append(link.AppendHeader(nil, link.Packet, link.Mark{Link: n, Port: port})))
		}
	}
	for i := range 2000 {
		n := uint16(i % links)
		p := packet.Packet{
			Encap: packet.Native, Opcode: packet.Op(packet.RC, packet.SendOnly), PKey: 0xFFFF, DestQP: 5, PSN: packet.PSN(i / links), Src: packet.LIDAddr(2*n + 1), Dst: packet.LIDAddr(2*n + 2),
			Payload: make([]byte, 64),
		}
		p.PayloadLen = len(p.Payload)
		p.Complete()
		write(p.Append(link.AppendHeader(nil, link.Data, link.Mark{Link: n})))
		if i%links == 0 && i < 1000 {
			fc := link.FlowControl{FCCL: uint16(20 + 2*i/links)}
			write(fc.Append(link.AppendHeader(nil, link.Packet, link.Mark{Link: n, Port: 1})))
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	run := func(workers int, w *agent.Watch) *agent.Result {
		src, err := fabricagent.OpenReader("links", bytes.NewReader(file.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		r, err := agent.Run(context.Background(), src, agent.Options{Workers: workers, Watch: w})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	want := run(1, nil)
	if n := want.Cover[rule.LNKFCP007]; n.Violated != links || n.Exercised < 1500 || want.RDMA != want.Packets {
		t.Errorf("%+v, %d of %d packets", n, want.RDMA, want.Packets)
	}
	if len(want.Connections) != links {
		t.Errorf("%d connections", len(want.Connections))
	}
	for _, workers := range []int{2, 3, 5} {
		if d := cmp.Diff(want, run(workers, nil)); d != "" {
			t.Errorf("%d workers: %s", workers, d)
		}
	}

	// What is told while it goes on is the same, and comes before the end.
	for _, workers := range []int{1, 3} {
		var told []rule.Finding
		ticks, made := 0, atomic.Int32{}
		w := &agent.Watch{
			Every: time.Microsecond, Settle: 10 * time.Microsecond,
			Found:  func(list []rule.Finding) { told = append(told, list...) },
			Status: func(*agent.Status) { ticks += min(len(told), 1) },
			Made:   func(list []rule.Finding) { made.Add(int32(len(list))) },
		}
		rest := run(workers, w).Findings
		if d := cmp.Diff(want.Findings, told, cmpopts.IgnoreFields(rule.Finding{}, "Seq")); d != "" || rest != nil {
			t.Errorf("%d workers: %s", workers, d)
		}
		if ticks < 2 || int(made.Load()) < len(told) {
			t.Errorf("%d workers: told %d ticks before the end, %d findings made of %d", workers, ticks, made.Load(), len(told))
		}
	}
}
