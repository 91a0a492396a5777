package fabricagent

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestERF(t *testing.T) {
	d := func(i int) []byte { return payload(i, 61+i) }
	half := start + 5e8
	records := [][]byte{
		erfRecord(erfEthernet, 0, start, 0, 65, d(1), 0),
		erfRecord(erfPad, 0, start, 0, 0, make([]byte, 32), 0),
		erfRecord(27, 0, start, 0, 0, make([]byte, 16), 0), // metadata
		erfRecord(erfInfiniBand, 1, half, 5, 80, d(3), 0),
		erfRecord(erfColorEthernet, 0, half, 999, 90, d(4), 2),
		erfRecord(erfDSMColorEthernet, 0, half, 999, 90, d(5), 0),
		erfRecord(erfColorHashEthernet, 0, half, 999, 90, d(6), 1),
		erfRecord(erfInfiniBand, 1, half, 6, 64, d(7), 3),
		erfRecord(erfIPv6, 2, half, 0, 90, d(8), 0),
		erfRecord(erfEthernet, 0, half, 1, 300, d(9), 0), // cut by a snap length
	}
	want := []Frame{
		{Time: start, Number: 1, Tap: 0, Link: LinkEthernet, Len: 65, Data: append(d(1), 0, 0, 0)},
		{Time: start, Number: 2, Tap: 0, Link: LinkERF, Len: 0, Data: records[2]},
		{Time: half, Number: 3, Tap: 1, Link: LinkInfiniBand, Len: 80, Data: d(3)},
		{Time: half, Number: 4, Tap: 0, Link: LinkEthernet, Len: 90, Data: d(4)},
		{Time: half, Number: 5, Tap: 0, Link: LinkEthernet, Len: 90, Data: d(5)},
		{Time: half, Number: 6, Tap: 0, Link: LinkEthernet, Len: 90, Data: d(6)},
		{Time: half, Number: 7, Tap: 1, Link: LinkInfiniBand, Len: 64, Data: d(7)[:64]},
		{Time: half, Number: 8, Tap: 2, Link: LinkIPv6, Len: 90, Data: d(8)},
		{Time: half, Number: 9, Tap: 0, Link: LinkEthernet, Len: 300, Data: d(9)},
	}
	taps := func(label string, snap uint32) []Tap {
		return []Tap{
			{File: "mem", Interface: label + "port 0", Link: LinkEthernet, SnapLen: snap, Dropped: 1},
			{File: "mem", Interface: label + "port 1", Link: LinkInfiniBand, SnapLen: snap, Dropped: 11},
			{File: "mem", Interface: label + "port 2", Link: LinkIPv6, SnapLen: snap},
		}
	}
	check := func(t *testing.T, file []byte, wantTaps []Tap) {
		t.Helper()
		got, taps, err := readBytes(t, file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(wantTaps, taps); d != "" {
			t.Error(d)
		}
		// What follows a frame up to the record's end is not separated from it where the frame was cut.
		for i := range got {
			if w := want[i]; got[i].Link != LinkERF && len(got[i].Data) > len(w.Data) && len(got[i].Data) <= int(w.Len) {
				got[i].Data = got[i].Data[:len(w.Data)]
			}
		}
		for i := range want {
			if n := len(got[i].Data); n < len(want[i].Data) {
				want[i].Data = want[i].Data[:n]
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
	t.Run("raw", func(t *testing.T) { check(t, bytes.Join(records, nil), taps("", 0)) })
	t.Run("pcap", func(t *testing.T) {
		p := newPcap(binary.LittleEndian, magicMicro, 65535, uint32(LinkERF))
		for i, r := range records {
			if i != 1 {
				p.frame(start+77e9, int(binary.BigEndian.Uint16(r[14:])), r)
			}
		}
		// The wire length of a record that cannot be unwrapped is the pcap record's, at least what was captured.
		want[1].Time, want[1].Len = start+77e9, uint32(len(records[2]))
		check(t, p.b, taps("", 65535))
	})
	t.Run("pcapng", func(t *testing.T) {
		g := newNG(binary.BigEndian).section().iface(LinkERF, 0, opt{2, []byte("dag0")})
		for i, r := range records {
			if i != 1 {
				g.enhanced(0, uint64(start+77e9)/1000, int(binary.BigEndian.Uint16(r[14:])), r)
			}
		}
		check(t, g.b, taps("dag0, ", 0))
	})
}

func TestERFGarbage(t *testing.T) {
	good := append(erfRecord(erfEthernet, 0, start, 0, 60, payload(1, 60), 0), erfRecord(erfEthernet, 0, start, 0, 60, payload(2, 60), 0)...)
	// After what is looked at to recognise the format.
	good = bytes.Repeat(good, smallBlockSize/len(good))
	for name, bad := range map[string][]byte{
		"zeros": make([]byte, 32), "ones": bytes.Repeat([]byte{0xff}, 32), "text": []byte("the disk was full at this place"),
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := readBytes(t, append(bytes.Clone(good), bad...))
			fe := FileErrors(err)
			if len(fe) != 1 || fe[0].Kind != Garbage || fe[0].Offset != int64(len(good)) {
				t.Fatalf("got %v, want garbage at byte %d", err, len(good))
			}
		})
	}
}

// TestERFOnlyStrange refuses a file of which no record can be unwrapped.
func TestERFOnlyStrange(t *testing.T) {
	file := bytes.Repeat(erfRecord(5, 0, start, 0, 60, payload(1, 60), 0), 3)
	frames, _, err := readBytes(t, file)
	if len(frames) != 3 || kindOf(t, err) != UnknownLinkType {
		t.Errorf("%d frames, %v", len(frames), err)
	}
}
