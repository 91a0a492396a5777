package report

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibwitness/packet"
	"ibwitness/rule"
)

// TestFold: what repeats more than a handful of times is one fault; a handful are as many.
func TestFold(t *testing.T) {
	accused, peer := by(rule.Requester, left, 0x11), by(rule.Responder, right, 0x1a)
	again := func(id rule.ID, n int, from uint64, actual string) (list []rule.Finding) {
		for i := range uint64(n) {
			op := packet.SendFirst
			if i%2 == 1 {
				op = packet.SendMiddle
			}
			f := found(id, rule.Violation, from+i, op, packet.PSN(i), accused, peer)
			f.Expected, f.Actual = "SE 0", fmt.Sprintf(actual, f.Opcode, 0xec48a0+i)
			list = append(list, f)
		}
		return list
	}
	counts := func(list []Entry) (out []uint64) {
		for i := range list {
			out = append(out, list[i].Count)
		}
		return out
	}
	five, hundred := again(rule.BTH012, handful, 10, "SE 1 in %v, PSN 0x%06x"), again(rule.BTH012, 100, 10, "SE 1 in %v, PSN 0x%06x")
	for _, x := range []struct {
		name string
		list []rule.Finding
		want []uint64
	}{
		{"a handful", five, []uint64{0, 0, 0, 0, 0}},
		{"a hundred", hundred, []uint64{100}},
		{"a handful in other words beside a hundred", append(hundred, again(rule.BTH012, 1, 900, "SE 2 in %v, with %d reserved bits")...), []uint64{100, 0}},
		{"another rule beside a hundred", append(hundred, again(rule.BTH006, 2, 900, "%v %d")...), []uint64{100, 0, 0}},
		{"warnings", again(rule.BTH009, 2, 10, "%v %d"), []uint64{2}},
		{"one warning", again(rule.BTH009, 1, 10, "%v %d"), []uint64{1}},
	} {
		t.Run(x.name, func(t *testing.T) {
			list, of := Fold(x.list, false)
			if d := cmp.Diff(x.want, counts(list)); d != "" {
				t.Errorf("counts (-want +got):\n%s", d)
			}
			for i := range x.list {
				if list[of[i]].Rule != x.list[i].Rule {
					t.Errorf("finding %d went to %v", i, list[of[i]].Rule)
				}
			}
			if all, _ := Fold(x.list, true); len(all) != len(x.list) {
				t.Errorf("with all, %d of %d are shown", len(all), len(x.list))
			}
		})
	}
	list, _ := Fold(hundred, false)
	if d := cmp.Diff([]uint64{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, list[0].Frames); d != "" || list[0].Newest.Frame != 109 {
		t.Errorf("frames, to %d (-want +got):\n%s", list[0].Newest.Frame, d)
	}
}

// TestFolder: as findings are reported one by one, the first handful of a cause are separate, and one more merges them; what was forgotten begins again.
func TestFolder(t *testing.T) {
	accused, peer := by(rule.Requester, left, 0x11), by(rule.Responder, right, 0x1a)
	var s Folder
	var first *Entry
	for i := range uint64(12) {
		f := found(rule.BTH012, rule.Violation, i+1, packet.SendOnly, packet.PSN(i), accused, peer)
		e, merged := s.Add(&f)
		switch {
		case i < handful:
			if e.Finding != &f || len(merged) > 0 || e.ID != i+1 {
				t.Errorf("finding %d: %+v, %d merged", i, e, len(merged))
			}
			if i == 0 {
				first = e
			}
		case i == handful:
			if e != first || e.Count != i+1 || len(merged) != handful-1 || merged[0].ID != 2 {
				t.Errorf("one more than a handful: %+v, %d merged", e, len(merged))
			}
		case e != first || e.Count != i+1 || len(merged) > 0 || e.Last() != &f:
			t.Errorf("finding %d: %+v, %d merged", i, e, len(merged))
		}
	}
	s.Forget(first)
	f := found(rule.BTH012, rule.Violation, 99, packet.SendOnly, 0, accused, peer)
	if e, _ := s.Add(&f); e == first || e.Count != 0 || len(s.causes) != 1 {
		t.Errorf("after it was forgotten: %+v", e)
	}
}
