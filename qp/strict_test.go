package qp

import "testing"

func init() { Strict = true }

// TestStrict: a transition that is not possible panics, and says of which state.
func TestStrict(t *testing.T) {
	for name, do := range map[string]func(*SendQueue){
		"FillGap":    func(s *SendQueue) { s.FillGap(5) },
		"WidenGap":   func(s *SendQueue) { s.WidenGap(5) },
		"ExplainGap": func(s *SendQueue) { s.ExplainGap() },
		"OpenGap":    func(s *SendQueue) { s.OpenGap(5, 5, false) },
		"ContinueAt": func(s *SendQueue) { s.ContinueAt(9) },
	} {
		func() {
			defer func() {
				if got, want := recover(), "qp: "+name+" of a requester InOrder"; got != want {
					t.Errorf("got %v, want %q", got, want)
				}
			}()
			var s SendQueue
			s.Join(7)
			do(&s)
		}()
	}
}
