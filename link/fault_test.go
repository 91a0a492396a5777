package link_test

import (
	"maps"
	"testing"

	"ibwitness/fabricagent/sim"
	"ibwitness/internal/testkit/sample"
	"ibwitness/packet"
	"ibwitness/rule"
)

// stage is a scene on which a fault of port A shows.
func stage(name string, seed uint64, tap string, faulty bool) *scene {
	s := &scene{packets: 150, gap: 4000, taps: []string{tap}}
	s.Seed, s.Number, s.Lanes, s.Symbol = seed, 1, 4, 1000
	s.Ports[0].Buffer, s.Ports[1].Buffer = 5000, 300
	s.Ports[1].Drain = 20
	switch name {
	case "discards-counted":
		s.damage = 0.02
	case "credits-ignored":
		s.Ports[1].Drain = 100
	case "sends-while-down":
		s.bounce = true
	case "longer-than-mtu":
		s.MTU = 2048
	}
	s.Ports[0].LID, s.Ports[1].LID = 1, 2
	if faulty {
		s.Ports[0].Fault = name
		s.Ports[0].FaultAt = int(seed % 7)
		s.Ports[0].FaultAll = name == "discards-counted" || name == "credits-ignored" // what passes the tap meanwhile may make up for one
		switch name {
		case "discards-counted", "sends-while-down", "operand-normal", "blocks-not-zero", "data-while-initialize", "physical-state":
			s.Ports[0].FaultAt = 0
		}
	}
	return s
}

// TestFaults has each fault of a port shown: it is caught under its rule, at the frame that shows it where one does, nothing else is found, and nobody else is
// accused, wherever the tap is. Without the fault nothing is found.
func TestFaults(t *testing.T) {
	for _, name := range sim.LinkFaultNames() {
		t.Run(name, func(t *testing.T) {
			f := sim.LinkFaults[name]
			for seed := range max(*runs/uint64(sample.Stride(4))/25, 1) {
				still := stage(name, seed, "a", name == "wrong-lane" || name == "longer-than-mtu") // the port is asked, and right
				still.Ports[0].FaultAt = 1 << 30
				clean := still.play(t)
				for i := range clean.Findings {
					if x := &clean.Findings[i]; x.Class == rule.Violation {
						tell(t, "without the fault", seed, x)
					}
				}
				for _, tap := range []string{"a", "middle", "b"} {
					s := stage(name, seed, tap, true)
					out := s.play(t)
					if out.shown == 0 {
						t.Errorf("seed %d: not shown", seed)
						continue
					}
					caught := false
					also := maps.Clone(f.Also)
					for i := range out.Findings {
						x := &out.Findings[i]
						delete(also, x.Rule.String())
						if x.Class == rule.Event || s.damage > 0 && x.Class == rule.Unproven {
							continue
						}
						if x.Rule.String() == f.Rule && (x.Class == rule.Violation || tap != "a") {
							caught = caught || len(out.shows) == 0 || out.shows[x.Frame]
						} else if _, known := f.Also[x.Rule.String()]; !known && !(tap != "a" && x.Rule == rule.LNKFCP012 && x.Class == rule.Unproven) {
							tell(t, tap, seed, x)
						}
						if x.Class == rule.Violation && x.Accused.Addr != packet.LinkAddr(1, 0) && x.Accused.Addr != lids[0] && x.Accused.Addr.Lo&1 == 0 {
							tell(t, "another accused", seed, x)
						}
					}
					if tap != "a" {
						continue
					}
					if !caught {
						t.Errorf("seed %d: %s: not caught under %s at frames %v", seed, f.Text, f.Rule, out.shows)
						for i := range out.Findings {
							tell(t, "found", seed, &out.Findings[i])
						}
					}
					for id := range also {
						t.Errorf("seed %d: %s should come with the fault", seed, id)
					}
				}
			}
		})
	}
}
