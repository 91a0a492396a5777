package link_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/fabricagent/sim"
	"ibwitness/packet"
	"ibwitness/rule"
)

// scene is a simulated link with taps, and datagrams on it.
type scene struct {
	sim.LinkOptions
	taps    []string // a, b, or middle
	packets int      // of each device
	gap     int64    // from one to the next, at most
	damage  float64  // of data packets only
	loss    float64
	bounce  bool // the link goes down and comes up again
}

// outcome is what was found.
type outcome struct {
	*agent.Result
	shows  map[uint64]bool // frames that show the fault
	shown  uint64          // how often it was shown
	passed [2]int          // packets that came to each device
}

// lids are the addresses of the devices at ports A and B.
var lids = [2]packet.Addr{packet.LIDAddr(1), packet.LIDAddr(2)}

// marker is a sink that notes which frames show a fault.
type marker struct {
	*sim.Recorder
	number uint64
	bad    [][]byte
	shows  map[uint64]bool
}

func (m *marker) Frame(f *fabricagent.Frame, note string) {
	m.number++
	for _, b := range m.bad {
		if bytes.Equal(b, f.Data) {
			m.shows[m.number] = true
		}
	}
	m.Recorder.Frame(f, note)
}

// play runs the scene and verifies what its taps see.
func (s *scene) play(t testing.TB) *outcome {
	clock := sim.NewClock(1e18)
	out := &outcome{shows: map[uint64]bool{}}
	m := &marker{shows: out.shows}
	faulty := 0
	for i := range s.Ports {
		if s.Ports[i].Fault != "" {
			faulty = i
		}
		s.Ports[i].Strayed = func(frame []byte) { m.bad = append(m.bad, frame) }
	}
	l, err := sim.NewLink(clock, s.LinkOptions)
	if err != nil {
		t.Fatal(err)
	}
	end := int64(1e18) + 2_000_000
	m.Recorder = sim.NewRecorder("link", func() bool {
		next, ok := clock.Next()
		return ok && next < end && clock.Step()
	})
	var near []packet.Addr
	for _, name := range s.taps {
		switch name {
		case "middle":
			err = l.TapMiddle(name, m)
		default:
			i := int(name[0] - 'a')
			near = append(near, lids[i])
			err = l.TapEnd(l.Addr(i), name, m)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(near) > 1 {
		near = nil
	}
	chance := rand.New(rand.NewPCG(s.Seed, 3))
	for i := range s.Ports {
		send := l.Attach(i, func([]byte) { out.passed[i]++ })
		if s.damage > 0 {
			path := l.Path(l.Addr(i), l.Addr(1-i))
			path.Before.Add(sim.Error{Kind: sim.Corrupt, Flip: 1, Filter: sim.Filter{Probability: s.damage}})
			path.After.Add(sim.Error{Kind: sim.Corrupt, Flip: 1, Filter: sim.Filter{Probability: s.damage}})
		}
		if s.loss > 0 {
			l.Path(l.Addr(i), l.Addr(1-i)).After.Add(sim.Error{Kind: sim.Drop, Filter: sim.Filter{Probability: s.loss}})
		}
		at := int64(0)
		for n := range s.packets {
			sl := uint8(chance.IntN(16))
			size := chance.IntN(4096)
			if chance.IntN(2) == 0 {
				size = 64*chance.IntN(60) + 64 - 36 // just whole blocks
			}
			clock.After(at, func() { send(datagram(i, n, sl, size)) })
			at += chance.Int64N(s.gap + 1)
		}
	}
	l.Up()
	if s.bounce {
		clock.After(400_000, l.Down)
		clock.After(700_000, l.Up)
	}
	if out.Result, err = agent.Run(context.Background(), m, agent.Options{Workers: 1, Near: near}); err != nil {
		t.Fatal(err)
	}
	out.shown = l.Shown(faulty)
	return out
}

// datagram is a UD packet of the device at a port.
func datagram(port, n int, sl uint8, size int) []byte {
	p := packet.Packet{
		Encap: packet.Native, Opcode: packet.Op(packet.UD, packet.SendOnly), Src: lids[port], Dst: lids[1-port], SL: sl, PKey: 0xFFFF, DestQP: 0x20 + uint32(sl),
		SrcQP: 0x20 + uint32(sl), QKey: 0x1234, PSN: packet.PSN(n) & packet.PSNMask, Payload: make([]byte, size), MigReq: true,
	}
	p.Complete()
	return p.Append(nil)
}

// random makes up a scene in which nobody is at fault.
func random(seed uint64) *scene {
	r := rand.New(rand.NewPCG(seed, 7))
	s := &scene{packets: 40 + r.IntN(300), gap: int64(500 + r.IntN(8000))}
	s.taps = [][]string{{"a"}, {"b"}, {"middle"}, {"a", "b"}}[r.IntN(4)]
	s.Seed, s.Number = seed, uint16(r.IntN(3))
	s.Delay = []int64{1, 40, 500, 20_000}[r.IntN(4)]
	s.Symbol, s.Width = []uint16{4000, 1000, 400}[r.IntN(3)], []int{1, 4, 12}[r.IntN(3)]
	s.Lanes = []int{1, 2, 4, 8, 15}[r.IntN(5)]
	s.Mute, s.VCRC, s.bounce = r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(3) == 0
	s.Update = int64(20_000 + r.IntN(45_000))
	if r.IntN(2) == 0 {
		s.Noise = 0.05 * r.Float64()
	}
	if r.IntN(2) == 0 {
		s.damage = 0.05 * r.Float64()
	}
	if r.IntN(3) == 0 {
		s.loss = 0.05 * r.Float64()
	}
	for i := range s.Ports {
		s.Ports[i].Buffer = []int{70, 200, 1000, 2048, 5000}[r.IntN(5)]
		s.Ports[i].Drain = []int64{0, 1, 10, 60}[r.IntN(4)]
	}
	return s
}

// tell writes a finding.
func tell(t testing.TB, what string, seed uint64, f *rule.Finding) {
	t.Helper()
	t.Errorf("%s, seed %d: frame %d at %d: %v %v accuses %v: expected %s, actual %s (%s), proof %v", what, seed, f.Frame, f.Time-1e18, f.Rule, f.Class, f.Accused.Addr, f.Expected, f.Actual, f.Detail, f.Evidence)
}
