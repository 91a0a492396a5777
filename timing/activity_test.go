package timing

import (
	"slices"
	"testing"
	"time"
)

// active is what packets at times show, in milliseconds, each in the frame of its millisecond.
func active(at ...int64) (a Activity) {
	for _, ms := range at {
		a.packet(ms*int64(time.Millisecond), uint64(ms))
	}
	return a
}

// silent are the frames around each silence.
func silent(a *Activity) (list [][2]uint64) {
	for _, s := range a.Silences {
		list = append(list, s.Frames)
	}
	return list
}

// TestActivity: silences are the times between packets, not short ones; of many the longest are kept, and one covers a time in it, but for that beyond its edges.
func TestActivity(t *testing.T) {
	a := active(1, 5, 30, 31, 90, 80, 95)
	if got, want := silent(&a), [][2]uint64{{5, 30}, {31, 90}}; !slices.Equal(got, want) || a.Last != 95*int64(time.Millisecond) {
		t.Errorf("%v, want %v: %+v", got, want, a)
	}
	for _, k := range []struct {
		from, to int64
		want     bool
	}{{31, 90, true}, {40, 60, true}, {30, 60, false}, {40, 91, false}, {5, 30, true}, {1, 4, false}, {91, 94, false}} {
		if s := a.Silent(k.from*int64(time.Millisecond), k.to*int64(time.Millisecond)); (s != nil) != k.want {
			t.Errorf("%d to %d: %v", k.from, k.to, s)
		}
	}
	var many []int64
	for n, at := int64(0), int64(1); n < 2*MostSilences; n++ {
		many, at = append(many, at), at+20+n
	}
	b := active(many...)
	if len(b.Silences) != MostSilences || b.Silences[0].Frames[0] != uint64(many[MostSilences-1]) {
		t.Errorf("%d: %v", len(b.Silences), silent(&b))
	}
}

// TestJoin: what is silent of two is when neither sends, in either order; before the first packet of one and after its last, when the other does not.
func TestJoin(t *testing.T) {
	for name, tt := range map[string]struct {
		a, b Activity
		want [][2]uint64
	}{
		"both pause":      {active(1, 100, 200), active(50, 120, 160), [][2]uint64{{1, 50}, {50, 100}, {100, 120}, {120, 160}, {160, 200}}},
		"one goes on":     {active(1, 100), active(5, 9, 18, 27, 36, 45, 54, 63, 72, 81, 90, 99), nil},
		"one after other": {active(1, 5), active(40, 45), [][2]uint64{{5, 40}}},
		"none":            {active(1, 30), active(), [][2]uint64{{1, 30}}},
		"a moment":        {active(1, 100), active(60), [][2]uint64{{1, 60}, {60, 100}}},
	} {
		for _, turned := range []bool{false, true} {
			a, b := tt.a, tt.b
			if turned {
				a, b = b, a
			}
			was := silent(&b)
			a.Join(&b)
			if got := silent(&a); !slices.Equal(got, tt.want) || !slices.Equal(silent(&b), was) {
				t.Errorf("%s: %v, want %v", name, got, tt.want)
			}
		}
	}
}

// TestSent: an end that sent one packet in a time, some before and some after, sent in it; not one that was silent for all of it, had not begun, or
// may have had more silences than are kept.
func TestSent(t *testing.T) {
	const ms = int64(time.Millisecond)
	s := Silence{From: 50 * ms, To: 90 * ms}
	long := []int64{1, 60}
	for n := range int64(MostSilences) {
		long = append(long, 100+n*100)
	}
	for name, k := range map[string]struct {
		a    Activity
		want bool
	}{
		"once":            {active(1, 70, 100), true},
		"silent":          {active(1, 45, 95), false},
		"began later":     {active(70, 100), false},
		"never":           {active(), false},
		"longer are kept": {active(long...), false},
		"all are kept":    {active(long[:9]...), true},
	} {
		if got := k.a.Sent(&s); got != k.want {
			t.Errorf("%s: %v, want %v: %v", name, got, k.want, k.a.Silences)
		}
	}
}
