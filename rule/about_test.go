package rule_test

import (
	"testing"

	"ibwitness/packet"
	"ibwitness/rule"
)

// between is a finding of a QP of one host towards one of another; 0: its number is not known.
func between(id rule.ID, class rule.Class, accused, peer uint32) rule.Finding {
	end := func(host, qpn uint32) rule.Endpoint {
		return rule.Endpoint{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(host)}), QPN: qpn, QPNKnown: qpn != 0}
	}
	return rule.Finding{Rule: id, Class: class, Accused: end(1, accused), Peer: end(2, peer)}
}

// TestAbout finds findings among many others of the same hosts and gap, whichever QPNs were known, and looks at few.
func TestAbout(t *testing.T) {
	const many = 10_000
	var r rule.Recorder
	gap := rule.GapAt(7)
	add := func(accused, peer uint32) {
		f := between(rule.RCPSN004, rule.Violation, accused, peer)
		f.Gap = gap
		r.Add(f)
	}
	for i := range uint32(many) {
		add(i+1, 2*i+1)
	}
	add(0, 2) // the accused is not known
	add(4, 0) // its peer is not known
	for _, c := range []struct {
		accused, peer uint32
		want          []int
	}{
		{10, 19, []int{9}},
		{10, 20, nil},
		{5, 2, []int{many}},
		{4, 7, []int{3, many + 1}},
		{4, 8, []int{many + 1}},
		{4, 0, []int{3, many + 1}},
	} {
		f := between(rule.RCPSN004, rule.Violation, c.accused, c.peer)
		before := r.Looked()
		got := r.About(f.Rule, f.Accused, f.Peer, uint64(gap))
		if len(got) != len(c.want) || len(got) > 0 && (got[0] != c.want[0] || got[len(got)-1] != c.want[len(got)-1]) {
			t.Errorf("QPN %d towards %d: findings %v, want %v", c.accused, c.peer, got, c.want)
		}
		if n := r.Looked() - before; n > 4 {
			t.Errorf("QPN %d towards %d: looked at %d findings", c.accused, c.peer, n)
		}
	}
	f := between(rule.RCPSN004, rule.Violation, 10, 19)
	if got := r.About(f.Rule, f.Accused, f.Peer, uint64(rule.GapAt(8))); len(got) != 0 {
		t.Errorf("findings %v of another gap", got)
	}
}

// TestAboutBound looks at few of very many findings of one subject: the newest.
func TestAboutBound(t *testing.T) {
	const many = 10_000
	var r rule.Recorder
	for i := range many {
		f := between(rule.PKY004, rule.Unproven, 3, 4)
		f.Frame = uint64(i)
		r.Add(f)
	}
	f := &r.Findings[0]
	got := r.About(f.Rule, f.Accused, f.Peer, 0)
	if n := r.Looked(); n > 128 || len(got) == 0 || got[len(got)-1] != many-1 {
		t.Errorf("looked at %d findings for %v", n, got)
	}
}

// TestDoubtNear doubts all findings that assume the tap to be near, however many, and looks at each once.
func TestDoubtNear(t *testing.T) {
	const many = 1000
	var r rule.Recorder
	for i := range uint32(2 * many) {
		f := between(rule.RCRTY005, rule.Violation, 1+i%2, 10+i%2)
		f.Assumes = rule.AssumesNear
		r.Add(f)
	}
	f := between(rule.RCRTY005, rule.Violation, 1, 10)
	all := func(*rule.Finding) bool { return true }
	r.DoubtNear(f.Accused, f.Peer, all, "doubted")
	if c := r.Cover[rule.RCRTY005]; c.Violated != many || c.Unproven != many || r.Findings[0].Class != rule.Unproven || r.Findings[1].Class != rule.Violation {
		t.Errorf("%+v", c)
	}
	before := r.Looked()
	if r.DoubtNear(f.Accused, f.Peer, all, "doubted"); r.Looked() != before {
		t.Errorf("looked at %d findings again", r.Looked()-before)
	}
	r.Prove(0, "proven")
	if r.DoubtNear(f.Accused, f.Peer, all, "doubted again"); r.Findings[0].Class != rule.Unproven {
		t.Error("a finding that was proven since is not doubted")
	}
}

// TestRemove: a finding that is taken back is not found, nor counted, and the list closes over it.
func TestRemove(t *testing.T) {
	const many = 3000
	for _, at := range []int{0, many - 1} {
		var r rule.Recorder
		for i := range uint32(many) {
			r.Add(between(rule.ROCV2018, rule.Violation, i+1, i+1))
		}
		f := r.Findings[at]
		next := r.Findings[many/2]
		if got := r.About(f.Rule, f.Accused, f.Peer, 0); len(got) != 1 || got[0] != at {
			t.Fatalf("finding %d is found as %v", at, got)
		}
		r.Remove(at)
		if got := r.About(f.Rule, f.Accused, f.Peer, 0); len(got) != 0 {
			t.Errorf("finding %d is found as %v", at, got)
		}
		if got := r.About(next.Rule, next.Accused, next.Peer, 0); len(got) != 1 || r.Findings[got[0]].Seq != next.Seq {
			t.Errorf("another one is found as %v", got)
		}
		if n := r.Cover[f.Rule].Violated; n != many-1 {
			t.Errorf("%d are counted", n)
		}
		r.Settle()
		for i := range r.Findings {
			if r.Findings[i].Taken() || r.Findings[i].Seq == f.Seq {
				t.Errorf("finding %d is still in the list", at)
			}
		}
		if len(r.Findings) != many-1 {
			t.Errorf("%d findings", len(r.Findings))
		}
	}
}
