package agent

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier"
)

// silences is a capture of connections whose ends give no responses at times: those to one in eight queue pairs, by their numbers, are missing for some time.
func silences(connections, frames int) []byte {
	all := traffic.Capture(traffic.Small(connections), frames)
	out := bytes.Clone(all[:24])
	for rest := all[24:]; len(rest) >= 16; {
		size := 16 + int(binary.LittleEndian.Uint32(rest[8:]))
		us := binary.LittleEndian.Uint32(rest[4:]) / 1000
		bth := rest[16+14+20+8:]
		if !packet.Opcode(bth[0]).Info().Response || (uint32(bth[7])+us/200)%8 != 0 {
			out = append(out, rest[:size]...)
		}
		rest = rest[size:]
	}
	return out
}

// silentOptions are those of a simulation in which both ends are seen, and have 5 µs for an answer.
func silentOptions(t *testing.T, capture []byte) Options {
	t.Helper()
	ends := map[packet.Addr]bool{}
	var p packet.Packet
	framesOf(t, capture, func(f *fabricagent.Frame) {
		if fabricagent.Decode(f, &p).IsRDMA() {
			ends[p.Src] = true
		}
	})
	opt := Options{OneClock: true, Workers: 1, Profile: verifier.Profile{HardwareTimers: true, Answer: 5 * time.Microsecond}}
	for a := range ends {
		opt.Near = append(opt.Near, a)
	}
	return opt
}

func framesOf(t *testing.T, capture []byte, do func(f *fabricagent.Frame)) {
	t.Helper()
	src, err := fabricagent.OpenReader("capture", bytes.NewReader(capture))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for {
		b, err := src.Next()
		if b != nil {
			for i := range b.Frames {
				do(&b.Frames[i])
			}
			b.Release()
		}
		if err != nil {
			return
		}
	}
}

// sessionOf is what a session finds in a capture, which calls before before each frame.
func sessionOf(t *testing.T, capture []byte, opt Options, before func(s *Session, now int64)) *Result {
	t.Helper()
	s := NewSession(opt)
	if _, err := s.Tap(fabricagent.Tap{File: "capture", Link: fabricagent.LinkEthernet}); err != nil {
		t.Fatal(err)
	}
	framesOf(t, capture, func(f *fabricagent.Frame) {
		before(s, f.Time)
		if _, err := s.Frame(f); err != nil {
			t.Fatal(err)
		}
	})
	r, _, err := s.End()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestLooks: a session that looks at a connection only when something of it may be due finds what one finds that looks at all of them each time, at the same times.
func TestLooks(t *testing.T) {
	sample.Skip(t, "many connections take seconds, and longer under the race detector, which sees nothing here")
	capture := silences(60, 40_000)
	opt := silentOptions(t, capture)
	got := sessionOf(t, capture, opt, func(*Session, int64) {})
	quiet := int64(0)
	want := sessionOf(t, capture, opt, func(s *Session, now int64) {
		for now > quiet {
			at, due := quiet+1, int64(math.MaxInt64)
			for c := range s.t.table.All() {
				if c.Reliable() {
					due = min(due, s.t.rc.Silent(&c.Pair, at))
				}
			}
			quiet = max(at, due)
		}
		quiet = min(quiet, now+s.t.rc.Soonest())
	})
	a, b := afterPairing(want.Findings), afterPairing(got.Findings)
	if d := cmp.Diff(a, b); d != "" {
		t.Errorf("all are looked at (-), those that are due (+):\n%s", d)
	}
	if len(b) < 1000 || b[0].Rule != rule.RCRSP005 {
		t.Errorf("%d findings: too few to show anything", len(b))
	}
}

// afterPairing are the findings after all connections have shown both directions: before, what is late cannot be told as soon as its time is over.
func afterPairing(all []rule.Finding) (list []rule.Finding) {
	for _, f := range all {
		if f.Frame > 4000 {
			f.Seq = 0
			list = append(list, f)
		}
	}
	return list
}

// TestTogether: where there are many connections, Run takes the frames between which nothing is due together, and finds what a session finds that has them one by one.
func TestTogether(t *testing.T) {
	sample.Skip(t, "many connections take seconds, and longer under the race detector, which sees nothing here")
	capture := silences(3000, 40_000)
	opt := silentOptions(t, capture)
	want := sessionOf(t, capture, opt, func(*Session, int64) {})
	src, err := fabricagent.OpenReader("capture", bytes.NewReader(capture))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	got, err := Run(context.Background(), src, opt)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want.Findings, got.Findings); d != "" || got.Cover != want.Cover {
		t.Errorf("one by one (-), together (+): %s\n%s", d, cmp.Diff(want.Cover, got.Cover))
	}
	if len(got.Findings) < 100 {
		t.Errorf("%d findings: too few to show anything", len(got.Findings))
	}
}
