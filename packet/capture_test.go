package packet_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"ibwitness/packet"
)

// capturesDir is the folder with the real captures.
func capturesDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("IBWITNESS_CAPTURES")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "captures")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no real captures in %s: set IBWITNESS_CAPTURES to their folder", dir)
	}
	return dir
}

// captureFiles lists the captures of one of the two folders.
func captureFiles(t testing.TB, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(capturesDir(t), folder, "*.pcap"))
	if err != nil || len(files) == 0 {
		t.Skipf("no captures in %s/%s", capturesDir(t), folder)
	}
	return files
}

// walkPcap decodes every frame of a classic pcap file and calls f for those that are InfiniBand or RoCE.
func walkPcap(t testing.TB, file string, f func(frame int, p *packet.Packet)) (frames int) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) < 24 {
		t.Fatalf("%s: no pcap file", file)
	}
	var order binary.ByteOrder = binary.LittleEndian
	if b[0] == 0xA1 {
		order = binary.BigEndian
	}
	link := order.Uint32(b[20:]) & 0xFFFF
	b = b[24:]
	var p packet.Packet
	for len(b) >= 16 {
		n, wire := int(order.Uint32(b[8:])), int(order.Uint32(b[12:]))
		if len(b) < 16+n {
			break
		}
		data := b[16 : 16+n : 16+n]
		b = b[16+n:]
		frames++
		if decodeFrame(t, &p, link, data, wire) {
			f(frames, &p)
		}
	}
	return frames
}

func decodeFrame(t testing.TB, p *packet.Packet, link uint32, b []byte, wire int) bool {
	switch link {
	case 1:
		at := 14
		for at < len(b) && binary.BigEndian.Uint16(b[at-2:]) == 0x8100 {
			at += 4
		}
		if at > len(b) {
			return false
		}
		switch binary.BigEndian.Uint16(b[at-2:]) {
		case 0x0800, 0x86DD:
			return packet.DecodeIP(p, b[at:], wire-at)
		case 0x8915:
			return packet.DecodeGRH(p, b[at:], wire-at)
		}
		return false
	case 197: // ERF: a header of 16 bytes, type 21 InfiniBand, bit 7 of the type says that extension headers follow
		if len(b) < 16 || b[8]&0x7F != 21 {
			return false
		}
		wlen, at, more := int(binary.BigEndian.Uint16(b[14:])), 16, b[8]&0x80 != 0
		for more && at+8 <= len(b) {
			more = b[at]&0x80 != 0
			at += 8
		}
		b = b[at:]
		return packet.DecodeInfiniBand(p, b[:min(len(b), wlen)], wlen)
	}
	t.Fatalf("link type %d", link)
	return false
}

// TestRealCaptures holds every packet of every capture against its ICRC and VCRC. The figures are those of the captures' index.
func TestRealCaptures(t *testing.T) {
	wrong := map[string]int{
		"netem_corrupt1_rc_send.pcap":          8,
		"netem_corrupt1_rc_write.pcap":         4,
		"netem_corrupt2_rc_mixed_sidecar.pcap": 24,
	}
	rdma := map[string]int{
		"linlinw5__pingpong_rc.pcap": 20, "linlinw5__pingpong_uc.pcap": 10, "linlinw5__pingpong_ud.pcap": 10,
		"linlinw5__rdma_atomic_bw.pcap": 10, "linlinw5__rdma_cm.pcap": 96, "linlinw5__rdma_read_bw.pcap": 20,
		"linlinw5__rdma_read_lat.pcap": 10, "linlinw5__rdma_send_bw.pcap": 20, "linlinw5__rdma_write_bw.pcap": 20,
		"linlinw5__rdma_write_lat.pcap": 20, "linlinw5__rping.pcap": 65,
		"linlinw5__ring2_node0.pcap": 184, "linlinw5__ring2_node1.pcap": 184, "linlinw5__ring2_node2.pcap": 184,
		"lkml-nfsrdma-2021-02-18__sniffer.pcap": 116, "wireshark-wiki__infiniband.pcap": 43,
		"scapy-hexcap__cx4lx-cnp_rocev1-write-ack.pcap": 3, "pcapplusplus-hex__rxe-read-request.pcap": 1,
	}
	for _, folder := range []string{"rxe", "public"} {
		for _, file := range captureFiles(t, folder) {
			name := filepath.Base(file)
			t.Run(name, func(t *testing.T) {
				var good, bad, cut, seen int
				walkPcap(t, file, func(frame int, p *packet.Packet) {
					seen++
					p.CheckICRC()
					p.CheckVCRC()
					corrupt := false
					switch {
					case p.Cut:
						cut++
						if p.ICRCState != packet.CRCNotJudged {
							t.Errorf("frame %d: cut off, but ICRC judged %d", frame, p.ICRCState)
						}
					case p.Has&packet.HasBTH == 0:
						t.Logf("frame %d: no BTH, has %b, flaws %b", frame, p.Has, p.Flaws)
					case p.ICRCState == packet.CRCGood:
						good++
					default:
						bad++
						corrupt = true
					}
					if p.Encap == packet.Native && p.VCRCState != packet.CRCGood {
						t.Errorf("frame %d: VCRC state %d", frame, p.VCRCState)
					}
					if p.Flaws != 0 && !corrupt {
						t.Errorf("frame %d: flaws %b", frame, p.Flaws)
					}
				})
				if bad != wrong[name] {
					t.Errorf("%d packets with a wrong ICRC, want %d", bad, wrong[name])
				}
				if want, ok := rdma[name]; ok && seen != want {
					t.Errorf("%d RDMA packets, want %d", seen, want)
				}
				if (cut > 0) != (name == "rc_write_snaplen96.pcap") {
					t.Errorf("%d packets cut off", cut)
				}
				t.Logf("%d packets: %d good, %d bad, %d cut", seen, good, bad, cut)
			})
		}
	}
}
