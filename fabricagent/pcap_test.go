package fabricagent

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"ibwitness/packet"
)

func TestPcapVariants(t *testing.T) {
	orders := map[string]binary.ByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian}
	for name, order := range orders {
		for _, magic := range []uint32{magicMicro, magicNano, magicKuznetzov} {
			t.Run(fmt.Sprintf("%s-%x", name, magic), func(t *testing.T) {
				// The upper half of the link type says: FCS of 4 bytes.
				p := newPcap(order, magic, 262144, 0x24000001)
				var want []Frame
				for i := range 5 {
					d := payload(i, 60+i)
					ns := start + int64(i)*1234567000
					if magic == magicNano {
						ns += 89
					}
					p.cooked(ns, 100+i, d, 7, 4)
					f := Frame{Time: ns, Number: uint64(i + 1), Link: LinkEthernet, Len: uint32(100 + i), Data: d}
					if magic == magicKuznetzov {
						f.Way = packet.WayOut
					}
					want = append(want, f)
				}
				got, taps, err := readBytes(t, p.b)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Error(d)
				}
				tap := Tap{File: "mem", Link: LinkEthernet, SnapLen: 262144}
				if magic == magicKuznetzov {
					tap.Interface = "ifindex 7"
				}
				if d := cmp.Diff([]Tap{tap}, taps); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

// TestPcapTwo: of two files that were put together the first is read, and what follows is told. An empty record is no second file.
func TestPcapTwo(t *testing.T) {
	for _, magic := range []uint32{magicMicro, magicNano, magicKuznetzov} {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			p := newPcap(order, magic, 262144, 1)
			p.frame(start, 0, payload(1, 60))
			p.frame(start, 0, nil)
			p.frame(start, 0, payload(2, 60))
			got, _, err := readBytes(t, append(p.b, p.b...))
			if len(got) != 3 || kindOf(t, err) != Garbage || !strings.Contains(err.Error(), "mergecap") {
				t.Errorf("%x: %d frames, %v", magic, len(got), err)
			}
		}
	}
}

// TestPcapBlocks reads a file of several blocks, through reads of all sizes.
func TestPcapBlocks(t *testing.T) {
	file := newPcap(binary.LittleEndian, magicNano, 262144, 1)
	var want []Frame
	for i := 0; len(file.b) < 5<<19; i++ {
		d := payload(i, 1+i*7919%9000)
		if i%300 == 0 {
			d = payload(i, 262144-i)
		}
		file.frame(start+int64(i), len(d), d)
		want = append(want, Frame{
			Time: start + int64(i), Number: uint64(i + 1), Link: LinkEthernet, Len: uint32(len(d)), Data: d,
		})
	}
	readers := map[string]func(io.Reader) io.Reader{
		"whole":   func(r io.Reader) io.Reader { return r },
		"half":    iotest.HalfReader,
		"one":     iotest.OneByteReader,
		"dataerr": iotest.DataErrReader,
		"pipe": func(r io.Reader) io.Reader {
			pr, pw := io.Pipe()
			go func() {
				_, err := io.CopyBuffer(struct{ io.Writer }{pw}, struct{ io.Reader }{r}, make([]byte, 3333))
				pw.CloseWithError(err)
			}()
			return pr
		},
	}
	for name, wrap := range readers {
		for _, chunk := range []int{smallBlockSize, blockSize} {
			t.Run(fmt.Sprintf("%s-%d", name, chunk), func(t *testing.T) {
				o := opener{chunk: chunk}
				o.add(newInput("mem", wrap(bytes.NewReader(file.b)), chunk))
				s, err := o.source()
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				got, err := readAll(t, s)
				if err != nil {
					t.Fatal(err)
				}
				equalFrames(t, want, got)
			})
		}
	}
}

// equalFrames is cmp.Diff for many and large frames.
func equalFrames(t *testing.T, want, got []Frame) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%d frames, want %d", len(got), len(want))
	}
	for i := range want {
		w, g := want[i], got[i]
		if !bytes.Equal(w.Data, g.Data) {
			t.Fatalf("frame %d: other bytes", i+1)
		}
		w.Data, g.Data = nil, nil
		if d := cmp.Diff(w, g); d != "" {
			t.Fatalf("frame %d: %s", i+1, d)
		}
	}
}

// TestLongRecord accepts a record above the snap length as long as it is plausible.
func TestLongRecord(t *testing.T) {
	d := payload(1, 3000)
	got, _, err := readBytes(t, newPcap(binary.LittleEndian, magicMicro, 96, 1).frame(start, 3000, d).b)
	if err != nil || len(got) != 1 || !bytes.Equal(got[0].Data, d) {
		t.Errorf("%d frames, %v", len(got), err)
	}
	// A snap length above that of tcpdump allows more.
	d = payload(1, 400<<10)
	got, _, err = readBytes(t, newPcap(binary.LittleEndian, magicMicro, 1<<20, 1).frame(start, len(d), d).b)
	if err != nil || len(got) != 1 || !bytes.Equal(got[0].Data, d) {
		t.Errorf("%d frames, %v", len(got), err)
	}
}

func TestPcapGarbage(t *testing.T) {
	good := newPcap(binary.BigEndian, magicMicro, 262144, 1).frame(start, 60, payload(1, 60)).frame(start, 60, payload(2, 60)).b
	record := func(v ...uint32) []byte {
		a := appender{order: binary.BigEndian}
		return a.u32(v...).b
	}
	tests := map[string][]byte{
		"captured": record(1, 2, 262145, 262145),
		"wire":     record(1, 2, 60, 17<<20),
		"ones":     bytes.Repeat([]byte{255}, 100),
		"zeros":    make([]byte, 4096),
		"text":     []byte("The capture program was interrupted here."),
	}
	for name, bad := range tests {
		t.Run(name, func(t *testing.T) {
			frames, _, err := readBytes(t, append(bytes.Clone(good), bad...))
			want := &FileError{Path: "mem", Offset: int64(len(good)), Frame: 3, Kind: Garbage}
			checkError(t, err, want)
			if len(frames) != 2 {
				t.Errorf("%d frames, want 2", len(frames))
			}
		})
	}
}

// checkError compares all but the cause.
func checkError(t *testing.T, err error, want *FileError) {
	t.Helper()
	fe := FileErrors(err)
	if len(fe) != 1 {
		t.Fatalf("got %v, want one FileError", err)
	}
	got := *fe[0]
	got.Err = nil
	if d := cmp.Diff(*want, got); d != "" {
		t.Errorf("%v\n%s", err, d)
	}
}

// TestAnyCapture makes a tap of each network interface of an `any` capture: both copies of a forwarded packet are
// seen in one direction, and only the interface tells them apart.
func TestAnyCapture(t *testing.T) {
	cooked := func(ifindex uint32, kind byte) []byte {
		b := make([]byte, sll2Size)
		b[0] = 0x08
		binary.BigEndian.PutUint32(b[4:], ifindex)
		b[10] = kind
		return append(b, roce()...)
	}
	p := newPcap(binary.LittleEndian, magicMicro, 0, uint32(LinkLinuxSLL2))
	g := newNG(binary.LittleEndian).section().iface(LinkLinuxSLL2, 0, opt{2, []byte("any")})
	for i, d := range [][]byte{cooked(3, 0), cooked(4, 0), cooked(3, 4), {1, 2}, cooked(4, 4)} {
		p.frame(start, 68, d)
		g.enhanced(0, uint64(i), 68, d)
	}
	for label, file := range map[string][]byte{"": p.b, "any, ": g.b} {
		frames, taps, err := readBytes(t, file)
		if err != nil {
			t.Fatal(err)
		}
		var got []uint16
		var ways []packet.Way
		for i := range frames {
			var d packet.Packet
			Decode(&frames[i], &d)
			got = append(got, frames[i].Tap)
			ways = append(ways, d.Way)
		}
		if d := cmp.Diff([]uint16{0, 1, 0, 0, 1}, got); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]packet.Way{packet.WayIn, packet.WayIn, packet.WayOut, packet.WayUnknown, packet.WayOut}, ways); d != "" {
			t.Error(d)
		}
		want := []Tap{
			{File: "mem", Interface: label + "ifindex 3", Link: LinkLinuxSLL2},
			{File: "mem", Interface: label + "ifindex 4", Link: LinkLinuxSLL2},
		}
		if d := cmp.Diff(want, taps); d != "" {
			t.Error(d)
		}
	}
}

// TestManyPorts bounds the taps that a corrupt `any` capture can make.
func TestManyPorts(t *testing.T) {
	p := newPcap(binary.LittleEndian, magicMicro, 0, uint32(LinkLinuxSLL2))
	for i := range 1000 {
		b := make([]byte, sll2Size)
		binary.BigEndian.PutUint32(b[4:], uint32(i))
		p.frame(start, 20, b)
	}
	frames, taps, err := readBytes(t, p.b)
	if err != nil || len(frames) != 1000 || len(taps) != maxPorts {
		t.Errorf("%d frames, %d taps, %v", len(frames), len(taps), err)
	}
}
