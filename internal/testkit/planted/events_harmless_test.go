package planted

import (
	"math/rand/v2"
	"slices"
	"testing"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// harmlessEvents are changes that no adapter is to blame for: nothing may be proven by them.
var harmlessEvents = []struct {
	name    string
	log     func(client, server *hcaagent.Log)
	capture func(c *Capture)
}{
	{name: "the capture begins late", capture: func(c *Capture) { c.Frames = c.Frames[len(c.Frames)/3:] }},
	{name: "the capture begins a frame late", capture: func(c *Capture) { c.Frames = c.Frames[1:] }},
	{name: "the capture begins with an answer", capture: func(c *Capture) {
		i := slices.IndexFunc(c.Frames, func(f *Frame) bool { return f.Packet != nil && f.Packet.Info().Response })
		c.Frames = c.Frames[i:]
	}},
	{name: "the capture ends early", capture: func(c *Capture) { c.Frames = c.Frames[:len(c.Frames)/2] }},
	{name: "the capture has lost every tenth frame", capture: func(c *Capture) {
		for i := len(c.Frames) - 1; i >= 0; i-- {
			if i%10 == 5 {
				c.Frames = slices.Delete(c.Frames, i, i+1)
			}
		}
	}},
	{name: "the capture has no answers", capture: func(c *Capture) {
		c.Frames = slices.DeleteFunc(c.Frames, func(f *Frame) bool { return f.Packet != nil && f.Packet.Info().Response })
	}},
	{name: "the capture has no requests", capture: func(c *Capture) {
		c.Frames = slices.DeleteFunc(c.Frames, func(f *Frame) bool { return f.Packet != nil && f.Packet.Info().Request })
	}},
	{name: "the log ends early", log: func(c, s *hcaagent.Log) {
		c.Events, s.Events = c.Events[:len(c.Events)*2/3], s.Events[:len(s.Events)*2/3]
		c.Cut, s.Cut = true, true
	}},
	{name: "the log begins late", log: func(c, s *hcaagent.Log) {
		c.Events, s.Events = c.Events[len(c.Events)/2:], s.Events[len(s.Events)/2:]
	}},
	{name: "the log does not say whose it is", log: func(c, s *hcaagent.Log) {
		c.Addr, s.Addr = packet.Addr{}, packet.Addr{}
	}},
	{name: "posts are stamped late", log: func(c, _ *hcaagent.Log) {
		for i := range c.Events {
			if c.Events[i].Send != nil {
				c.Events[i].Time += 1_000_000_000
			}
		}
	}},
	{name: "one post is stamped late", log: func(c, _ *hcaagent.Log) {
		c.Events[nth(c, 0, func(e *cq.Event) bool { return e.Send != nil })].Time += 1_000_000_000
	}},
	{name: "completions are stamped early", log: func(c, s *hcaagent.Log) {
		for _, l := range []*hcaagent.Log{c, s} {
			for i := range l.Events {
				if l.Events[i].Completion != nil {
					l.Events[i].Time -= 1_000_000_000
				}
			}
		}
	}},
	{name: "the clock of the log is set within the run", log: func(c, _ *hcaagent.Log) {
		for i := range c.Events[len(c.Events)/2:] {
			c.Events[len(c.Events)/2+i].Time += 3_000_000_000
		}
	}},
	{name: "the clock of the log is set back within the run", log: func(c, _ *hcaagent.Log) {
		for i := range c.Events[len(c.Events)/2:] {
			c.Events[len(c.Events)/2+i].Time -= 3_000_000_000
		}
	}},
	{name: "there are no receive posts in the log", log: func(_, s *hcaagent.Log) {
		s.Cut = true
		s.Events = slices.DeleteFunc(s.Events, func(e cq.Event) bool { return e.Receive != nil })
		for i := range s.Events {
			if n := s.Events[i].New; n != nil {
				n.SRQ = 0
			}
		}
		s.Events = slices.DeleteFunc(s.Events, func(e cq.Event) bool { return e.Completion != nil })
	}},
	{name: "frames come twice", capture: func(c *Capture) {
		var twice []*Frame
		for _, f := range c.Frames {
			twice = append(twice, f, f.Clone())
		}
		c.Frames = twice
	}},
	{name: "answers are recorded some microseconds early", capture: func(c *Capture) {
		for i := 1; i < len(c.Frames); i++ {
			if p := c.Frames[i].Packet; p != nil && p.Info().Response && c.Frames[i-1].Time+15_000 > c.Frames[i].Time {
				c.Frames[i].Time, c.Frames[i-1].Time = c.Frames[i-1].Time, c.Frames[i].Time
				c.Frames[i], c.Frames[i-1] = c.Frames[i-1], c.Frames[i]
			}
		}
	}},
}

func TestHarmlessEvents(t *testing.T) {
	for _, x := range harmlessEvents {
		for _, base := range []string{mixed, window, atomic} {
			t.Run(x.name+"/"+base, func(t *testing.T) {
				logs := events(t, "testdata/"+base, x.log)
				r := judge(t, "testdata/"+base+".pcap", func(c *Capture) {
					if x.capture != nil {
						x.capture(c)
					}
				}, logs)
				proven(t, r.Findings)
			})
		}
	}
}

func proven(t *testing.T, found []rule.Finding) {
	t.Helper()
	for i := range found {
		if f := &found[i]; f.Rule.NeedsEvents() && f.Class == rule.Violation {
			t.Errorf("%s: %s, log line %d", line(f), f.Detail, f.Line)
		}
	}
}

// TestPartialEvents leaves out frames by chance, and begins and ends captures and logs anywhere.
func TestPartialEvents(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 5))
		base := []string{mixed, window, atomic}[r.IntN(3)]
		logs := events(t, "testdata/"+base, func(c, s *hcaagent.Log) {
			for _, l := range []*hcaagent.Log{c, s} {
				if r.IntN(3) == 0 {
					l.Events, l.Cut = l.Events[:r.IntN(len(l.Events))], true
				}
				delay(l, r.Int64N(2e9)-1e9)
			}
		})
		res := judge(t, "testdata/"+base+".pcap", func(c *Capture) {
			from := r.IntN(len(c.Frames) / 2)
			c.Frames = c.Frames[from : from+1+r.IntN(len(c.Frames)-from)]
			p := r.Float64() * 0.3
			c.Frames = slices.DeleteFunc(c.Frames, func(*Frame) bool { return r.Float64() < p })
		}, logs[:1+r.IntN(2)])
		if len(res.Findings) > 0 {
			proven(t, res.Findings)
		}
		if t.Failed() {
			t.Fatalf("seed %d, %s", seed, base)
		}
	}
}
