package live_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ibwitness/fabricagent"
	"ibwitness/fabricagent/live"
	"ibwitness/internal/testkit/veth"
	"ibwitness/packet"
)

// frames returns the RoCE frames of a capture.
func frames(t *testing.T) (list [][]byte) {
	t.Helper()
	src, err := fabricagent.Open([]string{"../../testdata/captures/rnr_retry_exceeded.pcap"})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for {
		b, err := src.Next()
		if b != nil {
			for i := range b.Frames {
				if p := new(packet.Packet); fabricagent.Decode(&b.Frames[i], p).IsRDMA() {
					list = append(list, slices.Clone(b.Frames[i].Data))
				}
			}
			b.Release()
		}
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func open(t *testing.T, o live.Options) *live.Source {
	t.Helper()
	o.Promiscuous = true
	s, err := live.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// patience is how long frames may be on their way.
const patience = 2 * time.Minute

// collect reads until all of so many frames have come or are dropped, and then until nothing comes, calling f with each frame.
func collect(t *testing.T, s live.Capture, sent int, f func(*fabricagent.Frame)) (n int) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		b, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		k := len(b.Frames)
		for i := range b.Frames {
			f(&b.Frames[i])
		}
		b.Release()
		n += k
		all := uint64(0)
		for _, i := range s.Stats() {
			all += i.Frames + i.Dropped
		}
		if k == 0 && (all >= uint64(sent) || time.Now().After(end)) {
			return n
		}
	}
}

// TestFrames: what was sent arrives as it was, in order, tags and all, and nothing else does.
func TestFrames(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	s := open(t, live.Options{Interfaces: []string{"right"}})
	send := veth.Sender(t, "left")
	var want [][]byte
	began := time.Now().UnixNano()
	for i, f := range frames(t) {
		switch i % 4 {
		case 1:
			f = slices.Concat(f[:12], []byte{0x81, 0, 0x60, 7}, f[12:])
		case 2:
			f = slices.Concat(f[:12], []byte{0x88, 0xa8, 0, 9, 0x81, 0, 0, 7}, f[12:])
		case 3:
			other := slices.Clone(f)
			other[37]++ // another UDP port
			send(other)
		}
		if i == 2 {
			pause := append([]byte{0x01, 0x80, 0xC2, 0, 0, 1, 2, 0, 0, 0, 0, 7, 0x88, 0x08, 1, 1, 0, 8}, make([]byte, 42)...)
			send(pause)
			want = append(want, pause)
		}
		send(f)
		want = append(want, f)
	}
	i, last := 0, int64(0)
	n := collect(t, s, len(want), func(f *fabricagent.Frame) {
		if i < len(want) && !bytes.Equal(f.Data, want[i]) {
			t.Errorf("frame %d: %x, want %x", i, f.Data[:40], want[i][:40])
		}
		i++
		if f.Number != uint64(i) || f.Time < last || f.Time < began || int(f.Len) != len(f.Data) || f.Way == packet.WayOut {
			t.Errorf("frame %d: %+v", i, *f)
		}
		last = f.Time
	})
	if n != len(want) {
		t.Errorf("%d frames arrive, not %d", n, len(want))
	}
	if st := s.Stats(); st[0].Frames != uint64(n) || st[0].Dropped != 0 || st[0].Interface != "right" {
		t.Errorf("%+v", st)
	}
}

// TestDrops: frames that find no room are counted, before those after them are delivered, and no others are missing.
func TestDrops(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	s := open(t, live.Options{Interfaces: []string{"right"}, Memory: 2 << 20})
	send, list := veth.Sender(t, "left"), frames(t)
	sent := 0
	for sent < 20_000 {
		send(list[sent%len(list)])
		sent++
	}
	got := collect(t, s, sent, func(*fabricagent.Frame) {
		if s.Taps()[0].Dropped == 0 {
			t.Fatal("a loss is not told with the first frame")
		}
	})
	if d := s.Taps()[0].Dropped; d == 0 || uint64(got)+d != uint64(sent) {
		t.Errorf("%d sent, %d arrive, %d dropped", sent, got, d)
	}
	before := s.Taps()[0].Dropped
	send(list[0])
	if n := collect(t, s, sent+1, func(*fabricagent.Frame) {}); n != 1 || s.Taps()[0].Dropped != before {
		t.Errorf("then %d arrive and %d are dropped", n, s.Taps()[0].Dropped-before)
	}
}

// TestSnap: frames are cut where that was asked for.
func TestSnap(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	s := open(t, live.Options{Interfaces: []string{"right"}, SnapLen: 58})
	send, list := veth.Sender(t, "left"), frames(t)
	for _, f := range list[:10] {
		send(f)
	}
	i := 0
	collect(t, s, 10, func(f *fabricagent.Frame) {
		if int(f.Len) != len(list[i]) || len(f.Data) != 58 {
			t.Errorf("%d of %d bytes", len(f.Data), f.Len)
		}
		i++
	})
	if i != 10 || s.Taps()[0].SnapLen != 58 {
		t.Errorf("%d frames of %+v", i, s.Taps()[0])
	}
}

// TestSockets: with several rings, nothing is lost, and what two hosts say to each other stays in order; with several interfaces all of it does.
func TestSockets(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	s := open(t, live.Options{Interfaces: []string{"right", "left"}, Sockets: 3})
	send, list := veth.Sender(t, "left"), frames(t)
	for range 3 {
		for i, f := range list {
			f = slices.Clone(f)
			f[29] = byte(i%7) + 1 // other hosts; the ICRC is wrong then, and nobody asks
			f[33] = byte(i%7) + 100
			send(f)
		}
	}
	n, last := map[uint16]int{}, int64(0)
	collect(t, s, 6*len(list), func(f *fabricagent.Frame) {
		n[f.Tap]++
		if f.Time < last {
			t.Errorf("frame %d steps back by %d ns", f.Number, last-f.Time)
		}
		last = f.Time
		if (f.Tap == 1) != (f.Way == packet.WayOut) {
			t.Errorf("frame %d of tap %d goes %v", f.Number, f.Tap, f.Way)
		}
	})
	if n[0] != 3*len(list) || n[1] != 3*len(list) {
		t.Errorf("%v frames arrive, of %d", n, 3*len(list))
	}
}

// TestQuiet: a ring lasts for many frames although each comes so late that the kernel hands out each by itself.
func TestQuiet(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	s := open(t, live.Options{Interfaces: []string{"right"}, Memory: 4 << 20, Hold: time.Millisecond})
	send, list := veth.Sender(t, "left"), frames(t)
	const sent = 24
	for i := range sent {
		send(list[i%len(list)])
		time.Sleep(20 * time.Millisecond)
	}
	if n := collect(t, s, sent, func(*fabricagent.Frame) {}); n != sent {
		t.Errorf("%d of %d frames arrive", n, sent)
	}
}

// waiting calls Next, and returns where its error will come, as soon as the thread that runs it sleeps.
func waiting(t *testing.T, s live.Capture) <-chan error {
	t.Helper()
	thread, ended := make(chan int, 1), make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		thread <- unix.Gettid()
		_, err := s.Next()
		ended <- err
	}()
	stat := fmt.Sprintf("/proc/self/task/%d/stat", <-thread)
	for {
		b, err := os.ReadFile(stat)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(") S ")) {
			return ended
		}
	}
}

// TestEnds: an interface that is down may come up again, one that is gone does not, and Stop ends the capture.
func TestEnds(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	s := open(t, live.Options{Interfaces: []string{"right"}, Idle: 20 * time.Millisecond})
	send, list := veth.Sender(t, "left"), frames(t)
	if n := collect(t, s, 0, func(*fabricagent.Frame) {}); n != 0 {
		t.Errorf("%d frames of nobody", n)
	}
	veth.IP(t, "link set right down")
	collect(t, s, 0, func(*fabricagent.Frame) {})
	if !s.Stats()[0].Down {
		t.Error("the interface is not said to be down")
	}
	veth.Up(t)
	send(list[0])
	collect(t, s, 1, func(*fabricagent.Frame) {})
	if st := s.Stats()[0]; st.Frames == 0 || st.Down {
		t.Errorf("after it came up again: %+v", st)
	}
	veth.IP(t, "link del right")
	var gone *live.GoneError
	for err := error(nil); ; {
		var b *fabricagent.Batch
		if b, err = s.Next(); err != nil {
			if !errors.As(err, &gone) || gone.Interface != "right" {
				t.Error(err)
			}
			break
		}
		b.Release()
	}
	if _, err := s.Next(); err != io.EOF {
		t.Error(err)
	}

	veth.IP(t, "link add left type veth peer name right")
	veth.IP(t, "link set right up")
	s = open(t, live.Options{Interfaces: []string{"right"}, Idle: time.Hour})
	ended := waiting(t, s)
	s.Stop()
	if err := <-ended; err != io.EOF {
		t.Error(err)
	}
	if _, err := live.Open(live.Options{Interfaces: []string{"nowhere"}}); err == nil || !strings.Contains(err.Error(), "ip -br link") {
		t.Errorf("an interface that does not exist: %v", err)
	}
	if _, err := live.Open(live.Options{Interfaces: []string{"right"}, Hardware: true}); err == nil || !strings.Contains(fmt.Sprint(err), "time stamps") {
		t.Errorf("hardware time stamps of a veth: %v", err)
	}
}
