package live_test

import (
	"testing"
	"time"

	"ibwitness/fabricagent/live"
	"ibwitness/internal/testkit/veth"
)

// TestLink: that an interface is down, up, gone or back is known without any frame, and one that came back is captured from.
func TestLink(t *testing.T) { comesBack(t, 1) }

// TestLinkSockets: the same of one with several rings.
func TestLinkSockets(t *testing.T) { comesBack(t, 3) }

func comesBack(t *testing.T, sockets int) {
	if !veth.Network(t) {
		return
	}
	veth.IP(t, "link add other type veth peer name far")
	veth.IP(t, "link set other up")
	veth.IP(t, "link set far up")
	s := open(t, live.Options{Interfaces: []string{"right", "other"}, Sockets: sockets, Idle: 20 * time.Millisecond, Promiscuous: true})
	until := func(what string, is func(live.Stats) bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !is(s.Stats()[0]); {
			b, err := s.Next()
			if err != nil {
				t.Fatal(err)
			}
			b.Release()
			if time.Now().After(end) {
				t.Fatalf("it is not %s: %+v", what, s.Stats()[0])
			}
		}
		if o := s.Stats()[1]; o.Down || o.Gone || o.Dropped != 0 {
			t.Errorf("the other one: %+v", o)
		}
	}
	until("up", func(l live.Stats) bool { return !l.Down })
	for range 2 {
		veth.IP(t, "link set right down")
		until("down", func(l live.Stats) bool { return l.Down && !l.Gone })
		veth.IP(t, "link set right up")
		until("up", func(l live.Stats) bool { return !l.Down })
	}
	for lost := uint64(1); lost < 3; lost++ {
		veth.IP(t, "link del right")
		until("gone", func(l live.Stats) bool { return l.Down && l.Gone })
		veth.IP(t, "link add left type veth peer name right")
		veth.IP(t, "link set left up")
		veth.Up(t)
		until("back", func(l live.Stats) bool { return !l.Down && !l.Gone && l.Dropped == lost })
		before, send := s.Stats()[0].Frames, veth.Sender(t, "left")
		const hosts = 20 // so many that each ring has some
		for i := range byte(hosts) {
			f := frames(t)[0]
			f[29] = i
			send(f)
		}
		until("captured from", func(l live.Stats) bool { return l.Frames == before+hosts })
	}
	if taps := s.Taps(); taps[0].Dropped != 2 || taps[1].Dropped != 0 {
		t.Errorf("%+v", taps)
	}
}
