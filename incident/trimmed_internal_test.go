package incident

import (
	"reflect"
	"testing"
	"time"
)

// TestBursts: what was trimmed within a short time is one burst, in whatever order it is told of; beyond the most that are kept the last one grows.
func TestBursts(t *testing.T) {
	const ms = int64(time.Millisecond)
	var b bursts
	for _, at := range []int64{20, 0, 4, 40, 43, 21, 8} {
		b = b.add([2]int64{at * ms, at * ms})
	}
	if want := (bursts{{0, 8 * ms}, {20 * ms, 21 * ms}, {40 * ms, 43 * ms}}); !reflect.DeepEqual(b, want) {
		t.Errorf("%v, want %v", b, want)
	}
	if b = b.add([2]int64{10 * ms, 38 * ms}); len(b) != 1 || b[0] != [2]int64{0, 43 * ms} {
		t.Errorf("joined: %v", b)
	}
	for n := range int64(mostBursts) {
		b = b.add([2]int64{(n + 1) * 100 * ms, (n + 1) * 100 * ms})
	}
	if last := b[len(b)-1]; len(b) != mostBursts || last != [2]int64{(mostBursts - 1) * 100 * ms, mostBursts * 100 * ms} {
		t.Errorf("%d bursts, the last at %v", len(b), last)
	}
}

// TestNaksOfTrims: where it is not known of each PSN sequence NAK that it asks for what was cut, it is told how many do at least.
func TestNaksOfTrims(t *testing.T) {
	for want, s := range map[string]trimsCost{
		"at least 78 of its 82 PSN sequence NAKs": {naks: 82, asked: 78},
		"78 PSN sequence NAKs":                    {naks: 78, asked: 78},
	} {
		if got := s.naksSaid(); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
}
