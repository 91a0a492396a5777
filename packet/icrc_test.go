package packet_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"path/filepath"
	"testing"

	"ibwitness/packet"
)

// referenceICRC is table T6 word for word: what it returns compares with Packet.ICRC.
func referenceICRC(e packet.Encap, b []byte, bth int) uint32 {
	end, grh := 0, e == packet.RoCEv1
	switch e {
	case packet.RoCEv2IPv4:
		end = int(binary.BigEndian.Uint16(b[2:]))
	case packet.RoCEv2IPv6, packet.RoCEv1:
		end = 40 + int(binary.BigEndian.Uint16(b[4:]))
	case packet.Native:
		end = int(binary.BigEndian.Uint16(b[4:])&0x7FF) * 4
		grh = b[1]&3 == 3
	}
	return referenceMasked(e, b[:end], bth, grh)
}

// referenceMasked is referenceICRC for bytes that end with the ICRC.
func referenceMasked(e packet.Encap, b []byte, bth int, grh bool) uint32 {
	m := bytes.Clone(b[:len(b)-4])
	g := m
	switch {
	case e == packet.RoCEv2IPv4:
		m[1], m[8], m[10], m[11] = 0xFF, 0xFF, 0xFF, 0xFF
	case e == packet.Native && grh:
		copy(m, bytes.Repeat([]byte{0xFF}, 8))
		g = m[8:]
	case e == packet.Native:
		m[0] |= 0xF0
	}
	if e == packet.RoCEv2IPv6 || grh {
		g[0] |= 0x0F
		g[1], g[2], g[3], g[7] = 0xFF, 0xFF, 0xFF, 0xFF
	}
	if e == packet.RoCEv2IPv4 || e == packet.RoCEv2IPv6 {
		m[bth-2], m[bth-1] = 0xFF, 0xFF // UDP checksum
	}
	m[bth+4] = 0xFF
	if e != packet.Native {
		m = append(bytes.Repeat([]byte{0xFF}, 8), m...)
	}
	return crc32.ChecksumIEEE(m)
}

// TestICRCCoversAll flips every bit of a packet: those of table T6 must not matter, all others must.
func TestICRCCoversAll(t *testing.T) {
	for _, e := range encaps {
		for _, grh := range []bool{false, true} {
			if grh && e != packet.Native {
				continue
			}
			p := filled(e, grh, packet.Op(packet.RC, packet.WriteOnly), 61)
			whole := p.Append(nil)
			bth := decode(t, e, whole, len(whole)).BTHOff
			want := referenceICRC(e, whole, bth)
			for bit := range (len(whole) - 6) * 8 {
				b := bytes.Clone(whole)
				b[bit/8] ^= 0x80 >> (bit % 8)
				var q packet.Packet
				if !decodeInto(&q, e, b, len(b)) || q.Flaws != 0 || q.BTHOff != bth || q.Encap != e || q.Has&packet.HasICRC == 0 ||
					q.PayloadLen+int(q.PadCnt) != 64 {
					continue // a length, a version or the like: not the same packet any more
				}
				masked := referenceICRC(e, b, bth) == want
				if q.CheckICRC(); (q.ICRCState == packet.CRCGood) != masked {
					t.Errorf("%v, GRH %v, bit %d: ICRC state %d, masked %v", e, grh, bit, q.ICRCState, masked)
				}
			}
		}
	}
}

// TestICRCAtUDPLength: where IP and UDP lengths differ, the ICRC tells which of them is the truth.
func TestICRCAtUDPLength(t *testing.T) {
	for _, e := range encaps[2:] {
		p := filled(e, false, packet.Op(packet.RC, packet.WriteOnly), 61)
		p.PayLen += 4
		p.SealIPv4()
		p.SealICRC()
		b := append(p.Append(nil), 0, 0, 0, 0)
		q := decode(t, e, b, len(b))
		if q.Flaws != packet.FlawUDPLength || q.PayloadLen != 65 {
			t.Fatalf("%v: flaws %b, PayloadLen %d", e, q.Flaws, q.PayloadLen)
		}
		q.Time, q.Frame, q.Tap, q.Way = 1, 2, 3, packet.WayOut
		q.CheckICRC()
		if q.ICRCState != packet.CRCGood || q.Flaws != packet.FlawUDPLength|packet.FlawIPLength ||
			q.PayloadLen != 61 || !bytes.Equal(q.Payload, p.Payload) || q.VA != p.VA || q.Src != p.Src || q.ICRC != p.ICRC {
			t.Errorf("%v: ICRC state %d, flaws %b, PayloadLen %d", e, q.ICRCState, q.Flaws, q.PayloadLen)
		}
		if q.Time != 1 || q.Frame != 2 || q.Tap != 3 || q.Way != packet.WayOut {
			t.Errorf("%v: what the fabric agent set is gone", e)
		}
		b[len(b)-9] ^= 1
		q = decode(t, e, b, len(b))
		if q.CheckICRC(); q.ICRCState != packet.CRCBad || q.PayloadLen != 65 {
			t.Errorf("%v: damaged: ICRC state %d, PayloadLen %d", e, q.ICRCState, q.PayloadLen)
		}
	}
}

func TestICRCLongHeaders(t *testing.T) {
	plain := sealed(packet.RoCEv2IPv6, sendOnly, 700)
	for _, units := range []int{0, 1, 30, 58, 59, 60, 100, 255} {
		ext := make([]byte, 8+8*units)
		ext[0], ext[1] = 17, byte(units)
		b := append(append(bytes.Clone(plain[:40]), ext...), plain[40:]...)
		b[6] = 60
		binary.BigEndian.PutUint16(b[4:], uint16(len(b)-40))
		p := decode(t, packet.RoCEv2IPv6, b, len(b))
		want := referenceICRC(packet.RoCEv2IPv6, b, p.BTHOff)
		binary.LittleEndian.PutUint32(b[len(b)-4:], want)
		p = decode(t, packet.RoCEv2IPv6, b, len(b))
		if p.CheckICRC(); p.ICRCState != packet.CRCGood {
			t.Errorf("%d bytes of extension headers: ICRC state %d", len(ext), p.ICRCState)
		}
	}
}

func TestCheckLeavesFrame(t *testing.T) {
	for _, n := range []int{0, 60, 4096} {
		for _, e := range encaps {
			b := sealed(e, sendOnly, n)
			before := bytes.Clone(b)
			p := decode(t, e, b, len(b))
			p.CheckICRC()
			p.CheckVCRC()
			if !bytes.Equal(b, before) {
				t.Errorf("%v: the frame was modified", e)
			}
		}
	}
}

// TestCheckNotDecoded: a packet that was built, not decoded, has nothing to check.
func TestCheckNotDecoded(t *testing.T) {
	p := filled(packet.Native, true, sendOnly, 4)
	p.CheckICRC()
	p.CheckVCRC()
	if p.ICRCState != packet.CRCNotJudged || p.VCRCState != packet.CRCNotJudged {
		t.Errorf("ICRC state %d, VCRC state %d", p.ICRCState, p.VCRCState)
	}
	for _, has := range []packet.Has{0, packet.HasICRC, packet.HasVCRC, packet.HasICRC | packet.HasVCRC | packet.HasLRH, packet.HasBTH | packet.HasICRC} {
		q := packet.Packet{Has: has}
		q.SealICRC()
		q.CheckICRC()
	}
}

// TestVCRCDamage: the VCRC covers every bit of the packet.
func TestVCRCDamage(t *testing.T) {
	whole := sealed(packet.Native, sendOnly, 21)
	for bit := range len(whole) * 8 {
		b := bytes.Clone(whole)
		b[bit/8] ^= 1 << (bit % 8)
		var p packet.Packet
		packet.DecodeInfiniBand(&p, b, len(b))
		if p.CheckVCRC(); p.VCRCState == packet.CRCGood {
			t.Errorf("bit %d: VCRC good", bit)
		}
	}
}

// TestNativeVector: the first frame of a real capture, by its figures.
func TestNativeVector(t *testing.T) {
	file := filepath.Join(capturesDir(t), "public", "lkml-nfsrdma-2021-02-18__sniffer.pcap")
	walkPcap(t, file, func(frame int, p *packet.Packet) {
		if frame != 1 {
			return
		}
		if p.ICRC != 0x659464c5 || p.VCRC != 0x39c0 || p.DLID != 0x18 || p.SLID != 8 || p.PktLen != 0x3F || p.Opcode != sendOnly || !p.MigReq {
			t.Errorf("ICRC %#x, VCRC %#x, DLID %d, SLID %d, PktLen %d, %v", p.ICRC, p.VCRC, p.DLID, p.SLID, p.PktLen, p.Opcode)
		}
	})
}
