package agent_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// TestNamed verifies captures of other transports: they are named and counted, judged by nothing, whatever the number of workers.
func TestNamed(t *testing.T) {
	headers := func(length uint32, data int) []byte {
		b := append(binary.BigEndian.AppendUint64([]byte{0, 0, 0, 7}, 0x7F00_0000_1000), 0x80, 0, 0x12, 0x34)
		return append(binary.BigEndian.AppendUint32(b, length), make([]byte, data)...)
	}
	host := func(n int) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, byte(n)}) }
	multipath := func(src, dst int, opcode packet.Opcode, psn int, payload []byte) []byte {
		p := packet.Packet{
			Encap: packet.RoCEv2IPv4, Opcode: opcode, PKey: 0xFFFF, DestQP: 5, PSN: packet.PSN(psn), SrcPort: uint16(77 * psn), IPID: uint16(psn), Resv7: 0x20,
			Src: host(src), Dst: host(dst), Payload: payload,
		}
		return p.CompleteEthernet(nil, [6]byte{2, 0, 0, 0, 0, byte(src)}, [6]byte{2, 0, 0, 0, 0, byte(dst)})
	}
	ip := func(proto byte, port uint16, payload ...byte) []byte {
		b := append(make([]byte, 12), 0x08, 0, 0x45, 0, 0, 0, 0, 0, 0, 0, 64, proto, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2)
		if proto == 17 {
			b = append(b, 0xC0, 1, byte(port>>8), byte(port), 0, byte(8+len(payload)), 0, 0)
		}
		b = append(b, payload...)
		binary.BigEndian.PutUint16(b[16:], uint16(len(b)-14))
		return b
	}
	var mrc, other [][]byte
	for pair := 1; pair < 20; pair += 2 {
		mrc = append(mrc, multipath(pair+1, pair, 0xD1, 1, []byte{0, 0, 0, 1})) // before anything that is MRC for sure
		for i := range 10 {
			mrc = append(mrc, multipath(pair, pair+1, 0xC6, 3*i, headers(3000, 1024)), multipath(pair, pair+1, 0xC8, 3*i+1, headers(3000, 952)),
				multipath(pair+1, pair, 0xDC, 3*i+1, make([]byte, 36)), multipath(pair+1, pair, 0xD1, 3*i+1, []byte{0, 0, 0, 1}))
		}
		mrc = append(mrc, multipath(pair, pair+1, 0xC6, 100, make([]byte, 64))) // of another meaning
	}
	for range 100 {
		other = append(other, ip(17, 4793, make([]byte, 40)...), ip(50, 0, 0xC0, 0, 0, 1, 0, 0, 0, 1), ip(17, 1000, append([]byte{17, 1, 0, 1}, make([]byte, 40)...)...), ip(17, 4793, 0), ip(17, 53, 0))
	}
	const fits = " packets, as manufacturer-specific opcode and headers fit MRC (OCP Multipath Reliable Connection): only the ICRC judged"
	for name, c := range map[string]struct {
		frames [][]byte
		rdma   uint64
		want   []agent.Note
	}{
		"MRC": {mrc, 420, []agent.Note{
			{Reason: "RDMA WRITE" + fits, Count: 200},
			{Reason: "ACK" + fits, Count: 100},
			{Reason: "SACK" + fits, Count: 100},
			{Reason: "packets with manufacturer-specific opcodes: only the headers judged", Count: 20},
		}},
		"others": {other, 0, []agent.Note{
			{Reason: "packets of Ultra Ethernet (UDP port 4793): another RDMA transport, which is not judged", Count: 200},
			{Reason: "packets of ESP (IPsec): encrypted, so that nobody can tell whether they carry RoCE", Count: 100},
			{Reason: "packets of PSP (UDP port 1000): encrypted, so that nobody can tell whether they carry RoCE", Count: 100},
		}},
	} {
		var file bytes.Buffer
		w := fabricagent.NewWriter(&file, "test")
		tap, err := w.AddTap(fabricagent.Tap{Link: fabricagent.LinkEthernet})
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range c.frames {
			if err := w.Write(&fabricagent.Frame{Time: 1e18 + int64(i)*1000, Tap: tap, Link: fabricagent.LinkEthernet, Data: b}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		for _, workers := range []int{1, 2, 3, 5} {
			src, err := fabricagent.OpenReader(name, bytes.NewReader(file.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			r, err := agent.Run(context.Background(), src, agent.Options{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			_ = src.Close()
			if d := cmp.Diff(c.want, r.NotJudged); d != "" {
				t.Errorf("%s, %d workers: %s", name, workers, d)
			}
			if r.RDMA != c.rdma || r.Judged() {
				t.Errorf("%s, %d workers: %d packets, judged %t", name, workers, r.RDMA, r.Judged())
			}
			for i := range r.Findings {
				if f := &r.Findings[i]; f.Opcode != 0xC6 && f.Opcode != 0xD1 {
					t.Errorf("%s, %d workers: %+v", name, workers, f)
				}
			}
		}
	}
}
