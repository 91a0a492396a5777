package agent_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestPausesAgree verifies a capture of several taps, at each of which packets are sent in spite of a pause that a batch before the last asked for: what
// is found does not depend on the number of workers.
func TestPausesAgree(t *testing.T) {
	const taps, rounds = 5, 400
	var file bytes.Buffer
	w := fabricagent.NewWriter(&file, "test")
	for n := range taps {
		speed := uint64(100e9)
		if n == 0 {
			speed = 0 // nobody can tell how long a pause lasts there
		}
		if _, err := w.AddTap(fabricagent.Tap{Link: fabricagent.LinkEthernet, Speed: speed}); err != nil {
			t.Fatal(err)
		}
	}
	port := func(n int) [6]byte { return [6]byte{2, 0, 0, 0, 0, byte(n)} }
	host := func(n int) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, byte(n)}) }
	now := int64(1e18)
	for i := range rounds * taps {
		n := i % taps
		now += 100
		to, from := port(2*n+2), port(2*n+1)
		p := packet.Packet{
			Encap: packet.RoCEv2IPv4, Opcode: packet.Op(packet.RC, packet.SendOnly), PKey: 0xFFFF, DestQP: 5, PSN: packet.PSN(i / taps), SrcPort: 0xC000, IPID: uint16(i),
			Src: host(2*n + 1), Dst: host(2*n + 2), Payload: make([]byte, 64),
		}
		b := p.CompleteEthernet(nil, from, to)
		b = append(append(append([]byte{}, b[:12]...), 0x81, 0x00, 0x60, 0x01), b[12:]...)
		if i/taps == 1 {
			b = append([]byte{0x01, 0x80, 0xC2, 0, 0, 1}, to[:]...)
			b = append(b, 0x88, 0x08, 1, 1, 0, 8, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF)
			b = append(b, make([]byte, 60-len(b))...)
		}
		if err := w.Write(&fabricagent.Frame{Time: now, Tap: uint16(n), Link: fabricagent.LinkEthernet, Data: b}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	run := func(workers int) *agent.Result {
		src, err := fabricagent.OpenReader("pauses", bytes.NewReader(file.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		r, err := agent.Run(context.Background(), src, agent.Options{Workers: workers, Near: []packet.Addr{host(1), host(3), host(5), host(7), host(9)}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	want := run(1)
	if n := want.Cover[rule.CNGPFC001]; n.Violated != taps-1 || n.Exercised != (taps-1)*(rounds-2) || want.RDMA != want.Packets-taps {
		t.Errorf("%+v, %d of %d packets", n, want.RDMA, want.Packets)
	}
	if len(want.Paused) != taps {
		t.Fatalf("%d ports had others pause", len(want.Paused))
	}
	for n, p := range want.Paused {
		if p.From != port(2*n+2) || int(p.Tap) != n || p.All || p.Priority != 3 || p.Frames != 1 || p.Begun != 1 || p.Quanta != 0xFFFF || p.Unresumed != 1 || (p.Least == p.Most) != (n > 0) {
			t.Errorf("%+v", p)
		}
	}
	for _, workers := range []int{2, 3, 5} {
		if d := cmp.Diff(want, run(workers)); d != "" {
			t.Errorf("%d workers: %s", workers, d)
		}
	}
}
