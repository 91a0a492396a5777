package fabricagent

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"

	"ibwitness/packet"
)

// benchFile is a pcap of n frames of 105 bytes each: an RC SEND Only over IPv4.
func benchFile(n int) []byte {
	bth := []byte{0x04, 0x40, 0xff, 0xff, 0, 0, 0, 0x11, 0x80, 0x12, 0x34, 0x56}
	d := ether(etherIPv4, ipv4(protoUDP, udp(packet.UDPPort, bth, make([]byte, 105-14-20-8-12))))
	p := newPcap(binary.LittleEndian, magicNano, 262144, 1)
	for i := range n {
		p.frame(start+int64(i), len(d), d)
	}
	return p.b
}

func drain(b *testing.B, s Source, each func(*Frame)) int {
	n := 0
	for {
		batch, err := s.Next()
		if err == io.EOF {
			return n
		}
		if err != nil {
			b.Fatal(err)
		}
		if each != nil {
			for i := range batch.Frames {
				each(&batch.Frames[i])
			}
		}
		n += len(batch.Frames)
		batch.Release()
	}
}

// BenchmarkRead reports the time of one frame; reading a file of them is one iteration.
func BenchmarkRead(b *testing.B) {
	const frames = 200_000
	raw := benchFile(frames)
	path := filepath.Join(b.TempDir(), "x.pcap")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		b.Fatal(err)
	}
	run := func(name string, open func() (Source, error), frames int, each func(*Frame)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s, err := open()
				if err != nil {
					b.Fatal(err)
				}
				if n := drain(b, s, each); n != frames {
					b.Fatal(n)
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(frames), "ns/frame")
		})
	}
	run("memory", func() (Source, error) { return OpenReader("mem", bytes.NewReader(raw)) }, frames, nil)
	run("file", func() (Source, error) { return Open([]string{path}) }, frames, nil)
	run("merged", func() (Source, error) { return Open([]string{path, path}) }, 2*frames, nil)
	g := newNG(binary.LittleEndian).section().iface(LinkEthernet, 0)
	d := payload(1, 105)
	for i := range frames {
		g.enhanced(0, uint64(i), 105, d)
	}
	run("pcapng", func() (Source, error) { return OpenReader("mem", bytes.NewReader(g.b)) }, frames, nil)
	var p packet.Packet
	run("file+decode", func() (Source, error) { return Open([]string{path}) }, frames, func(f *Frame) {
		if Decode(f, &p) != RDMA {
			b.Fatal("not RDMA")
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	inner := ether(etherIPv4, roce())
	for name, d := range map[string][]byte{
		"roce":   inner,
		"tcp":    ether(etherIPv4, ipv4(6, make([]byte, 40))),
		"vxlan":  ether(etherIPv4, ipv4(protoUDP, udp(portVXLAN, []byte{8, 0, 0, 0, 0, 0, 1, 0}, inner))),
		"erspan": ether(etherIPv4, ipv4(protoGRE, cat([]byte{0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 0, 0, 1, 0, 0, 0, 0}, inner))),
	} {
		b.Run(name, func(b *testing.B) {
			f := Frame{Link: LinkEthernet, Len: uint32(len(d)), Data: d}
			var p packet.Packet
			b.ReportAllocs()
			for b.Loop() {
				Decode(&f, &p)
			}
		})
	}
}

// TestSteadyState wants allocations only for what is opened, none a frame or batch.
func TestSteadyState(t *testing.T) {
	few, many := benchFile(2*BatchSize), benchFile(400*BatchSize)
	open := func(raw []byte, n int) float64 {
		return testing.AllocsPerRun(20, func() {
			var in []*input
			var o opener
			for range n {
				i := newInput("mem", bytes.NewReader(raw), smallBlockSize)
				o.add(i)
				in = append(in, i)
			}
			s, err := o.source()
			if err != nil {
				t.Fatal(err)
			}
			for {
				b, err := s.Next()
				if err != nil {
					break
				}
				b.Release()
			}
			for _, i := range in {
				i.close()
			}
		})
	}
	if raceEnabled {
		t.Skip("the race detector makes pools forget")
	}
	for _, n := range []int{1, 3} {
		if a, b := open(few, n), open(many, n); b > a+3 {
			t.Errorf("%d inputs: %v allocations for few frames, %v for many", n, a, b)
		}
	}
}
