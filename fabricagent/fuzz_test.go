package fabricagent

import (
	"encoding/binary"
	"io"
	"os"
	"testing"

	"ibwitness/link"
	"ibwitness/packet"
)

// FuzzOpen reads any bytes as a capture, whole and in small pieces: the same frames, the same error, no panic.
func FuzzOpen(f *testing.F) {
	for _, path := range []string{"testdata/cm_mckey_multicast.pcapng", "testdata/cm_mckey_multicast.kuznetzov.pcap"} {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add(sample(3).b)
	f.Add(newPcap(binary.BigEndian, magicMicro, 96, uint32(LinkLinuxSLL2)).frame(start, 60, payload(1, 60)).b)
	f.Add(newPcap(binary.BigEndian, magicNano, 96, uint32(LinkERF)).frame(start, 60, erfRecord(erfInfiniBand, 1, start, 2, 40, payload(1, 40), 2)).b)
	f.Add(cat(erfRecord(erfEthernet, 0, start, 1, 60, payload(1, 60), 1), erfRecord(erfInfiniBand, 1, start, 2, 40, payload(1, 40), 0)))
	g := newNG(binary.BigEndian).section().iface(LinkEthernet, 0, opt{2, []byte("e")}, opt{9, []byte{0x94}}, opt{14, make([]byte, 8)})
	g.enhanced(0, 5, 20, payload(1, 20), opt{2, []byte{0, 0, 0, 1}}).simple(20, payload(2, 20)).obsolete(0, 3, 5, 20, payload(1, 20))
	g.statistics(0, opt{5, make([]byte, 8)})
	f.Add(g.b)
	f.Add(gzipped(f, sample(2).b))
	f.Add(zstded(f, sample(2).b))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<20 {
			t.Skip("more than a megabyte says nothing that less does not")
		}
		whole, taps, err := readBytes(t, b)
		if fe := FileErrors(err); err != nil && (len(fe) != 1 || fe[0].Offset < 0) {
			t.Fatalf("not one FileError: %v", err)
		}
		for i, f := range whole {
			if int(f.Tap) >= len(taps) || uint64(len(f.Data)) > uint64(f.Len) && f.Link != LinkERF || f.Number < uint64(i+1) {
				t.Fatalf("frame %d: number %d, tap %d of %d, %d of %d bytes", i, f.Number, f.Tap, len(taps), len(f.Data), f.Len)
			}
			var p packet.Packet
			Decode(&f, &p)
		}
		s, err2 := OpenReader("mem", &dribble{b: b, n: 1})
		var parts []Frame
		if err2 == nil {
			parts, err2 = readAll(t, s)
			_ = s.Close()
		}
		if kindOf(t, err) != kindOf(t, err2) {
			t.Fatalf("%v, in pieces %v", err, err2)
		}
		equalFrames(t, whole, parts)
	})
}

// dribble reads in pieces of growing and shrinking size.
type dribble struct {
	b []byte
	n int
}

func (d *dribble) Read(p []byte) (int, error) {
	if len(d.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, d.b[:min(d.n, len(d.b))])
	d.b = d.b[n:]
	d.n = (d.n*7 + 3) % 61
	if d.n == 0 {
		d.n = 1
	}
	return n, nil
}

// FuzzDecodeFrame decodes any bytes under every link type: no panic, and views that stay inside the frame.
func FuzzDecodeFrame(f *testing.F) {
	inner := ether(etherIPv4, roce())
	for _, b := range [][]byte{
		inner, ether(etherRoCE, rocev1()), ether(etherVLAN, vlan(5, etherIPv4, roce())),
		ether(etherIPv4, ipv4(protoUDP, udp(portVXLAN, []byte{8, 0, 0, 0, 0, 0, 1, 0}, inner))),
		ether(etherIPv4, ipv4(protoUDP, udp(portGeneve, []byte{1, 0, 0x65, 0x58, 0, 0, 1, 0, 1, 2, 3, 0}, inner))),
		ether(etherIPv4, ipv4(protoGRE, cat([]byte{0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 0, 0, 1, 0, 0, 0, 0}, inner))),
		ether(etherIPv4, ipv4(protoGRE, cat([]byte{0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}, inner))),
		ether(etherMPLS, cat([]byte{0, 1, 1, 9, 0, 0, 0, 0}, inner)),
		ether(etherIPv6, ipv6(0, cat([]byte{protoIPv4, 0, 1, 4, 0, 0, 0, 0}, roce()))),
		ether(etherIPv4, ipv4(protoUDP, udp(portESP, []byte{0xC0, 0, 0, 1, 0, 0, 0, 1, 0}))), ether(etherIPv6, ipv6(0, []byte{protoESP, 0, 1, 4, 0, 0, 0, 0})),
		ether(etherIPv4, ipv4(protoUDP, udp(portPSP, []byte{17, 1, 0, 1, 0, 0, 0, 1}, make([]byte, 16)))),
	} {
		f.Add(uint16(LinkEthernet), uint32(len(b)), b)
	}
	f.Add(uint16(LinkInfiniBand), uint32(30), lrh())
	f.Add(uint16(LinkEthernet), uint32(60), ether(etherControl, []byte{1, 1, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}))
	f.Add(uint16(LinkEthernet), uint32(90), ether(etherIPv4, ipv4(protoICMP, cat([]byte{3, 4, 0, 0, 0, 0, 3, 0}, roce()))))
	f.Add(uint16(LinkRaw), uint32(48), roce())
	f.Add(uint16(LinkLinuxSLL2), uint32(68), append(make([]byte, 20), roce()...))
	f.Fuzz(func(t *testing.T, kind uint16, wire uint32, b []byte) {
		frame := Frame{Time: 1, Number: 2, Tap: 3, Link: LinkType(kind), Len: max(wire%maxWire, uint32(len(b))), Data: b}
		var p packet.Packet
		o := Decode(&frame, &p)
		if DecodePause(&frame, new(link.Pause)) != (o == Paused && frame.Link == LinkEthernet) {
			t.Fatalf("%v, and DecodePause says otherwise", o)
		}
		if DecodeSent(&frame, &link.Sent{Packet: new(packet.Packet)}) && o != RDMA {
			t.Fatalf("%v, and DecodeSent says otherwise", o)
		}
		if o.IsRDMA() {
			if len(p.Data) > len(b) || len(p.Payload)+len(p.Pad) > len(b) || p.BTHOff < 0 || p.PayloadLen < 0 {
				t.Fatalf("%v: views of %d, %d and %d bytes on a frame of %d", o, len(p.Data), len(p.Payload), len(p.Pad), len(b))
			}
			if p.Cut == (p.Has&packet.HasICRC != 0) && p.Cut && p.Flaws == 0 {
				t.Fatalf("cut, and with its ICRC")
			}
		}
		if p.Time != 1 || p.Frame != 2 || p.Tap != 3 {
			t.Fatal("Decode did not keep the frame's time, number and tap")
		}
	})
}
