package upper

import "testing"

// TestLongest: the commands that took longest are kept in order, those that took as long in the order of their answers, and such as a clock that was set back has answered before they began.
func TestLongest(t *testing.T) {
	var s Took
	for n, took := range []int64{-5, 7, 3, 7, 9, 1} {
		if d := (Done{Command{Since: 100, Frame: uint64(n)}, 100 + took, uint64(n + 1), 0, 0, Moved{}, 0, Freed{}}); s.among(took) {
			s.keep(d)
		}
		if n == 0 && (s.Longest[0].Answer != 1 || s.Longest[1].Answer != 0) {
			t.Errorf("after the first: %+v", s.Longest)
		}
	}
	for n, answer := range []uint64{5, 2, 4, 3} {
		if got := s.Longest[n].Answer; got != answer {
			t.Errorf("%d: answered in frame %d, want %d", n, got, answer)
		}
	}
}
