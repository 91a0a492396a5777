package passive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// open finds a capture in testdata, else in the collection of captures that IBWITNESS_CAPTURES names.
func open(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", filepath.Base(name)))
	if err == nil {
		return b
	}
	dir := os.Getenv("IBWITNESS_CAPTURES")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "captures")
	}
	b, err = os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("%s is not there; set IBWITNESS_CAPTURES to the folder of the captures", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// walk calls see for each RDMA packet of a classic little-endian pcap of Ethernet or ERF frames.
func walk(t testing.TB, b []byte, see func(p *packet.Packet)) {
	t.Helper()
	unit := int64(1000)
	switch binary.LittleEndian.Uint32(b) {
	case 0xa1b2c3d4:
	case 0xa1b23c4d:
		unit = 1
	default:
		t.Fatal("not a little-endian pcap")
	}
	link := binary.LittleEndian.Uint32(b[20:])
	frame := uint64(0)
	for b = b[24:]; len(b) >= 16; {
		n := binary.LittleEndian.Uint32(b[8:])
		p := &packet.Packet{Time: int64(binary.LittleEndian.Uint32(b))*1e9 + int64(binary.LittleEndian.Uint32(b[4:]))*unit}
		f, wire := b[16:16+n], int(binary.LittleEndian.Uint32(b[12:]))
		b = b[16+n:]
		frame++
		p.Frame = frame
		ok := false
		switch link {
		case 1:
			switch binary.BigEndian.Uint16(f[12:]) {
			case 0x0800, 0x86dd:
				ok = packet.DecodeIP(p, f[14:], wire-14)
			}
		case 197:
			off := 16
			for more := f[8]; more&0x80 != 0; more = f[off-8] {
				off += 8
			}
			ok = f[8]&0x7F == 21 && packet.DecodeInfiniBand(p, f[off:], int(binary.BigEndian.Uint16(f[14:])))
		default:
			t.Fatalf("link type %d", link)
		}
		if ok {
			see(p)
		}
	}
}

// line writes a fact as the tests below expect it.
func line(f *Fact) string {
	ends := fmt.Sprintf("%v/0x%x %v/0x%x", f.Ends[0].Addr, f.Ends[0].QPN, f.Ends[1].Addr, f.Ends[1].QPN)
	switch f.Kind {
	case Connected:
		a, b := &f.Ends[0].Attr, &f.Ends[1].Attr
		return fmt.Sprintf("%d connected %v %v %s psn %v %v mtu %d asked %d", f.Frame, f.Service, f.ServiceID, ends, a.SQPSN, b.SQPSN, a.PMTU, f.Asked)
	case Resolved:
		return fmt.Sprintf("%d resolved %v %s qkey 0x%x", f.Frame, f.ServiceID, ends, f.Ends[1].Attr.QKey)
	case Rejected:
		return fmt.Sprintf("%d rejected %s: %v", f.Frame, ends, f.Reason)
	}
	return fmt.Sprintf("%d %v %s", f.Frame, f.Kind, ends)
}

// TestCaptures: what CM says in real captures, and that the traffic keeps to it. The QPNs are those that the programs printed.
func TestCaptures(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"rxe/cm_rc_atomic.pcap", `
2 connected RC TCP port 18515 10.77.0.1/0x51 10.77.0.2/0x56 psn 0x359761 0x55c30e mtu 4096 asked 1
25 connected RC TCP port 18515 10.77.0.1/0x52 10.77.0.2/0x57 psn 0x77f490 0xa62a95 mtu 4096 asked 24
171 disconnected 10.77.0.1/0x52 10.77.0.2/0x57
173 disconnected 10.77.0.1/0x51 10.77.0.2/0x56`},
		{"rxe/cm_rc_send.pcap", `
2 connected RC TCP port 18515 10.77.0.1/0x44 10.77.0.2/0x4d psn 0xcff4d3 0xd3c182 mtu 4096 asked 1
25 connected RC TCP port 18515 10.77.0.1/0x45 10.77.0.2/0x4e psn 0xe5303a 0x456480 mtu 4096 asked 24
151 disconnected 10.77.0.1/0x45 10.77.0.2/0x4e
153 disconnected 10.77.0.1/0x44 10.77.0.2/0x4d`},
		{"rxe/cm_rc_write.pcap", `
2 connected RC TCP port 18515 10.77.0.1/0x46 10.77.0.2/0x4f psn 0xa54e2b 0xda8bf2 mtu 4096 asked 1
27 connected RC TCP port 18515 10.77.0.1/0x47 10.77.0.2/0x50 psn 0x5d9584 0x7fa8cf mtu 4096 asked 26
173 disconnected 10.77.0.1/0x47 10.77.0.2/0x50
175 disconnected 10.77.0.1/0x46 10.77.0.2/0x4f`}, // 176: the DREQs cross
		{"rxe/cm_rc_write_4qp.pcap", `
4 connected RC TCP port 18515 10.77.0.1/0x4c 10.77.0.2/0x55 psn 0x5bbef0 0x132b3a mtu 4096 asked 3
30 rejected 10.77.0.1/0x4d 10.77.0.2/0x0: invalid service ID
31 rejected 10.77.0.1/0x4e 10.77.0.2/0x0: invalid service ID
32 rejected 10.77.0.1/0x4f 10.77.0.2/0x0: invalid service ID
33 rejected 10.77.0.1/0x50 10.77.0.2/0x0: invalid service ID
34 disconnected 10.77.0.1/0x4c 10.77.0.2/0x55`},
		{"rxe/cm_rping.pcap", `
2 connected RC TCP port 7174 10.77.0.1/0x53 10.77.0.2/0x58 psn 0xb8e120 0x150027 mtu 4096 asked 1
244 disconnected 10.77.0.1/0x53 10.77.0.2/0x58`},
		{"rxe/cm_rping_ipv6.pcap", `
6 connected RC TCP port 7174 fd77::1/0x55 fd77::2/0x5a psn 0x553076 0x44da3a mtu 4096 asked 3
128 disconnected fd77::1/0x55 fd77::2/0x5a`},
		{"rxe/cm_ucmatose.pcap", `
3 connected RC TCP port 7471 10.77.0.1/0x56 10.77.0.2/0x5b psn 0x4ad0b9 0xd6cb32 mtu 4096 asked 1
7 connected RC TCP port 7471 10.77.0.1/0x57 10.77.0.2/0x5c psn 0x1bb8cc 0x44608a mtu 4096 asked 2
9 connected RC TCP port 7471 10.77.0.1/0x58 10.77.0.2/0x5d psn 0x3eb8d1 0x837ca9 mtu 4096 asked 4
10 connected RC TCP port 7471 10.77.0.1/0x59 10.77.0.2/0x5e psn 0x767382 0x3e53f0 mtu 4096 asked 5
173 disconnected 10.77.0.1/0x56 10.77.0.2/0x5b
174 disconnected 10.77.0.1/0x57 10.77.0.2/0x5c
175 disconnected 10.77.0.1/0x58 10.77.0.2/0x5d
176 disconnected 10.77.0.1/0x59 10.77.0.2/0x5e`},
		{"rxe/cm_ud_send.pcap", `
4 connected RC TCP port 18515 10.77.0.1/0x4a 10.77.0.2/0x53 psn 0xf1960f 0xba5dd9 mtu 4096 asked 3
27 resolved UDP port 18515 10.77.0.1/0x0 10.77.0.2/0x54 qkey 0x1234567
102 disconnected 10.77.0.1/0x4a 10.77.0.2/0x53`},
		{"rxe/cm_udaddy_sidr.pcap", `
5 resolved UDP port 7174 10.77.0.1/0x0 10.77.0.2/0x5f qkey 0x1234567
6 resolved UDP port 7174 10.77.0.1/0x0 10.77.0.2/0x60 qkey 0x1234567`},
		{"rxe/cm_mckey_multicast.pcap", ``},
		{"public/linlinw5__rdma_cm.pcap", `
2 connected RC TCP port 18515 10.1.16.62/0x3d 10.1.16.61/0x3b psn 0x727d6d 0x7cc204 mtu 1024 asked 1
25 connected RC TCP port 18515 10.1.16.62/0x3e 10.1.16.61/0x3c psn 0x7d2388 0xaf834f mtu 1024 asked 24
91 disconnected 10.1.16.62/0x3e 10.1.16.61/0x3c
95 disconnected 10.1.16.62/0x3d 10.1.16.61/0x3b`},
		{"public/linlinw5__rping.pcap", `
2 connected RC TCP port 7174 10.1.16.62/0x2c 10.1.16.61/0x2b psn 0xfebd3d 0x003da6 mtu 1024 asked 1
64 disconnected 10.1.16.62/0x2c 10.1.16.61/0x2b`},
		{"public/wireshark-wiki__infiniband.pcap", `
8 connected RC service 0x1000000000000404 lid:4/0x870408 lid:1/0xfc0407 psn 0xd40a55 0x000000 mtu 2048 asked 7
28 connected RC service 0x1000000000000405 lid:2/0x6c004a lid:4/0x890407 psn 0xbd15cb 0x000000 mtu 2048 asked 27
35 connected RC service 0x1000000000000048 lid:4/0x890408 lid:2/0x6c004b psn 0x732328 0x000000 mtu 2048 asked 34`},
	} {
		t.Run(filepath.Base(c.name), func(t *testing.T) {
			a := New(Options{})
			var got []string
			started := map[wqe.QP]bool{}
			walk(t, open(t, c.name), func(p *packet.Packet) {
				for _, f := range a.Management(p) {
					got = append(got, line(&f))
				}
				if s := p.Opcode.Service(); p.Has&packet.HasBTH == 0 || s != packet.RC {
					return
				}
				// Rule CM-REQ-002: the first request of each side has the PSN that the other side's CM message gave.
				q := wqe.QP{Addr: p.Dst, QPN: p.DestQP}
				attr, err := a.QPAttr(t.Context(), q)
				if err != nil || attr.DestAddr != p.Src {
					t.Errorf("frame %d: QP 0x%x at %v is not known: %v", p.Frame, p.DestQP, p.Dst, err)
					return
				}
				peer, err := a.QPAttr(t.Context(), wqe.QP{Addr: attr.DestAddr, QPN: attr.DestQPN})
				if err != nil || peer.DestQPN != p.DestQP || peer.SQPSN != attr.RQPSN || peer.RQPSN != attr.SQPSN {
					t.Errorf("frame %d: QP 0x%x and its peer 0x%x disagree: %+v %+v %v", p.Frame, p.DestQP, attr.DestQPN, attr, peer, err)
				}
				if p.Info().Request && !started[q] {
					started[q] = true
					if p.PSN != attr.RQPSN {
						t.Errorf("frame %d: first request to QP 0x%x has PSN %v, CM said %v", p.Frame, p.DestQP, p.PSN, attr.RQPSN)
					}
				}
				if uint32(p.PayloadLen) > attr.PMTU {
					t.Errorf("frame %d: %d bytes with a path MTU of %d", p.Frame, p.PayloadLen, attr.PMTU)
				}
			})
			want := strings.TrimPrefix(c.want, "\n")
			if s := strings.Join(got, "\n"); s != want {
				t.Errorf("facts:\n%s\nwant:\n%s", s, want)
			}
			if s := a.Stats(); s.Unreadable+s.Unmatched+s.Unjudged+s.Evicted != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestCutCaptures: with a snap length, what was captured of a REQ and REP still tells. 0 means that the frame stays whole.
func TestCutCaptures(t *testing.T) {
	for snap, want := range map[int]struct {
		connected int
		known     qp.Known
	}{
		0:   {2, everything},
		182: {2, everything},
		181: {2, everything &^ (qp.KnowsTimeout | qp.KnowsTClass | qp.KnowsGRH)},
		138: {2, everything &^ (qp.KnowsTimeout | qp.KnowsTClass | qp.KnowsGRH)},
		137: {0, 0},
		60:  {0, 0},
	} {
		a := New(Options{})
		var connected int
		var known qp.Known
		walk(t, open(t, "rxe/cm_rc_atomic.pcap"), func(p *packet.Packet) {
			if snap > 0 && p.DestQP == 1 {
				cut := *p
				if !packet.DecodeIP(&cut, p.Data[:min(snap-14, len(p.Data))], len(p.Data)) {
					return
				}
				p = &cut
			}
			for _, f := range a.Management(p) {
				if f.Kind == Connected {
					connected++
					known = f.Ends[1].Attr.Known
				}
			}
		})
		if connected != want.connected || known != want.known {
			t.Errorf("snap length %d: %d connections, %v known; want %d, %v", snap, connected, known, want.connected, want.known)
		}
		if s := a.Stats(); (s.Unreadable > 0) != (want.connected == 0) {
			t.Errorf("snap length %d: %+v", snap, s)
		}
	}
}

// everything is what a passive end of RC on RoCE gets to know.
const everything = qp.KnowsPMTU | qp.KnowsSQPSN | qp.KnowsRQPSN | qp.KnowsDestQPN | qp.KnowsDestAddr |
	qp.KnowsTimeout | qp.KnowsRetryCnt | qp.KnowsRNRRetry | qp.KnowsMaxRdAtomic | qp.KnowsMaxDestRdAtomic |
	qp.KnowsPKey | qp.KnowsTClass | qp.KnowsGRH | qp.KnowsCredits
