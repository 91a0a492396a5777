package ibsim

import (
	"testing"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier/smp"
)

// judge verifies the SMPs that pass the links of a fabric, each link a tap, as if they were captured.
type judge struct {
	rec   rule.Recorder
	v     *smp.Verifier
	links map[End]uint32
	psn   packet.PSN
	frame uint64
}

func newJudge() *judge {
	j := &judge{links: map[End]uint32{}}
	j.v = smp.New(&j.rec, func(packet.Addr) bool { return true })
	return j
}

// pass verifies one MAD.
func (j *judge) pass(p Passed) {
	if !mad.Class(p.MAD[1]).Subnet() {
		return
	}
	if j.links[p.From] == 0 {
		j.links[p.From], j.links[p.To] = uint32(len(j.links)+1), uint32(len(j.links)+2)
	}
	j.psn++
	j.frame++
	_, sl := p.From.Node.Manager(p.From.Port)
	if mad.Method(p.MAD[3]) != mad.Trap {
		sl = 0
	}
	q := packet.Packet{
		Encap: packet.Native, Opcode: packet.Op(packet.UD, packet.SendOnly), Src: packet.LIDAddr(p.SLID), Dst: packet.LIDAddr(p.DLID), VL: 15, SL: sl, PKey: 0xFFFF,
		PSN: j.psn, Payload: p.MAD,
	}
	q.Complete()
	var d packet.Packet
	b := q.Append(nil)
	if !packet.DecodeInfiniBand(&d, append([]byte(nil), b...), len(b)) || !smp.Is(&d) {
		panic("not an SMP")
	}
	d.Time, d.Frame, d.Link, d.Tap = 1_700_000_000_000_000_000+p.Time, j.frame, j.links[p.From], uint16((j.links[p.From]-1)/2)
	j.v.Packet(&d, true)
}

// broken are the rules that were violated, and by whom first.
func (j *judge) broken(t *testing.T) map[rule.ID]int {
	t.Helper()
	count := map[rule.ID]int{}
	for _, f := range j.rec.Findings {
		if f.Class == rule.Event {
			continue
		}
		if count[f.Rule]++; count[f.Rule] == 1 {
			t.Logf("%v: %v %v: expected %s, actual %s (%s)", f.Rule, f.Class, f.Accused, f.Expected, f.Actual, f.Detail)
		}
	}
	return count
}

// innocent checks that nobody is accused.
func (j *judge) innocent(t *testing.T) {
	t.Helper()
	if n := j.broken(t); len(n) > 0 {
		t.Errorf("broken: %v", n)
	}
}

// TestJudged: the verifier of subnet management accuses neither opensm nor our nodes, and has a look at most rules that a sweep is about.
func TestJudged(t *testing.T) {
	f, j := tree(t, false), newJudge()
	f.Observe = j.pass
	s := listens(t, f)
	managed(t, s.Name(), 1, "-Q")
	run(t, s.Name(), "host5", "ibnetdiscover")
	s.Do(func(int64, *Fabric) {
		j.innocent(t)
		exercised := 0
		for _, c := range j.rec.Cover {
			if c.Exercised > 0 {
				exercised++
			}
		}
		t.Logf("%d SMPs on %d links, %d rules exercised", j.frame, len(j.links)/2, exercised)
		if exercised < 40 {
			t.Errorf("%d rules exercised", exercised)
		}
	})
}
