package layers_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/gopacket"
	gplayers "github.com/google/gopacket/layers"

	"ibwitness/packet"
	"ibwitness/packet/layers"
)

// build is a complete packet as bytes, and where gopacket starts on it.
func build(e packet.Encap, op packet.Opcode, n int) ([]byte, gopacket.LayerType) {
	p := packet.Packet{
		Encap: e, Opcode: op, PKey: 0xFFFF, DestQP: 0x12, PSN: 0x345678, SE: true, MigReq: true, AckReq: true, BECN: true,
		Src: packet.Addr{Hi: 0xFE80 << 48, Lo: 1}, Dst: packet.Addr{Hi: 0xFE80 << 48, Lo: 2}, SrcPort: 69, FlowLabel: 0x54321,
		Syndrome: 0x2C, MSN: 0x111213, VA: 0x2122232425262728, RKey: 0x31323334, DMALen: 0x41424344,
		SwapAdd: 0x5152535455565758, Compare: 0x6162636465666768, OrigData: 0x7172737475767778, Imm: 0x81828384,
		InvRKey: 0x91929394, QKey: 0xA1A2A3A4, DETHRes: 1, SrcQP: 0xB1B2B3, XRCRes: 2, XRCSRQ: 0xC1C2C3, RDETHRes: 3, EEC: 0xD1D2D3, FETH: 0xE1E2E3E5,
		Payload: bytes.Repeat([]byte{0x5A}, n),
	}
	first := layers.LayerTypeGRH
	switch e {
	case packet.Native:
		p.Has, p.SGID, p.DGID = packet.HasGRH, p.Src, p.Dst
		p.Src, p.Dst = packet.LIDAddr(5), packet.LIDAddr(6)
		first = layers.LayerTypeLRH
	case packet.RoCEv2IPv4:
		p.Src, p.Dst = packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
		first = gplayers.LayerTypeIPv4
	case packet.RoCEv2IPv6:
		first = gplayers.LayerTypeIPv6
	}
	p.Complete()
	return p.Append(nil), first
}

// wantLayers is what table T2 says of the order of the layers.
func wantLayers(e packet.Encap, op packet.Opcode, n int) (w []gopacket.LayerType) {
	switch e {
	case packet.Native:
		w = append(w, layers.LayerTypeLRH, layers.LayerTypeVCRC, layers.LayerTypeGRH)
	case packet.RoCEv1:
		w = append(w, layers.LayerTypeGRH)
	case packet.RoCEv2IPv4:
		w = append(w, gplayers.LayerTypeIPv4, gplayers.LayerTypeUDP)
	case packet.RoCEv2IPv6:
		w = append(w, gplayers.LayerTypeIPv6, gplayers.LayerTypeUDP)
	}
	w = append(w, layers.LayerTypeBTH)
	h := op.Info().Headers
	for _, x := range []struct {
		has packet.Has
		typ gopacket.LayerType
	}{
		{packet.HasRDETH, layers.LayerTypeRDETH},
		{packet.HasDETH, layers.LayerTypeDETH},
		{packet.HasXRCETH, layers.LayerTypeXRCETH},
		{packet.HasFETH, layers.LayerTypeFETH},
		{packet.HasRETH, layers.LayerTypeRETH},
		{packet.HasAtomicETH, layers.LayerTypeAtomicETH},
		{packet.HasAETH, layers.LayerTypeAETH},
		{packet.HasAtomicAckETH, layers.LayerTypeAtomicAckETH},
		{packet.HasImmDt, layers.LayerTypeImmDt},
		{packet.HasIETH, layers.LayerTypeIETH},
		{packet.HasCNP, layers.LayerTypeCNP},
	} {
		if h&x.has != 0 {
			w = append(w, x.typ)
		}
	}
	w = append(w, layers.LayerTypeICRC)
	if n > 0 && op != packet.OpCNP {
		w = append(w, gopacket.LayerTypePayload)
	}
	return w
}

func typesOf(p gopacket.Packet) (t []gopacket.LayerType) {
	for _, l := range p.Layers() {
		t = append(t, l.LayerType())
	}
	return t
}

// serializable is the packet's layers, to be written again.
func serializable(t *testing.T, p gopacket.Packet) (s []gopacket.SerializableLayer) {
	t.Helper()
	for _, l := range p.Layers() {
		if pay, ok := l.(*gopacket.Payload); ok {
			s = append(s, pay)
			continue
		}
		x, ok := l.(gopacket.SerializableLayer)
		if !ok {
			t.Fatalf("%v cannot be serialized", l.LayerType())
		}
		s = append(s, x)
	}
	return s
}

func TestEveryOpcode(t *testing.T) {
	for _, e := range []packet.Encap{packet.Native, packet.RoCEv1, packet.RoCEv2IPv4, packet.RoCEv2IPv6} {
		var h layers.Headers
		var ip4 gplayers.IPv4
		var ip6 gplayers.IPv6
		var udp gplayers.UDP
		var pay gopacket.Payload
		_, first := build(e, 0, 0)
		parser := gopacket.NewDecodingLayerParser(first, &ip4, &ip6, &udp, &pay)
		h.Link(parser)
		for op := range 256 {
			op := packet.Opcode(op)
			for _, n := range []int{0, 16, 61} {
				b, _ := build(e, op, n)
				want := wantLayers(e, op, n)
				p := gopacket.NewPacket(b, first, gopacket.DecodeOptions{NoCopy: true, SkipDecodeRecovery: true, Lazy: n == 16})
				if got := typesOf(p); op != packet.OpCNP && !slices.Equal(got, want) {
					t.Fatalf("%v %v: layers %v, want %v (%v)", e, op, got, want, p.ErrorLayer())
				}
				if op == packet.OpCNP && n != 16 {
					continue
				}
				buf := gopacket.NewSerializeBuffer()
				if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{}, serializable(t, p)...); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(buf.Bytes(), b) {
					t.Fatalf("%v %v: serialized\n%x, was\n%x", e, op, buf.Bytes(), b)
				}
				var got []gopacket.LayerType
				if err := parser.DecodeLayers(b, &got); err != nil || !slices.Equal(got, want) {
					t.Fatalf("%v %v: parser found %v, %v; want %v", e, op, got, err, want)
				}
				if n == 61 && !bytes.Equal(pay, bytes.Repeat([]byte{0x5A}, n)) {
					t.Fatalf("%v %v: payload %x", e, op, []byte(pay))
				}
			}
		}
	}
}

// TestSerializeAnew builds packets from layers, with lengths fixed, and seals them.
func TestSerializeAnew(t *testing.T) {
	opts := gopacket.SerializeOptions{FixLengths: true}
	payload := gopacket.Payload("hello")
	bth := &layers.BTH{Opcode: packet.Op(packet.RC, packet.WriteOnly), PadCnt: layers.PadCount(len(payload)), PKey: 0xFFFF, DestQP: 7}
	reth := &layers.RETH{VA: 0x1000, RKey: 5, DMALen: uint32(len(payload))}
	gid := []byte{0xFE, 0x80, 15: 1}
	grh := &layers.GRH{IPVer: 6, NxtHdr: 0x1B, HopLmt: 1, SGID: gid, DGID: gid}
	eth := &gplayers.Ethernet{SrcMAC: make([]byte, 6), DstMAC: make([]byte, 6), EthernetType: layers.EtherTypeRoCEv1}
	for name, c := range map[string]struct {
		first gopacket.LayerType
		lower []gopacket.SerializableLayer
	}{
		"native local":  {layers.LayerTypeLRH, []gopacket.SerializableLayer{&layers.LRH{LNH: 2, DLID: 1, SLID: 2}, &layers.VCRC{}}},
		"native global": {layers.LayerTypeLRH, []gopacket.SerializableLayer{&layers.LRH{LNH: 3, DLID: 1, SLID: 2}, &layers.VCRC{}, grh}},
		"RoCEv1":        {gplayers.LayerTypeEthernet, []gopacket.SerializableLayer{eth, grh}},
	} {
		buf := gopacket.NewSerializeBuffer()
		if err := gopacket.SerializeLayers(buf, opts, append(c.lower, bth, reth, &layers.ICRC{}, payload)...); err != nil {
			t.Fatal(err)
		}
		b := buf.Bytes()
		if err := layers.Seal(b, c.first); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var p packet.Packet
		if c.first == layers.LayerTypeLRH {
			packet.DecodeInfiniBand(&p, b, len(b))
		} else {
			packet.DecodeGRH(&p, b[14:], len(b)-14)
		}
		p.CheckICRC()
		p.CheckVCRC()
		if p.Flaws != 0 || p.ICRCState != packet.CRCGood || string(p.Payload) != "hello" || c.first == layers.LayerTypeLRH && p.VCRCState != packet.CRCGood {
			t.Errorf("%s: flaws %b, ICRC state %d, VCRC state %d, payload %q", name, p.Flaws, p.ICRCState, p.VCRCState, p.Payload)
		}
	}
	for _, first := range []gopacket.LayerType{gplayers.LayerTypeEthernet, gplayers.LayerTypeIPv4, layers.LayerTypeGRH, layers.LayerTypeLRH, layers.LayerTypeBTH} {
		if err := layers.Seal(make([]byte, 9), first); err == nil || !strings.HasPrefix(err.Error(), "layers: ") {
			t.Errorf("%v: sealed 9 bytes: %v", first, err)
		}
	}
	if err := (&layers.GRH{}).SerializeTo(gopacket.NewSerializeBuffer(), opts); err == nil {
		t.Error("a GRH without GIDs was serialized")
	}
}

// TestSourcePort: the destination port decides, whatever service the source port is known for.
func TestSourcePort(t *testing.T) {
	b, first := build(packet.RoCEv2IPv4, 4, 8)
	for _, port := range []uint16{53, 67, 69, 123, 161, 500, 2152, 4789, 6081} {
		b[20], b[21] = byte(port>>8), byte(port)
		p := gopacket.NewPacket(b, first, gopacket.Default)
		if p.Layer(layers.LayerTypeBTH) == nil {
			t.Errorf("source port %d: %v", port, p)
		}
	}
}

// TestCut: of a packet that is cut off nothing is taken for pad and ICRC.
func TestCut(t *testing.T) {
	for _, e := range []packet.Encap{packet.Native, packet.RoCEv1, packet.RoCEv2IPv4, packet.RoCEv2IPv6} {
		b, first := build(e, packet.Op(packet.RC, packet.WriteOnly), 61)
		for n := range b {
			p := gopacket.NewPacket(b[:n], first, gopacket.DecodeOptions{SkipDecodeRecovery: true})
			c, _ := p.Layer(layers.LayerTypeICRC).(*layers.ICRC)
			if vcrcOnly := e == packet.Native && n >= len(b)-2; c != nil && !vcrcOnly && (c.CRC != 0 || len(c.Contents) != 0) {
				t.Fatalf("%v cut to %d bytes: ICRC %#x", e, n, c.CRC)
			}
		}
		var h layers.Headers
		var ip4 gplayers.IPv4
		var ip6 gplayers.IPv6
		var udp gplayers.UDP
		var pay gopacket.Payload
		parser := gopacket.NewDecodingLayerParser(first, &ip4, &ip6, &udp, &pay)
		h.Link(parser)
		var got []gopacket.LayerType
		if err := parser.DecodeLayers(b[:len(b)-9], &got); err != nil || !parser.Truncated || h.ICRC.CRC != 0 || h.RETH.DMALen != 0x41424344 {
			t.Errorf("%v: %v, truncated %v, ICRC %#x", e, err, parser.Truncated, h.ICRC.CRC)
		}
	}
}

// TestStandAlone: layers that no Headers joins decode the opcodes with one extension header.
func TestStandAlone(t *testing.T) {
	b, first := build(packet.RoCEv2IPv4, packet.Op(packet.RC, packet.Acknowledge), 0)
	var ip4 gplayers.IPv4
	var udp gplayers.UDP
	var bth layers.BTH
	var aeth layers.AETH
	var icrc layers.ICRC
	parser := gopacket.NewDecodingLayerParser(first, &ip4, &udp, &bth, &aeth, &icrc)
	var got []gopacket.LayerType
	if err := parser.DecodeLayers(b, &got); err != nil || len(got) != 5 || aeth.MSN != 0x111213 || bth.PSN != 0x345678 || icrc.CRC == 0 {
		t.Errorf("%v, %v, %+v", got, err, aeth)
	}
}

func TestRaw(t *testing.T) {
	b := []byte{0x70, 0x20, 0, 5, 0, 5, 0, 6, 0, 9, 0x88, 0xB5, 1, 2, 3, 4, 5, 6, 7, 8, 0xAA, 0xBB}
	p := gopacket.NewPacket(b, layers.LinkTypeInfiniBand, gopacket.DecodeOptions{SkipDecodeRecovery: true})
	r, ok := p.Layer(layers.LayerTypeRWH).(*layers.RWH)
	if !ok || r.EtherType != 0x88B5 || r.Reserved != 9 || len(r.Payload) != 8 {
		t.Errorf("%v", p)
	}
	if f := p.LinkLayer().LinkFlow(); f.String() != "lid:6->lid:5" {
		t.Errorf("flow %v", f)
	}
}

// TestRealCaptures holds the layers of every native and RoCEv1 packet against package packet.
func TestRealCaptures(t *testing.T) {
	dir := os.Getenv("IBWITNESS_CAPTURES")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "captures")
	}
	for _, name := range []string{"public/linlinw5__rping.pcap", "public/scapy-hexcap__cx4lx-cnp_rocev1-write-ack.pcap", "rxe/cm_rping_ipv6.pcap"} {
		file, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Skipf("no real captures in %s: set IBWITNESS_CAPTURES to their folder", dir)
		}
		rdma := 0
		for b := file[24:]; len(b) > 16; {
			n, wire := int(binary.LittleEndian.Uint32(b[8:])), int(binary.LittleEndian.Uint32(b[12:]))
			data := b[16 : 16+n]
			b = b[16+n:]
			p := gopacket.NewPacket(data, gplayers.LinkTypeEthernet, gopacket.DecodeOptions{SkipDecodeRecovery: true})
			var q packet.Packet
			eth := p.LinkLayer().(*gplayers.Ethernet)
			ok := eth.EthernetType == layers.EtherTypeRoCEv1 && packet.DecodeGRH(&q, data[14:], wire-14) ||
				packet.DecodeIP(&q, data[14:], wire-14)
			bth, is := p.Layer(layers.LayerTypeBTH).(*layers.BTH)
			if ok != is {
				t.Fatalf("%s: RDMA %v and %v: %v", name, ok, is, p)
			}
			if !ok {
				continue
			}
			rdma++
			var pay []byte
			if a := p.Layer(gopacket.LayerTypePayload); a != nil && q.Has&packet.HasCNP == 0 {
				pay = a.LayerContents()
			} else if q.Has&packet.HasCNP != 0 {
				pay = p.Layer(layers.LayerTypeCNP).LayerContents()
			}
			icrc := p.Layer(layers.LayerTypeICRC).(*layers.ICRC)
			if bth.PSN != q.PSN || bth.Opcode != q.Opcode || bth.DestQP != q.DestQP || icrc.CRC != q.ICRC || !bytes.Equal(pay, q.Payload) {
				t.Errorf("%s: %v differs from %+v", name, p, q)
			}
		}
		if rdma == 0 {
			t.Errorf("%s: no RDMA", name)
		}
	}
}

func FuzzLayers(f *testing.F) {
	firsts := []gopacket.LayerType{layers.LayerTypeLRH, layers.LayerTypeGRH, layers.LayerTypeBTH}
	for i, e := range []packet.Encap{packet.Native, packet.RoCEv1} {
		for _, op := range []packet.Opcode{4, 0x0B, 0x12, 0x1C, 0x4B, 0x64, 0xAB, 0x81} {
			b, _ := build(e, op, 21)
			f.Add(b, uint8(i))
			f.Add(b[40:], uint8(2))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, first uint8) {
		typ := firsts[int(first)%len(firsts)]
		// After a raw header come gopacket's own decoders, some of which panic (ESP of 2 bytes) and count on the recovery.
		raw := typ == layers.LayerTypeLRH && len(b) > 1 && b[1]&2 == 0
		p := gopacket.NewPacket(b, typ, gopacket.DecodeOptions{SkipDecodeRecovery: !raw})
		var h layers.Headers
		var pay gopacket.Payload
		parser := gopacket.NewDecodingLayerParser(typ, &pay)
		parser.IgnorePanic, parser.IgnoreUnsupported = true, true
		h.Link(parser)
		var got []gopacket.LayerType
		err := parser.DecodeLayers(b, &got)
		if (err != nil) != (p.ErrorLayer() != nil) && !raw {
			t.Fatalf("parser %v, packet %v", err, p.ErrorLayer())
		}
		for _, l := range p.Layers() {
			_ = fmt.Sprint(l)
		}
	})
}
