package fabricagent

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibwitness/packet"
	"ibwitness/rule"
)

// TestRecorded: a recording says of which run it is, what a tap had lost before each frame, and at its end when the run ended.
func TestRecorded(t *testing.T) {
	address := func(s string) packet.Addr {
		a, err := packet.ParseAddr(s)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	want := Recorded{
		Simulation: true, Near: []packet.Addr{address("10.0.0.1"), address("fe80::1"), address("lid:7")}, Profile: []string{"hardware-timers=200us", "cnp-per-ip"},
		Waive: []rule.Waiver{{Rule: "BTH-002", Accused: "10.0.0.2", Why: "a prototype"}},
	}
	var buf bytes.Buffer
	w := NewRecording(&buf, "test", &want)
	if _, err := w.AddTap(Tap{Interface: "rx", Link: LinkEthernet}); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if err := w.Write(&Frame{Time: start + int64(i), Data: []byte{byte(i)}}); err != nil {
			t.Fatal(err)
		}
		if i%2 == 1 {
			if err := w.Drops(0, uint64(i), start+int64(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.End(start + 100); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	src, err := OpenReader("run", &buf)
	if err != nil {
		t.Fatal(err)
	}
	rec := src.(Recording)
	if got, ok := rec.Recorded(); !ok || !cmp.Equal(got, want) {
		t.Errorf("%v: %s", ok, cmp.Diff(want, got))
	}
	if got, said := want.String(), "one clock of a simulation, near 10.0.0.1, near fe80::1, near lid:7, profile hardware-timers=200us,cnp-per-ip, waivers: 1"; got != said {
		t.Errorf("it is said as %q, want %q", got, said)
	}
	var frames []int
	var lost []uint64
	for {
		b, err := src.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		frames, lost = append(frames, len(b.Frames)), append(lost, src.Taps()[0].Dropped)
		b.Release()
	}
	if d := cmp.Diff([]int{2, 2}, frames) + cmp.Diff([]uint64{0, 1}, lost); d != "" || src.Taps()[0].Dropped != 3 {
		t.Errorf("%s, %d lost in all", d, src.Taps()[0].Dropped)
	}
	want.End = start + 100
	if got, _ := rec.Recorded(); !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

// TestNotRecorded: of other captures nothing is known, and not of all inputs where one is another.
func TestNotRecorded(t *testing.T) {
	for _, comment := range []string{"", "ibwitness run", "ibwitness run: {", `ibwitness run: {"near":["nowhere"]}`, `ibwitness run: {"waive":[{"rule":"BTH-002"}]}`, `about ibwitness run: {"simulation":true}`} {
		r, err := recorded(comment)
		if garbled := strings.HasPrefix(comment, remarkMark); r != nil || garbled != (err != nil) {
			t.Errorf("%q says %v, %v", comment, r, err)
		}
	}
	run, err := recorded((&Recorded{Simulation: true, Profile: []string{"strict"}}).comment())
	if err != nil {
		t.Fatal(err)
	}
	own, other := &input{recorded: run}, &input{}
	if _, ok := allRecorded([]*input{own, other}); ok {
		t.Error("a capture says nothing, and yet something is known of both")
	}
	other.recorded = &Recorded{Near: []packet.Addr{packet.IPv4Addr([]byte{10, 0, 0, 2})}, End: 7}
	if all, ok := allRecorded([]*input{own, other}); !ok || all.Simulation || len(all.Near) != 1 || all.End != 7 || strings.Join(all.Profile, "") != "strict" {
		t.Errorf("%+v, %v", all, ok)
	}
}
