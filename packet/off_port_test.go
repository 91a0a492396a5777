package packet

import "testing"

// FuzzOffPort: what DecodeOffPort takes has a flaw, a good ICRC, and is left as it was.
func FuzzOffPort(f *testing.F) {
	for _, e := range []Encap{RoCEv2IPv4, RoCEv2IPv6} {
		p := Packet{Encap: e, Opcode: Op(RC, SendOnly), PKey: 0xFFFF, DestQP: 0x11, SrcPort: UDPPort, Payload: make([]byte, 64)}
		p.Src, p.Dst = Addr{0, 0xFFFF0A000001}, Addr{0, 0xFFFF0A000002}
		p.Complete()
		p.DstPort = 49152
		p.SealICRC()
		f.Add(p.Append(nil))
		p.SrcPort, p.DstPort = 49152, 4792
		p.SealICRC()
		f.Add(p.Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		was := string(b)
		var p Packet
		if DecodeOffPort(&p, b, len(b)) && (p.Flaws&(FlawVersion|FlawProtocol|FlawPort) == 0 || p.ICRCState != CRCGood) {
			t.Errorf("%+v", p)
		}
		if string(b) != was {
			t.Error("the bytes have changed")
		}
	})
}

func TestOffPort(t *testing.T) {
	for _, e := range []Encap{RoCEv2IPv4, RoCEv2IPv6} {
		p := Packet{Encap: e, Opcode: Op(RC, SendOnly), PKey: 0xFFFF, DestQP: 0x11, SrcPort: UDPPort, Payload: make([]byte, 64)}
		p.Src, p.Dst = Addr{0, 0xFFFF0A000001}, Addr{0, 0xFFFF0A000002}
		p.Complete()
		p.DstPort = 49152
		p.SealIPv4()
		p.SealICRC()
		b := p.Append(nil)
		var q Packet
		if !DecodeOffPort(&q, b, len(b)) || q.Flaws != FlawPort || q.DstPort != 49152 {
			t.Errorf("%v: not decoded, flaws %b", e, q.Flaws)
		}
		p.SrcPort, p.DstPort = 49152, 4792
		p.SealIPv4()
		p.SealICRC()
		b = p.Append(nil)
		if !DecodeOffPort(&q, b, len(b)) || q.Flaws != FlawPort || q.DstPort != 4792 {
			t.Errorf("%v: to a port of neither: not decoded, flaws %b", e, q.Flaws)
		}
		b[len(b)-1] ^= 1
		if DecodeOffPort(&q, b, len(b)) {
			t.Errorf("%v: decoded with a wrong ICRC", e)
		}
	}
}
