package agent_test

import (
	"bytes"
	"context"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// TestOpen: the result says which requests have no answer when the capture ends.
func TestOpen(t *testing.T) {
	for name, want := range map[string]struct {
		open     uint32
		frame    uint64
		requests uint64 // of all kinds
	}{
		"rnr_retry_exceeded.pcap":  {4, 1, 4},
		"cm_rping_ipv6.pcap":       {},
		"small-multipath.pcap.zst": {0, 0, 1}, // a management request
		"election-a.pcap.zst":      {},
		"election-b.pcap.zst":      {0, 0, 1}, // and one of subnet management, whose manager had gone
	} {
		src, err := fabricagent.Open([]string{"../testdata/captures/" + name})
		if err != nil {
			t.Fatal(err)
		}
		r, err := agent.Run(context.Background(), src, agent.Options{})
		if err != nil {
			t.Fatal(err)
		}
		open, frame := uint32(0), uint64(0)
		for _, c := range r.Connections {
			for _, e := range c.Ends {
				open, frame = open+e.Open, max(frame, e.OpenFrame)
			}
		}
		if open != want.open || frame != want.frame || r.Open.Requests != want.requests {
			t.Errorf("%s: %d requests open, %d of connections, the oldest at frame %d; want %d, %d, %d", name, r.Open.Requests, open, frame, want.requests, want.open, want.frame)
		}
	}
}

// TestOpenRD: the newest message of an end-to-end context has no answer when the capture ends.
func TestOpenRD(t *testing.T) {
	var file bytes.Buffer
	w := fabricagent.NewWriter(&file, "test")
	if _, err := w.AddTap(fabricagent.Tap{Link: fabricagent.LinkEthernet}); err != nil {
		t.Fatal(err)
	}
	a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	for i, fn := range []packet.Fn{packet.SendOnly, packet.Acknowledge, packet.SendOnly, packet.Acknowledge, packet.SendOnly} {
		p := packet.Packet{
			Encap: packet.RoCEv2IPv4, Opcode: packet.Op(packet.RD, fn), PKey: 0xFFFF, PSN: packet.PSN(100 + i/2), SrcPort: 0xC000, IPID: uint16(i + 1), AckReq: fn == packet.SendOnly,
			Src: a, Dst: b, SrcQP: 0x11, DestQP: 0x22, EEC: 7, QKey: 0x1234, MSN: uint32(i/2 + 1), Syndrome: 0x1F,
		}
		if fn == packet.Acknowledge {
			p.Src, p.Dst, p.SrcQP, p.DestQP, p.AckReq, p.EEC = b, a, 0x22, 0x11, false, 8
		}
		p.Fit()
		data := p.CompleteEthernet(nil, [6]byte{2, 0, 0, 0, 0, 1}, [6]byte{2, 0, 0, 0, 0, 2})
		if err := w.Write(&fabricagent.Frame{Time: 1e18 + int64(i)*1e9, Link: fabricagent.LinkEthernet, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	src, err := fabricagent.OpenReader("rd", bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := agent.Run(context.Background(), src, agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Open.Requests != 1 || r.Open.Frame != 5 {
		t.Errorf("%+v of %d packets, %+v", r.Open, r.RDMA, r.Findings)
	}
}
