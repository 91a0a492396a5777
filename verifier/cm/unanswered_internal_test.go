package cm

import "testing"

// TestSecondREQ: a REQ that was answered after its second transmission is told apart from one that was answered at once, and from one that was sent more often.
func TestSecondREQ(t *testing.T) {
	for _, k := range []struct {
		name  string
		times uint16
		rep   int64
		want  []Waits
	}{{"once", 1, 12, nil}, {"twice", 2, 12, []Waits{ForSecond}}, {"twice, answered before", 2, 5, nil}, {"three times", 3, 12, []Waits{ForLate}}} {
		x := &exchange{req: sending{first: 1, time: 10, times: k.times, frame: 7}, rep: sending{first: k.rep, time: k.rep, times: 1, frame: 9}}
		list := x.waitREQ(nil)
		ok := len(list) == len(k.want)
		for n := range list {
			ok = ok && list[n].Waits == k.want[n] && list[n].End == k.rep && list[n].EndFrame == 9 && list[n].First == 1 && list[n].Last == 10
		}
		if !ok {
			t.Errorf("%s: %+v", k.name, list)
		}
	}
}
