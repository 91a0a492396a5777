package timing

import (
	"testing"
	"time"
)

// sentOn are messages on a link, by the end that sends them, microseconds.
func sentOn(l *Link, end int, at ...int64) {
	for _, us := range at {
		l.Sent[end] = append(l.Sent[end], Sent{Begin: us * 1000, End: us*1000 + 500})
	}
}

// TestSlowestOf: of hosts in a chain the one is found that answers late and for which the others wait; not one whose answers nobody waits for, or that only asks others.
func TestSlowestOf(t *testing.T) {
	const data, credit = 4096, 64
	chain := func(wait, late int64) []Link { // 0 sends to 1 when it has had an answer, or after a time, and that to 2, and that to 3; 2 answers late, and 1 only then
		list := make([]Link, 3)
		for i := range list {
			list[i].Hosts, list[i].Bytes = [2]int{i, i + 1}, [2]uint64{data, credit}
		}
		at := int64(1000)
		for range 100 {
			for i, answer := range []int64{15 + late, 10 + late, 25} {
				sentOn(&list[i], 0, at+10*int64(i))
				sentOn(&list[i], 1, at+answer)
			}
			at += wait
		}
		return list
	}
	asks := make([]Link, 3) // 0 asks each of three servers, and has nothing to ask for long
	for i := range asks {
		asks[i].Hosts, asks[i].Bytes = [2]int{0, i + 1}, [2]uint64{data, credit}
		for n := range int64(100) {
			at := 1000 + n*9000 + int64(i)*3000
			sentOn(&asks[i], 0, at)
			sentOn(&asks[i], 1, at+10)
		}
	}
	for _, k := range []struct {
		name string
		list []Link
		want bool
	}{
		{"the others wait", chain(3020, 3000), true},
		{"all are soon", chain(3020, 5), false},
		{"the others do not wait", chain(200, 3000), false},
		{"it only asks", asks, false},
	} {
		s, ok := SlowestOf(4, k.list)
		if ok != k.want || ok && (s.Host != 2 || len(s.Peers) != 1 || s.Peers[0] != 1 || s.Hosts != 3 || s.Usual.Round(100*time.Microsecond) != 3*time.Millisecond || s.Others > 20*time.Microsecond || s.Long != 0) {
			t.Errorf("%s: %v, %+v", k.name, ok, s)
		}
	}
}

// TestSettled: the hosts of a ring are idle in the times in which none owes an answer, but no others.
func TestSettled(t *testing.T) {
	list := make([]Link, 3)
	for i := range list {
		list[i].Hosts, list[i].Bytes = [2]int{i, (i + 1) % 3}, [2]uint64{4096, 64}
		for n := range int64(40) {
			at := 1000 + n*5000 + int64(i)*10
			sentOn(&list[i], 0, at)
			if i == 1 && n%2 == 1 {
				at += 3000
			}
			sentOn(&list[i], 1, at+20)
		}
	}
	idle := SettledOf(list)
	if len(idle) != 39 || time.Duration(idle[0].End-idle[0].Begin).Round(time.Millisecond) != 5*time.Millisecond || time.Duration(idle[1].End-idle[1].Begin).Round(time.Millisecond) != 2*time.Millisecond {
		t.Errorf("%d: %+v", len(idle), idle)
	}
	if idle := SettledOf(list[:2]); idle != nil {
		t.Errorf("of three hosts that are none: %+v", idle)
	}
}
