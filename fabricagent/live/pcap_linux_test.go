//go:build libpcap

package live_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/fabricagent"
	"ibwitness/fabricagent/live"
	"ibwitness/internal/testkit/veth"
)

// TestLibpcap: what libpcap delivers is what was sent, in order, of several devices too, and nothing but RoCE.
func TestLibpcap(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	s, err := live.OpenLibpcap(live.Options{Interfaces: []string{"right", "left"}, Promiscuous: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	send := veth.Sender(t, "left")
	var want [][]byte
	for range 20 {
		for i, f := range frames(t) {
			switch i % 3 {
			case 1:
				f = slices.Concat(f[:12], []byte{0x81, 0, 0x60, 7}, f[12:])
			case 2:
				other := slices.Clone(f)
				other[37]++ // another UDP port
				send(other)
			}
			send(f)
			want = append(want, f)
		}
	}
	got := map[uint16][][]byte{}
	last, number := int64(0), uint64(0)
	collect(t, s, 2*len(want), func(f *fabricagent.Frame) {
		if number++; f.Time < last || f.Number != number || int(f.Len) != len(f.Data) || f.Link != fabricagent.LinkEthernet {
			t.Errorf("frame %d: %d ns after the one before, %+v", number, f.Time-last, *f)
		}
		last = f.Time
		got[f.Tap] = append(got[f.Tap], f.Data)
	})
	for tap := range uint16(2) {
		if !slices.EqualFunc(got[tap], want, bytes.Equal) {
			t.Errorf("tap %d: %d frames, which are not the %d that were sent", tap, len(got[tap]), len(want))
		}
		if st := s.Stats()[tap]; st.Frames != uint64(len(want)) || st.Dropped != 0 || st.Interface != s.Taps()[tap].Interface {
			t.Errorf("%+v", st)
		}
	}
	if now := time.Unix(0, s.Now()); now.Before(time.Unix(0, last)) || now.After(time.Now()) {
		t.Errorf("the last frame came at %v, and it is at %v", time.Unix(0, last), now)
	}
	for began, end := time.Now(), time.Now().Add(patience); s.Now() < began.UnixNano(); { // it goes on, although nothing comes
		b, err := s.Next()
		if err != nil || time.Now().After(end) {
			t.Fatalf("it stays at %v: %v", time.Unix(0, s.Now()), err)
		}
		b.Release()
	}
}

// TestLibpcapDrops: what finds no room is counted before the frames after it are delivered.
func TestLibpcapDrops(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	s, err := live.OpenLibpcap(live.Options{Interfaces: []string{"right"}, Memory: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	send, list := veth.Sender(t, "left"), frames(t)
	sent := 0
	for sent < 60_000 { // far more than may wait
		send(list[sent%len(list)])
		sent++
	}
	got := collect(t, s, sent, func(*fabricagent.Frame) {})
	if d := s.Taps()[0].Dropped; d == 0 || uint64(got)+d != uint64(sent) {
		t.Errorf("%d sent, %d arrive, %d dropped", sent, got, d)
	}
}

// TestLibpcapEnds: Stop ends it, a device that is gone does, and what cannot be opened is told.
func TestLibpcapEnds(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	s, err := live.OpenLibpcap(live.Options{Interfaces: []string{"right"}, Idle: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	ended := waiting(t, s)
	s.Stop()
	if err := <-ended; err != io.EOF {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if s, err = live.OpenLibpcap(live.Options{Interfaces: []string{"right"}}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	veth.IP(t, "link del right")
	for end := time.Now().Add(patience); time.Now().Before(end); {
		var b *fabricagent.Batch
		if b, err = s.Next(); err != nil {
			break
		}
		b.Release()
	}
	var gone *live.GoneError
	if !errors.As(err, &gone) || gone.Interface != "right" {
		t.Errorf("a device that is gone: %v", err)
	}
	var open *live.OpenError
	if _, err := live.OpenLibpcap(live.Options{Interfaces: []string{"nowhere"}}); !errors.As(err, &open) || !strings.Contains(err.Error(), "tcpdump -D") {
		t.Errorf("a device that does not exist: %v", err)
	}
}
