package fabricagent

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibwitness/packet"
)

// TestPcapngBlocks reads two sections of different byte order, with every block and option that counts.
func TestPcapngBlocks(t *testing.T) {
	d := func(i int) []byte { return payload(i, 60+i) }
	second := uint64(start / 1e9)
	g := newNG(binary.LittleEndian).section()
	g.iface(LinkEthernet, 65535, opt{2, []byte("eth0")}, opt{9, []byte{9}})
	g.block(0x77, []byte("nobody knows this block"))
	g.enhanced(0, uint64(start)+5, 80, d(1), opt{1, []byte("comment")}, opt{2, g.num32(2)})
	g.iface(LinkInfiniBand, 0, opt{2, []byte("ib0\x00")})
	g.enhanced(1, second*1e6+7, 90, d(2), opt{2, g.num32(1)}, opt{4, g.num64(3)})
	g.block(blockJournal, []byte("MESSAGE=a frame in Wireshark's count"))
	g.block(blockCustom, []byte("another one"))
	g.obsolete(1, 4, second*1e6+8, 91, d(3))
	g.obsolete(1, 0xffff, second*1e6+9, 91, d(4), opt{2, g.num32(2)})
	g.statistics(0, opt{5, g.num64(10)}, opt{7, g.num64(11)})
	g.statistics(1, opt{5, g.num64(1)})
	h := newNG(binary.BigEndian).section()
	h.iface(LinkEthernet, 64, opt{2, []byte("eth0")}, opt{9, []byte{0x80 | 20}}, opt{14, h.num64(1000)})
	h.simple(500, payload(5, 64))
	h.enhanced(0, (second-1000)<<20|1<<19, 93, d(6))
	h.statistics(0)

	got, taps, err := readBytes(t, append(g.b, h.b...))
	if err != nil {
		t.Fatal(err)
	}
	want := []Frame{
		{Time: start + 5, Number: 1, Tap: 0, Link: LinkEthernet, Way: packet.WayOut, Len: 80, Data: d(1)},
		{Time: start + 7000, Number: 2, Tap: 1, Link: LinkInfiniBand, Way: packet.WayIn, Len: 90, Data: d(2)},
		{Time: start + 8000, Number: 5, Tap: 1, Link: LinkInfiniBand, Len: 91, Data: d(3)},
		{Time: start + 9000, Number: 6, Tap: 1, Link: LinkInfiniBand, Way: packet.WayOut, Len: 91, Data: d(4)},
		{Time: start + 9000, Number: 7, Tap: 2, Link: LinkEthernet, Len: 500, Data: payload(5, 64)},
		{Time: start + 5e8, Number: 8, Tap: 2, Link: LinkEthernet, Len: 93, Data: d(6)},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	wantTaps := []Tap{
		{File: "mem", Interface: "eth0", Link: LinkEthernet, SnapLen: 65535, Dropped: 21},
		{File: "mem", Interface: "ib0", Link: LinkInfiniBand, Dropped: 7},
		{File: "mem", Interface: "eth0", Link: LinkEthernet, SnapLen: 64},
	}
	if d := cmp.Diff(wantTaps, taps); d != "" {
		t.Error(d)
	}
}

func TestPcapngClock(t *testing.T) {
	tests := []struct {
		resolution uint8
		ts         uint64
		want       int64
	}{
		{6, 1_700_000_000_123_456, 1_700_000_000_123_456_000},
		{9, 1_700_000_000_123_456_789, 1_700_000_000_123_456_789},
		{3, 1_700_000_000_123, 1_700_000_000_123_000_000},
		{0, 1_700_000_000, 1_700_000_000_000_000_000},
		{12, 1_700_000_000_123_456, 1_700_000_000_123},
		{19, 1<<64 - 1, 1_844_674_407},
		{127, 1<<64 - 1, 0},
		{0x80, 1_700_000_000, 1_700_000_000_000_000_000},
		{0x80 | 1, 3, 1_500_000_000},
		{0x80 | 20, 1_700_000_000<<20 | 1<<18, 1_700_000_000_250_000_000},
		{0x80 | 32, 1_700_000_000<<32 | 1<<31, 1_700_000_000_500_000_000},
		{0x80 | 64, 1 << 63, 500_000_000},
		{0x80 | 70, 1 << 63, 7_812_500},
		{0xff, 1<<64 - 1, 0},
	}
	for _, test := range tests {
		c := newClock(test.resolution)
		if got := c.nanoseconds(test.ts); got != test.want {
			t.Errorf("resolution %#x: %d is %d ns, want %d", test.resolution, test.ts, got, test.want)
		}
	}
}

// TestPcapngLarge has blocks that exceed a buffer: one that is skipped, and a packet with long comments.
func TestPcapngLarge(t *testing.T) {
	g := newNG(binary.LittleEndian).section().iface(LinkEthernet, 0)
	g.block(10, payload(1, 5<<20))
	var comments []opt
	for range 60 {
		comments = append(comments, opt{1, payload(2, 60000)})
	}
	d := payload(3, 100)
	g.enhanced(0, 1, 100, d, append(comments, opt{2, g.num32(1)})...)
	g.enhanced(0, 2, 100, d)
	got, _, err := readBytes(t, g.b)
	if err != nil {
		t.Fatal(err)
	}
	want := []Frame{
		{Time: 1000, Number: 1, Link: LinkEthernet, Way: packet.WayIn, Len: 100, Data: d},
		{Time: 2000, Number: 2, Link: LinkEthernet, Len: 100, Data: d},
	}
	equalFrames(t, want, got)
}

func TestPcapngGarbage(t *testing.T) {
	good := newNG(binary.LittleEndian).section().iface(LinkEthernet, 0).enhanced(0, 1, 60, payload(1, 60))
	block := func(kind uint32, body []byte) []byte { return newNG(binary.LittleEndian).block(kind, body).b }
	words := func(v ...uint32) []byte { return good.with().u32(v...).b }
	trailer := block(0x77, make([]byte, 8))
	trailer[len(trailer)-4]++
	packetTrailer := newNG(binary.LittleEndian).enhanced(0, 1, 4, make([]byte, 4)).b
	packetTrailer[len(packetTrailer)-3]++
	tests := map[string][]byte{
		"zeros":          make([]byte, 64),
		"odd length":     words(6, 33, 0),
		"short block":    words(6, 12, 12),
		"long block":     words(0x77, 32<<20, 0),
		"trailer":        trailer,
		"packet trailer": packetTrailer,
		"no interface":   block(blockEnhancedPacket, words(1, 0, 0, 0, 0)),
		"no such stats":  block(blockStatistics, words(1, 0, 0)),
		"captured":       block(blockEnhancedPacket, words(0, 0, 0, 61, 61)),
		"wire":           block(blockEnhancedPacket, words(0, 0, 0, 0, 17<<20)),
		"order":          block(blockSection, words(0x11223344, 1, 0, 0)),
		"version":        block(blockSection, words(orderMagic, 2, 0, 0)),
	}
	for name, bad := range tests {
		t.Run(name, func(t *testing.T) {
			frames, _, err := readBytes(t, append(bytes.Clone(good.b), bad...))
			fe := FileErrors(err)
			if len(fe) != 1 || fe[0].Kind != Garbage || fe[0].Offset != int64(len(good.b)) {
				t.Fatalf("got %v, want garbage at byte %d", err, len(good.b))
			}
			if len(frames) != 1 {
				t.Errorf("%d frames, want 1", len(frames))
			}
		})
	}
}

// TestPcapngUnknownLinks delivers the frames of an interface that cannot be decoded, beside and without others.
func TestPcapngUnknownLinks(t *testing.T) {
	wifi := newNG(binary.LittleEndian).section().iface(105, 0).enhanced(0, 1, 60, payload(1, 60))
	frames, _, err := readBytes(t, wifi.b)
	if len(frames) != 1 || frames[0].Link != 105 || kindOf(t, err) != UnknownLinkType {
		t.Errorf("%d frames, %v", len(frames), err)
	}
	wifi.iface(LinkEthernet, 0).enhanced(1, 1, 60, payload(1, 60))
	frames, _, err = readBytes(t, wifi.b)
	if len(frames) != 2 || err != nil {
		t.Errorf("%d frames, %v", len(frames), err)
	}
}

// TestLongNames keeps little of the names of many interfaces.
func TestLongNames(t *testing.T) {
	g := newNG(binary.LittleEndian).section()
	name := bytes.Repeat([]byte("é"), 30000)
	for range 300 {
		g.iface(LinkEthernet, 0, opt{2, name})
	}
	_, taps, err := readBytes(t, g.b)
	if err != nil || len(taps) != 300 {
		t.Fatalf("%d taps, %v", len(taps), err)
	}
	if n := taps[299].Interface; len(n) > mostName || !strings.HasPrefix(n, "éé") {
		t.Errorf("the name has %d bytes: %q", len(n), n)
	}
}
