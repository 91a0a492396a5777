package soft_test

import (
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/soft"
	"ibwitness/rule"
)

// create is how the queue pairs are made that a fault needs.
func create(n soft.Need) func(q *hcaagent.NewQP) {
	return func(q *hcaagent.NewQP) { q.SignalAll = n == soft.SignalAll }
}

// scene changes the work to what a fault needs.
func (s *stage) scene(n soft.Need, work []hcaagent.SendRequest) []hcaagent.SendRequest {
	a, b := s.ends[0], s.ends[1]
	switch n {
	case soft.Segments:
		for i := range work {
			if q := &work[i]; q.Op == hcaagent.OpSend {
				x := q.Segments[0]
				half := (x.Length + 1) / 2
				q.Segments = []hcaagent.Segment{{VA: x.VA, Length: half, LKey: x.LKey}, {VA: x.VA + 1024 + uint64(half), Length: x.Length - half, LKey: x.LKey}}
			}
		}
	case soft.SignalAll:
		for i := range work {
			work[i].Flags &^= hcaagent.Signaled
		}
	case soft.TooLong:
		work[7] = hcaagent.SendRequest{Op: hcaagent.OpSend, Segments: a.sge(0, 5000)}
	case soft.Beyond:
		work[7].RemoteVA, work[7].Op = b.va+b.length-100, hcaagent.OpRead
		work[7].Segments = a.sge(16384, 900)
	case soft.ReadOnly:
		_, _, key, err := b.RegisterMR(ctx, hcaagent.NewMR{PD: b.pd, VA: b.va + 4096, Length: 1024, Access: hcaagent.RemoteRead})
		if err != nil {
			s.t.Fatal(err)
		}
		work[4].RemoteVA, work[4].RKey = b.va+4096, key
	case soft.GivenUp:
		for i := range work {
			if work[i].Op == hcaagent.OpSendInv {
				work[i+1] = hcaagent.SendRequest{Op: hcaagent.OpRead, Segments: a.sge(16384, 64), RKey: work[i].InvKey, RemoteVA: b.va + 2048}
				break
			}
		}
	}
	return work
}

// consumers reports whether a finding is on what the consumer of the scene has asked for.
func consumers(n soft.Need, x *rule.Finding) bool {
	return n == soft.GivenUp && x.Rule == rule.RCINV001
}
