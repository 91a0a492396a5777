package agent

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/sample"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// words appends words of a pcap file.
func words(b *bytes.Buffer, list ...uint32) { _ = binary.Write(b, binary.LittleEndian, list) }

// workersAgree verifies a capture with several numbers of workers, which is to give the same, and returns it.
func workersAgree(t *testing.T, raw []byte, near ...packet.Addr) (want *Result) {
	for _, n := range []int{1, 2, 3, 8} {
		src, err := fabricagent.OpenReader("capture", bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(context.Background(), src, Options{Workers: n, Near: near})
		src.Close()
		if err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			want = r
		} else if d := cmp.Diff(want, r); d != "" {
			t.Errorf("%d workers:\n%.3000s", n, d)
		}
	}
	return want
}

// subnetCapture is a capture of a native link: subnet management of four nodes, some of it wrong, and datagrams between them.
func subnetCapture(packets int) []byte {
	var b bytes.Buffer
	words(&b, 0xa1b2c3d4, 4<<16|2, 0, 0, 65535, 247) // the header of a pcap of native packets
	r := rand.New(rand.NewPCG(3, 4))
	one := func(list ...int) int { return list[r.IntN(len(list))] }
	var asked []byte
	src, dst := uint16(1), uint16(2)
	for i := range packets {
		p := packet.Packet{Encap: packet.Native, Opcode: packet.Op(packet.UD, packet.SendOnly), PKey: 0xFFFF, PSN: packet.PSN(i), Payload: make([]byte, mad.Size)}
		d := p.Payload
		switch {
		case i%8 == 7:
			p.DestQP, p.SrcQP, p.QKey = 0x20, 0x10, 0x1234
			src, dst = uint16(1+r.IntN(4)), uint16(1+r.IntN(4))
		case asked != nil && i%2 == 1:
			copy(d, asked)
			d[3] = 0x81
			src, dst = dst, src
			p.VL = 15
		default:
			d[0], d[1], d[2], d[3], d[15], d[17] = 1, 1, 1, byte(one(1, 2)), byte(i), byte(one(0x11, 0x15, 0x15, 0x16, 0x17, 0x19))
			for k := 64; k < 128; k++ {
				d[k] = byte(one(0, 1, 1, 2, r.IntN(256)))
			}
			src, dst = uint16(1+r.IntN(4)), uint16(1+r.IntN(4))
			p.VL, asked = 15, d
		}
		p.Src, p.Dst = packet.LIDAddr(src), packet.LIDAddr(dst)
		p.Complete()
		p.SealICRC()
		frame := p.Append(nil)
		words(&b, uint32(1+i/1000), uint32(i%1000*1000), uint32(len(frame)), uint32(len(frame)))
		b.Write(frame)
	}
	return b.Bytes()
}

// TestWorkersAgreeOnSubnet: what subnet management tells holds in each shard, and one of them reports.
func TestWorkersAgreeOnSubnet(t *testing.T) {
	r := workersAgree(t, subnetCapture(sample.Part(6000, 4)), packet.LIDAddr(1), packet.LIDAddr(2))
	if c := r.Cover[rule.SMPSV001]; c.Exercised == 0 || r.Violations(rule.Error) == 0 {
		t.Errorf("the capture exercises little: %+v, %d violations", c, r.Violations(rule.Error))
	}
}

// TestWorkersAgreeOnManagement: responses from another LID than was asked, or to another one than asked, are found in whichever shard their pair of addresses and
// that of the request are.
func TestWorkersAgreeOnManagement(t *testing.T) {
	var b bytes.Buffer
	words(&b, 0xa1b2c3d4, 4<<16|2, 0, 0, 65535, 247)
	at := uint32(0)
	one := func(src, dst uint16, tid byte, method mad.Method) {
		p := packet.Packet{
			Encap: packet.Native, Opcode: packet.Op(packet.UD, packet.SendOnly), PKey: 0xFFFF, DestQP: 1, SrcQP: 1, QKey: 0x80010000, PSN: packet.PSN(at),
			Src: packet.LIDAddr(src), Dst: packet.LIDAddr(dst), Payload: make([]byte, mad.Size),
		}
		h := mad.Header{BaseVersion: 1, Class: mad.ClassPerformance, ClassVersion: 1, Method: method, TID: uint64(tid), Attribute: mad.AttrPortCounters}
		if err := h.Encode(p.Payload); err != nil {
			t.Fatal(err)
		}
		p.Complete()
		p.SealICRC()
		frame := p.Append(nil)
		at += 100
		words(&b, 1, at, uint32(len(frame)), uint32(len(frame)))
		b.Write(frame)
	}
	const pairs = 12
	for i := range uint16(pairs) {
		one(1, 10+i, byte(2*i), mad.Get)
		one(100+i, 1, byte(2*i), mad.GetResp) // from another LID
		one(1, 10+i, byte(2*i+1), mad.Get)
		one(10+i, 100+i, byte(2*i+1), mad.GetResp) // to another LID
	}
	found := 0
	for _, f := range workersAgree(t, b.Bytes(), packet.LIDAddr(1)).Findings {
		if f.Rule == rule.MADTID002 {
			if found++; f.Accused.Addr.Lo < 10 || f.Accused.Addr.Lo >= 10+pairs || (f.Class == rule.Violation) != (f.Peer.Addr == packet.LIDAddr(1)) {
				t.Errorf("frame %d: %v accuses %v", f.Frame, f.Class, f.Accused.Addr)
			}
		}
	}
	if found != 2*pairs {
		t.Errorf("%d found, not %d", found, 2*pairs)
	}
}
