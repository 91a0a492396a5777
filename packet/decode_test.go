package packet_test

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"ibwitness/packet"
)

// stale is a packet in which every field that Decode sets is set.
func stale() packet.Packet {
	var p packet.Packet
	b := unsafe.Slice((*byte)(unsafe.Pointer(&p)), unsafe.Offsetof(p.Payload))
	for i := range b {
		b[i] = 1
	}
	p.Payload, p.Pad, p.Data = []byte{1}, []byte{1}, []byte{1}
	return p
}

// decode decodes by encapsulation, into a packet full of another packet's fields.
func decode(t testing.TB, e packet.Encap, b []byte, wire int) *packet.Packet {
	t.Helper()
	p, q := stale(), packet.Packet{}
	if !decodeInto(&p, e, b, wire) || !decodeInto(&q, e, b, wire) {
		t.Fatalf("not decoded: %x", b)
	}
	q.Time, q.Frame, q.Tap, q.Way, q.Copy, q.Station, q.Source = p.Time, p.Frame, p.Tap, p.Way, p.Copy, p.Station, p.Source
	if !reflect.DeepEqual(q, p) {
		t.Fatalf("stale fields are left (-want +got):\n%s", cmp.Diff(q, p))
	}
	return &p
}

func decodeInto(p *packet.Packet, e packet.Encap, b []byte, wire int) bool {
	switch e {
	case packet.Native:
		return packet.DecodeInfiniBand(p, b, wire)
	case packet.RoCEv1:
		return packet.DecodeGRH(p, b, wire)
	}
	return packet.DecodeIP(p, b, wire)
}

var encaps = []packet.Encap{packet.Native, packet.RoCEv1, packet.RoCEv2IPv4, packet.RoCEv2IPv6}

const sendOnly = packet.Opcode(0x04)

func TestPaddedFrame(t *testing.T) {
	for _, e := range encaps {
		b := sealed(e, packet.Op(packet.RC, packet.Acknowledge), 0)
		want := decode(t, e, b, len(b))
		got := decode(t, e, append(bytes.Clone(b), make([]byte, 22)...), len(b)+22)
		for _, p := range []*packet.Packet{want, got} {
			if p.CheckICRC(); p.ICRCState != packet.CRCGood || p.Flaws != 0 {
				t.Errorf("%v: ICRC state %d, flaws %b", e, p.ICRCState, p.Flaws)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%v: padding and FCS change the packet:\n%s", e, d)
		}
	}
}

func TestCutFrame(t *testing.T) {
	for _, e := range encaps {
		whole := sealed(e, packet.Op(packet.RC, packet.WriteOnly), 61)
		w := decode(t, e, whole, len(whole))
		for n := range whole {
			var p packet.Packet
			if !decodeInto(&p, e, whole[:n:n], len(whole)) {
				if n >= 44 {
					t.Fatalf("%v cut to %d bytes: not decoded", e, n)
				}
				continue
			}
			p.CheckICRC()
			p.CheckVCRC()
			vcrcOnly := e == packet.Native && n >= len(whole)-2
			if !vcrcOnly && (!p.Cut || p.ICRCState != packet.CRCNotJudged) {
				t.Fatalf("%v cut to %d bytes: cut %v, ICRC state %d", e, n, p.Cut, p.ICRCState)
			}
			if vcrcOnly && (p.Cut || p.ICRCState != packet.CRCGood || p.VCRCState != packet.CRCNotJudged) {
				t.Fatalf("%v without VCRC: cut %v, ICRC state %d, VCRC state %d", e, p.Cut, p.ICRCState, p.VCRCState)
			}
			if p.Flaws != 0 {
				t.Fatalf("%v cut to %d bytes: flaws %b", e, n, p.Flaws)
			}
			if has := p.Has&packet.HasBTH != 0; has != (n >= w.BTHOff+12) {
				t.Fatalf("%v cut to %d bytes: BTH %v", e, n, has)
			}
			if has := p.Has&packet.HasRETH != 0; has != (n >= w.BTHOff+28) {
				t.Fatalf("%v cut to %d bytes: RETH %v", e, n, has)
			}
			if p.Has&packet.HasBTH == 0 {
				continue
			}
			if p.PayloadLen != 61 {
				t.Fatalf("%v cut to %d bytes: PayloadLen %d", e, n, p.PayloadLen)
			}
			if want := min(max(n-w.BTHOff-28, 0), 61); len(p.Payload) != want || !bytes.Equal(p.Payload, w.Payload[:want]) {
				t.Fatalf("%v cut to %d bytes: %d bytes of payload, want %d", e, n, len(p.Payload), want)
			}
		}
	}
}

// TestFlaws plants one lie each in the lengths and markings of a packet.
func TestFlaws(t *testing.T) {
	put16 := func(at, v int) func([]byte) []byte {
		return func(b []byte) []byte { binary.BigEndian.PutUint16(b[at:], uint16(v)); return b }
	}
	cut := func(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:n] } }
	// Lengths of a SEND Only with 8 bytes of payload: BTH 12, payload 8, ICRC 4.
	const transport = 24
	for _, c := range []struct {
		name  string
		encap packet.Encap
		lie   func([]byte) []byte
		want  packet.Flaw
		n     int // PayloadLen
	}{
		{"IPv4 length too long", packet.RoCEv2IPv4, put16(2, 28+transport+4), packet.FlawIPLength | packet.FlawUDPLength, 8},
		{"IPv4 length short of UDP", packet.RoCEv2IPv4, put16(2, 28+transport-4), packet.FlawUDPLength, 4},
		{"IPv4 length without room for the ICRC", packet.RoCEv2IPv4, put16(2, 28+15), packet.FlawUDPLength | packet.FlawShort, 0},
		{"IPv4 length without room for UDP", packet.RoCEv2IPv4, put16(2, 27), packet.FlawShort, 0},
		{"IPv4 length zero", packet.RoCEv2IPv4, put16(2, 0), packet.FlawShort, 0},
		{"UDP length too long", packet.RoCEv2IPv4, put16(24, 8+transport+4), packet.FlawUDPLength, 8},
		{"IPv4 first fragment", packet.RoCEv2IPv4, put16(6, 0x2000), packet.FlawFragment, 8},
		{"IPv4 fragment offset before a whole UDP datagram", packet.RoCEv2IPv4, put16(6, 1), 0, 8},
		{"frame ends early", packet.RoCEv2IPv4, cut(28 + 20), packet.FlawIPLength, 4},
		{"IPv6 length too long", packet.RoCEv2IPv6, put16(4, 8+transport+4), packet.FlawIPLength | packet.FlawUDPLength, 8},
		{"IPv6 length zero", packet.RoCEv2IPv6, put16(4, 0), packet.FlawShort, 0},
		{"GRH version 4", packet.RoCEv1, func(b []byte) []byte { b[0] = 0x40; return b }, packet.FlawVersion, 8},
		{"GRH next header", packet.RoCEv1, func(b []byte) []byte { b[6] = 17; return b }, packet.FlawNextHeader, 8},
		{"GRH length too long", packet.RoCEv1, put16(4, transport+4), packet.FlawIPLength, 8},
		{"GRH length short", packet.RoCEv1, put16(4, 12), packet.FlawShort, 0},
		{"LRH length too long", packet.Native, put16(4, 40), packet.FlawLRHLength, 8 + 2},
		{"LRH length short", packet.Native, put16(4, 4), packet.FlawShort, 0},
		{"LRH length zero", packet.Native, put16(4, 0), packet.FlawShort, 0},
		{"pad larger than the payload", packet.RoCEv2IPv4, func(b []byte) []byte {
			b[29] |= 0x30
			binary.BigEndian.PutUint16(b[2:], 28+12+2+4)
			binary.BigEndian.PutUint16(b[24:], 8+12+2+4)
			return b
		}, packet.FlawShort, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := c.lie(sealed(c.encap, sendOnly, 8))
			p := decode(t, c.encap, b, len(b))
			p.CheckICRC()
			p.CheckVCRC()
			if p.Flaws&^packet.FlawDiscard != c.want { // the header checksum is that from before the lie
				t.Errorf("flaws %b, want %b", p.Flaws, c.want)
			}
			if p.PayloadLen != c.n {
				t.Errorf("PayloadLen %d, want %d", p.PayloadLen, c.n)
			}
		})
	}
}

func TestNotRoCE(t *testing.T) {
	good := sealed(packet.RoCEv2IPv4, sendOnly, 8)
	for name, lie := range map[string]func([]byte){
		"TCP":             func(b []byte) { b[9] = 6 },
		"another port":    func(b []byte) { b[23]++ },
		"later fragment":  func(b []byte) { b[7], b[25] = 1, b[25]+4 },
		"middle fragment": func(b []byte) { b[6], b[7] = 0x20, 1 },
		"IP version 5":    func(b []byte) { b[0] = 0x55 },
		"IHL 4":           func(b []byte) { b[0] = 0x44 },
		"IHL past frame":  func(b []byte) { b[0] = 0x4F },
		"source port too": func(b []byte) { b[20], b[21], b[23] = 0x12, 0xB7, 0 },
	} {
		b := bytes.Clone(good)
		lie(b)
		var p packet.Packet
		if packet.DecodeIP(&p, b, len(b)) {
			t.Errorf("%s: taken for RoCEv2", name)
		}
	}
}

// resum sets the checksum of an IPv4 header.
func resum(h []byte) {
	h[10], h[11] = 0, 0
	sum := uint32(0)
	for i := 0; i < len(h); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(h[i:]))
	}
	for sum>>16 != 0 {
		sum = sum&0xFFFF + sum>>16
	}
	binary.BigEndian.PutUint16(h[10:], ^uint16(sum))
}

// TestDiscard: a packet that a host drops although its ICRC is right, as that does not cover the header checksum and the hop limit.
func TestDiscard(t *testing.T) {
	for _, e := range []packet.Encap{packet.RoCEv2IPv4, packet.RoCEv2IPv6} {
		hops := map[packet.Encap]int{packet.RoCEv2IPv4: 8, packet.RoCEv2IPv6: 7}[e]
		for name, c := range map[string]struct {
			lie  func(b []byte)
			want packet.Flaw
		}{
			"as it was sent":        {func([]byte) {}, 0},
			"header checksum":       {func(b []byte) { b[11] ^= 0x80 }, packet.FlawDiscard},
			"traffic class":         {func(b []byte) { b[1] ^= 0x10 }, packet.FlawDiscard},
			"checksum left to fill": {func(b []byte) { b[10], b[11] = 0, 0 }, 0},
			"hop limit 0":           {func(b []byte) { b[hops] = 0; resum(b[:20]) }, packet.FlawDiscard},
		} {
			b := sealed(e, sendOnly, 8)
			if e == packet.RoCEv2IPv6 && name != "as it was sent" {
				if name != "hop limit 0" {
					continue
				}
				c.lie = func(b []byte) { b[hops] = 0 }
			}
			c.lie(b)
			p := decode(t, e, b, len(b))
			if p.CheckICRC(); p.Flaws != c.want || p.ICRCState != packet.CRCGood {
				t.Errorf("%v, %s: flaws %b, want %b; ICRC state %d", e, name, p.Flaws, c.want, p.ICRCState)
			}
		}
	}
}

func TestIPv4Options(t *testing.T) {
	b := sealed(packet.RoCEv2IPv4, sendOnly, 8)
	b = append(append(bytes.Clone(b[:20]), 1, 1, 1, 0), b[20:]...)
	b[0] = 0x46
	b[3] += 4
	resum(b[:24])
	p := decode(t, packet.RoCEv2IPv4, b, len(b))
	if p.Flaws != 0 || p.IHL != 6 || p.BTHOff != 32 || p.PayloadLen != 8 {
		t.Errorf("flaws %b, IHL %d, BTH at %d, PayloadLen %d", p.Flaws, p.IHL, p.BTHOff, p.PayloadLen)
	}
	if p.CheckICRC(); p.ICRCState != packet.CRCGood || p.Flaws != packet.FlawInserted {
		t.Errorf("sealed before the options were inserted: ICRC state %d, flaws %b", p.ICRCState, p.Flaws)
	}
	p.SealIPv4()
	p.SealICRC()
	again := p.Append(nil)
	q := decode(t, packet.RoCEv2IPv4, again, len(again))
	if q.CheckICRC(); q.ICRCState != packet.CRCGood || q.ICRC != referenceICRC(packet.RoCEv2IPv4, again, 32) {
		t.Errorf("ICRC state %d", q.ICRCState)
	}
}

func TestIPv6Extensions(t *testing.T) {
	plain := sealed(packet.RoCEv2IPv6, sendOnly, 8)
	with := func(first byte, ext ...byte) []byte {
		b := append(append(bytes.Clone(plain[:40]), ext...), plain[40:]...)
		b[6] = first
		binary.BigEndian.PutUint16(b[4:], uint16(len(b)-40))
		return b
	}
	hop := []byte{60, 0, 1, 4, 0, 0, 0, 0}
	dst := []byte{17, 0, 1, 4, 0, 0, 0, 0}
	b := with(0, append(bytes.Clone(hop), dst...)...)
	p := decode(t, packet.RoCEv2IPv6, b, len(b))
	if p.Flaws != packet.FlawExtension || p.BTHOff != 64 || p.PayloadLen != 8 {
		t.Errorf("flaws %b, BTH at %d, PayloadLen %d", p.Flaws, p.BTHOff, p.PayloadLen)
	}
	if again := p.Append(nil); !bytes.Equal(again, b) {
		t.Errorf("appended\n%x, was\n%x", again, b)
	}
	if p.CheckICRC(); p.ICRCState != packet.CRCGood || p.Flaws != packet.FlawExtension|packet.FlawInserted {
		t.Errorf("sealed before the extensions were inserted: ICRC state %d, flaws %b", p.ICRCState, p.Flaws)
	}
	p.SealICRC()
	if p.ICRC != referenceICRC(packet.RoCEv2IPv6, b, 64) {
		t.Errorf("sealed ICRC %#x", p.ICRC)
	}
	q := decode(t, packet.RoCEv2IPv6, p.Append(nil), len(b))
	if q.CheckICRC(); q.ICRCState != packet.CRCGood || q.Flaws != packet.FlawExtension {
		t.Errorf("sealed with the extensions: ICRC state %d, flaws %b", q.ICRCState, q.Flaws)
	}
	q.Data[70]++ // damaged
	if q.CheckICRC(); q.ICRCState != packet.CRCBad {
		t.Errorf("damaged: ICRC state %d", q.ICRCState)
	}
	b = with(44, 17, 0, 0, 1, 0, 0, 0, 9)
	if p = decode(t, packet.RoCEv2IPv6, b, len(b)); p.Flaws != packet.FlawExtension|packet.FlawFragment {
		t.Errorf("first fragment: flaws %b", p.Flaws)
	}
	for _, b := range [][]byte{
		with(44, 17, 0, 0, 9, 0, 0, 0, 9),  // later fragment
		with(0, 6, 0, 1, 4, 0, 0, 0, 0),    // TCP after the options
		with(0, 17, 255, 1, 4, 0, 0, 0, 0), // options past the frame
	} {
		if packet.DecodeIP(new(packet.Packet), b, len(b)) {
			t.Errorf("taken for RoCEv2: %x", b)
		}
	}
}

// TestFragmentCountsWhole: the first fragment carries the lengths of the whole datagram, and no ICRC.
func TestFragmentCountsWhole(t *testing.T) {
	b := sealed(packet.RoCEv2IPv4, packet.Op(packet.RC, packet.SendMiddle), 1024)[:28+12+500]
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	b[6] = 0x20
	b = append(b, 0, 0, 0, 0) // FCS
	resum(b[:20])
	p := decode(t, packet.RoCEv2IPv4, b, len(b))
	p.CheckICRC()
	if p.Flaws != packet.FlawFragment || !p.Cut || p.PayloadLen != 1024 || len(p.Payload) != 500 || p.ICRCState != packet.CRCNotJudged {
		t.Errorf("flaws %b, cut %v, PayloadLen %d, %d bytes, ICRC state %d", p.Flaws, p.Cut, p.PayloadLen, len(p.Payload), p.ICRCState)
	}
}

// TestShortHeaders: a READ response without its AETH keeps what it has, and its ICRC proves who made it.
func TestShortHeaders(t *testing.T) {
	p := packet.Packet{Encap: packet.RoCEv2IPv4, Opcode: packet.Op(packet.RC, packet.SendMiddle), HopLmt: 64}
	p.Complete()
	p.Opcode = packet.Op(packet.RC, packet.AtomicAck)
	p.SealICRC()
	b := p.Append(nil)
	q := decode(t, packet.RoCEv2IPv4, b, len(b))
	q.CheckICRC()
	if q.Flaws != packet.FlawShort || q.Has&packet.HasAETH != 0 || q.ICRCState != packet.CRCGood {
		t.Errorf("flaws %b, has %b, ICRC state %d", q.Flaws, q.Has, q.ICRCState)
	}
	p.Payload = []byte{0x1F, 0, 0, 1} // an AETH, but no AtomicAckETH
	p.UDPLen, p.PayLen = p.UDPLen+4, p.PayLen+4
	p.SealIPv4()
	b = p.Append(nil)
	q = decode(t, packet.RoCEv2IPv4, b, len(b))
	if q.Flaws != packet.FlawShort || q.Has&packet.HasAETH == 0 || q.MSN != 1 || q.Has&packet.HasAtomicAckETH != 0 {
		t.Errorf("flaws %b, has %b, MSN %d", q.Flaws, q.Has, q.MSN)
	}
}

func TestCNP(t *testing.T) {
	for _, e := range encaps[2:] {
		b := sealed(e, packet.OpCNP, 0)
		p := decode(t, e, b, len(b))
		if p.Flaws != 0 || p.Has&packet.HasCNP == 0 || p.PayloadLen != 16 || len(p.Payload) != 16 {
			t.Errorf("%v: flaws %b, has %b, PayloadLen %d", e, p.Flaws, p.Has, p.PayloadLen)
		}
	}
	p := packet.Packet{Encap: packet.RoCEv2IPv4, Opcode: packet.OpCNP, Payload: make([]byte, 12)}
	p.Complete()
	b := p.Append(nil)
	if p := decode(t, packet.RoCEv2IPv4, b, len(b)); p.Flaws != packet.FlawShort || p.Has&packet.HasCNP != 0 || p.PayloadLen != 12 {
		t.Errorf("short CNP: flaws %b, has %b, PayloadLen %d", p.Flaws, p.Has, p.PayloadLen)
	}
}

func TestRaw(t *testing.T) {
	rwh := []byte{0x70, 0x20, 0, 5, 0, 5, 0, 6, 0, 9, 0x08, 0x00, 1, 2, 3, 4, 5, 6, 7, 8, 0xAA, 0xBB}
	p := decode(t, packet.Native, rwh, len(rwh))
	p.CheckICRC()
	p.CheckVCRC()
	if p.Has != packet.HasLRH|packet.HasRWH|packet.HasVCRC || p.EtherType != 0x0800 || p.RWHRes != 9 || p.PayloadLen != 8 ||
		p.ICRCState != packet.CRCNotJudged || p.VCRCState != packet.CRCBad || p.VL != 7 || p.SL != 2 || p.DLID != 5 || p.SLID != 6 {
		t.Errorf("%+v", *p)
	}
	if again := p.Append(nil); !bytes.Equal(again, rwh) {
		t.Errorf("appended %x", again)
	}
	ip := append([]byte{0, 1, 0, 5, 0, 12, 0, 6, 0x60, 0, 0, 0, 0, 0, 59, 1}, make([]byte, 32)...)
	p = decode(t, packet.Native, ip, len(ip))
	if p.Has != packet.HasLRH|packet.HasIPv6 || p.NxtHdr != 59 || p.Flaws != 0 || p.PayloadLen != 0 {
		t.Errorf("has %b, NxtHdr %d, flaws %b, PayloadLen %d", p.Has, p.NxtHdr, p.Flaws, p.PayloadLen)
	}
	if again := p.Append(nil); !bytes.Equal(again, ip) {
		t.Errorf("appended %x", again)
	}
}

func TestUndefinedOpcode(t *testing.T) {
	for _, op := range []packet.Opcode{0x15, 0xC3, 0xFF, 0x80} {
		b := sealed(packet.RoCEv2IPv4, op, 7)
		p := decode(t, packet.RoCEv2IPv4, b, len(b))
		if p.Flaws != 0 || p.PayloadLen != 7 || p.PadCnt != 1 {
			t.Errorf("%v: flaws %b, PayloadLen %d, PadCnt %d", op, p.Flaws, p.PayloadLen, p.PadCnt)
		}
	}
}

func TestDecodeDoesNotAllocate(t *testing.T) {
	for _, e := range encaps {
		b := sealed(e, packet.Op(packet.RC, packet.WriteOnlyImm), 61)
		var p packet.Packet
		var c packet.Checker
		n := testing.AllocsPerRun(100, func() {
			decodeInto(&p, e, b, len(b))
			c.ICRC(&p)
			p.CheckVCRC()
			_ = p.Trace()
		})
		if n != 0 {
			t.Errorf("%v: %v allocations", e, n)
		}
	}
}
