package timing

import (
	"testing"
	"time"
)

// TestLastBesideHeartbeats: the answer to a heartbeat is no beginning of a round, of a host that begins late after it; not where it comes so shortly
// before that the host may have been called by the heartbeat, or where nobody is late.
func TestLastBesideHeartbeats(t *testing.T) {
	const us = time.Microsecond
	for _, k := range []struct {
		name  string
		late  int
		after time.Duration // the beginning of the others
		told  bool
	}{
		{"early", 2, 500 * us, true},
		{"just before", 2, 2900 * us, false},
		{"none late", -1, 500 * us, false},
	} {
		late := make([]int, 20)
		for n := range late {
			late[n] = k.late
		}
		list := rounds(4, late, true)
		beats := Link{Hosts: [2]int{0, 2}, Bytes: [2]uint64{64, 64}}
		for _, s := range list[0].Sent[0] {
			at := s.Begin + int64(k.after)
			for way := range beats.Sent {
				beats.Sent[way] = append(beats.Sent[way], Sent{Begin: at, End: at + 1000})
			}
		}
		got, ok := LastOf(4, append(list, beats))
		if ok != k.told || ok && (got.Host != 2 || got.Count != 20 || got.Rounds != 20 || got.Aside != 1 || got.Most > 2600*us) {
			t.Errorf("%s: %+v, %v", k.name, got, ok)
		}
	}
}
