package verifier_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ibwitness/internal/testkit/disturb"
	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/tally"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/subnet"
	"ibwitness/verifier/smp"
)

const (
	variedSubnets      = 80 // simulated
	variationsOfSubnet = 16 // of each
)

// TestVariedSubnet holds what is said of subnet management with random changes in it, and what is learned of the subnet. With -sim.runs=1 and -v, that of -sim.seed
// is shown.
func TestVariedSubnet(t *testing.T) {
	sample.Skip(t, tally.Whole)
	var y tally.Tally
	show := *simRuns == 1 && testing.Verbose()
	for seed := range uint64(variedSubnets) {
		if show && seed != *simSeed {
			continue
		}
		variedSubnet(seed, func(c *disturb.Conversation, near []packet.Addr, rec *rule.Recorder, s *subnet.Subnet) {
			if show {
				t.Logf("near %v, %s", near, c.Show(rec.Findings))
			}
			y.Add(rec)
			y.Note(learned(s))
		})
	}
	if !show {
		y.Check(t, "testdata/varied/subnet.tally")
	}
}

// TestWideSubnet: nobody is accused in a subnet of which all is seen that few subnets show.
func TestWideSubnet(t *testing.T) {
	for seed := range uint64(sample.Part(20, 5)) {
		n, near := liveSubnet(rand.New(rand.NewPCG(seed, 29)), true)
		rec, _ := managed(sightings(n), near, nil)
		for _, f := range rec.Findings {
			if f.Class == rule.Violation {
				t.Errorf("seed %d frame %d: %v accuses %v: expected %s, actual %s, evidence %v", seed, f.Frame, f.Rule, f.Accused, f.Expected, f.Actual, f.Evidence)
			}
		}
	}
}

// sightings are the packets that the taps of a subnet have seen.
func sightings(n *simNet) (list []packet.Packet) {
	for i := range n.seen {
		s := &n.seen[i]
		s.p.Complete()
		frame := s.p.Append(nil)
		p := packet.Packet{Time: s.time, Tap: s.tap}
		if !packet.DecodeInfiniBand(&p, frame, len(frame)) {
			panic("a frame of the simulation does not decode")
		}
		p.CheckICRC()
		p.Link = s.link
		list = append(list, p)
	}
	return list
}

// variedSubnet judges stretches of what is seen of a subnet, with random changes.
func variedSubnet(seed uint64, take func(c *disturb.Conversation, near []packet.Addr, rec *rule.Recorder, s *subnet.Subnet)) {
	r := rand.New(rand.NewPCG(seed, 31))
	n, near := liveSubnet(r, true)
	list := sightings(n)
	for range variationsOfSubnet {
		c := disturb.New(r, list[:r.IntN(len(list)+1)])
		for range len(c.List) / 20 {
			c.Change(6)
		}
		at := slices.Clone(near)
		if r.IntN(3) == 0 {
			at = nil
		}
		rec, s := managed(c.List, at, r)
		take(c, at, rec, s)
	}
}

// managed is what the verifier of subnet management says of packets. Where r is given, the capture may lose packets on the way.
func managed(list []packet.Packet, near []packet.Addr, r *rand.Rand) (*rule.Recorder, *subnet.Subnet) {
	rec := new(rule.Recorder)
	v := smp.New(rec, func(a packet.Addr) bool { return slices.Contains(near, a) })
	lossy := -1
	if r != nil && r.IntN(4) == 0 {
		lossy = r.IntN(len(list) + 1)
	}
	for i := range list {
		p := list[i]
		p.Frame = uint64(i) + 1
		switch i {
		case lossy:
			v.Lossy = true
		case lossy + 50:
			v.Recover()
		}
		if smp.Is(&p) {
			v.Packet(&p, true)
		} else {
			v.Data(&p)
			v.Leaves(&p)
		}
	}
	v.Finish()
	return rec, v.Subnet
}

// learned is what is known of a subnet.
func learned(s *subnet.Subnet) string {
	var b strings.Builder
	for _, n := range s.Nodes {
		m := *n
		m.Ports, m.Linear = nil, nil
		fmt.Fprintf(&b, "%+v", m)
		for lid := range uint16(256) {
			if port, known := n.Egress(lid); known {
				b.WriteByte(port)
			}
		}
		for _, p := range n.Ports {
			q := *p
			q.Node = nil
			fmt.Fprintf(&b, "%+v", q)
		}
	}
	for lid := range uint16(256) {
		if p := s.Port(lid); p != nil {
			fmt.Fprint(&b, lid, p.Node.GUID, p.Number)
		}
	}
	return b.String()
}
